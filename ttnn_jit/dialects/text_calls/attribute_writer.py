"""Python values as attributes of ops in texts, by the kinds that ODS gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute

from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.dialects.upstream.attribute_kinds import DENSE_ARRAYS, NUMBER_TYPES
from ttnn_jit.dialects.upstream.table_attributes import attribute_class
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.ops.families.text_operation import DenseNumbers


def attribute_of(value: Any, kind: str, element: Attribute) -> Attribute:
    """`value` as an attribute of a kind; `element` is the element type of a tensor of numbers.

    Raises:
        InternalError: The kind takes no such value.
    """
    kind = kind.partition("&")[0]
    if isinstance(value, DenseNumbers):
        return dense_attribute(value, NUMBER_TYPES["I64"] if kind == "I64ElementsAttr" else element)
    if kind.startswith("#"):
        return _of_table(value, kind[1:])
    if kind in DENSE_ARRAYS:
        array: Any = DENSE_ARRAYS[kind]
        return DenseArrayBase.from_list(array, [*value])
    if (type_ := NUMBER_TYPES.get(kind.removesuffix("ArrayAttr"))) is not None and kind.endswith("ArrayAttr"):
        return ArrayAttr([IntegerAttr(each, type_) for each in value])
    if (type_ := NUMBER_TYPES.get(kind.removesuffix("Attr"))) is not None:
        return _number(value, type_)
    return _by_value(value, kind)


def _by_value(value: Any, kind: str) -> Attribute:
    match value:
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i32)
        case float():
            return FloatAttr(value, f32)
        case str():
            return StringAttr(value)
        case tuple():
            return DenseArrayBase.from_list(i32, [*value])
    raise InternalError(f"{value!r} is no attribute of {kind}")


def _number(value: float, type_: Any) -> Attribute:
    return IntegerAttr(int(value), type_) if isinstance(type_, IntegerType) else FloatAttr(float(value), type_)


def _of_table(value: Any, name: str) -> Attribute:
    kind = attribute_class(name, is_type=False)
    assert kind is not None, "the tables have the attributes of their ops"
    if isinstance(value, Mapping):
        return kind(tuple((key, each) for key, each in value.items() if each != ()))
    return kind((("value", str(value)),))


def dense_attribute(numbers: DenseNumbers, element: Attribute) -> Attribute:
    """``dense<...>`` of an element type."""
    type_ = TensorType(element, numbers.shape)
    if numbers.splat is not None:
        return SplatElementsAttr(type_, _element(numbers.splat, element))
    kind: Any = type_
    is_float = isinstance(element, AnyFloat)
    return DenseIntOrFPElementsAttr.from_list(kind, [float(n) if is_float else int(n) for n in numbers.numbers])


def _element(number: float, element: Attribute) -> Attribute:
    if isinstance(element, IntegerType):
        return IntegerAttr(abs(int(number)) if element.width.data == 1 else int(number), element)
    type_: Any = element
    return FloatAttr(float(number), type_)
