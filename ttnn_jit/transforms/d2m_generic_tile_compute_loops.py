"""d2m-generic-tile-compute-loops: tiles the loops over a core's shard into blocks that fit into DST."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass

from ttnn_jit.dialects import d2m, system_desc_of
from ttnn_jit.dialects.builders import end_scf_loop, scf_loop, subview, tile_memref
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import dense_strides
from ttnn_jit.transforms.blocks import block_tiles
from ttnn_jit.transforms.index_constants import IndexConstants
from ttnn_jit.transforms.kernel_body import TileBody, generics, linalg_of


@dataclass(frozen=True)
class D2MGenericTileComputeLoops(ModulePass):
    """Every ``linalg.generic`` over a shard becomes ``scf.for`` loops around one over a block (blocks.py).

    A block of a unary chain is as large as DST; any other kernel takes one tile at a time.
    """

    name = "d2m-generic-tile-compute-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Adds the loops to every kernel of the module `op`."""
        target = system_desc_of(op)
        for generic in generics(op):
            add_block_loops(generic, target)


def dst_capacity(tiles: TileBody, block: Block, target: SystemDesc) -> int:
    """DST tiles at hand for a kernel's body: fewer if it computes with elements wider than 16 bits."""
    return target.dst_capacity(wide=tiles.dtype(block).is_wide)


def add_block_loops(generic: d2m.GenericOp, target: SystemDesc) -> None:
    """Puts loops around the one `linalg.generic` of a kernel."""
    whole = linalg_of(generic)
    body = whole.body.block
    tiles = TileBody.of(body)
    shard = _extents(whole.operands[-1])
    block = block_tiles(shard, dst_capacity(tiles, body, target), unary_chain=tiles.graph.is_unary_chain)
    parent = whole.parent_block()
    assert parent is not None, "a linalg.generic stands in its kernel"
    parent.detach_op(whole)
    constants = IndexConstants(generic.body.block)
    innermost, indices = _loop_nest(parent, shard, block, constants, whole)
    views = [
        _view(innermost, operand, indexing_map.data.results, indices, block, constants, whole)
        for operand, indexing_map in zip(whole.operands, whole.indexing_maps.data, strict=True)
    ]
    whole.operands = views
    innermost.add_op(whole)
    _terminate(innermost, parent)


def _extents(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, MemRefType)
    return tuple(value.type.get_shape())


def _loop_nest(
    parent: Block, shard: Sequence[int], block: Sequence[int], constants: IndexConstants, whole: LinalgGenericOp
) -> tuple[Block, list[SSAValue]]:
    zero = constants.value(0)
    indices: list[SSAValue] = []
    for extent, step in zip(shard, block, strict=True):
        loop = scf_loop(zero, constants.value(extent), constants.value(step), whole.location)
        parent.add_op(loop)
        parent = loop.body.block
        indices.append(parent.args[0])
    return parent, indices


def _view(
    innermost: Block,
    operand: SSAValue,
    results: Sequence[AffineExpr],
    indices: Sequence[SSAValue],
    block: Sequence[int],
    constants: IndexConstants,
    whole: LinalgGenericOp,
) -> SSAValue:
    """The part of `operand` that one block reads or writes; dimensions that are broadcast stay at index 0."""
    dims = [result.position if isinstance(result, AffineDimExpr) else None for result in results]
    offsets = [constants.value(0) if dim is None else indices[dim] for dim in dims]
    sizes = tuple(1 if dim is None else block[dim] for dim in dims)
    strides = dense_strides(_extents(operand))
    view_type = tile_memref(sizes, dtype_of(operand.type), "l1", strides, None)
    view = subview(operand, offsets, sizes, view_type, whole.location)
    innermost.add_op(view)
    return view.results[0]


def _terminate(innermost: Block, outermost: Block) -> None:
    block = innermost
    while block is not outermost:
        loop = block.parent_op()
        assert isinstance(loop, scf.ForOp), "only loops stand between the two blocks"
        end_scf_loop(loop)
        parent = loop.parent_block()
        assert parent is not None, "every loop stands in a block"
        block = parent
