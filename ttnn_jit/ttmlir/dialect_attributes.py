"""Attributes and types of the dialects, made from the tables: what they are called with, and their parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Attribute as HeldAttribute
from xdsl.ir import TypeAttribute, affine

from ttnn_jit.dialects.ttcore import DimensionsAttr, GridAttr, KeywordAttr
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute, attribute_class
from ttnn_jit.dialects.upstream.tables import AttributeRow, Parameter
from ttnn_jit.ttmlir.enums import DialectEnum, enum_of
from ttnn_jit.ttmlir.mlir_affine import AffineMap
from ttnn_jit.ttmlir.mlir_attributes import Attribute
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.wrapping import makes_wrappers, parsed, text_of, wrapped

_PYTHON_NAMES = {
    "sdy.sharding": {"dimension_shardings": "dim_shardings"},
    "stablehlo.scatter": {"scattered_dims_to_operand_dims": "scatterDimsToOperandDims"},
}
"""Attribute -> the names of Python that are not those of its parameters."""


class DialectAttribute(Attribute):
    """Base of the classes; parameters are read by their names, numbers of enums also as ``<name>_as_int``.

    Attributes:
        row: The newest row of its name.
    """

    row: ClassVar[AttributeRow]

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether it has the name."""
        return held.name == cls.row.name

    @classmethod
    def get(cls, *arguments: Any, **keywords: Any) -> Self:
        """The attribute of its parameters, in order or by name; a context among them is passed over.

        Raises:
            TypeError: There are more than it has, or one has no such name.
        """
        by_name: dict[str, Any] = {}
        positional = [each for each in arguments if not isinstance(each, Context)]
        if len(positional) > len(cls.row.parameters):
            raise TypeError(f"{cls.row.name} has {len(cls.row.parameters)} parameters, {len(positional)} were given")
        for parameter, value in zip(cls.row.parameters, positional, strict=False):
            by_name[parameter.name] = value
        known = {_plain(each.name): each.name for each in cls.row.parameters}
        known |= {_plain(name): own for name, own in _PYTHON_NAMES.get(cls.row.name, {}).items()}
        for name, value in keywords.items():
            if name in {"context", "ctx"}:
                continue
            if _plain(name) not in known:
                raise TypeError(f"{cls.row.name} has no parameter {name!r}")
            by_name[known[_plain(name)]] = value
        return cls.from_values(by_name)

    @classmethod
    def from_values(cls, by_name: dict[str, Any]) -> Self:
        """The attribute of parameters by name."""
        values = []
        for parameter in cls.row.parameters:
            value = _held_value(by_name.get(parameter.name), parameter, cls.row.name)
            if f"custom<CoordBracketStyle>(${parameter.name})" in cls.row.format and isinstance(value, TableAttribute):
                value = tuple(number for _, number in value.data)
            if value is not None and not (value == () and parameter.default):
                values.append((parameter.name, value))
        kind = attribute_class(cls.row.name, is_type=cls.row.is_type)
        assert kind is not None
        return cls(parsed(text_of(kind(tuple(values)))))

    def _values(self) -> dict[str, Any]:
        match self.held:
            case TableAttribute():
                return dict(self.held.data)
            case KeywordAttr() | DimensionsAttr() | GridAttr():
                return {self.row.parameters[0].name: self.held.data}
            case _:
                return {}

    def __getattr__(self, name: str) -> Any:
        plain = _plain(name.removesuffix("_as_int") if name.endswith("_as_int") else name)
        if name.startswith("_") or name == "held":
            raise AttributeError(name)
        plain = _plain(_PYTHON_NAMES.get(self.row.name, {}).get(name, plain))
        for parameter in self.row.parameters:
            if _plain(parameter.name) == plain or (
                plain != "value" and len(self.row.parameters) == 1 and "_as_int" in name
            ):
                found = _shown(self._values().get(parameter.name), parameter, self.row.name)
                return int(found) if name.endswith("_as_int") else found
        raise AttributeError(f"{type(self).__name__} has no {name!r}")


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _enum_of_parameter(parameter: Parameter, name: str) -> Any:
    """The enum of a parameter, or of the elements of one that is an array; None if it has none."""
    word = parameter.cpp_type.strip().rpartition("<")[2].rstrip(">")
    return enum_of(word, name.partition(".")[0]) or enum_of(word.rpartition("::")[2], name.partition(".")[0])


def _held_value(value: Any, parameter: Parameter, name: str) -> Any:
    """A parameter's value as the tables' classes hold it."""
    kinds = _enum_of_parameter(parameter, name)
    match value:
        case list() | tuple():
            return tuple(_held_value(each, parameter, name) for each in value)
        case DialectEnum():
            found: Any = value.keyword
        case DialectAttribute() if kinds is not None:
            found = value.value.keyword
        case int() if kinds is not None and not isinstance(value, bool):
            found = kinds(value).keyword
        case str() if "StringAttr" in parameter.cpp_type:
            found = StringAttr(value)
        case str() if parameter.cpp_type == "Attribute":  # a mesh or its symbol
            found = SymbolRefAttr(value)
        case _:
            found = getattr(value, "held", value)
    return found


def _shown(value: Any, parameter: Parameter, name: str) -> Any:
    """A value that the tables' classes hold, as users see it."""
    kinds = _enum_of_parameter(parameter, name)
    match value:
        case None:
            found: Any = [] if "ArrayRef" in parameter.cpp_type else None
        case str() if kinds is not None:
            found = next(each for each in kinds if each.keyword == value)
        case tuple():
            found = [wrapped(each) if isinstance(each, HeldAttribute) else each for each in value]
        case affine.AffineMap():
            found = AffineMap(value)
        case StringAttr():
            found = value.data
        case HeldAttribute():
            found = wrapped(value)
        case _:
            found = value
    return found


class DialectType(DialectAttribute, Type):
    """Base of the classes of types."""

    @classmethod
    def isinstance_of(cls, held: HeldAttribute) -> bool:
        """Whether it has the name."""
        return held.name == cls.row.name


@cache
def attribute_wrapper(name: str, *, is_type: bool) -> type[DialectAttribute] | None:
    """The class of an attribute or type of the tables; None if they have none of that name."""
    kind = attribute_class(name, is_type=is_type)
    if kind is None:
        return None
    row = kind.rows[0]
    made = _BY_HAND.get(name)
    if made is None:
        made = type(row.cpp_class, (DialectType if is_type else DialectAttribute,), {"__doc__": f"``{name}``."})
    made.row = row
    return made


def _of_tables(held: HeldAttribute) -> type[DialectAttribute] | None:
    if held.name.partition(".")[0] in {"builtin", "func"} or "." not in held.name:
        return None
    return attribute_wrapper(held.name, is_type=isinstance(held, TypeAttribute))


makes_wrappers(_of_tables)


_BY_HAND: dict[str, type[DialectAttribute]] = {}


def by_hand(name: str) -> Callable[[type[Any]], type[Any]]:
    """Registers a class whose call or parameters are not those of the row."""

    def register(kind: type[Any]) -> type[Any]:
        _BY_HAND[name] = kind
        return kind

    return register


@cache
def names_of_dialect(dialect: str) -> dict[str, tuple[str, bool]]:
    """Class of C++ -> name of the attribute or type, and whether it is a type."""
    found = {}
    for is_type, name in tables.attribute_names():
        if name.partition(".")[0] == dialect:
            kind = attribute_class(name, is_type=is_type)
            assert kind is not None
            for row in kind.rows:
                found[row.cpp_class] = (name, is_type)
    return found
