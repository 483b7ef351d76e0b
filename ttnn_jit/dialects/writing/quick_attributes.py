"""Creates attributes of known fields without xDSL's conversions and checks, in a sixth of its time.

A compile makes a few types for each of its kernels, and checking their fields takes longer than making them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from xdsl.dialects.builtin import ArrayAttr, IntAttr, IntegerAttr, MemRefType, NoneAttr, StridedLayoutAttr, TensorType
from xdsl.ir import Attribute

A = TypeVar("A", bound=Attribute)

_NONE = NoneAttr()


def quick_attribute(cls: type[A], **fields: object) -> A:
    """The attribute with these fields, each of the class that its definition states; nothing is converted."""
    made = cls.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


@lru_cache(maxsize=4096)
def _int_attr(number: int) -> IntAttr:
    return IntAttr(number)


def int_attr(number: int) -> IntAttr:
    """A number that an attribute holds, which may be an extent."""
    return _int_attr(number) if type(number) is int else quick_attribute(IntAttr, data=number)


def int_attrs(numbers: Iterable[int]) -> ArrayAttr[IntAttr]:
    """Numbers that an attribute holds, such as the extents of a shape."""
    return quick_attribute(ArrayAttr, data=tuple([int_attr(number) for number in numbers]))


def integer_attr(number: int, type_: Attribute) -> IntegerAttr[Any]:
    """``number : type``, for a number of the type's range."""
    return quick_attribute(IntegerAttr, value=int_attr(number), type=type_)


def strided_layout(strides: Sequence[int], offset: int | None) -> StridedLayoutAttr:
    """``strided<[strides], offset: offset>``; the offset None prints as ``?``."""
    return quick_attribute(
        StridedLayoutAttr, strides=int_attrs(strides), offset=_NONE if offset is None else int_attr(offset)
    )


def memref_type(
    element: Attribute, shape: Iterable[int], layout: Attribute | None, space: Attribute
) -> MemRefType[Attribute]:
    """``memref<shape x element, layout, space>``."""
    return quick_attribute(
        MemRefType, element_type=element, shape=int_attrs(shape), layout=layout or _NONE, memory_space=space
    )


def tensor_of(element: Attribute, shape: Iterable[int], encoding: Attribute) -> TensorType[Attribute]:
    """``tensor<shape x element, encoding>``."""
    return quick_attribute(TensorType, shape=int_attrs(shape), element_type=element, encoding=encoding)
