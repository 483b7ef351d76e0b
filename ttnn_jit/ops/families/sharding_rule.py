"""How an op is computed on parts of its tensors: which dimensions are cut together.

A rule names the loops of an op, its *factors*, as those of Shardy's ``#sdy.op_sharding_rule`` do. A dimension that
has the same factor in an operand and in a result is cut in both at the same places. A dimension has several factors
where a reshape splits it or merges it, the outermost first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from ttnn_jit.process.dataclass import dataclass

Shape: TypeAlias = tuple[int, ...]
Dimensions: TypeAlias = tuple[tuple[int, ...], ...]
"""The factors of each dimension of a tensor; none of one that is never cut."""

LocalAttributes: TypeAlias = Callable[[Any, Sequence[Shape], Sequence[Shape]], Mapping[str, Any]]
"""``local(call, operands, results)``: the attributes that an op on parts has, from the shapes of these."""


@dataclass(frozen=True)
class ShardingRule:
    """The factors of an op.

    Attributes:
        sizes: The extent of each factor.
        operands: Those of the dimensions of each operand.
        results: The same of each result.
        reduced: The factors that the op sums, multiplies or compares away -> ``sum``, ``prod``, ``max``, ``min``: by
            which parts of a result are combined.
        local: The attributes that differ on parts; None if none does.
    """

    sizes: Shape
    operands: tuple[Dimensions, ...]
    results: tuple[Dimensions, ...]
    reduced: Mapping[int, str] = field(default_factory=dict)
    local: LocalAttributes | None = None


class Factors:
    """Numbers the factors of a rule while it is written."""

    def __init__(self) -> None:
        self._sizes: list[int] = []

    def new(self, size: int) -> int:
        """A further factor."""
        self._sizes.append(size)
        return len(self._sizes) - 1

    def of(self, shape: Sequence[int], whole: Sequence[int] = ()) -> Dimensions:
        """A factor for each dimension; none for those in `whole`."""
        return tuple(() if axis in whole else (self.new(extent),) for axis, extent in enumerate(shape))

    def rule(
        self,
        operands: Sequence[Dimensions],
        results: Sequence[Dimensions],
        reduced: Mapping[int, str] | None = None,
        local: LocalAttributes | None = None,
    ) -> ShardingRule:
        """The rule."""
        return ShardingRule((*self._sizes,), (*operands,), (*results,), reduced or {}, local)


def whole(shape: Sequence[int]) -> Dimensions:
    """Dimensions that are never cut."""
    return ((),) * len(shape)


def pointwise(_call: Any, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
    """Of an op on elements at equal places; an operand of another shape is read whole."""
    factors = Factors()
    dimensions = factors.of(results[0])
    own = [dimensions if shape == results[0] else whole(shape) for shape in operands]
    return factors.rule(own, [dimensions if shape == results[0] else whole(shape) for shape in results])


def reshaped(_call: Any, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
    """Of a reshape: extents are divided by those that they are equal to, or multiples of, from the outermost on."""
    factors = Factors()
    before, after = operands[0], results[0]
    first: list[list[int]] = [[] for _ in before]
    second: list[list[int]] = [[] for _ in after]
    left, right = [*before], [*after]
    at, to = 0, 0
    while at < len(before) and to < len(after):
        common = math.gcd(left[at], right[to])
        if common > 1:
            factor = factors.new(common)
            first[at].append(factor)
            second[to].append(factor)
            left[at], right[to] = left[at] // common, right[to] // common
        elif left[at] > 1 and right[to] > 1:
            break  # what lies further inside has no common places
        at, to = at + (left[at] == 1), to + (right[to] == 1)
    return factors.rule([tuple(map(tuple, first))], [tuple(map(tuple, second))])
