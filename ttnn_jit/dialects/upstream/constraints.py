"""Constraints of ODS on types and attributes; one that is not known here accepts everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrankedMemRefType,
    UnregisteredAttr,
    i32,
)
from xdsl.ir import Attribute

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.attribute_kinds import DENSE_ARRAYS, NUMBER_TYPES


def accepts(type_: Attribute, constraint: str) -> bool:
    """Whether a constraint on types takes a type."""
    if isinstance(type_, UnregisteredAttr):
        return True
    if (only := NUMBER_TYPES.get(constraint)) is not None:
        return bool(type_ == only)
    if constraint.startswith("!"):
        return type_.name == constraint[1:]
    known = _TYPES.get(constraint)
    return known is None or known(type_)


_TYPES: dict[str, Callable[[Attribute], bool]] = {
    "AnyRankedTensor": lambda type_: isinstance(type_, TensorType),
    "AnyRankedTensorOrMemRef": lambda type_: isinstance(type_, (TensorType, MemRefType, UnrankedMemRefType)),
    "AnyMemRef": lambda type_: isinstance(type_, MemRefType),
    "AnyRankedOrUnrankedMemRef": lambda type_: isinstance(type_, (MemRefType, UnrankedMemRefType)),
    "AnyNon0RankedMemRef": lambda type_: isinstance(type_, MemRefType) and len(type_.get_shape()) > 0,
    "IndexLike": lambda type_: isinstance(type_, IndexType) or type_ == i32,
}


def attribute_accepts(attribute: Attribute, kind: str) -> str | None:
    """None if a kind of attributes takes an attribute, else what it takes."""
    if isinstance(attribute, UnregisteredAttr):
        return None
    base, _, confined = kind.partition("&")
    if not _kind_accepts(attribute, base):
        return tables.constraint(confined or base)[0] or base
    return None


def _kind_accepts(attribute: Attribute, kind: str) -> bool:
    if kind.startswith("#"):
        return attribute.name == kind[1:] or kind.startswith("#builtin.")
    if kind.startswith("["):
        return isinstance(attribute, ArrayAttr) and all(_kind_accepts(each, kind[1:-1]) for each in attribute)
    number = NUMBER_TYPES.get(kind.removesuffix("Attr")) if kind.endswith("Attr") else None
    if number is not None:
        return isinstance(attribute, (IntegerAttr, FloatAttr)) and attribute.type == number
    if (element := DENSE_ARRAYS.get(kind)) is not None:
        return isinstance(attribute, DenseArrayBase) and attribute.elt_type == element
    known = _ATTRIBUTES.get(kind)
    return known is None or known(attribute)


def _is_array_of(width: int) -> Callable[[Attribute], bool]:
    def test(attribute: Attribute) -> bool:
        return isinstance(attribute, ArrayAttr) and all(_is_integer_of(each, width) for each in attribute)

    return test


def _is_integer_of(attribute: Attribute, width: int) -> bool:
    type_: Any = getattr(attribute, "type", None)
    return isinstance(attribute, IntegerAttr) and isinstance(type_, IntegerType) and type_.width.data == width


_ATTRIBUTES: dict[str, Callable[[Attribute], bool]] = {
    "BoolAttr": lambda attribute: _is_integer_of(attribute, 1),
    "StrAttr": lambda attribute: isinstance(attribute, StringAttr),
    "SymbolNameAttr": lambda attribute: isinstance(attribute, StringAttr),
    "FlatSymbolRefAttr": lambda attribute: isinstance(attribute, SymbolRefAttr),
    "UnitAttr": lambda attribute: isinstance(attribute, UnitAttr),
    "ArrayAttr": lambda attribute: isinstance(attribute, ArrayAttr),
    "DictionaryAttr": lambda attribute: isinstance(attribute, DictionaryAttr),
    "AffineMapAttr": lambda attribute: isinstance(attribute, AffineMapAttr),
    "I32ArrayAttr": _is_array_of(32),
    "I64ArrayAttr": _is_array_of(64),
    "AnyFloatAttr": lambda attribute: isinstance(attribute, FloatAttr) and isinstance(attribute.type, AnyFloat),
}
