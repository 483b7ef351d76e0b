"""Where the elements of one tensor lie in another: affine coordinates, and the loops and strides that walk them.

An `Access` says for every element of a domain which element of a source it is: a permuted tensor, a slice, another
shape. Its coordinates are affine expressions in the domain's indices, with division and remainder by constants, as
MLIR's affine maps have them. `walk` splits the domain into loops over which all of them are strides.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.sharding import dense_strides


@dataclass(frozen=True, slots=True)
class Dim:
    """The index along a dimension of the domain."""

    position: int


@dataclass(frozen=True, slots=True)
class Const:
    """A number."""

    value: int


@dataclass(frozen=True, slots=True)
class Add:
    """A sum."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Mul:
    """A multiple."""

    left: Expr
    factor: int


@dataclass(frozen=True, slots=True)
class FloorDiv:
    """A quotient rounded down; the divisor is at least 1."""

    left: Expr
    divisor: int


@dataclass(frozen=True, slots=True)
class Mod:
    """The remainder of that quotient."""

    left: Expr
    divisor: int


Expr = Dim | Const | Add | Mul | FloorDiv | Mod


def total(terms: Iterable[Expr]) -> Expr:
    """The sum of `terms`, zeros left out."""
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
    """`expr` with `indices` for its dimensions."""
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
    """The dimensions whose indices stand in it."""
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
    """Whether it is a sum of multiples of indices, and a number: without quotients and remainders."""
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
    """The value where the domain's indices are these: ints, or arrays of them."""
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
    """The least and the greatest value over a domain that is not empty; perhaps less, or more, than is reached."""
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


@dataclass(frozen=True, slots=True)
class Access:
    """Which element of a source every element of a domain is.

    Attributes:
        extents: The domain's.
        coordinates: In the source, per dimension of it.
    """

    extents: tuple[int, ...]
    coordinates: tuple[Expr, ...]

    @staticmethod
    def identity(extents: Sequence[int]) -> Access:
        """Every element is itself."""
        return Access(tuple(extents), tuple(Dim(axis) for axis in range(len(extents))))

    def after(self, source: Access) -> Access:
        """The access of this domain to what `source` reads, through the tensor that `source` makes."""
        return Access(self.extents, tuple(substitute(expr, self.coordinates) for expr in source.coordinates)).simplified

    @property
    def simplified(self) -> Access:
        """The same with coordinates that are sums over parts of single indices, where they can be."""
        if math.prod(self.extents) == 0:
            return self
        try:
            digits, forms = _split(self.extents, self.coordinates)
        except NotStridedError:
            return self
        places = {digit: _expr(digit, extent, self.extents) for digit, extent in digits.items()}
        return Access(
            self.extents,
            tuple(
                total([*(times(places[digit], weight) for digit, weight in form.weights.items()), Const(form.constant)])
                for form in forms
            ),
        )

    def stays_inside(self, shape: Sequence[int]) -> bool:
        """Whether every coordinate is one of a tensor of `shape`."""
        if math.prod(self.extents) == 0:
            return True
        if len(self.coordinates) != len(shape):
            return False
        return self._is_bounded_by(shape) or self.simplified._is_bounded_by(shape)

    def _is_bounded_by(self, shape: Sequence[int]) -> bool:
        """Whether the bounds of every coordinate say so; of simplified ones they are reached, else perhaps not."""
        limits = (bounds(expr, self.extents) for expr in self.coordinates)
        return all(low >= 0 and high < extent for (low, high), extent in zip(limits, shape, strict=True))

    def address(self, shape: Sequence[int], strides: Sequence[int]) -> Expr:
        """The element's offset in a source of `shape` and `strides`; what lies in one run is counted along it."""
        terms: dict[Expr, int] = {}
        for expr, extent, stride in zip(self.coordinates, shape, strides, strict=True):
            if extent != 1:
                _add(terms, expr, stride)
        while (pair := _parts_of_one(terms)) is not None:
            whole, weight, parts = pair
            for part in parts:
                del terms[part]
            _add(terms, whole, weight)
        return total(times(expr, weight) for expr, weight in terms.items())


def _add(terms: dict[Expr, int], expr: Expr, weight: int) -> None:
    """Add `expr` times `weight` to a sum of weighted terms that are no sums themselves."""
    match expr:
        case Add(left, right):
            _add(terms, left, weight)
            _add(terms, right, weight)
        case Mul(left, factor):
            _add(terms, left, weight * factor)
        case Const(value):
            terms[Const(1)] = terms.get(Const(1), 0) + value * weight
        case _:
            terms[expr] = terms.get(expr, 0) + weight


def _parts_of_one(terms: Mapping[Expr, int]) -> tuple[Expr, int, tuple[Expr, Expr]] | None:
    """Two terms that are quotient and remainder of one number, weighted as they make it up; that number, its weight."""
    for expr, weight in terms.items():
        if not isinstance(expr, Mod):
            continue
        quotient, wanted = divided(expr.left, expr.divisor), weight * expr.divisor
        if terms.get(quotient) == wanted:
            return expr.left, weight, (expr, quotient)
        for other, its_weight in terms.items():
            if isinstance(other, Mod) and other.left == quotient and its_weight == wanted:
                return Mod(expr.left, expr.divisor * other.divisor), weight, (expr, other)
    return None


