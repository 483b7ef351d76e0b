"""Walks the loops of a kernel's region: which block of which operand is taken where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.dialects.d2m import GenericOp, ReserveOp, WaitOp
from ttnn_jit.dialects.region_loops import refusal, subview_window
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.transforms.kernel_level.kernel_writer import Index, KernelWriter
from ttnn_jit.transforms.kernel_level.operand_layout import Operand


@dataclass(frozen=True)
class BlockOfTiles:
    """A block of an operand that a kernel takes at once.

    Attributes:
        operand: The operand.
        offsets: Where it begins in the core's part, per dimension.
        extents: Its extents in tiles.
    """

    operand: Operand
    offsets: tuple[Index, ...]
    extents: tuple[int, ...]

    @property
    def tiles(self) -> int:
        """The number of tiles."""
        return math.prod(self.extents)


class BlockVisitor(Protocol):
    """What one of the three kernels does during the walk."""

    def enter(self, block: BlockOfTiles, view: SSAValue) -> None:
        """A block is taken; `view` is the memref of it."""

    def leave(self, block: BlockOfTiles) -> None:
        """The end of the loop body that took a block."""

    def visit(self, ops: Sequence[Operation], walk: BlockWalk) -> None:
        """Ops of a loop body that neither take blocks nor are loops over blocks, in order."""


class BlockWalk:
    """Clones the loops over blocks into a writer, and calls a visitor.

    Args:
        writer: Writes the kernel.
        operands: The operands of the kernel.
        visitor: What is done at each block.
    """

    def __init__(self, writer: KernelWriter, operands: Sequence[Operand], visitor: BlockVisitor) -> None:
        self._writer = writer
        self._operands = operands
        self._visitor = visitor
        self._buffers: dict[SSAValue, Operand] = {}
        self.numbers: dict[SSAValue, Index] = {}

    def run(self, op: GenericOp) -> None:
        """Walks the region of a kernel."""
        arguments: dict[SSAValue, Operand] = dict(zip(op.body.block.args, self._operands, strict=True))
        for each in op.body.block.ops:
            if isinstance(each, WaitOp | ReserveOp):
                self._buffers[each.result] = arguments[each.cb]
        self._body(op.body.block)

    def index(self, value: SSAValue | int) -> Index:
        """A bound or offset, in the kernel that is written."""
        return value if isinstance(value, int) else self.numbers[value]

    def _body(self, block: Block) -> None:
        taken: list[BlockOfTiles] = []
        others: list[Operation] = []
        for each in block.ops:
            match each:
                case arith.ConstantOp(value=IntegerAttr() as number):
                    self.numbers[each.result] = number.value.data
                case arith.ConstantOp(value=FloatAttr()) | WaitOp() | ReserveOp():
                    continue
                case memref.SubviewOp():
                    self._flush(others)
                    taken.append(self._taken(each))
                    self._visitor.enter(taken[-1], each.result)
                case scf.ForOp():
                    self._flush(others)
                    self._loop(each)
                case scf.YieldOp():
                    continue
                case _:
                    others.append(each)
        self._flush(others)
        for one in taken:
            self._visitor.leave(one)

    def _flush(self, others: list[Operation]) -> None:
        if others:
            self._visitor.visit([*others], self)
            others.clear()

    def _loop(self, op: scf.ForOp) -> None:
        bounds = [self.index(bound) for bound in (op.lb, op.ub, op.step)]
        with self._writer.at(op.location), self._writer.loop(bounds[0], bounds[1], bounds[2]) as index:
            self.numbers[op.body.block.args[0]] = index
            self._body(op.body.block)

    def _taken(self, op: memref.SubviewOp) -> BlockOfTiles:
        operand = self._buffers.get(op.source)
        if operand is None:
            raise refusal(op, "it is a view of no circular buffer")
        offsets, extents = subview_window(op)
        return BlockOfTiles(operand, tuple(self.index(offset) for offset in offsets), tuple(extents))


def block_tiles(op: GenericOp) -> Mapping[int, int]:
    """Operand's index -> the tiles of the blocks in which the region takes it, if it takes any."""
    arguments: dict[SSAValue, int] = {argument: number for number, argument in enumerate(op.body.block.args)}
    taking = (each for each in op.body.block.ops if isinstance(each, WaitOp | ReserveOp))
    buffers: dict[SSAValue, int] = {each.result: arguments[each.cb] for each in taking}
    found: dict[int, int] = {}
    for each in op.body.walk():
        if isinstance(each, memref.SubviewOp) and each.source in buffers:
            number = buffers[each.source]
            found[number] = max(found.get(number, 0), math.prod(subview_window(each)[1]))
    return found
