"""Indices along a dimension, in steps: a `range` whose bounds may be extents of a trace."""

from __future__ import annotations

import operator
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.extents.extent import is_extent


@dataclass(frozen=True, slots=True)
class Interval:
    """The indices from `start` to before `stop`, `step` apart; only `count` takes steps that are negative."""

    start: int
    stop: int
    step: int = 1

    @staticmethod
    def of_slice(extent: int, item: slice) -> Interval:
        """The indices that a slice with a positive step takes from a dimension, as Python does from a `range`.

        Raises:
            TypeError: A bound is no whole number.
        """
        start, stop, step = (bound if bound is None else _whole(bound) for bound in (item.start, item.stop, item.step))
        first = 0 if start is None else _within(start, extent)
        return Interval(first, extent if stop is None else _within(stop, extent), 1 if step is None else step)

    @property
    def count(self) -> int:
        """The number of indices."""
        span = self.stop - self.start
        return max(span if _is_one(self.step) else -(-span // self.step), 0)

    @property
    def end(self) -> int:
        """The index behind the last one; `start` if there are none."""
        count = self.count
        return self.start if count == 0 else self.start + (count - 1) * self.step + 1

    def __contains__(self, index: int) -> bool:
        return self.start <= index < self.stop and (_is_one(self.step) or (index - self.start) % self.step == 0)


def _is_one(step: int) -> bool:
    """Whether a step is no extent and 1, so that nothing is computed with it."""
    return type(step) is int and step == 1


def _within(bound: int, extent: int) -> int:
    return max(bound + extent, 0) if bound < 0 else min(bound, extent)


def _whole(bound: Any) -> int:
    whole: int = bound if is_extent(bound) else operator.index(bound)
    return whole
