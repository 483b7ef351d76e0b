"""Init calls of a kernel's tile ops: where they stand, and how many run.

A core's engines are set up for a tile op before it runs. Where an op has a nest of loops of its own, as in a unary
chain, once before the nest is enough; in a nest of several ops each must be set up again for every tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.elementwise import ElementwiseOp
from ttnn_jit.transforms.function_bodies import erase

_COMPUTE = (ElementwiseOp, d2m.TileBcastOp, d2m.TileTypecastOp)
_MOVES = frozenset({LoadOp, StoreOp})  # most of a nest; a set tells them by identity, isinstance asks every base


@dataclass(frozen=True)
class InitCalls:
    """Init calls that one core makes: as the loops stand, and if every op were set up for every tile."""

    hoisted: int
    per_tile: int


def insert_tile_inits(region: Region) -> None:
    """Puts ``d2m.tile_init`` before the nest of every op that has one of its own, else before the op."""
    for nest, ops, _ in _nests(region.block, 1):
        if len(ops) == 1:
            _insert_before(nest, ops[0])
        else:
            for op in ops:
                _insert_before(op, op)


def erase_tile_inits(region: Region) -> None:
    """The inverse of `insert_tile_inits`."""
    for op in [op for op in region.walk() if isinstance(op, d2m.TileInitOp)]:
        erase(op)


def init_calls(region: Region) -> InitCalls:
    """The init calls of a kernel's region after ``d2m-insert-dst-register-access``, per core."""
    hoisted = per_tile = 0
    for nest, ops, blocks in _nests(region.block, 1):
        tiles = blocks * _tiles(nest)
        per_tile += len(ops) * tiles
        hoisted += blocks if len(ops) == 1 else len(ops) * tiles
    return InitCalls(hoisted, per_tile)


def _nests(block: Block, runs: int) -> Iterator[tuple[ForOp, list[Operation], int]]:
    """Every outermost affine loop that computes, the tile ops in it, and how often it runs."""
    for op in list(block.ops):
        if isinstance(op, scf.ForOp):
            yield from _nests(op.body.block, runs * _trips(op))
        elif isinstance(op, ForOp):
            ops: list[Operation] = []
            _collect_tile_ops(op, ops)
            if ops:
                yield op, ops, runs


def _collect_tile_ops(loop: ForOp, found: list[Operation]) -> None:
    for op in loop.body.block.ops:
        if isinstance(op, ForOp):
            _collect_tile_ops(op, found)
        elif type(op) not in _MOVES and isinstance(op, _COMPUTE):
            found.append(op)


def _trips(loop: scf.ForOp) -> int:
    lower, upper, step = (_constant(value) for value in (loop.lb, loop.ub, loop.step))
    return max(0, -(-(upper - lower) // step))


def _constant(value: SSAValue) -> int:
    owner = value.owner
    assert isinstance(owner, arith.ConstantOp), "the bounds of a kernel's block loops are constants"
    assert isinstance(owner.value, IntegerAttr), "the bounds of a kernel's block loops are constants"
    return owner.value.value.data


def _tiles(nest: ForOp) -> int:
    """How often the innermost body of a nest of affine loops runs."""
    tiles = 1
    for op in nest.walk():
        if isinstance(op, ForOp):
            bound = op.upperBoundMap.data.results[0]
            assert isinstance(bound, AffineConstantExpr), "the loops over a block have constant bounds"
            tiles *= bound.value
    return tiles


def _insert_before(place: Operation, tile_op: Operation) -> None:
    block = place.parent_block()
    assert block is not None, "a kernel's ops stand in its region"
    block.insert_op_before(d2m.TileInitOp.make(tile_op.name.removeprefix("d2m."), tile_op.location), place)
