"""d2m-insert-dst-register-access: lowers tile ops to affine loops over a block, with loads and stores of DST slots."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.transforms.kernels.blocks import dst_tiles
from ttnn_jit.transforms.kernels.dst_access import DstAccess
from ttnn_jit.transforms.kernels.index_constants import IndexConstants
from ttnn_jit.transforms.kernels.kernel_body import TileBody, linalg_of, operation_names
from ttnn_jit.transforms.kernels.pass_bases import KernelPass
from ttnn_jit.transforms.passes.d2m_generic_tile_compute_loops import dst_capacity


@dataclass(frozen=True)
class D2MInsertDstRegisterAccess(KernelPass):
    """The last stage before code generation, which reads nothing else.

    ``d2m.acquire_dst`` comes before the loops over a block. A unary chain has one nest that loads the block into DST,
    one nest per op, and one that stores. Any other kernel has one nest in which each input tile is loaded right before
    the op that reads it, and one that stores. A reduction kernel has a prologue and an epilogue: before the reduction
    loop ``d2m.tile_fill`` fills the accumulator's slot; the loop loads and stores the slot and reads operands directly
    from circular buffers; after the loop the slot is stored to the output.

    DST holds tiles of one element type, the widest of the kernel. As the unpacker does on a chip, a
    ``d2m.tile_typecast`` widens a narrower tile before its store to DST; as the packer does, another one narrows it
    before its store to the output's buffer. The casts that `convert-ttir-to-d2m` inserted are these conversions, and
    leave no ops of their own.

    Slots are those of transforms/kernels/slots.py. As in the ttnn.jit document's listing, the slot of an input or of
    the final result is a literal index, and that of an intermediate result a constant of the region.
    """

    name = "d2m-insert-dst-register-access"

    def change(self, generic: d2m.GenericOp, target: SystemDesc) -> None:
        """Replaces the `linalg.generic` of one kernel by loops over DST.

        Raises:
            CompileError: The kernel needs more DST tiles than the target has.
        """
        compute = linalg_of(generic)
        body = compute.body.block
        tiles = TileBody.of(body)
        chain = tiles.graph.is_unary_chain
        constants = IndexConstants(generic.body.block)
        for scalar in tiles.scalars:
            body.detach_op(scalar)
            constants.append(scalar)
        access = DstAccess(compute, tiles.dtype(body), constants)
        capacity = dst_capacity(tiles, body, target)
        if access.peak > capacity:
            names = ", ".join(operation_names(tiles.ops))
            raise CompileError(
                f"`{names}` needs {access.peak} DST tiles, {target.name} has {capacity}", location=location_of(generic)
            )
        access.acquire(dst_tiles(access.block_tiles, capacity, unary_chain=chain))
        if loops := _reduction_loops(compute):
            access.accumulate(loops)
        elif chain:
            access.compute_in_nests()
        else:
            access.compute_in_one_nest()
        access.store_result()
        access.replace()


def _reduction_loops(compute: LinalgGenericOp) -> list[scf.ForOp]:
    """The reduction loops around `compute`, outermost first; they are the innermost loops."""
    loops: list[scf.ForOp] = []
    for kind in compute.iterator_types:
        if kind.data is IteratorType.REDUCTION:
            loop = (loops[0] if loops else compute).parent_op()
            assert isinstance(loop, scf.ForOp), "every dimension has a loop"
            loops.insert(0, loop)
    return loops
