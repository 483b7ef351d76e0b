"""The number of init calls that a core executes for the tile ops of a kernel, from the trip counts of its loops."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, scf
from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, SSAValue

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.declared_ops import ElementwiseOp
from ttnn_jit.dialects.region_loops import affine_bounds
from ttnn_jit.process.dataclass import dataclass

_TILE_OPS = (ElementwiseOp, d2m.AccumulatingOp, d2m.TileBcastOp, d2m.TileTypecastOp)


@dataclass(frozen=True)
class InitCalls:
    """Init calls on one core.

    Attributes:
        every_run: With an init call before each run of a tile op.
        hoisted: With init calls hoisted out of nests with one tile op, as ``convert-d2m-to-ttnn`` places them.
    """

    every_run: int = 0
    hoisted: int = 0

    def __add__(self, other: InitCalls) -> InitCalls:
        return InitCalls(self.every_run + other.every_run, self.hoisted + other.hoisted)


def init_calls(block: Block, trips: int = 1) -> InitCalls:
    """The init calls of `block` of a scheduled kernel, executed `trips` times."""
    found = InitCalls()
    for op in block.ops:
        if isinstance(op, scf.ForOp):
            bounds = map(_constant, (op.lb, op.ub, op.step))
            found += init_calls(op.body.block, trips * len(range(*bounds)))
        elif isinstance(op, ForOp):
            runs = [trips * count for count in _runs_of_tile_ops(op)]
            found += InitCalls(sum(runs), trips if len(runs) == 1 else sum(runs))
    return found


def _runs_of_tile_ops(loop: ForOp) -> Iterator[int]:
    """The number of runs of each tile op in the nest of `loop`, per execution of the nest."""
    trips = len(range(*affine_bounds(loop)))
    for op in loop.body.block.ops:
        if isinstance(op, ForOp):
            yield from (trips * count for count in _runs_of_tile_ops(op))
        elif isinstance(op, _TILE_OPS):
            yield trips


def _constant(value: SSAValue) -> int:
    constant = value.owner
    assert isinstance(constant, arith.ConstantOp), "bounds of a kernel's loops are constants"
    assert isinstance(constant.value, IntegerAttr), "bounds of a kernel's loops are whole numbers"
    return constant.value.value.data