@dataclass(frozen=True, slots=True)
class Part:
    """A block of a result whose elements are one operand's.

    Attributes:
        origin: The block's first element in the result.
        access: From the block's elements to the operand's.
        steps: Per dimension, from one of its elements to the next in the result; given as (), ones.
    """

    origin: tuple[int, ...]
    access: Access
    steps: tuple[int, ...] = ()

    @property
    def ranges(self) -> tuple[range, ...]:
        """Per dimension, the block's places in the result."""
        steps = self.steps or (1,) * len(self.origin)
        bounds = zip(self.origin, self.access.extents, steps, strict=True)
        return tuple(range(start, start + extent * step, step) for start, extent, step in bounds)

    @property
    def place(self) -> Access:
        """From the block's elements to the result's."""
        indices = (total((times(Dim(axis), part.step), Const(part.start))) for axis, part in enumerate(self.ranges))
        return Access(self.access.extents, tuple(indices))


def around(part: Part, extents: Sequence[int]) -> list[Part]:
    """Blocks that make up a result of `extents` together with that of `part`; each is its own access."""
    blocks: list[Part] = []
    origin, size = [0] * len(extents), list(extents)
    for axis, (start, own) in enumerate(zip(part.origin, part.access.extents, strict=True)):
        for first, beyond in ((0, start), (start + own, extents[axis])):
            if beyond > first:
                block = (*size[:axis], beyond - first, *size[axis + 1 :])
                blocks.append(Part((*origin[:axis], first, *origin[axis + 1 :]), Access.identity(block)))
        origin[axis], size[axis] = start, own
    return [block for block in blocks if math.prod(block.access.extents)]


def reshaped(old: Sequence[int], new: Sequence[int]) -> Access:
    """The access of a tensor of extents `new` to one of extents `old` with as many elements, in row-major order."""
    rest = total(times(Dim(axis), stride) for axis, stride in enumerate(dense_strides(new)) if new[axis] != 1)
    coordinates: list[Expr] = []
    for place, extent in reversed(tuple(enumerate(old))):
        if extent == 1:
            coordinates.append(Const(0))
        elif all(other == 1 for other in old[:place]):
            coordinates.append(rest)
        else:
            coordinates.append(remainder(rest, max(1, extent)))
            rest = divided(rest, max(1, extent))
    return Access(tuple(new), tuple(reversed(coordinates))).simplified


@dataclass(frozen=True, slots=True)
class StridedWalk:
    """Loops over a domain, along which every address moves by strides.

    Attributes:
        extents: Of the loops, outermost first.
        offsets: Per address, that of the first element.
        strides: Per address, per loop.
    """

    extents: tuple[int, ...]
    offsets: tuple[int, ...]
    strides: tuple[tuple[int, ...], ...]


class NotStridedError(ValueError):
    """No splitting of loops makes strides of an expression."""


def walk(extents: Sequence[int], addresses: Sequence[Expr]) -> StridedWalk:
    """The loops over a domain that is not empty, in its order, that make strides of all `addresses`.

    Raises:
        NotStridedError: There are none.
    """
    digits, forms = _split(extents, addresses)
    return StridedWalk(
        tuple(digits.values()),
        tuple(form.constant for form in forms),
        tuple(tuple(form.weights.get(digit, 0) for digit in digits) for form in forms),
    )


_Digit = tuple[int, int]
"""A loop: a dimension of the domain, and the number of its indices that one step of the loop passes."""


class _CutError(Exception):
    """A dimension must be two loops, of which the inner one passes `place` indices."""

    def __init__(self, axis: int, place: int) -> None:
        super().__init__()
        self.axis, self.place = axis, place


@dataclass(frozen=True, slots=True)
class _Linear:
    constant: int
    weights: Mapping[_Digit, int]


def _split(extents: Sequence[int], exprs: Sequence[Expr]) -> tuple[Mapping[_Digit, int], list[_Linear]]:
    """The loops that make all `exprs` linear, outermost first, with their extents; and what each then is.

    Raises:
        NotStridedError: There are none.
    """
    cuts: tuple[frozenset[int], ...] = (frozenset(),) * len(extents)
    while True:
        digits = _digits(extents, cuts)
        try:
            return digits, [_linear(expr, digits) for expr in exprs]
        except _CutError as cut:
            cuts = (*cuts[: cut.axis], cuts[cut.axis] | {cut.place}, *cuts[cut.axis + 1 :])


def _expr(digit: _Digit, extent: int, extents: Sequence[int]) -> Expr:
    """The index of a loop, of the dimension that it is a part of."""
    axis, place = digit
    index = divided(Dim(axis), place)
    return index if place * extent == extents[axis] else remainder(index, extent)


def _digits(extents: Sequence[int], cuts: Sequence[frozenset[int]]) -> dict[_Digit, int]:
    """Extent of every loop, outermost first.

    Raises:
        NotStridedError: The cuts of a dimension do not divide each other.
    """
    digits: dict[_Digit, int] = {}
    for axis, extent in enumerate(extents):
        places = [1, *sorted(cuts[axis]), extent]
        if any(above % below for below, above in itertools.pairwise(places)):
            raise NotStridedError
        found = {(axis, below): above // below for below, above in itertools.pairwise(places)}
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
    """Quotient and remainder, where whole digits belong to either."""
    quotient, rest = divmod(form.constant, divisor)
    high = {digit: weight // divisor for digit, weight in form.weights.items() if weight % divisor == 0}
    low = {digit: weight for digit, weight in form.weights.items() if weight % divisor}
    moves = [weight * (digits[digit] - 1) for digit, weight in low.items()]
    least = rest + sum(move for move in moves if move < 0)
    most = rest + sum(move for move in moves if move > 0)
    if least // divisor == most // divisor:
        carried = least // divisor
        return _Linear(quotient + carried, high), _Linear(rest - carried * divisor, low)
    for (axis, place), weight in low.items():
        inner = divisor // abs(weight) if divisor % abs(weight) == 0 else 0
        if 1 < inner < digits[axis, place] and digits[axis, place] % inner == 0:
            raise _CutError(axis, place * inner)
    raise NotStridedError
