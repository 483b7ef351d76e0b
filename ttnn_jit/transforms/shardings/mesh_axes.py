"""Tensors cut along axes of a mesh, and the factors of ops that are cut with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ttnn_jit.ops.families.sharding_rule import Dimensions, ShardingRule
from ttnn_jit.process.dataclass import dataclass

Axes: TypeAlias = tuple[str, ...]
"""The axes along which a dimension is cut, the outermost first."""

Sharding: TypeAlias = tuple[Axes, ...]
"""The axes of each dimension of a tensor."""


@dataclass(frozen=True)
class Mesh:
    """A mesh with named axes; devices are numbered in row-major order.

    Attributes:
        name: Its symbol.
        sizes: The extent of each axis, in order.
    """

    name: str
    sizes: Mapping[str, int]

    @property
    def devices(self) -> int:
        """The number of devices."""
        return math.prod(self.sizes.values())

    def parts(self, axes: Sequence[str]) -> int:
        """Into how many parts these axes cut."""
        return math.prod(self.sizes[axis] for axis in axes)

    def groups(self, axis: str) -> list[list[int]]:
        """The devices along an axis, for each place on the other axes."""
        names = [*self.sizes]
        at = names.index(axis)
        inner = math.prod(self.sizes[name] for name in names[at + 1 :])
        extent = self.sizes[axis]
        starts = [device for device in range(self.devices) if device // inner % extent == 0]
        return [[start + index * inner for index in range(extent)] for start in starts]

    def local(self, shape: Sequence[int], sharding: Sharding) -> tuple[int, ...]:
        """The shape of a part."""
        return tuple(extent // self.parts(axes) for extent, axes in zip(shape, sharding, strict=True))

    def even(self, extent: int, axes: Axes) -> Axes:
        """The axes up to the first that does not cut an extent evenly."""
        kept = next((index for index in range(len(axes)) if extent % self.parts(axes[: index + 1])), len(axes))
        return axes[:kept]

    def divides(self, shape: Sequence[int], sharding: Sharding) -> bool:
        """Whether all parts are equally large."""
        return all(extent % self.parts(axes) == 0 for extent, axes in zip(shape, sharding, strict=True))

    # --- Factors ------------------------------------------------------------------------------------------------------

    def projected(self, rule: ShardingRule, dimensions: Dimensions, sharding: Sharding) -> dict[int, Axes]:
        """The axes of the factors of a tensor; of an axis that cuts a factor unevenly, and of those inside it, none."""
        found: dict[int, Axes] = {}
        for factors, axes in zip(dimensions, sharding, strict=True):
            left = [*axes]
            for factor in factors:
                rest, own = rule.sizes[factor], []
                while left and rest > 1 and rest % self.sizes[left[0]] == 0:
                    rest //= self.sizes[left[0]]
                    own.append(left.pop(0))
                found[factor] = (*own,)
                if rest > 1:
                    break
        return found

    def composed(self, rule: ShardingRule, dimensions: Dimensions, factors: Mapping[int, Axes]) -> Sharding:
        """The axes of a tensor's dimensions from those of its factors, as far as the factor outside is all cut."""
        found = []
        for own in dimensions:
            axes: list[str] = []
            for factor in own:
                given = factors.get(factor, ())
                axes += given
                if self.parts(given) != rule.sizes[factor]:
                    break
            found.append((*axes,))
        return tuple(found)


def whole(rank: int) -> Sharding:
    """That of a tensor which every device has whole."""
    return ((),) * rank


def is_prefix(first: Axes, second: Axes) -> bool:
    """Whether `second` begins with `first`."""
    return second[: len(first)] == first


def common_axes(candidates: Sequence[Axes]) -> Axes:
    """The longest of them if the others are its beginnings, else the beginning that all have."""
    longest = max(candidates, key=len, default=())
    if all(is_prefix(each, longest) for each in candidates):
        return longest
    same = itertools.takewhile(lambda level: len({*level}) == 1, zip(*filter(None, candidates), strict=False))
    return tuple(level[0] for level in same)
