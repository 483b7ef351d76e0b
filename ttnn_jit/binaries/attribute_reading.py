"""Attributes of operations from fields of binaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, f32, i32
from xdsl.ir import Attribute

from ttnn_jit.binaries.attribute_trees import attribute_text, keyword_of
from ttnn_jit.diagnostics.errors import ProgramFormatError
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.rewriting.attributes_of_values import attribute_of_value
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed, si32, ttnn_shape
from ttnn_jit.schemas.schema import Enum, Union


def attribute_of_field(kind: str, type_: Any, value: Any, variant: str = "") -> Attribute:
    """The attribute of a field's value.

    Args:
        kind: The kind of attribute that the operation declares.
        type_: The type of the field.
        value: The value.
        variant: That of a union.

    Raises:
        ProgramFormatError: There is no attribute of that kind for the value.
    """
    try:
        return _attribute(kind, type_, value, variant)
    except ProgramFormatError:
        raise
    except Exception as error:  # parsers of attributes raise various errors for numbers out of range
        raise ProgramFormatError(f"{_short(value)} is no {kind.lstrip('#')}") from error


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _attribute(kind: str, type_: Any, value: Any, variant: str) -> Attribute:
    if isinstance(type_, Union):
        return _of_union(variant, value)
    if kind == "I64ElementsAttr":  # pairs of devices, whose vector is flat
        return attribute_of_value([value[place : place + 2] for place in range(0, len(value), 2)], kind)
    if not kind.startswith("#"):
        word = _keyword(kind, value) if isinstance(type_, Enum) else value
        return attribute_of_value(word, kind)
    return _of_dialect(kind[1:], value)


def _of_dialect(name: str, value: Any) -> Attribute:
    match value:
        case list():
            return ttnn_shape(value)
        case Mapping() if name in _EXTENTS:
            return parsed(f"#ttnn<{name.partition('.')[2]} {value['y']}x{value['x']}>")
        case Mapping():
            return parsed(attribute_text(name, value))
        case _:
            return parsed(f"#{name}<{_keyword(name, value)}>")


_EXTENTS = {"ttnn.mesh_shape", "ttnn.mesh_offset"}


def _keyword(name: str, value: str | int) -> str:
    """The keyword of a case, or of its number."""
    rows = tables.attribute_rows(name, is_type=False)
    cpp_type = rows[0].parameters[0].cpp_type if rows else _ENUMS.get(name, name)
    dialect = name.partition(".")[0]
    if isinstance(value, str):
        return keyword_of(value, cpp_type, dialect)
    numbers = {number: word for word, number in tables.enum_values(cpp_type, dialect).items()}
    if value not in numbers:
        raise ProgramFormatError(f"{value} is no {name}")
    return numbers[value]


_ENUMS = {"ttcore.supportedDataTypes": "ttcore::DataType"}


def _of_union(variant: str, value: Mapping[str, Any]) -> Attribute:
    match variant:
        case "FP":
            return FloatAttr(float(value["value"]), f32)
        case "I32" | "UI32":
            return IntegerAttr(int(value["value"]), i32)
        case "UniformScale2D":
            return IntegerAttr(int(value["scale"]), si32)
        case "NonUniformScale2D":
            return DenseArrayBase.from_list(i32, value.get("scale", []))
    found = tables.attribute_of_class(f"{variant}Attr", "ttnn")
    if found is None:
        raise ProgramFormatError(f"{variant} has no attribute")
    return parsed(attribute_text(found[0], value))
