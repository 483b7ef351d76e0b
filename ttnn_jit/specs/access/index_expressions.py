"""Semi-affine expressions in the indices of a domain, as in MLIR's affine maps: with floordiv and mod by constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import hash_of


@dataclass(frozen=True, slots=True)
class Dim:
    """The index of a dimension of the domain."""

    position: int


@dataclass(frozen=True, slots=True)
class Const:
    """A constant."""

    value: int

    def __hash__(self) -> int:
        return hash_of(self.value)


@dataclass(frozen=True, slots=True)
class Add:
    """A sum."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Mul:
    """A product with a constant."""

    left: Expr
    factor: int

    def __hash__(self) -> int:
        return hash((self.left, "*", hash_of(self.factor)))


@dataclass(frozen=True, slots=True)
class FloorDiv:
    """A quotient rounded down; the divisor is at least 1."""

    left: Expr
    divisor: int

    def __hash__(self) -> int:
        return hash((self.left, "/", hash_of(self.divisor)))


@dataclass(frozen=True, slots=True)
class Mod:
    """The remainder of a `FloorDiv`."""

    left: Expr
    divisor: int

    def __hash__(self) -> int:
        return hash((self.left, "%", hash_of(self.divisor)))


Expr = Dim | Const | Add | Mul | FloorDiv | Mod


def total(terms: Iterable[Expr]) -> Expr:
    """The sum of `terms`, without zeros."""
    kept = [term for term in terms if type(term) is not Const or term.value]
    result: Expr = kept[0] if kept else Const(0)
    for term in kept[1:]:
        result = Add(result, term)
    return result


def times(expr: Expr, factor: int) -> Expr:
    """`expr` times a number."""
    if factor == 1:
        return expr
    return Const(0) if factor == 0 or (type(expr) is Const and not expr.value) else Mul(expr, factor)


def divided(expr: Expr, divisor: int) -> Expr:
    """`expr` divided by a number of at least 1, rounded down."""
    if isinstance(expr, FloorDiv):
        return FloorDiv(expr.left, expr.divisor * divisor)
    return expr if divisor == 1 else FloorDiv(expr, divisor)


def remainder(expr: Expr, divisor: int) -> Expr:
    """The remainder of that quotient."""
    return Const(0) if divisor == 1 else Mod(expr, divisor)


def substitute(expr: Expr, indices: Sequence[Expr]) -> Expr:
    """`expr` with its dimensions replaced by `indices`."""
    match expr:
        case Dim(position):
            return indices[position]
        case Const():
            return expr
        case Add(left, right):
            return total((substitute(left, indices), substitute(right, indices)))
        case Mul(left, factor):
            return times(substitute(left, indices), factor)
        case FloorDiv(left, divisor):
            return divided(substitute(left, indices), divisor)
        case Mod(left, divisor):
            return remainder(substitute(left, indices), divisor)


def dims_of(expr: Expr) -> frozenset[int]:
    """The dimensions whose indices occur in it."""
    match expr:
        case Dim(position):
            return frozenset([position])
        case Const():
            return frozenset()
        case Add(left, right):
            return dims_of(left) | dims_of(right)
        case Mul(left) | FloorDiv(left) | Mod(left):
            return dims_of(left)


def is_affine(expr: Expr) -> bool:
    """Whether it is affine: without quotients and remainders."""
    match expr:
        case Dim() | Const():
            return True
        case Add(left, right):
            return is_affine(left) and is_affine(right)
        case Mul(left):
            return is_affine(left)
        case FloorDiv() | Mod():
            return False


def evaluated(expr: Expr, indices: Sequence[Any]) -> Any:
    """The value for indices of the domain: ints, or arrays of ints."""
    match expr:
        case Dim(position):
            return indices[position]
        case Const(value):
            return value
        case Add(left, right):
            return evaluated(left, indices) + evaluated(right, indices)
        case Mul(left, factor):
            return evaluated(left, indices) * factor
        case FloorDiv(left, divisor):
            return evaluated(left, indices) // divisor
        case Mod(left, divisor):
            return evaluated(left, indices) % divisor


def bounds(expr: Expr, extents: Sequence[int]) -> tuple[int, int]:  # noqa: PLR0911 - one line for each kind
    """A lower and an upper bound over a domain that is not empty; they need not be reached."""
    match expr:
        case Dim(position):
            return 0, extents[position] - 1
        case Const(value):
            return value, value
        case Add(left, right):
            (low, high), (more_low, more_high) = bounds(left, extents), bounds(right, extents)
            return low + more_low, high + more_high
        case Mul(left, factor):
            ends = [bound * factor for bound in bounds(left, extents)]
            return min(ends), max(ends)
        case FloorDiv(left, divisor):
            low, high = bounds(left, extents)
            return low // divisor, high // divisor
        case Mod(left, divisor):
            low, high = bounds(left, extents)
            if low // divisor == high // divisor:
                return low % divisor, high % divisor
            return 0, divisor - 1
