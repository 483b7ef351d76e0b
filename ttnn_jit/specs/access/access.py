"""Where the elements of one tensor lie in another.

An `Access` says for every element of a domain which element of a source it is: a permuted tensor, a slice, another
shape. Its coordinates are expressions in the domain's indices (index_expressions.py); the loops over which all of them
are strides, strided_walk.py finds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ttnn_jit.process.dataclass import dataclass
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
from ttnn_jit.specs.access.strided_walk import NotStridedError, sums_of_parts
from ttnn_jit.specs.cores.sharding import dense_strides


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
            return Access(self.extents, sums_of_parts(self.extents, self.coordinates))
        except NotStridedError:
            return self

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

    def keeps_runs(self, shape: Sequence[int], length: int) -> bool:
        """Whether elements `length` by `length` along the domain's last dimension are such along that of `shape`.

        Said only of extents that are multiples of `length`; of others it is False.
        """
        if not (self.extents and shape) or self.extents[-1] % length or shape[-1] % length:
            return False
        within = len(self.extents)
        last = total((times(Dim(within - 1), length), Dim(within)))
        runs = Access(
            (*self.extents[:-1], self.extents[-1] // length, length), (*map(Dim, range(within - 1)), last)
        ).after(self)
        terms: dict[Expr, int] = {}
        _add(terms, runs.address(shape, dense_strides(shape)), 1)
        return terms.pop(Dim(within), 0) == 1 and all(
            weight % length == 0 and within not in dims_of(expr) for expr, weight in terms.items()
        )

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
        """Per dimension, the block's indices in the result."""
        steps = self.steps or (1,) * len(self.origin)
        bounds = zip(self.origin, self.access.extents, steps, strict=True)
        return tuple(range(start, start + extent * step, step) for start, extent, step in bounds)

    @property
    def result_access(self) -> Access:
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
    for dim, extent in reversed(tuple(enumerate(old))):
        if extent == 1:
            coordinates.append(Const(0))
        elif all(other == 1 for other in old[:dim]):
            coordinates.append(rest)
        else:
            coordinates.append(remainder(rest, max(1, extent)))
            rest = divided(rest, max(1, extent))
    return Access(tuple(new), tuple(reversed(coordinates))).simplified
