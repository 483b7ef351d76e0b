"""Classes of operations, made from the tables: what they are called with, and their parts by name."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from xdsl import ir
from xdsl.dialects import builtin
from xdsl.ir import TypeAttribute

from ttnn_jit.dialects.ttnn_attributes import DeviceType
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.segment_sizes import NAMES
from ttnn_jit.dialects.upstream.table_operations import named_operands, named_results
from ttnn_jit.dialects.upstream.tables import Attribute, OperationRow
from ttnn_jit.dialects.writing.creation import segments
from ttnn_jit.ttmlir.attribute_builders import attribute_from, default_of
from ttnn_jit.ttmlir.mlir_locations import Location
from ttnn_jit.ttmlir.mlir_operations import InsertionPoint, Operation, OpView, op_class
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.mlir_values import OpOperandList, OpResultList, Region, Value, value_of
from ttnn_jit.ttmlir.mlir_views import makes_views
from ttnn_jit.ttmlir.wrapping import wrapped


@makes_views
def view_from_tables(name: str) -> type[OpView] | None:
    """The class of an operation of the tables; None if they have none of that name."""
    rows = tables.operation_rows(name)
    if not rows:
        return None

    def __init__(self: OpView, *arguments: Any, loc: Any = None, ip: Any = None, **keywords: Any) -> None:  # noqa: N807
        made = _call_of(rows, arguments, keywords).op((loc or Location.current_or_unknown()).held)
        InsertionPoint.insert_there(made, ip)
        Operation.__init__(self, made)

    fields: dict[str, Any] = {"OPERATION_NAME": name, "__init__": __init__, "__doc__": f"``{name}``."}
    for row in reversed(rows):  # of names that several versions have, the newest says more
        fields |= {_python_name(each.name): _part(named_operands, each.name, each.count) for each in row.operands}
        fields |= {_python_name(each.name): _part(named_results, each.name, each.count) for each in row.results}
        fields |= {_python_name(each.name): _attribute(each) for each in row.attributes}
        fields |= {_python_name(each.name): _region(index) for index, each in enumerate(row.regions)}
    for label in ("operands", "attributes", "results"):  # in the order of the newest row, those of older ones behind
        names = (_python_name(each.name) for row in rows for each in getattr(row, label))
        fields[f"{label[:-1].upper()}_NAMES"] = [*dict.fromkeys(names)]
    fields |= {"operation": Operation.operation}
    return type(tables.operation_class_name(name), (OpView,), fields)


_RESERVED = {
    "attributes", "create", "context", "ip", "operands", "print", "get_asm", "loc", "verify", "regions", "results",
    "self", "operation", "name",
}  # fmt: skip
"""Names that mean something of every operation: MLIR's generator puts ``_`` behind them too."""


def _python_name(name: str) -> str:
    """A name of ODS as an identifier that Python takes."""
    return f"{name}_" if keyword.iskeyword(name) or name in _RESERVED else name


def _part(parts: Callable[[ir.Operation], Mapping[str, Sequence[Any]]], name: str, count: str) -> property:
    def read(view: OpView) -> Any:
        found = [value_of(each) for each in parts(view.held).get(name, ())]
        if count == "*":
            return (OpOperandList if parts is named_operands else OpResultList)(found)
        return found[0] if found else None

    return property(read)


def _attribute(row: Attribute) -> property:
    def read(view: OpView) -> Any:
        found = view.held.properties.get(row.name)
        if found is None:
            found = view.held.attributes.get(row.name)
        if row.kind.startswith("UnitAttr"):
            return found is not None
        if found is None:
            found = default_of(row.default, row.kind)
        return None if found is None else wrapped(found)

    def write(view: OpView, value: Any) -> None:
        view.held.properties[row.name] = attribute_from(value, row.kind)

    return property(read, write)


def _region(index: int) -> property:
    return property(lambda view: Region(view.held.regions[index]))


