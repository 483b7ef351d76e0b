"""Queries over the elements of operands, for the checks of operations; in plain Python, to avoid importing numpy.

Bound: five passes over the bytes of indices, by arithmetic of long integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec

_LANES_AT_ONCE = 1 << 14
"""Elements that one long integer holds: 64 KB, which fit in the L2 cache."""


@dataclass(frozen=True)
class Elements:
    """The elements of a tensor, in place.

    Attributes:
        spec: The spec of the tensor.
        memory: Its bytes; nothing else may write them during a query.
    """

    spec: TensorSpec
    memory: memoryview

    @property
    def shape(self) -> tuple[int, ...]:
        """The logical extents."""
        return tuple(self.spec.shape)

    def out_of_range(self, count: int) -> int | None:
        """An index that is not in ``range(count)``; None if all are.

        Floats are truncated to integers; NaN and infinities are out of range and give -1.
        """
        if self.spec.dtype.is_upper_half:
            return self._half_out_of_range(count)
        for run in self._runs():
            for first in range(0, len(run), _LANES_AT_ONCE):
                part = run[first : first + _LANES_AT_ONCE]
                if _may_be_out_of_range(part, count) and not 0 <= (least := min(part)) <= (most := max(part)) < count:
                    return int(least if least < 0 else most)
        return None

    def _half_out_of_range(self, count: int) -> int | None:
        """`out_of_range` for 16-bit floats, whose magnitudes have the order of their bits."""
        elements = [each for run in self._runs() for each in run]
        largest = max((each for each in elements if each < 0x8000), default=0)
        least = max((each for each in elements if each >= 0x8000), default=0x8000)
        for each in (largest, least):
            number = self.spec.dtype.decoded(each.to_bytes(2, "little"))
            if not -1 < number < count:
                return int(number) if math.isfinite(number) else -1
        return None

    def count_nonzeros(self) -> int | None:
        """The number of nonzero elements; None if one is NaN, and for block floats."""
        if self.spec.dtype.is_block_float:
            return None
        elements = [each for run in self._runs() for each in run]
        if self.spec.dtype.is_upper_half:
            elements = [each & 0x7FFF for each in elements]
            return None if max(elements, default=0) > 0x7F80 else sum(map(bool, elements))
        return None if any(each != each for each in elements) else sum(map(bool, elements))  # noqa: PLR0124 - NaN

    def _runs(self) -> Iterator[memoryview]:
        """The stored elements: all at once, or row by row if rows have padding."""
        cast: Any = self.memory.cast("B").cast  # its stub accepts literal formats only
        stored = cast(self.spec.dtype.buffer_format)
        if self.spec.volume == self.spec.items or not self.shape:
            yield stored[: self.spec.volume]
            return
        *outer, columns = self.shape
        for index in itertools.product(*map(range, outer)):
            start = sum(map(int.__mul__, index, self.spec.element_strides))
            yield stored[start : start + columns]


def _may_be_out_of_range(elements: memoryview, count: int) -> bool:
    """Whether a 32-bit element is negative or at least `count`; True for elements of other sizes.

    One long integer holds all elements as lanes. Adding 2**31 - count to a lane sets its highest bit if and only if the
    lane is at least `count`. After Lamport, "Multiple byte processing with full-word instructions", 1975.
    """
    if elements.itemsize != 4 or not 0 < count <= 1 << 31:
        return True
    added, low_bits, signs = _lanes(len(elements), (1 << 31) - count)
    number = int.from_bytes(elements, "little")
    return bool((number | (number & low_bits) + added) & signs)


@lru_cache(maxsize=8)
def _lanes(lanes: int, added: int) -> tuple[int, int, int]:
    """Long integers of `lanes` 32-bit lanes: each lane `added`; all bits but the highest; the highest bit."""
    ones = int.from_bytes(b"\1\0\0\0" * lanes, "little")
    return ones * added, ones * ((1 << 31) - 1), ones << 31
