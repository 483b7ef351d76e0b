"""d2m-op-scheduler: schedules tile ops to need the fewest DST tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.writing.editing import append, detach_all
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.transforms.kernels.kernel_body import TileBody, linalg_of
from ttnn_jit.transforms.kernels.pass_bases import KernelPass
from ttnn_jit.transforms.kernels.schedule import schedule
from ttnn_jit.transforms.kernels.slots import assign_slots

DST_PEAK = "d2m.dst_peak"
"""On a kernel: the DST tiles that its schedule needs."""

DST_PEAK_SOURCE_ORDER = "d2m.dst_peak_source_order"
"""On a kernel: the DST tiles that the source order would need."""


@dataclass(frozen=True)
class D2MOpScheduler(KernelPass):
    """Reorders the tile ops of every kernel (transforms/kernels/schedule.py); results are equal bit for bit.

    The largest numbers of live DST tiles, in the new order and in source order, become the attributes ``d2m.dst_peak``
    and ``d2m.dst_peak_source_order`` of the kernel.
    """

    name = "d2m-op-scheduler"

    def change(self, generic: d2m.GenericOp, target: SystemDesc) -> None:  # noqa: ARG002 - one schedule for all targets
        """Schedules one kernel and records its peaks."""
        block = linalg_of(generic).body.block
        tiles = TileBody.of(block)
        source = tiles.graph.source_order
        order = schedule(tiles.graph)
        if order != source:
            _reorder(block, tiles, order)
        peak = assign_slots(tiles.graph, order).peak
        generic.attributes[DST_PEAK] = _tiles(peak)
        of_source = peak if order == source else assign_slots(tiles.graph, source).peak
        generic.attributes[DST_PEAK_SOURCE_ORDER] = _tiles(of_source)


def _reorder(block: Block, tiles: TileBody, order: Sequence[int]) -> None:
    terminator = block.last_op
    assert terminator is not None, "the body of a linalg.generic ends with linalg.yield"
    detach_all(block)
    append(block, (*tiles.scalars, *(tiles.ops[number] for number in order), terminator))


@memoized
def _tiles(count: int) -> IntegerAttr:
    return IntegerAttr(count, i64)
