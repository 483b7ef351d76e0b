"""A section of DST in a kernel: its slots, and where numbers find room in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.d2m import AcquireDstOp, TileTypecastOp
from ttnn_jit.dialects.region_loops import memref_shape, refusal
from ttnn_jit.transforms.kernel_level.kernel_writer import Index, KernelWriter
from ttnn_jit.transforms.kernel_level.tile_broadcasts import Broadcasts, constant_index


class Section:
    """The slots of one `d2m.acquire_dst`, each of a block of tiles.

    A number that an op of ttkernel takes as a tile is filled into a tile of DST that the section does not use, or else
    into one whose value no later op reads.

    Args:
        op: The op.
        numbers: Tile op -> how many numbers it takes as tiles.
        capacity: The tiles of DST.

    Attributes:
        broadcasts: Its broadcasts of tiles of circular buffers.
        is_by_tile: Whether DST is acquired for each tile of a block, for want of room for the numbers.

    Raises:
        CompileError: There is no room for the numbers of an op.
    """

    def __init__(self, op: AcquireDstOp, numbers: Mapping[Operation, int], capacity: int) -> None:
        _, *extents = memref_shape(op.result.type)
        self.op = op
        self.broadcasts = Broadcasts.of(op)
        self._block = tuple(extents)
        self._liveness = _Liveness(op)
        tiles = math.prod(extents)
        short = self._without_room(numbers, capacity - self._liveness.slots * tiles)
        self.is_by_tile = short is not None and tiles > 1
        self._tiles = 1 if self.is_by_tile else tiles
        self._unused = capacity - self._liveness.slots * self._tiles
        if short is not None:
            short = self._without_room(numbers, self._unused)
        if short is not None:
            used = self._liveness.slots * self._tiles
            raise refusal(short, f"the {capacity} tiles of DST hold {used} tiles, and there is no room for its number")

    def slot(self, kernel: KernelWriter, indices: Sequence[Index]) -> Index:
        """The tile of DST at indices of the memref: slot, then place in the block."""
        if self.is_by_tile:
            return indices[0]
        return kernel.linear(indices, (1, *self._block))

    def room(self, kernel: KernelWriter, op: Operation, number: int, place: Sequence[Index]) -> Index:
        """The tile of DST for a number of an op, at a place in the block."""
        if number < self._unused:
            return self._liveness.slots * self._tiles + number
        return self.slot(kernel, [self._liveness.dead(op)[number - self._unused], *place])

    def _without_room(self, numbers: Mapping[Operation, int], unused: int) -> Operation | None:
        """The first op whose numbers have no room."""
        for op, count in numbers.items():
            if count > max(unused, 0) and count - max(unused, 0) > len(self._liveness.dead(op)):
                return op
        return None


class _Liveness:
    """Which slots hold values that later ops read.

    Attributes:
        slots: The slots that ops store to.
    """

    def __init__(self, op: AcquireDstOp) -> None:
        block = op.parent_block()
        assert block is not None, "an op in a kernel has a block"
        ops = [each for top in block.ops for each in top.walk()]
        self._position = {each: number for number, each in enumerate(ops)}
        self._stores: dict[int, list[int]] = {}
        self._reads: dict[int, list[int]] = {}
        for each in ops:
            if isinstance(each, StoreOp) and each.memref is op.result:
                self._stores.setdefault(constant_index(each.indices[0]), []).append(self._position[each])
            elif isinstance(each, LoadOp) and each.memref is op.result:
                reads = self._reads.setdefault(constant_index(each.indices[0]), [])
                reads += [self._position[user] for user in _users(each.result)]
        self.slots = max(self._stores, default=-1) + 1

    def dead(self, op: Operation) -> list[int]:
        """The slots whose values neither an op nor one after it reads."""
        at = self._position[op]
        found = []
        for slot in range(self.slots):
            read = min((each for each in self._reads.get(slot, ()) if each >= at), default=None)
            stored = min((each for each in self._stores.get(slot, ()) if each > at), default=None)
            if read is None or (stored is not None and stored < read):
                found.append(slot)
        return found


def _users(value: SSAValue) -> Iterator[Operation]:
    """The ops that read a tile, behind casts too."""
    for use in value.uses:
        yield use.operation
        if isinstance(use.operation, TileTypecastOp):
            yield from _users(use.operation.result)
