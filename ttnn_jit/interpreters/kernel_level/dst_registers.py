"""The DST registers of a core: who owns them, and what they hold."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from xdsl.ir import Operation

from ttnn_jit.interpreters.accumulator import Accumulator
from ttnn_jit.interpreters.kernel_level.faults import Place, Wait, fail
from ttnn_jit.specs.dtypes import DataType

Array = np.ndarray[Any, Any]

Slots = list["Array | Accumulator | None"]


class DstRegisters:
    """Sections of DST, which the math thread acquires and commits, and the packer waits for and releases.

    Args:
        capacity: The tiles of a section.
        sections: How many sections there are: 2 if DST is halved, so that one is packed while one is computed.
        dtype: The element type to which floats are rounded.
    """

    def __init__(self, capacity: int, sections: int, dtype: DataType) -> None:
        self.capacity = capacity
        self.dtype = dtype
        self._sections = sections
        self._math: Slots | None = None
        self._acquired: Operation | None = None
        self._committed: deque[Slots] = deque()
        self._packed: Slots | None = None

    def acquire(self, op: Operation, place: Place) -> Wait | None:
        """Gives a section to the math thread; None once one is free."""
        if self._math is not None:
            fail(op, place, "DST is acquired already, and was not committed", "`tile_regs_commit` follows each acquire")
        if len(self._committed) + (self._packed is not None) >= self._sections:
            return Wait(op, "waits for a section of DST that the packer releases")
        self._math = [None] * self.capacity
        return None

    def commit(self, op: Operation, place: Place) -> None:
        """Hands the section of the math thread to the packer."""
        if self._math is None:
            fail(op, place, "DST is not acquired", "`tile_regs_acquire` precedes it")
        self._committed.append(self._math)
        self._math = None

    def wait(self, op: Operation, place: Place) -> Wait | None:
        """Gives a section that was committed to the packer; None once there is one."""
        if self._packed is not None:
            fail(op, place, "the packer has a section of DST already, and did not release it")
        if not self._committed:
            return Wait(op, "waits for a section of DST that is committed")
        self._packed = self._committed.popleft()
        return None

    def release(self, op: Operation, place: Place) -> None:
        """Frees the section of the packer."""
        if self._packed is None:
            fail(op, place, "the packer has no section of DST", "`tile_regs_wait` precedes it")
        self._packed = None

    def require_idle(self, op: Operation, place: Place) -> None:
        """Refuses the end of a kernel that still owns a section."""
        if self._math is not None:
            fail(
                op, place, "the kernel ends with DST acquired", "`tile_regs_commit` and `tile_regs_release` are missing"
            )
        if self._packed is not None or self._committed:
            fail(
                op,
                place,
                "the kernel ends with a section of DST that is not released",
                "`tile_regs_release` is missing",
            )

    def slot(self, index: int, op: Operation, place: Place) -> Array:
        """The tile of the math thread in a slot."""
        held = self.held(index, op, place)
        if held is None:
            fail(op, place, f"it reads tile {index} of DST, which was not written since DST was acquired")
        return held.tile() if isinstance(held, Accumulator) else held

    def held(self, index: int, op: Operation, place: Place) -> Array | Accumulator | None:
        """What a slot of the math thread holds."""
        if self._math is None:
            fail(op, place, "it uses DST, which is not acquired", "`tile_regs_acquire` precedes ops on DST")
        self._require_index(index, op, place)
        return self._math[index]

    def store(self, index: int, value: Array | Accumulator, op: Operation, place: Place) -> None:
        """Stores a tile of the math thread."""
        self.held(index, op, place)
        assert self._math is not None, "`held` requires it"
        self._math[index] = value

    def packed(self, index: int, op: Operation, place: Place) -> Array:
        """The tile in a slot of the packer."""
        if self._packed is None:
            fail(op, place, "it packs from DST, and the packer has no section", "`tile_regs_wait` precedes packing")
        self._require_index(index, op, place)
        held = self._packed[index]
        if held is None:
            fail(op, place, f"it packs tile {index} of DST, which was never written")
        return held.tile() if isinstance(held, Accumulator) else held

    def _require_index(self, index: int, op: Operation, place: Place) -> None:
        if not 0 <= index < self.capacity:
            bits = 32 if self.dtype.is_wide else 16
            fail(op, place, f"there is no tile {index} in DST, which has {self.capacity} tiles of {bits} bits")
