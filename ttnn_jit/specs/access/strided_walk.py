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
        tuple(digits.values()),
        tuple(form.constant for form in forms),
        tuple(tuple(form.weights.get(digit, 0) for digit in digits) for form in forms),
    )


def sums_of_parts(extents: Sequence[int], exprs: Sequence[Expr]) -> tuple[Expr, ...]:
    """The same expressions over a domain that is not empty, as sums of parts of single indices.

    Raises:
        NotStridedError: There is no such form.
    """
    digits, forms = _split(extents, exprs)
    index_of = {digit: _expr(digit, extent, extents) for digit, extent in digits.items()}
    return tuple(
        total([*(times(index_of[digit], weight) for digit, weight in form.weights.items()), Const(form.constant)])
        for form in forms
    )


_Digit = tuple[int, int]
"""A loop over a part of an index: a dimension of the domain, and the loop's step in it."""


class _CutError(Exception):
    """A dimension must be split into two loops, the inner one of extent `step`."""

    def __init__(self, axis: int, step: int) -> None:
        super().__init__()
        self.axis, self.step = axis, step


@dataclass(frozen=True, slots=True)
class _Linear:
    constant: int
    weights: Mapping[_Digit, int]


def _split(extents: Sequence[int], exprs: Sequence[Expr]) -> tuple[Mapping[_Digit, int], list[_Linear]]:
    """The loops in which all `exprs` are linear, outermost first, with their extents; and the linear forms.

    Raises:
        NotStridedError: There are none.
    """
    cuts: tuple[frozenset[int], ...] = (frozenset(),) * len(extents)
    while True:
        digits = _digits(extents, cuts)
        try:
            return digits, [_linear(expr, digits) for expr in exprs]
        except _CutError as cut:
            cuts = (*cuts[: cut.axis], cuts[cut.axis] | {cut.step}, *cuts[cut.axis + 1 :])


def _expr(digit: _Digit, extent: int, extents: Sequence[int]) -> Expr:
    """The index of a loop as an expression in its dimension."""
    axis, step = digit
    index = divided(Dim(axis), step)
    return index if step * extent == extents[axis] else remainder(index, extent)


def _digits(extents: Sequence[int], cuts: Sequence[frozenset[int]]) -> dict[_Digit, int]:
    """The extent of every loop, outermost first.

    Raises:
        NotStridedError: The cuts of a dimension do not divide each other.
    """
    digits: dict[_Digit, int] = {}
    for axis, extent in enumerate(extents):
        steps = [1, *sorted(cuts[axis]), extent]
        if any(above % below for below, above in itertools.pairwise(steps)):
            raise NotStridedError
        found = {(axis, below): above // below for below, above in itertools.pairwise(steps)}
        digits.update(reversed(found.items()))
    return digits


def _linear(expr: Expr, digits: Mapping[_Digit, int]) -> _Linear:
    match expr:
        case Dim(position):
            return _Linear(0, {digit: digit[1] for digit in digits if digit[0] == position})
        case Const(value):
            return _Linear(value, {})
        case Add(left, right):
            one, other = _linear(left, digits), _linear(right, digits)
            keys = {**one.weights, **other.weights}
            weights = {digit: one.weights.get(digit, 0) + other.weights.get(digit, 0) for digit in keys}
            return _Linear(
                one.constant + other.constant, {digit: weight for digit, weight in weights.items() if weight}
            )
        case Mul(left, factor):
            form = _linear(left, digits)
            return _Linear(
                form.constant * factor, {digit: weight * factor for digit, weight in form.weights.items() if factor}
            )
        case FloorDiv(left, divisor):
            return _divided(_linear(left, digits), divisor, digits)[0]
        case Mod(left, divisor):
            return _divided(_linear(left, digits), divisor, digits)[1]


def _divided(form: _Linear, divisor: int, digits: Mapping[_Digit, int]) -> tuple[_Linear, _Linear]:
    """Quotient and remainder, if each digit belongs to one of them."""
    quotient, rest = divmod(form.constant, divisor)
    high = {digit: weight // divisor for digit, weight in form.weights.items() if weight % divisor == 0}
    low = {digit: weight for digit, weight in form.weights.items() if weight % divisor}
    moves = [weight * (digits[digit] - 1) for digit, weight in low.items()]
    least = rest + sum(move for move in moves if move < 0)
    most = rest + sum(move for move in moves if move > 0)
    if least // divisor == most // divisor:
        carried = least // divisor
        return _Linear(quotient + carried, high), _Linear(rest - carried * divisor, low)
    for (axis, step), weight in low.items():
        inner = divisor // abs(weight) if divisor % abs(weight) == 0 else 0
        if 1 < inner < digits[axis, step] and digits[axis, step] % inner == 0:
            raise _CutError(axis, step * inner)
    raise NotStridedError
