"""d2m-generic-tile-compute-loops: tiles the loops over a core's shard into blocks that fit into DST."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import AffineMapAttr, MemRefType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.builders import end_scf_loop, scf_loop, subview, tile_memref
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.specs.cores.sharding import dense_strides
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.transforms.kernels.blocks import block_tiles
from ttnn_jit.transforms.kernels.index_constants import IndexConstants
from ttnn_jit.transforms.kernels.kernel_body import TileBody, linalg_of
from ttnn_jit.transforms.kernels.pass_bases import KernelPass


@dataclass(frozen=True)
class D2MGenericTileComputeLoops(KernelPass):
    """Every ``linalg.generic`` over a shard becomes ``scf.for`` loops around one over a block.

    A block of a unary chain fills DST; any other kernel processes one tile at a time (transforms/kernels/blocks.py).
    """

    name = "d2m-generic-tile-compute-loops"

    def change(self, generic: d2m.GenericOp, target: SystemDesc) -> None:
        """Puts loops around the one `linalg.generic` of a kernel."""
        whole = linalg_of(generic)
        body = whole.body.block
        tiles = TileBody.of(body)
        shard = _shard_extents(whole)
        block = block_tiles(shard, dst_capacity(tiles, body, target), unary_chain=tiles.graph.is_unary_chain)
        parent = whole.parent_block()
        assert parent is not None, "a linalg.generic has a block"
        parent.detach_op(whole)
        constants = IndexConstants(generic.body.block)
        nest = _Nest(parent, shard, block, constants, whole)
        reduced = [dim for dim, kind in enumerate(whole.iterator_types) if kind.data is IteratorType.REDUCTION]
        nest.enter(dim for dim in range(len(shard)) if dim not in reduced)
        *inputs, output = zip(whole.operands, whole.indexing_maps.data, strict=True)
        written = [nest.view(*output)] if reduced else []  # the subview of the output is invariant in reduction loops
        nest.enter(reduced)
        views = [nest.view(*operand) for operand in inputs]
        whole.operands = [*views, *(written or [nest.view(*output)])]
        append(nest.innermost, (whole,))
        nest.end()


def dst_capacity(tiles: TileBody, block: Block, target: SystemDesc) -> int:
    """DST tiles available to a kernel's body: fewer if it computes with elements wider than 16 bits."""
    return target.dst_capacity(wide=tiles.dtype(block).is_wide)


def _shard_extents(whole: LinalgGenericOp) -> tuple[int, ...]:
    """Extents of one core's loops in tiles."""
    output = whole.indexing_maps.data[-1].data
    if len(output.results) == output.num_dims and all(isinstance(each, AffineDimExpr) for each in output.results):
        return _extents(whole.operands[-1])
    extents = dict.fromkeys(range(output.num_dims), 1)
    for operand, indexing_map in zip(whole.operands, whole.indexing_maps.data, strict=True):
        for result, extent in zip(indexing_map.data.results, _extents(operand), strict=True):
            if isinstance(result, AffineDimExpr):
                extents[result.position] = extent
    return tuple(extents.values())


def _extents(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, MemRefType)
    return tuple(value.type.get_shape())


class _Nest:
    """The loops over blocks that are open, and the subviews of buffers that a block reads or writes."""

    def __init__(
        self,
        parent: Block,
        shard: Sequence[int],
        block: Sequence[int],
        constants: IndexConstants,
        whole: LinalgGenericOp,
    ) -> None:
        self.innermost = parent
        self._shard, self._block = shard, block
        self._constants = constants
        self._location = whole.location
        self._zero = constants.value(0)
        self._indices: dict[int, SSAValue] = {}
        self._loops: list[scf.ForOp] = []

    def enter(self, dims: Iterable[int]) -> None:
        """Opens a loop for each of `dims` inside the open loops."""
        for dim in dims:
            upper, step = self._constants.value(self._shard[dim]), self._constants.value(self._block[dim])
            loop = scf_loop(self._zero, upper, step, self._location)
            append(self.innermost, (loop,))
            self._loops.append(loop)
            self.innermost = loop.body.block
            self._indices[dim] = self.innermost.args[0]

    def view(self, operand: SSAValue, indexing_map: AffineMapAttr) -> SSAValue:
        """The subview of `operand` that one block reads or writes; broadcast dimensions have index 0."""
        results = indexing_map.data.results
        dims = [result.position if isinstance(result, AffineDimExpr) else None for result in results]
        offsets = [self._constants.value(0) if dim is None else self._indices[dim] for dim in dims]
        sizes = tuple(1 if dim is None else self._block[dim] for dim in dims)
        strides = dense_strides(_extents(operand))
        view_type = tile_memref(sizes, dtype_of(operand.type), "l1", strides, None)
        view = subview(operand, offsets, sizes, view_type, self._location)
        append(self.innermost, (view,))
        return view.results[0]

    def end(self) -> None:
        """Closes the open loops."""
        for loop in self._loops:
            end_scf_loop(loop)
