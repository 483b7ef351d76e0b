"""On which arithmetic a tile body runs: found by running it on builders that have the functions of one by name."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Protocol

from ttnn_jit.ops.language.emit import Emit, EmitIntegers, EmitTruths
from ttnn_jit.specs.dtypes import BOOLS, FLOATS, INT64S, INTEGERS, Storage
from ttnn_jit.specs.tensor_spec import DataType


def dtypes_of(emit: Callable[..., Any], arity: int) -> frozenset[DataType]:
    """The element types of the arithmetic that ``emit(b, *operands)`` asks for."""
    kinds = (
        (FLOATS, _Names(Emit)),
        (INTEGERS - _SIGN_EXTENDED, _Names(EmitIntegers, has=_is_whole)),
        (_SIGN_EXTENDED, _Names(EmitIntegers, has=_is_whole, without=("shift_right_zero",))),
        (BOOLS, _Names(EmitTruths, has=_is_truth)),
        (INT64S, _Names(_Nothing, has=lambda _: False)),
    )
    return frozenset[DataType]().union(*(dtypes for dtypes, names in kinds if dtypes and _runs(emit, arity, names)))


class _Nothing(Protocol):
    """What an ``emit`` that moves its operands may use."""


def _is_whole(value: float) -> bool:
    return float(value).is_integer()


def _is_truth(value: float) -> bool:
    return value in {0, 1}


_SIGN_EXTENDED = frozenset(
    dtype for dtype in INTEGERS if dtype.traits.compute.is_signed and dtype.traits.storage is Storage.LOW_BITS
)
"""Kernels hold copies of the sign above such an element, which a shift must not bring in."""


def _runs(emit: Callable[..., Any], arity: int, names: _Names) -> bool:
    try:
        emit(names, *[object()] * arity)
    except _LacksError:
        return False
    return True


class _LacksError(Exception):
    """The arithmetic has no such function, or no such number."""


class _Names:
    """A builder that has the functions of a protocol by name; they compute nothing."""

    def __init__(
        self, protocol: type, *, has: Callable[[float], bool] = lambda _: True, without: Collection[str] = ()
    ) -> None:
        self._functions = frozenset(dir(protocol)).difference(without)
        self._has = has

    def const(self, value: float) -> object:
        if not self._has(value):
            raise _LacksError(value)
        return object()

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name not in self._functions:
            raise _LacksError(name)
        return partial(_computed, name)


def _computed(name: str, *operands: Any) -> object:
    """A number or truth of each element, of such; attributes that a function names may be numbers.

    Raises:
        TypeError: A bare number stands where one of each element is wanted.
    """
    if name in _OF_ELEMENTS and any(isinstance(operand, int | float) for operand in operands):
        raise TypeError(f"`{name}` in a tile body takes elements: write `b.const(...)` around a number")
    return object()


_OF_ELEMENTS = frozenset({*dir(Emit), *dir(EmitIntegers)}) - {"softplus", "addcmul", "addcdiv"}
"""Functions that take no bare number beside elements."""
