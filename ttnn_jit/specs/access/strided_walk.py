"""Loops over a domain in which addresses are affine, with their strides."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.index_expressions import (
    Add,
    Const,
    Dim,
    Expr,
    FloorDiv,
    Mod,
    Mul,
    divided,
    remainder,
    times,
    total,
)


@dataclass(frozen=True, slots=True)
class StridedWalk:
    """Loops over a domain, and the strides of every address.

    Attributes:
        extents: Extents of the loops, outermost first.
        offsets: Per address, its value at the first element.
        strides: Per address, its stride in each loop.
    """

    extents: tuple[int, ...]
    offsets: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


class NotStridedError(ValueError):
    """An expression has no strides, however the loops are split."""


def walk(extents: Sequence[int], addresses: Sequence[Expr]) -> StridedWalk:
    """Loops over a domain that is not empty, in its order, in which all `addresses` have strides.

    Raises:
        NotStridedError: There are none.
    """
    digits, forms = _split(extents, addresses)
    return StridedWalk(
        tuple(digit.extent for digit in digits),
        tuple(form.constant for form in forms),
        tuple(tuple(form.weights.get(loop, 0) for loop, _ in enumerate(digits)) for form in forms),
    )


def sums_of_parts(extents: Sequence[int], exprs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The same expressions over a domain that is not empty, as sums of parts of single indices.

    Raises:
        NotStridedError: There is no such form.
    """
    digits, forms = _split(extents, exprs)
    indices = [_expr(digit, extents) for digit in digits]
    return tuple(
        total([*(times(indices[loop], weight) for loop, weight in form.weights.items()), Const(form.constant)])
        for form in forms
    )


@dataclass(frozen=True, slots=True)
class _Digit:
    """A loop over a part of an index: of a dimension of the domain, in which it has a step."""

    axis: int
    step: int
    extent: int


class _CutError(Exception):
    """A dimension must be split into two loops, the inner one of extent `step`."""

    def __init__(self, axis: int, step: int) -> None:
        super().__init__()
        self.axis, self.step = axis, step


@dataclass(frozen=True, slots=True)
class _Linear:
    """A constant, and weights of loops by their numbers, outermost first."""

    constant: int
    weights: Mapping[int, int]


def _split(extents: Sequence[int], exprs: Sequence[Expr]) -> tuple[Sequence[_Digit], list[_Linear]]:
    """The loops in which all `exprs` are linear, outermost first; and the linear forms.

    Raises:
        NotStridedError: There are none.
    """
    steps: list[tuple[int, ...]] = [(1, extent) for extent in extents]
    while True:
        digits = _digits(steps)
        try:
            return digits, [_linear(expr, digits) for expr in exprs]
        except _CutError as cut:
            own = steps[cut.axis]
            first = 1 + sum(step < cut.step for step in own[1:-1])
            steps[cut.axis] = (*own[:first], cut.step, *own[first:])


def _expr(digit: _Digit, extents: Sequence[int]) -> Expr:
    """The index of a loop as an expression in its dimension."""
    index = divided(Dim(digit.axis), digit.step)
    return index if digit.step * digit.extent == extents[digit.axis] else remainder(index, digit.extent)


def _digits(steps: Sequence[Sequence[int]]) -> Sequence[_Digit]:
    """The loops, outermost first; per dimension, `steps` has those of its loops in ascending order, then its extent.

    Raises:
        NotStridedError: The steps of a dimension do not divide each other.
    """
    digits: list[_Digit] = []
    for axis, own in enumerate(steps):
        if any(above % below for below, above in itertools.pairwise(own[1:])):  # the first one is 1
            raise NotStridedError
        inner = _Digit(axis, own[0], own[1])
        found = [inner, *(_Digit(axis, below, above // below) for below, above in itertools.pairwise(own[1:]))]
        digits += reversed(found)
    return digits


def _linear(expr: Expr, digits: Sequence[_Digit]) -> _Linear:
    match expr:
        case Dim(position):
            return _Linear(0, {loop: digit.step for loop, digit in enumerate(digits) if digit.axis == position})
        case Const(value):
            return _Linear(value, {})
        case Add(left, right):
            one, other = _linear(left, digits), _linear(right, digits)
            weights = {**one.weights}
            for loop, weight in other.weights.items():
                weights[loop] = weights[loop] + weight if loop in weights else weight
            return _Linear(one.constant + other.constant, {loop: weight for loop, weight in weights.items() if weight})
        case Mul(left, factor):
            form = _linear(left, digits)
            return _Linear(
                form.constant * factor, {loop: weight * factor for loop, weight in form.weights.items() if factor}
            )
        case FloorDiv(left, divisor):
            return _divided(_linear(left, digits), divisor, digits)[0]
        case Mod(left, divisor):
            return _divided(_linear(left, digits), divisor, digits)[1]


def _divided(form: _Linear, divisor: int, digits: Sequence[_Digit]) -> tuple[_Linear, _Linear]:
    """Quotient and remainder, if each digit belongs to one of them."""
    quotient, rest = divmod(form.constant, divisor)
    high, low = {}, {}
    for loop, weight in form.weights.items():
        if weight % divisor == 0:
            high[loop] = weight // divisor
        else:
            low[loop] = weight
    moves = [weight * (digits[loop].extent - 1) for loop, weight in low.items()]
    least = rest + sum(move for move in moves if move < 0)
    most = rest + sum(move for move in moves if move > 0)
    if least // divisor == most // divisor:
        carried = least // divisor
        return _Linear(quotient + carried, high), _Linear(rest - carried * divisor, low)
    for loop, weight in low.items():
        digit = digits[loop]
        inner = divisor // abs(weight) if divisor % abs(weight) == 0 else 0
        if 1 < inner < digit.extent and digit.extent % inner == 0:
            raise _CutError(digit.axis, digit.step * inner)
    raise NotStridedError
