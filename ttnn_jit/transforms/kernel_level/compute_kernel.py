"""The compute kernel: tiles of circular buffers through DST to the circular buffer of the output."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.affine import ForOp
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.affine import StoreOp
from ttnn_jit.dialects.d2m import AcquireDstOp, GenericOp, TileContractOp, TileReduceOp
from ttnn_jit.dialects.region_loops import affine_bounds, refusal
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.specs.product_precision import ProductPrecision
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import MathFidelity
from ttnn_jit.transforms.kernel_level.block_walk import BlockOfTiles, BlockWalk
from ttnn_jit.transforms.kernel_level.core_movement import Buffers, buffer_argument
from ttnn_jit.transforms.kernel_level.dst_section import Section
from ttnn_jit.transforms.kernel_level.kernel_writer import Index, KernelWriter
from ttnn_jit.transforms.kernel_level.operand_layout import Operand
from ttnn_jit.transforms.kernel_level.tile_program import TileProgram, scaler_of


def compute_kernel(
    name: str,
    op: GenericOp,
    operands: Sequence[Operand],
    buffers: Buffers,
    scaler: tuple[int, str] | None,
    target: SystemDesc,
) -> FuncOp:
    """The compute kernel of a `d2m.generic`; `scaler`: the circular buffer of the factor of its reductions.

    Raises:
        CompileError: ttkernel has no op for a tile op, or DST has no room for a number.
    """
    kernel = KernelWriter(name, "compute", op.location)
    visitor = _Computing(kernel, op, operands, buffers, target)
    if scaler is not None:
        visitor.make_scaler(scaler)
    BlockWalk(kernel, operands, visitor).run(op)
    visitor.free_scaler()
    return kernel.finish()


def scaling_reduction(op: GenericOp) -> TileReduceOp | None:
    """A reduction of the kernel, if it has one: it multiplies by the tile of a circular buffer."""
    return next((each for each in op.body.walk() if isinstance(each, TileReduceOp)), None)


def engine_of(op: GenericOp) -> tuple[str, bool]:
    """The name of the fidelity of products, and whether tiles of DST have 32 bits.

    A product that is rounded to bfloat16 after each tile accumulates in tiles of 16 bits.
    """
    wide = False
    for each in op.body.walk():
        if isinstance(each, TileContractOp) and each.precision is not None:
            precision = ProductPrecision.of(each.precision)
            return (precision.fidelity or MathFidelity.HiFi4).name, precision.fp32_dest_acc
        if isinstance(each, AcquireDstOp):
            wide = dst_tile(each).dtype.is_wide
    return MathFidelity.HiFi4.name, wide


def dst_tile(op: AcquireDstOp) -> TileType:
    """The type of the tiles of DST."""
    type_ = op.result.type
    assert isinstance(type_, MemRefType)
    tile = type_.element_type
    assert isinstance(tile, TileType)
    return tile


class _Computing:
    """What the compute kernel does at blocks and with tile ops."""

    def __init__(
        self, kernel: KernelWriter, op: GenericOp, operands: Sequence[Operand], buffers: Buffers, target: SystemDesc
    ) -> None:
        self._kernel = kernel
        self._op = op
        self._inputs = len(op.inputs)
        self._buffers: dict[int, SSAValue] = {}
        for each in operands:
            if each.number in buffers:
                index, type_ = buffers[each.number]
                at = kernel.add_argument("cb_port", index, is_compile_time=True)
                self._buffers[each.number] = buffer_argument(kernel, at, type_)
        output = self._buffers[self._inputs]
        first = next(iter(self._buffers.values()))
        kernel.op("compute_kernel_hw_startup", {"icb0": first, "icb1": None, "ocb": output})
        capacity = target.dst_capacity(wide=engine_of(op)[1])
        self._tiles = TileProgram(kernel, op, output, capacity)
        self._open: list[tuple[AcquireDstOp, Section]] = []

    def make_scaler(self, scaler: tuple[int, str]) -> None:
        """Fills a tile with the factor of the reductions, and passes it on in a circular buffer."""
        kernel, reduction = self._kernel, scaling_reduction(self._op)
        assert reduction is not None, "there is a reduction to scale"
        index, type_ = scaler
        buffer = buffer_argument(kernel, kernel.add_argument("cb_port", index, is_compile_time=True), type_)
        one = {"cb": buffer, "numPages": kernel.i32(1)}
        with kernel.at(reduction.location):
            kernel.op("cb_reserve_back", one)
            kernel.op("tile_regs_acquire")
            kernel.op("fill_tile_init")
            kernel.op("fill_tile", {"dst_index": 0, "value": kernel.f32(scaler_of(reduction))})
            self._tiles.commit()
            self._tiles.pack(0, buffer, 0)
            kernel.op("tile_regs_release")
            kernel.op("cb_push_back", one)
            kernel.op("cb_wait_front", one)
        self._tiles.scaler = buffer

    def free_scaler(self) -> None:
        """Frees the tile with the factor of the reductions, if there is one."""
        if self._tiles.scaler is not None:
            self._kernel.op("cb_pop_front", {"cb": self._tiles.scaler, "numPages": self._kernel.i32(1)})

    def enter(self, block: BlockOfTiles, view: SSAValue) -> None:
        """Waits for the tiles of an input's block, or for room for the output's."""
        is_output = block.operand.number >= self._inputs
        buffer = self._buffers[block.operand.number]
        owner = view.owner
        assert isinstance(owner, Operation)
        with self._kernel.at(owner.location):
            count = {"cb": buffer, "numPages": self._kernel.i32(block.tiles)}
            self._kernel.op("cb_reserve_back" if is_output else "cb_wait_front", count)
        self._tiles.views[view] = buffer, block.extents

    def leave(self, block: BlockOfTiles) -> None:
        """Frees the tiles of an input's block, or passes the output's on."""
        is_output = block.operand.number >= self._inputs
        count = {"cb": self._buffers[block.operand.number], "numPages": self._kernel.i32(block.tiles)}
        self._kernel.op("cb_push_back" if is_output else "cb_pop_front", count)

    def visit(self, ops: Sequence[Operation], walk: BlockWalk) -> None:  # noqa: ARG002 - the visitor's signature
        """Computes: from `d2m.acquire_dst` to the loops that store to the output."""
        computing: list[ForOp] = []
        for each in ops:
            match each:
                case AcquireDstOp():
                    self._flush(computing)
                    self._acquire(each)
                case ForOp() if self._stores(each):
                    self._store(computing, each)
                    computing = []
                case ForOp():
                    computing.append(each)
                case _:
                    raise refusal(each, "no kernel of a core has it")
        self._flush(computing)

    def _acquire(self, op: AcquireDstOp) -> None:
        section = self._tiles.section(op)
        self._open.append((op, section))
        if not section.is_by_tile:
            with self._kernel.at(op.location):
                self._kernel.op("tile_regs_acquire")

    def _flush(self, nests: list[ForOp]) -> None:
        """Computes without storing: a reduction loop follows, or is around these loops."""
        for nest in nests:
            if self._tiles.is_empty(nest, self._open[-1][1]):
                continue
            with self._kernel.loops(_extents(nest)) as indices:
                self._tiles.compute(nest, indices, self._open[-1][1])
        nests.clear()

    def _store(self, computing: Sequence[ForOp], storing: ForOp) -> None:
        acquire, section = self._open.pop()
        if not section.is_by_tile:
            self._open.append((acquire, section))
            self._flush([*computing])
            self._open.pop()
            self._pack(storing, section, None)
            return
        with self._kernel.loops(_extents(storing)) as indices:
            with self._kernel.at(acquire.location):
                self._kernel.op("tile_regs_acquire")
            for nest in computing:
                self._tiles.compute(nest, indices, section)
            self._pack(storing, section, indices)

    def _pack(self, storing: ForOp, section: Section, indices: Sequence[Index] | None) -> None:
        """Stores to the output: casts between kinds of numbers run before DST is committed, packs after."""
        with self._kernel.at(storing.location):
            if self._tiles.casts_kind(storing):
                self._at_places(storing, section, indices, self._tiles.cast_before_pack)
            self._tiles.commit()
            self._at_places(storing, section, indices, self._tiles.compute)
            self._kernel.op("tile_regs_release")

    def _at_places(
        self,
        storing: ForOp,
        section: Section,
        indices: Sequence[Index] | None,
        write: Callable[[ForOp, Sequence[Index], Section], None],
    ) -> None:
        if indices is not None:
            write(storing, indices, section)
            return
        with self._kernel.loops(_extents(storing)) as own:
            write(storing, own, section)

    def _stores(self, nest: ForOp) -> bool:
        """Whether loops store to the output."""
        return any(isinstance(each, StoreOp) and each.memref in self._tiles.views for each in nest.walk())


def _extents(nest: ForOp) -> list[int]:
    """The trip counts of perfectly nested loops from zero by one."""
    lower, upper, step = affine_bounds(nest)
    if lower or step != 1:
        raise refusal(nest, "it does not run from 0 by 1")
    first = nest.body.block.first_op
    return [upper, *(_extents(first) if isinstance(first, ForOp) else ())]
