"""Attributes as trees: numbers, texts, lists, and dicts by the names that fields of the schemas have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from ttnn_jit.diagnostics.errors import CompileError, DTypeError, InternalError
from ttnn_jit.dialects.text_calls.text_attributes import symbol_of
from ttnn_jit.dialects.ttcore import DimensionsAttr, KeywordAttr
from ttnn_jit.dialects.ttnn_attributes import CoreRangeAttr
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.attributes_of_values import ENUMERATORS
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute, attribute_class
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.schemas.schema import Enum, Record, Scalar, Schema, Text, Union, Vector


class Keyword(str):
    """A case of an enum, as texts spell it.

    Attributes:
        cpp_type: The enum in C++; "" if it is not known.
    """

    cpp_type = ""

    @classmethod
    def of(cls, text: str, cpp_type: str) -> Keyword:
        """The case of an enum."""
        made = cls(text)
        made.cpp_type = cpp_type
        return made


class Parameters(dict[str, Any]):
    """The parameters of an attribute by field.

    Attributes:
        cpp_class: The class of the attribute in C++.
    """

    cpp_class = ""


def snake(name: str) -> str:
    """A name in the form of fields: ``numericStable`` is ``numeric_stable``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def tree_of(attribute: Attribute) -> Any:
    """An attribute as a tree.

    Raises:
        CompileError: No tree says what it is.
    """
    for kind in type(attribute).__mro__:
        if (reader := _READERS.get(kind)) is not None:
            return reader(attribute)
    raise CompileError(f"{str(attribute)[:60]} has no form in a binary")


def _integer(attribute: IntegerAttr[Any]) -> int | bool:
    return bool(attribute.value.data) if attribute.type == IntegerType(1) else int(attribute.value.data)


def _dense(attribute: DenseArrayBase[Any]) -> list[Any]:
    is_flag = attribute.elt_type == IntegerType(1)
    return [bool(each) if is_flag else each for each in attribute.get_values()]


def _parameters(attribute: TableAttribute) -> Any:
    types = {each.name: each.cpp_type for row in reversed(attribute.rows) for each in row.parameters}
    found = Parameters()
    found.cpp_class = attribute.rows[0].cpp_class
    for name, value in attribute.data:
        found[snake(name)] = _parameter(value, types[name])
    return found["value"] if [*found] == ["value"] else found["shape"] if [*found] == ["shape"] else found


def _parameter(value: Any, cpp_type: str) -> Any:
    match value:
        case Attribute():
            return tree_of(value)
        case tuple():
            inner = re.sub(r"^.*?<(.*?)(?:,\s*\d+)?>$", r"\1", cpp_type)
            return [_parameter(each, inner) for each in value]
        case AffineMap():
            return str(value)
        case str():
            return Keyword.of(value, cpp_type)
        case _:
            return value


def _core_range(attribute: CoreRangeAttr) -> dict[str, Any]:
    first_x, first_y, last_x, last_y = attribute.data
    return {"start_coord": {"x": first_x, "y": first_y}, "end_coord": {"x": last_x, "y": last_y}}


_READERS: Mapping[type[Attribute], Callable[[Any], Any]] = {
    IntegerAttr: _integer,
    FloatAttr: lambda attribute: float(attribute.value.data),
    StringAttr: lambda attribute: attribute.data,
    ArrayAttr: lambda attribute: [*map(tree_of, attribute.data)],
    DenseArrayBase: _dense,
    DenseIntOrFPElementsAttr: lambda attribute: [*attribute.get_values()],
    SplatElementsAttr: lambda attribute: [tree_of(attribute.element)] * math.prod(attribute.type.get_shape()),
    TableAttribute: _parameters,
    KeywordAttr: lambda attribute: Keyword.of(attribute.data, ""),
    DimensionsAttr: lambda attribute: [*attribute.data],
    CoreRangeAttr: _core_range,
    UnitAttr: lambda _: True,
    NoneAttr: lambda _: None,
    SymbolRefAttr: symbol_of,
}