def _call_of(rows: Sequence[OperationRow], arguments: Sequence[Any], keywords: Mapping[str, Any]) -> _Call:
    """The call by the newest version whose row takes the arguments.

    Raises:
        TypeError: None does; the message says why of each.
    """
    errors = []
    for row in rows:
        try:
            return _Call(row, arguments, keywords)
        except TypeError as error:
            errors.append(error)
    raise errors[0] if len(errors) == 1 else TypeError("; or ".join(map(str, errors)))


class _Call:
    """The arguments of a class's call, by the names of its row.

    Positional ones are the types of results, if not inferred, then operands and attributes that must be there, and the
    number of regions, if there may be any.

    Raises:
        TypeError: One is missing, or unknown.
    """

    def __init__(self, row: OperationRow, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> None:
        self._row = row
        given = {_ods_name(row, name): value for name, value in keywords.items() if name != "results"}
        rest = [*arguments]
        types = keywords.get("results")
        if types is None and rest and row.results and _are_types(rest[0]):
            types, rest = self._result_types(rest)
        # Operands and attributes alternate in some operations, which the tables do not say; their classes differ.
        waiting = {True: [*self._names(are_operands=True)], False: [*self._names(are_operands=False)]}
        self._regions = len(row.regions)
        for value in rest:
            if self._counts_regions(value, given):
                self._regions = len(row.regions) - 1 + value
                continue
            names = [name for name in waiting[_is_operand(value)] if name not in given]
            if value is None:
                names = [name for name in (*waiting[True], *waiting[False]) if name not in given]
            if not names:
                raise TypeError(f"{row.name}: more positional arguments than it has")
            given[names[0]] = value
        self._given = given
        self._types = types
        self._require()

    def _counts_regions(self, value: Any, given: Mapping[str, Any]) -> bool:
        """Whether a number behind the attributes that must be there is how many regions an operation gets."""
        is_number = isinstance(value, int) and not isinstance(value, bool)
        has_any = bool(self._row.regions) and self._row.regions[-1].count == "*"
        return (
            is_number and has_any and all(each.name in given for each in self._row.attributes if _must_be_there(each))
        )

    def _result_types(self, rest: list[Any]) -> tuple[list[Any], list[Any]]:
        types: list[Any] = []
        for _ in self._row.results:
            if not rest or not (rest[0] is None or _are_types(rest[0])):
                break  # the rest are results that may be absent
            found = rest.pop(0)
            types += [*found] if isinstance(found, Sequence) else [] if found is None else [found]
        return types, rest

    def _require(self) -> None:
        for each in self._row.operands:
            if not each.count and self._given.get(each.name) is None:
                raise TypeError(f"{self._row.name}: missing operand {each.name!r}")
        for attribute in self._row.attributes:
            if _must_be_there(attribute) and self._given.get(attribute.name) is None:
                raise TypeError(f"{self._row.name}: missing attribute {attribute.name!r}")

    def _names(self, *, are_operands: bool) -> Iterable[str]:
        """The names of operands or attributes, those that must be there first."""
        if are_operands:
            yield from (each.name for each in self._row.operands if each.count != "?")
            yield from (each.name for each in self._row.operands if each.count == "?")
        else:
            yield from (each.name for each in self._row.attributes if _must_be_there(each))
            yield from (each.name for each in self._row.attributes if not _must_be_there(each))

    def op(self, location: builtin.LocationAttr) -> ir.Operation:
        """The operation."""
        properties = {}
        for each in self._row.attributes:
            value = self._given.get(each.name)
            is_absent = value is None or (value is False and each.kind.startswith("UnitAttr"))
            if not is_absent:
                properties[each.name] = attribute_from(value, each.kind)
        regions = [ir.Region() for _ in range(self._regions)]
        return created_operation(self._row, self._given, properties, self._types, location, regions)


def created_operation(
    row: OperationRow,
    given: Mapping[str, Any],
    properties: Mapping[str, ir.Attribute],
    types: Sequence[Any] | None,
    location: builtin.LocationAttr,
    regions: Sequence[ir.Region] = (),
) -> ir.Operation:
    """An operation outside of any block.

    Args:
        row: Its row.
        given: Its operands by name: a value, several, or None.
        properties: Its attributes.
        types: The types of its results; None for those that are inferred.
        location: Where it comes from.
        regions: Its regions; empty ones if none are given.
    """
    operands: list[ir.SSAValue] = []
    sizes = []
    for each in row.operands:
        found = given.get(each.name)
        values = [] if found is None else [*found] if isinstance(found, list | tuple) else [found]
        operands += [held_value(value) for value in values]
        sizes.append(len(values))
    properties = dict(properties)
    if row.has("AttrSizedOperandSegments"):
        properties[NAMES["operands"]] = segments(*sizes)
    if types is None:
        types = inferred_types(row, operands, properties)
    if row.has("AttrSizedResultSegments"):
        properties[NAMES["results"]] = segments(*[1] * len(types), *[0] * (len(row.results) - len(types)))
    return op_class(row.name).create(
        operands=operands,
        result_types=[each.held if isinstance(each, Type) else each for each in types],
        properties=properties,
        regions=[*regions] or [ir.Region() for _ in row.regions],
        location=location,
    )


def held_value(value: Any) -> ir.SSAValue:
    """The value of xDSL of a value, or of an operation with one result."""
    found: ir.SSAValue = value.held if isinstance(value, Value) else value.result.held
    return found


def _ods_name(row: OperationRow, name: str) -> str:
    names = {each.name for group in (row.operands, row.attributes, row.results) for each in group}
    if name in names:
        return name
    if name.removesuffix("_") in names:
        return name.removesuffix("_")
    for each in names:
        if re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", each).lower() == name:
            return each
    raise TypeError(f"{row.name} has no argument {name!r}")


def _must_be_there(attribute: Any) -> bool:
    return not attribute.is_optional and not attribute.default and attribute.kind != "UnitAttr"


def _is_operand(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_operand, value))
    return isinstance(value, Value | Operation)


