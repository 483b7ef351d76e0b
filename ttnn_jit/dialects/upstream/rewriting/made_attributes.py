"""Attributes and types that rewriters write, each made once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    TensorType,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute

from ttnn_jit.dialects.text.parsing import SourceText
from ttnn_jit.dialects.upstream.context import UpstreamContext
from ttnn_jit.dialects.upstream.rules.view import integers_in as integers_in  # noqa: PLC0414 - read as they are made
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr, UpstreamParser

si32 = IntegerType(32, Signedness.SIGNED)
ui32 = IntegerType(32, Signedness.UNSIGNED)


@cache
def parsed(text: str) -> Attribute:
    """The attribute that a text spells, such as ``#ttnn.layout<tile>``."""
    return _parser(text).parse_attribute()


@cache
def parsed_type(text: str) -> Attribute:
    """The type that a text spells, such as ``!ttnn.device``."""
    return _parser(text).parse_type()


def _parser(text: str) -> UpstreamParser:
    return UpstreamParser(UpstreamContext.make(), SourceText(text, "<rewriter>"), keep_bodies=False)


@cache
def integer(value: int, type_: IntegerType = i32) -> Attribute:
    """An integer attribute."""
    return IntegerAttr(value, type_)


def number(value: float) -> Attribute:
    """An attribute of f32."""
    return FloatAttr(value, f32)


def boolean(value: bool) -> Attribute:
    """``true`` or ``false``."""
    return BoolAttr.from_bool(value)


def listed(values: Sequence[int], type_: IntegerType = i32) -> Attribute:
    """``[1 : i32, 2 : i32]``."""
    return ArrayAttr([IntegerAttr(each, type_) for each in values])


def dense_i32(values: Sequence[int]) -> Attribute:
    """``array<i32: 1, 2>``."""
    return DenseArrayBase.from_list(i32, [*values])


def dense_i64(values: Sequence[int]) -> Attribute:
    """``array<i64: 1, 2>``."""
    return DenseArrayBase.from_list(i64, [*values])


def ttnn_shape(values: Sequence[int]) -> Attribute:
    """``#ttnn.shape<1x2>``."""
    return parsed(f"#ttnn.shape<{'x'.join(map(str, values))}>")


def splat_number(attribute: Attribute | None) -> float | int | None:
    """The number of all elements of a constant: a splat or a number; None if there are several, or none."""
    match attribute:
        case SplatElementsAttr():
            return splat_number(attribute.element)
        case IntegerAttr() | FloatAttr():
            value: float | int = attribute.value.data
            return value
        case DenseIntOrFPElementsAttr():
            return _repeated_number(attribute)
        case _:
            return None


_FIRST_BYTES = 256
"""How many bytes of a constant are compared before all of them are: most constants that are no splats differ there."""


def _repeated_number(attribute: DenseIntOrFPElementsAttr) -> float | int | None:
    """The number that every element of a list is, bit by bit: MLIR makes a splat of such a list, xDSL does not."""
    found = np.frombuffer(attribute.data.data, np.uint8)
    count = math.prod(attribute.get_shape())
    if count == 0 or len(found) % count:
        return None
    size = len(found) // count
    for end in (_FIRST_BYTES, len(found)):
        part = found[:end]
        if not np.array_equal(part[size:], part[:-size]):
            return None
    first = DenseIntOrFPElementsAttr(TensorType(attribute.get_element_type(), [1]), BytesAttr(bytes(found[:size])))
    value = first.get_values()[0]
    return value if isinstance(value, int | float) else None  # a complex number is two


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The shape of a tensor type."""
    assert isinstance(type_, TensorType)
    return tuple(type_.get_shape())


def with_shape(type_: Attribute, shape: Sequence[int]) -> TensorType[Any]:
    """A tensor type of another shape; it keeps no layout, which depends on the shape."""
    assert isinstance(type_, TensorType)
    return TensorType(type_.get_element_type(), [*shape])


def with_element(type_: Attribute, element: Attribute) -> TensorType[Any]:
    """A tensor type of another element type, with its encoding."""
    assert isinstance(type_, TensorType)
    return TensorType(element, type_.get_shape(), type_.encoding)