def fitted(schema: Schema, type_: Any, tree: Any) -> Any:
    """A tree as a value of a type of the schema; see `flatbuffer_writer`.

    Args:
        schema: The schema.
        type_: No union.
        tree: The tree.

    Raises:
        InternalError: It does not fit.
    """
    if tree is None:
        return None
    match type_:
        case Scalar() | Enum():
            return _number(type_, tree)
        case Text():
            return str(tree)
        case Vector(element=element):
            return tree if isinstance(tree, bytes) else [fitted(schema, element, each) for each in _listed(tree)]
        case Record():
            return _record(schema, type_, tree)
        case _:
            raise InternalError(f"{tree} is of no known type")


def _listed(tree: Any) -> Any:
    return tree if isinstance(tree, list | tuple) else [tree]


def _number(type_: Scalar | Enum, tree: Any) -> Any:
    if isinstance(type_, Enum):
        if type_.is_flags and isinstance(tree, int):
            return " ".join(case for bit, case in type_.cases.items() if tree >> bit & 1) or 0
        return case_of(type_, tree)
    if isinstance(tree, Keyword):
        return tables.enum_values(tree.cpp_type, "ttnn")[tree]
    if type_.code in "fd":
        return float(tree)
    return bool(tree) if type_.code == "?" else int(tree)


_RENAMED = {
    "shard_orientation": "orientation", "shard_distribution_strategy": "distribution_strategy", "grid": "grid_size",
    "dram_grid": "dram_grid_size", "num_c_bs": "num_cbs",
}  # fmt: skip
"""Parameter -> field, where they differ."""


def _record(schema: Schema, record: Record, tree: Any) -> dict[str, Any]:
    if isinstance(tree, list) and {*record.fields} == {"y", "x"} and len(tree) == 2:
        return {"y": int(tree[0]), "x": int(tree[1])}
    if isinstance(tree, list) and record.is_struct and len(tree) == len(record.fields):
        return {name: int(each) for name, each in zip(record.fields, tree, strict=True)}
    if not isinstance(tree, Mapping):
        raise CompileError(f"{tree} is no {record.name} of a binary")
    found: dict[str, Any] = {}
    for name, value in tree.items():
        field = record.fields.get(_RENAMED.get(name, str(name)))
        if field is None:
            raise CompileError(f"{record.name} of a binary has no field for the parameter {name}")
        found |= fitted_field(schema, field.name, field.type, value)
    return found


def fitted_field(schema: Schema, name: str, type_: Any, tree: Any) -> dict[str, Any]:
    """The entries of a field: one, or for a union its type too; none for None."""
    if tree is None:
        return {}
    if not isinstance(type_, Union):
        return {name: fitted(schema, type_, tree)}
    variant = _variant(type_, tree)
    if variant not in type_.tags:
        raise CompileError(f"{type_.name} of a binary has no {variant}")
    table = schema.record(type_.variants[type_.tags[variant]][1])
    value = tree if isinstance(tree, Mapping) else {next(iter(table.fields)): tree}
    return {f"{name}_type": variant, name: fitted(schema, table, value)}


def _variant(union: Union, tree: Any) -> str:
    """The variant of a union that holds a tree: a number, a list, or parameters of a class."""
    match tree:
        case Parameters():
            return tree.cpp_class.removesuffix("Attr")
        case float():
            return "FP"
        case int():
            return "I32" if "I32" in union.tags else "UI32" if "UI32" in union.tags else "UniformScale2D"
        case _:
            return "NonUniformScale2D"


def case_of(enum: Enum, keyword: str) -> str:
    """The case of an enum that a keyword of texts means.

    Raises:
        DTypeError: It has none.
    """
    found = _cases(tuple(enum.numbers)).get(_plain(keyword))
    if found is None:
        raise DTypeError(f"{enum.name} of a binary has no {keyword}")
    return found