def _are_types(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(each, Type) for each in value)
    return isinstance(value, Type)


@cache
def _predicates(name: str) -> bool:
    return name in {"stablehlo.compare", "stablehlo.is_finite"}


def inferred_types(
    row: OperationRow, operands: Sequence[ir.SSAValue], properties: Mapping[str, ir.Attribute]
) -> list[TypeAttribute]:
    """The types of results that a call does not give: those of the first operand, moved or as truths.

    Raises:
        TypeError: There is no operand.
    """
    if not row.results:
        return []
    value = properties.get("value")
    if {each.constraint for each in row.results} == {"Index"}:
        return [builtin.IndexType() for _ in row.results]
    if [each.constraint for each in row.results] == ["!ttnn.device"]:
        return [DeviceType()]
    if not operands and value is not None and hasattr(value, "type"):
        return [value.type]
    if not operands:
        raise TypeError(f"{row.name}: types of results are missing")
    kind: Any = operands[0].type
    if _predicates(row.name):
        kind = builtin.TensorType(builtin.i1, kind.get_shape())
    return [_moved(kind, properties) for _ in row.results]


def _numbers(attribute: ir.Attribute) -> list[int]:
    assert isinstance(attribute, builtin.DenseArrayBase)
    return [int(each) for each in attribute.get_values()]


def _moved(kind: Any, properties: Mapping[str, ir.Attribute]) -> Any:
    """The type of a result on an operand of this type, whose dimensions attributes permute or slice."""
    if "permutation" in properties:
        shape = [kind.get_shape()[dim] for dim in _numbers(properties["permutation"])]
    elif "limit_indices" in properties:
        bounds = (_numbers(properties[name]) for name in ("start_indices", "limit_indices", "strides"))
        shape = [-(-(limit - start) // step) for start, limit, step in zip(*bounds, strict=True)]
    else:
        return kind
    return builtin.TensorType(kind.element_type, shape)
