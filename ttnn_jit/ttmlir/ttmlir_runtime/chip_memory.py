"""The memory of a chip while a program runs, by its rules: nothing is allocated there.

Every tensor of the text takes bytes of the banks of its memory from the operation that makes it to its
``ttnn.deallocate``, arguments from the beginning. Pages of interleaved tensors, tiles or rows, go to one bank after the
other; a shard lies in the L1 of its core.
"""

from __future__ import annotations

import math
import os
from typing import Any

from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.diagnostics.errors import DramCapacityError, L1CapacityError
from ttnn_jit.dialects.text_calls.tensor_types import dtype_in_text, is_tensor
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc
from ttnn_jit.specs.tensor_spec import BufferType
from ttnn_jit.ttmlir.ttmlir_runtime.bank_allocator import BankAllocator

_DRAM_RESERVED = 2_560_032
"""Bytes of a bank of DRAM that tensors do not get: what the report of a Wormhole in ttrt's document lacks."""
_L1_SMALL = 32_768
_ROW_ALIGNMENT = 32
MEMORIES = ("dram", "l1", "l1_small", "trace")
"""The memories of a report."""
_OF_BUFFER = {BufferType.DRAM: "dram", BufferType.L1: "l1", BufferType.L1_SMALL: "l1_small", BufferType.TRACE: "trace"}


class DeviceMemory:
    """The banks of one device.

    Args:
        target: Its rules.
    """

    def __init__(self, target: SystemDesc) -> None:
        cores = math.prod(target.grid)
        banks, per_bank = target.dram_banks, (target.dram_bytes or 0) // target.dram_banks - _DRAM_RESERVED
        if target.dram_bytes is None:  # of a cpu
            banks, per_bank = 1, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        self._banks = {
            "dram": BankAllocator(banks, max(0, per_bank)),
            "l1": BankAllocator(cores, target.l1_bytes),
            "l1_small": BankAllocator(cores, _L1_SMALL),
            "trace": BankAllocator(banks, 0),
        }
        self._places: dict[SSAValue, tuple[str, int]] = {}

    def allocate(self, value: SSAValue) -> None:
        """Gives a tensor its bytes; one that has them keeps them, and tensors of the host have none.

        Raises:
            L1CapacityError, DramCapacityError: There is no room.
        """
        if value in self._places or not is_tensor(value.type):
            return
        memory, nbytes = bytes_per_bank(value, {name: each.num_banks for name, each in self._banks.items()})
        if not nbytes:
            return
        bank = self._banks[memory]
        address = bank.allocate(nbytes)
        if address is None:
            kind = L1CapacityError if memory.startswith("l1") else DramCapacityError
            raise kind(
                f"{value.type} takes {nbytes:,} bytes of every bank of {memory}, and the largest free block has "
                f"{bank.largest_free:,}"
            )
        self._places[value] = memory, address

    def free(self, value: SSAValue) -> None:
        """Takes the bytes of a tensor, if it has any."""
        if place := self._places.pop(value, None):
            memory, address = place
            self._banks[memory].free(address)

    def view(self) -> dict[str, dict[str, Any]]:
        """The state of every memory, by the names of a report."""
        return {name: self._banks[name].as_dict() for name in MEMORIES}

    def allocated(self, memory: str) -> int:
        """The bytes of every bank of a memory that tensors have."""
        return self._banks[memory].allocated


def bytes_per_bank(value: SSAValue, banks: dict[str, int]) -> tuple[str, int]:
    """The memory of a tensor, and the bytes that it takes of every bank; those of the host have 0.

    Args:
        value: The tensor; without a layout its tiles are interleaved in DRAM.
        banks: The number of banks of each memory.
    """
    layout = value.type.encoding  # type: ignore[attr-defined]  # a tensor's
    if not isinstance(layout, TTNNLayoutAttr):
        shape: tuple[int, ...] = (1, 1, *value.type.get_shape())  # type: ignore[attr-defined]
        *outer, rows, columns = shape
        tiles = math.prod(outer) * math.ceil(rows / TILE_HEIGHT) * math.ceil(columns / TILE_WIDTH)
        dtype = dtype_in_text(value.type.get_element_type())  # type: ignore[attr-defined]
        size = TILE_HEIGHT * TILE_WIDTH * dtype.itemsize
        return "dram", math.ceil(tiles / banks["dram"]) * size
    memory = _OF_BUFFER.get(layout.buffer_type)
    if memory is None:
        return "dram", 0
    shard, element = layout.memref.get_shape(), layout.memref.element_type
    is_tiled = isinstance(element, TileType)
    size = element.nbytes if isinstance(element, TileType) else dtype_in_text(element).itemsize
    if layout.is_sharded:
        return memory, math.prod(shard) * size
    whole = [extent * cores for extent, cores in zip(shard, layout.grid.data, strict=False)]
    if is_tiled:
        return memory, math.ceil(math.prod(whole) / banks[memory]) * size
    page = math.ceil(whole[-1] * size / _ROW_ALIGNMENT) * _ROW_ALIGNMENT
    return memory, math.ceil(math.prod(whole[:-1]) / banks[memory]) * page


class MemoryRun:
    """The memory of a device along a run of a function.

    Args:
        function: The function.
        target: The rules of the device.
    """

    def __init__(self, function: FuncOp, target: SystemDesc) -> None:
        self.memory = DeviceMemory(target)
        self._reached: dict[Block, Operation] = {}
        self._own: dict[Block, list[SSAValue]] = {}
        for argument in function.body.block.args:
            self._allocate(function.body.block, argument)

    def behind(self, op: Operation) -> DeviceMemory:
        """The memory behind an operation that has run; what the text frees before it is free.

        Raises:
            L1CapacityError, DramCapacityError: There is no room for a result.
        """
        block = op.parent
        assert block is not None, "an operation of a function has a block"
        at = self._reached.get(block)
        if at is not None and (at is op or not at.is_before_in_block(op)):
            self._leave(block)  # the body of a loop, or a function, anew
            at = None
        each = block.first_op if at is None else at.next_op
        while each is not None:
            self._pass(block, each)
            if each is op:
                break
            each = each.next_op
        self._reached[block] = op
        return self.memory

    def _pass(self, block: Block, op: Operation) -> None:
        if name_of(op) == "ttnn.deallocate":
            self.memory.free(op.operands[0])
            return
        if isinstance(op, CallOp) or op.regions or "callee" in (*op.attributes, *op.properties):
            # What it computed with is freed with its end, and its results take its place.
            for inner in [each for each in self._reached if each is not block and not _holds(each, op)]:
                self._leave(inner)
        for value in op.results:
            self._allocate(block, value)

    def _allocate(self, block: Block, value: SSAValue) -> None:
        self.memory.allocate(value)
        self._own.setdefault(block, []).append(value)

    def _leave(self, block: Block) -> None:
        """Frees what a block computed."""
        self._reached.pop(block, None)
        for value in self._own.pop(block, []):
            self.memory.free(value)


def _holds(block: Block, op: Operation) -> bool:
    """Whether an operation lies in a block, or in a block inside it."""
    parent = op.parent
    while parent is not None:
        if parent is block:
            return True
        above = parent.parent_op()
        parent = above.parent if above is not None else None
    return False
