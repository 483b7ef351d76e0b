"""The element types that a tile body supports: the body runs on a mock builder for each kind of arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from ttnn_jit.ops.language.emit import Emit, EmitIntegers, EmitTruths, EmitWideFloats, EmitWideIntegers
from ttnn_jit.specs.dtype_traits import Storage
from ttnn_jit.specs.dtypes import BOOLS, FLOATS, INTEGERS, WIDE_FLOATS, WIDE_INTEGERS
from ttnn_jit.specs.tensor_spec import DataType


def dtypes_of(emit: Callable[..., Any], arity: int) -> frozenset[DataType]:
    """The element types whose arithmetic has all functions that ``emit(b, *operands)`` calls."""
    kinds = (
        (FLOATS, _MockBuilder(Emit)),
        (WIDE_FLOATS, _MockBuilder(EmitWideFloats)),
        (WIDE_INTEGERS, _MockBuilder(EmitWideIntegers, has=_is_whole)),
        (INTEGERS - _SIGN_EXTENDED, _MockBuilder(EmitIntegers, has=_is_whole)),
        (_SIGN_EXTENDED, _MockBuilder(EmitIntegers, has=_is_whole, without=("shift_right_zero",))),
        (BOOLS, _MockBuilder(EmitTruths, has=_is_truth)),
    )
    return frozenset[DataType]().union(*(dtypes for dtypes, names in kinds if dtypes and _supports(emit, arity, names)))


def _is_whole(value: float) -> bool:
    return float(value).is_integer()


def _is_truth(value: float) -> bool:
    return value in {0, 1}


_SIGN_EXTENDED = frozenset(
    dtype for dtype in INTEGERS if dtype.traits.compute.is_signed and dtype.traits.storage is Storage.LOW_BITS
)
"""Types that kernels sign-extend; a logical right shift would shift the copies of the sign in."""


def _supports(emit: Callable[..., Any], arity: int, names: _MockBuilder) -> bool:
    try:
        emit(names, *[object()] * arity)
    except _UnsupportedError:
        return False
    return True


class _UnsupportedError(Exception):
    """The arithmetic lacks a function or a number."""


class _MockBuilder:
    """A mock builder with the functions of a protocol, which compute nothing."""

    def __init__(
        self, protocol: type, *, has: Callable[[float], bool] = lambda _: True, without: Collection[str] = ()
    ) -> None:
        self._functions = frozenset(dir(protocol)).difference(without)
        self._has = has

    def const(self, value: float) -> object:
        if not self._has(value):
            raise _UnsupportedError(value)
        return object()

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name not in self._functions:
            raise _UnsupportedError(name)
        return partial(_mock_call, name)


def _mock_call(name: str, *operands: Any) -> object:
    """A mock value.

    Raises:
        TypeError: An operand of `name` is a bare number where a value is necessary.
    """
    if name in _VALUE_FUNCTIONS and any(isinstance(operand, int | float) for operand in operands):
        raise TypeError(f"`{name}` in a tile body takes elements: write `b.const(...)` around a number")
    return object()


_VALUE_FUNCTIONS = frozenset({*dir(Emit), *dir(EmitIntegers)}) - {"softplus", "addcmul", "addcdiv"}
"""Functions without parameters that are bare numbers."""
