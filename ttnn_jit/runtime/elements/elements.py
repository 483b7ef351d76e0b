"""What the check of an operation asks the elements of its operands, in plain Python: no call waits for numpy.

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

_AT_ONCE = 1 << 14
"""Elements of one long integer: 64 KB, which stay in the second cache."""


@dataclass(frozen=True)
class Elements:
    """The elements of a tensor where they lie.

    Attributes:
        spec: The tensor's.
        memory: Its bytes; nothing else may have them while they are looked at.
    """

    spec: TensorSpec
    memory: memoryview

    @property
    def shape(self) -> tuple[int, ...]:
        """The logical extents."""
        return tuple(self.spec.shape)

    def outside(self, count: int) -> int | None:
        """An element of indices that is not one of the first `count` whole numbers; None if all are.

        Of floats it is their integer part; NaN is none of them, for which -1 stands.
        """
        if self.spec.dtype.is_upper_half:
            return self._half_outside(count)
        for run in self._runs():
            for first in range(0, len(run), _AT_ONCE):
                part = run[first : first + _AT_ONCE]
                if _may_be_outside(part, count) and not 0 <= (least := min(part)) <= (most := max(part)) < count:
                    return int(least if least < 0 else most)
        return None

    def _half_outside(self, count: int) -> int | None:
        """The same of floats of 16 bits, whose magnitudes are ordered as their bits are."""
        elements = [each for run in self._runs() for each in run]
        largest = max((each for each in elements if each < 0x8000), default=0)
        least = max((each for each in elements if each >= 0x8000), default=0x8000)
        for each in (largest, least):
            number = self.spec.dtype.decoded(each.to_bytes(2, "little"))
            if not -1 < number < count:
                return int(number) if math.isfinite(number) else -1
        return None

    def nonzeros(self) -> int | None:
        """How many elements are not zero; None where one is no number, as of block floats none is taken for one."""
        if self.spec.dtype.is_block_float:
            return None
        elements = [each for run in self._runs() for each in run]
        if self.spec.dtype.is_upper_half:
            elements = [each & 0x7FFF for each in elements]
            return None if max(elements, default=0) > 0x7F80 else sum(map(bool, elements))
        return None if any(each != each for each in elements) else sum(map(bool, elements))  # noqa: PLR0124 - NaN

    def _runs(self) -> Iterator[memoryview]:
        """The elements, as they are stored, row by row where rows have padding."""
        cast: Any = self.memory.cast("B").cast  # whose stub knows no format that is looked up
        stored = cast(self.spec.dtype.buffer_format)
        if self.spec.volume == self.spec.items or not self.shape:
            yield stored[: self.spec.volume]
            return
        *outer, columns = self.shape
        for index in itertools.product(*map(range, outer)):
            start = sum(map(int.__mul__, index, self.spec.element_strides))
            yield stored[start : start + columns]


def _may_be_outside(elements: memoryview, count: int) -> bool:
    """Whether one is negative or not below `count`; of other elements than those of 32 bits, it is not known.

    All at once, as lanes of one number: only from `count` on does a lane to which 2**31 - count is added reach its
    highest bit. After Lamport, "Multiple byte processing with full-word instructions", 1975.
    """
    if elements.itemsize != 4 or not 0 < count <= 1 << 31:
        return True
    added, low_bits, signs = _lanes(len(elements), (1 << 31) - count)
    number = int.from_bytes(elements, "little")
    return bool((number | (number & low_bits) + added) & signs)


@lru_cache(maxsize=8)
def _lanes(lanes: int, added: int) -> tuple[int, int, int]:
    """So many integers of 32 bits that are `added`, that are all bits but the highest, and that are the highest."""
    ones = int.from_bytes(b"\1\0\0\0" * lanes, "little")
    return ones * added, ones * ((1 << 31) - 1), ones << 31