def keyword_of(case: str, cpp_type: str, dialect: str) -> str:
    """The keyword of texts for a case of an enum.

    Raises:
        InternalError: The enum in C++ has none.
    """
    for keyword in tables.enum_cases(cpp_type, dialect) or ():
        if _plain(keyword) == _plain(case) or _SPELLED.get(keyword) == case:
            return keyword
    raise InternalError(f"{cpp_type} has no {case}")


@cache
def _cases(cases: tuple[str, ...]) -> dict[str, str]:
    found = {_plain(case): case for case in cases}
    return found | {_plain(keyword): case for keyword, case in _SPELLED.items() if case in found.values()}


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


DATA_TYPES = {keyword: case for keyword, case in ENUMERATORS.items() if keyword != "mmio"} | {
    "f64": "Float64", "si64": "Int64", "u64": "UInt64", "si16": "Int16", "si8": "Int8",
}  # fmt: skip
"""Keyword of a data type in texts -> its case in binaries."""
_SPELLED = DATA_TYPES | {
    "full_to_shard": "FullToShardShape", "shard_to_full": "ShardToFullShape", "dedicated_noc": "DM_DEDICATED_NOC",
    "dynamic_noc": "DM_DYNAMIC_NOC",
}  # fmt: skip


def attribute_text(name: str, tree: Mapping[str, Any]) -> str:
    """The text of an attribute whose parameters a table or struct of a binary holds."""
    kind = attribute_class(name, is_type=False)
    assert kind is not None, f"the tables have {name}"
    dialect = name.partition(".")[0]
    values = []
    for parameter in kind.rows[0].parameters:
        field = snake(parameter.name)
        value = tree.get(_RENAMED.get(field, field))
        if value is not None:
            values.append((parameter.name, _raw(parameter.cpp_type, dialect, value)))
    return str(kind(tuple(values)))


_WRAPPED = re.compile(r"(?:ArrayRef|SmallVector|optional)<(.*?)(?:,\s*\d+)?>$")
_INTEGER = re.compile(r"u?int\d+_t|unsigned|size_t|int")
_NUMBERS: Mapping[str, Callable[[Any], Any]] = {
    "BoolAttr": lambda value: IntegerAttr(-1 if value else 0, IntegerType(1)),
    "StringAttr": StringAttr,
    "FloatAttr": lambda value: FloatAttr(float(value), f64),
    "IntegerAttr": lambda value: IntegerAttr(int(value), i64),
    "bool": bool,
    "ChipCapabilityAttr": lambda value: IntegerAttr(1 if value == "HostMMIO" else 0, i32),
}


def _raw(cpp_type: str, dialect: str, value: Any) -> Any:
    """A parameter's value, as `table_attributes` keeps it."""
    inner = _WRAPPED.match(cpp_type)
    if inner and isinstance(value, Mapping) and _INTEGER.fullmatch(inner[1]):
        return tuple(value.values())
    if inner:
        is_list = isinstance(value, list) and not cpp_type.startswith("optional")
        return tuple(_raw(inner[1], dialect, each) for each in value) if is_list else _raw(inner[1], dialect, value)
    if cpp_type in _NUMBERS:
        return _NUMBERS[cpp_type](value)
    found = tables.attribute_of_class(cpp_type, dialect)
    if found is not None:
        return _nested(found[0], value)
    return keyword_of(value, cpp_type, dialect) if isinstance(value, str) else value


def _nested(name: str, value: Any) -> Attribute:
    rows = tables.attribute_rows(name, is_type=False)
    if isinstance(value, str):
        return parsed(f"#{name}<{keyword_of(value, rows[0].parameters[0].cpp_type, name.partition('.')[0])}>")
    if name == "ttnn.core_range":
        first, last = value["start_coord"], value["end_coord"]
        return parsed(f"#{name}<({first['x']},{first['y']}), ({last['x']},{last['y']})>")
    if name == "ttcore.grid":
        return parsed(f"#{name}<{value['y']}x{value['x']}>")
    if name == "ttnn.shape":
        return parsed(f"#{name}<{'x'.join(map(str, value))}>")
    return parsed(attribute_text(name, value))
