"""A tensor of one element that computes at once, in Python, for the plain run of a program."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS = (bool, int, float, np.number, np.bool_)

OPERATIONS: dict[str, Callable[..., float]] = {
    "relu": lambda x: x if x > 0.0 else 0.0,
    "neg": operator.neg,
    "abs": abs,
    "square": lambda x: x * x,
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
}
"""Operations whose results are exact where the operands are small multiples of powers of two."""


class Reference:
    """A stand-in for a torch tensor with equal elements, which augmented assignments write.

    ``ttnn`` operations reach it as they reach a trace.
    """

    __array_ufunc__ = None

    def __init__(self, value: float) -> None:
        self.value = value

    def __ttnn_call__(self, function: Any, args: Any, kwargs: Any) -> Reference:
        operation = OPERATIONS[function.__name__.rpartition(".")[2]]
        return Reference(operation(*map(_number, args), **{name: _number(value) for name, value in kwargs.items()}))

    def __neg__(self) -> Reference:
        return Reference(-self.value)

    def __bool__(self) -> bool:
        raise TypeError("a branch cannot depend on a tensor")


def _number(value: Any) -> float:
    if isinstance(value, Reference):
        return value.value
    if not isinstance(value, NUMBERS):
        raise TypeError(f"no number: {type(value).__name__}")
    return float.__float__(float(value)) if type(value) in NUMBERS else _plain_number(value)


def _plain_number(value: Any) -> float:
    """The numeric value of a number of a user class, without calling its methods."""
    if isinstance(value, float):
        return float.__pos__(value)
    return float(int.__index__(value)) if isinstance(value, int) else float(value)


def _operator(name: str, function: Callable[[float, float], float]) -> None:
    def method(self: Reference, other: Any) -> Reference:
        return Reference(function(self.value, _number(other)))

    def reflected(self: Reference, other: Any) -> Reference:
        return Reference(function(_number(other), self.value))

    def in_place(self: Reference, other: Any) -> Reference:
        self.value = function(self.value, _number(other))
        return self

    setattr(Reference, f"__{name}__", method)
    setattr(Reference, f"__r{name}__", reflected)
    setattr(Reference, f"__i{name}__", in_place)


for _name, _function in {"add": operator.add, "sub": operator.sub, "mul": operator.mul}.items():
    _operator(_name, _function)


def same(one: float, other: float) -> bool:
    """Whether two results are one number, rounding to float32 aside; 0.0 is not -0.0."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    with np.errstate(over="ignore"):
        one, other = float(np.float32(one)), float(np.float32(other))
    if one == other == 0.0:
        return math.copysign(1.0, one) == math.copysign(1.0, other)
    return one == other or abs(one - other) <= 1e-5 * max(abs(one), abs(other))
