"""Inserts and erases the `d2m.tile_init` ops of a kernel.

A core's engines are set up for a tile op before it runs. An op in a loop nest of its own, as in a unary chain, needs
one set-up before the nest. In a nest of several ops each op is set up again for every tile.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf
from xdsl.dialects.affine import ForOp
from xdsl.ir import Block, Operation, Region

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.declared_ops import ElementwiseOp
from ttnn_jit.dialects.writing.editing import erase, insert_before, ops_of
from ttnn_jit.process.memoized import memoized

_COMPUTE = (ElementwiseOp, d2m.AccumulatingOp, d2m.TileBcastOp, d2m.TileTypecastOp)


@memoized
def _computes(kind: type[Operation]) -> bool:
    return issubclass(kind, _COMPUTE)


def insert_tile_inits(region: Region) -> None:
    """Inserts ``d2m.tile_init`` before each op, or before its nest if that has no other op."""
    for nest, ops in _nests(region.block):
        if len(ops) == 1:
            _insert_before(nest, ops[0])
        else:
            for op in ops:
                _insert_before(op, op)


def erase_tile_inits(region: Region) -> None:
    """The inverse of `insert_tile_inits`."""
    for op in [op for op in region.walk() if isinstance(op, d2m.TileInitOp)]:
        erase(op)


def _nests(block: Block) -> Iterator[tuple[ForOp, list[Operation]]]:
    """Every outermost affine loop with tile ops, and these ops."""
    for op in ops_of(block):
        if type(op) is scf.ForOp:  # it has no subclasses, and isinstance is slower
            yield from _nests(op.body.block)
        elif type(op) is ForOp:
            ops: list[Operation] = []
            _collect_tile_ops(op, ops)
            if ops:
                yield op, ops


def _collect_tile_ops(loop: ForOp, found: list[Operation]) -> None:
    for op in ops_of(loop.body.block):
        if type(op) is ForOp:
            _collect_tile_ops(op, found)
        elif _computes(type(op)):
            found.append(op)


def _insert_before(anchor: Operation, tile_op: Operation) -> None:
    insert_before(d2m.TileInitOp.make(tile_op.name.removeprefix("d2m."), tile_op.location), anchor)
