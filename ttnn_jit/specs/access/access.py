"""Index maps between tensors.

An `Access` maps each element of a domain to an element of a source: a permutation, a slice, a reshape. Its coordinates
are expressions in the domain's indices (index_expressions.py); strided_walk.py finds loops over which they are affine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import hash_of
from ttnn_jit.specs.access.index_expressions import (
    Add,
    Const,
    Dim,
    Expr,
    Mod,
    Mul,
    bounds,
    dims_of,
    divided,
    remainder,
    substitute,
    times,
    total,
)
from ttnn_jit.specs.access.interval import Interval
from ttnn_jit.specs.access.strided_walk import NotStridedError, sums_of_parts, walk
from ttnn_jit.specs.cores.sharding import dense_strides


@dataclass(frozen=True, slots=True)
class Access:
    """A map from indices of a domain to indices of a source.

    Attributes:
        extents: Extents of the domain.
        coordinates: Per dimension of the source, its index.
    """

    extents: tuple[int, ...]
    coordinates: tuple[Expr, ...]

    def __hash__(self) -> int:
        return hash((hash_of(*self.extents), self.coordinates))

    @staticmethod
    def identity(extents: Sequence[int]) -> Access:
        """The identity map."""
        return Access(tuple(extents), tuple(Dim(axis) for axis in range(len(extents))))

    def compose(self, source: Access) -> Access:
        """The composition: from this domain by this access, then by `source`, to the source of `source`."""
        return Access(self.extents, tuple(substitute(expr, self.coordinates) for expr in source.coordinates)).simplified

    @property
    def simplified(self) -> Access:
        """The same access, with coordinates as sums of parts of single indices if possible."""
        if math.prod(self.extents) == 0:
            return self
        try:
            return Access(self.extents, sums_of_parts(self.extents, self.coordinates))
        except NotStridedError:
            return self

    def stays_inside(self, shape: Sequence[int]) -> bool:
        """Whether every coordinate is inside a tensor of `shape`."""
        if math.prod(self.extents) == 0:
            return True
        if len(self.coordinates) != len(shape):
            return False
        return self._is_bounded_by(shape) or self.simplified._is_bounded_by(shape)

    def _is_bounded_by(self, shape: Sequence[int]) -> bool:
        """Whether the bounds of every coordinate are inside `shape`; they are exact if the access is simplified."""
        limits = (bounds(expr, self.extents) for expr in self.coordinates)
        return all(low >= 0 and high < extent for (low, high), extent in zip(limits, shape, strict=True))

    def keeps_runs(self, shape: Sequence[int], length: int) -> bool:
        """Whether every aligned run of `length` elements along the last dimension is such a run of a source of `shape`.

        It is False unless both last extents are multiples of `length`.
        """
        if not (self.extents and shape) or self.extents[-1] % length or shape[-1] % length:
            return False
        within = len(self.extents)
        last = total((times(Dim(within - 1), length), Dim(within)))
        runs = Access(
            (*self.extents[:-1], self.extents[-1] // length, length), (*map(Dim, range(within - 1)), last)
        ).compose(self)
        terms: dict[Expr, int] = {}
        _add(terms, runs.address(shape, dense_strides(shape)), 1)
        return terms.pop(Dim(within), 0) == 1 and all(
            weight % length == 0 and within not in dims_of(expr) for expr, weight in terms.items()
        )

    def address(self, shape: Sequence[int], strides: Sequence[int]) -> Expr:
        """The element's offset in a source of `shape` and `strides`; quotient and remainder of one number merge."""
        terms: dict[Expr, int] = {}
        for expr, extent, stride in zip(self.coordinates, shape, strides, strict=True):
            if extent != 1:
                _add(terms, expr, stride)
        while (pair := _quotient_and_remainder(terms)) is not None:
            whole, weight, parts = pair
            for part in parts:
                del terms[part]
            _add(terms, whole, weight)
        return total(times(expr, weight) for expr, weight in terms.items())


def _add(terms: dict[Expr, int], expr: Expr, weight: int) -> None:
    """Adds `expr` times `weight` to a flat sum of weighted terms."""
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


def _quotient_and_remainder(terms: Mapping[Expr, int]) -> tuple[Expr, int, tuple[Expr, Expr]] | None:
    """A number that two terms make up as its quotient and remainder, its weight, and these terms."""
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
    """A block of a result that one operand fills.

    Attributes:
        origin: The index of the block's first element in the result.
        access: From indices of the block to indices of the operand.
        steps: Per dimension, the step in the result from one element to the next; () means ones.
    """

    origin: tuple[int, ...]
    access: Access
    steps: tuple[int, ...] = ()

    @property
    def intervals(self) -> tuple[Interval, ...]:
        """Per dimension, the block's indices in the result."""
        steps = self.steps or (1,) * len(self.origin)
        bounds = zip(self.origin, self.access.extents, steps, strict=True)
        return tuple(Interval(start, start + extent * step, step) for start, extent, step in bounds)

    @property
    def result_access(self) -> Access:
        """From indices of the block to indices of the result."""
        indices = (total((times(Dim(axis), part.step), Const(part.start))) for axis, part in enumerate(self.intervals))
        return Access(self.access.extents, tuple(indices))


def surrounding_parts(part: Part, extents: Sequence[int]) -> list[Part]:
    """Blocks that cover the rest of a result of `extents` around `part`, with identity accesses."""
    blocks: list[Part] = []
    origin, size = [0] * len(extents), list(extents)
    for axis, (start, own) in enumerate(zip(part.origin, part.access.extents, strict=True)):
        for first, beyond in ((0, start), (start + own, extents[axis])):
            if beyond > first:
                block = (*size[:axis], beyond - first, *size[axis + 1 :])
                blocks.append(Part((*origin[:axis], first, *origin[axis + 1 :]), Access.identity(block)))
        origin[axis], size[axis] = start, own
    return [block for block in blocks if math.prod(block.access.extents)]


def reshape_access(old: Sequence[int], new: Sequence[int]) -> Access:
    """The access of a reshape from extents `old` to extents `new`, in row-major order."""
    rest = total(times(Dim(axis), stride) for axis, stride in enumerate(dense_strides(new)) if new[axis] != 1)
    coordinates: list[Expr] = []
    for dim, extent in reversed(tuple(enumerate(old))):
        if extent == 1:
            coordinates.append(Const(0))
        elif all(other == 1 for other in old[:dim]):
            coordinates.append(rest)
        else:
            coordinates.append(remainder(rest, max(extent, 1)))
            rest = divided(rest, max(extent, 1))
    return Access(tuple(new), tuple(reversed(coordinates))).simplified


def keeps_order(access: Access, old: Sequence[int]) -> bool:
    """Whether an access may be a reshape from extents `old`: its elements are consecutive, or in no order of loops."""
    if math.prod(access.extents) == 0:
        return True
    try:
        walked = walk(access.extents, [access.address(old, dense_strides(old))])
    except NotStridedError:
        return True
    wanted = dense_strides(walked.extents)
    (offset,), (found,) = walked.offsets, walked.strides
    return offset == 0 and all(
        extent == 1 or own == stride for extent, own, stride in zip(walked.extents, found, wanted, strict=True)
    )
