"""What the host passes to kernels: memrefs of tensors, circular buffers, and where they lie."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.dialects.d2m import EmptyOp, GenericOp
from ttnn_jit.dialects.layout import dtype_of
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean, parsed, parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.dialects.writing.editing import erase, insert_before, replace_uses
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.cores.sharding import round_up
from ttnn_jit.specs.target import L1_BASE, SystemDesc
from ttnn_jit.transforms.kernel_level.block_walk import block_tiles
from ttnn_jit.transforms.kernel_level.compute_kernel import compute_kernel, engine_of, scaling_reduction
from ttnn_jit.transforms.kernel_level.core_movement import reader, writer
from ttnn_jit.transforms.kernel_level.operand_layout import (
    Operand,
    TensorPages,
    core_place,
    element_text,
    is_fresh,
    operands_of,
    pages_of,
    tile_bytes,
)

_L1_ALIGNMENT, _DRAM_ALIGNMENT = 16, 32

FIDELITY, WIDE = "d2m.math_fidelity", "d2m.fp32_dest_acc_en"
"""Attributes of a launch: the fidelity of its products, and whether tiles of DST have 32 bits."""

BUFFERED = 2
"""Blocks that a circular buffer holds: the next one is moved while one is computed."""


class Addresses:
    """Gives tensors addresses: in DRAM upwards, in L1 downwards from its end, for circular buffers lie at its base.

    Args:
        target: The target.
    """

    def __init__(self, target: SystemDesc) -> None:
        self._dram = _DRAM_ALIGNMENT
        self._l1 = L1_BASE + target.l1_bytes
        self._banks = target.dram_banks

    def of(self, pages: TensorPages, op: Operation) -> int:
        """The address of a new tensor."""
        if pages.space == "l1":
            self._l1 = (self._l1 - pages.bytes_of_core) // _L1_ALIGNMENT * _L1_ALIGNMENT
            if self._l1 < L1_BASE:
                raise refusal(op, "its tensors exceed the L1 of a core")
            return self._l1
        address, count = self._dram, math.prod(pages.grid) * math.prod(pages.shard)
        self._dram += round_up(-(-count // self._banks) * pages.page_bytes, _DRAM_ALIGNMENT)
        return address


@dataclass(frozen=True)
class CircularBuffer:
    """A circular buffer of a kernel.

    Attributes:
        tile: The type of its pages.
        tiles: The pages of a block.
        blocks: How many blocks it holds.
        address: Where it lies in the L1 of each core.
    """

    tile: TileType
    tiles: int
    blocks: int
    address: int

    @property
    def bytes(self) -> int:
        """Its size."""
        return self.tiles * self.blocks * tile_bytes(self.tile)

    @property
    def memref(self) -> str:
        """The text of the type that the host allocates."""
        size = tile_bytes(self.tile)
        layout = f"#ttcore.cb_layout<{self.tiles * size}x{size}, {self.blocks}>"
        return f"memref<1x{self.tiles}x{element_text(self.tile)}, {layout}, #ttcore.memory_space<l1>>"

    @property
    def in_kernels(self) -> str:
        """The text of the type that kernels see."""
        return f"!ttkernel.cb<{self.tiles}, {element_text(self.tile)}>"


class KernelNames:
    """Names of kernel functions that a module does not have yet.

    Args:
        module: The module.
    """

    def __init__(self, module: ModuleOp) -> None:
        self._taken = {each.sym_name.data for each in module.walk() if isinstance(each, FuncOp)}
        self._next = 0

    def new(self, kind: str) -> str:
        """A name."""
        while True:
            name = f"{kind}{self._next}"
            self._next += 1
            if name not in self._taken:
                self._taken.add(name)
                return name


class KernelLowering:
    """Replaces kernels by launches of three kernels of a core.

    Args:
        target: The target.
        names: Names of kernel functions.
    """

    def __init__(self, target: SystemDesc, names: KernelNames) -> None:
        self._target = target
        self._names = names
        self._addresses = Addresses(target)
        self._rewriter = Rewriter(AUGUST)
        self._memrefs: dict[SSAValue, SSAValue] = {}

    def lower(self, op: GenericOp) -> list[FuncOp]:
        """Replaces a kernel; the functions of its readers, compute kernels and writers.

        Raises:
            CompileError: It moves more than whole tiles, it needs more cores or L1 than there are, or ttkernel has no
                op for a tile op.
        """
        operands = operands_of(op)
        place = core_place(op.grid.data, self._target.grid)
        if place is None:
            raise refusal(op, f"its grid {list(op.grid.data)} does not lie on the {self._target.grid} cores")
        self._require_whole_reductions(op, operands)
        buffers = self._circular_buffers(op, operands)
        scaler = self._scaler(op, buffers)
        first = len(operands)
        given = {number: (first + at, each.in_kernels) for at, (number, each) in enumerate(buffers.items())}
        scaling = None if scaler is None else (first + len(buffers), scaler.in_kernels)
        name = self._names.new
        movement, columns = "datamovement_kernel", place[1]
        kernels = [
            reader(name(movement), op, operands, given, columns),
            compute_kernel(name("compute_kernel"), op, operands, given, scaling, self._target),
            writer(name(movement), op, operands, given, columns),
        ]
        self._launch(op, operands, [*buffers.values(), *([] if scaler is None else [scaler])], kernels, place)
        return kernels

    def _require_whole_reductions(self, op: GenericOp, operands: list[Operand]) -> None:
        if all(kind.data == "parallel" for kind in op.iterator_types):
            return
        for operand in operands[: len(op.inputs)]:
            if any(map(operand.may_leave, range(len(operand.tiles)))):
                raise refusal(op, f"operand {operand.number} is not divided evenly over the cores that reduce it")

    def _circular_buffers(self, op: GenericOp, operands: list[Operand]) -> dict[int, CircularBuffer]:
        taken = block_tiles(op)
        address, found = L1_BASE, dict[int, CircularBuffer]()
        for each in operands:
            if each.number in taken:
                found[each.number] = CircularBuffer(each.tile, taken[each.number], BUFFERED, address)
                address = round_up(address + found[each.number].bytes, _L1_ALIGNMENT)
        if address > L1_BASE + self._target.l1_bytes:
            raise refusal(op, f"its circular buffers need {address - L1_BASE:,} bytes of the L1 of a core")
        return found

    def _scaler(self, op: GenericOp, buffers: dict[int, CircularBuffer]) -> CircularBuffer | None:
        reduction = scaling_reduction(op)
        if reduction is None:
            return None
        last = [*buffers.values()][-1]
        tile = reduction.operands[0].type
        assert isinstance(tile, TileType)
        dtype_of(tile)
        return CircularBuffer(tile, 1, 1, round_up(last.address + last.bytes, _L1_ALIGNMENT))

    # The host program

    def _launch(
        self,
        op: GenericOp,
        operands: list[Operand],
        buffers: list[CircularBuffer],
        kernels: list[FuncOp],
        place: tuple[int, int],
    ) -> None:
        values = [self._memref_of(each.value, each.pages, op) for each in operands]
        inputs = len(op.inputs)
        cores = [2, 0]
        threads = []
        for kernel in kernels:
            name = kernel.sym_name.data
            if kernel.attributes["ttkernel.thread"] == parsed("#ttkernel.thread<compute>"):
                threads.append(f"#d2m.thread<compute, @{name}>")
            else:
                core = 1 if cores.pop(0) else 0
                threads.append(f"#d2m.thread<datamovement, @{name}, dm_core = {core}>")
        rows, columns = place
        properties = {
            "grid": parsed(f"#ttcore.grid<{rows}x{columns}>"),
            "block_factors": parsed("[]"),
            "indexing_maps": parsed("[]"),
            "iterator_types": parsed("[]"),
            "threads": parsed(f"[{', '.join(threads)}]"),
        }
        groups = {
            "inputs": values[:inputs],
            "outputs": values[inputs:],
            "additionalArgs": [self._allocated(each.memref, each.address, op) for each in buffers],
        }
        launch = self._rewriter.create("d2m.generic", groups, properties, [], op)
        fidelity, wide = engine_of(op)
        launch.attributes[FIDELITY], launch.attributes[WIDE] = StringAttr(fidelity), boolean(wide)
        for number, (old, value) in enumerate(zip(op.results or op.outputs, values[inputs:], strict=True)):
            cast = self._cast(value, op.outputs[number].type, op)
            replace_uses(old, cast)
        erase(op)

    def _memref_of(self, value: SSAValue, pages: TensorPages, op: Operation) -> SSAValue:
        known = self._memrefs.get(value)
        if known is None:
            known = self._memrefs[value] = self._new_memref(value, pages, op)
        return known

    def _new_memref(self, value: SSAValue, pages: TensorPages, op: Operation) -> SSAValue:
        owner = value.owner
        if isinstance(owner, Operation) and owner.name == _CAST and owner.operands[0].type == parsed_type(pages.memref):
            source: SSAValue = owner.operands[0]
            return source
        if is_fresh(value):
            assert isinstance(owner, EmptyOp)
            return self._allocated(pages.memref, self._addresses.of(pages, owner), op)
        return self._cast(value, parsed_type(pages.memref), op)

    def _cast(self, value: SSAValue, type_: Attribute, op: Operation) -> SSAValue:
        return self._rewriter.value(_CAST, {"input": value}, {}, type_, op)

    def _allocated(self, type_: str, address: int, op: Operation) -> SSAValue:
        made = memref.AllocOp([], [], parsed_type(type_), alignment=IntegerAttr(_L1_ALIGNMENT, i64))
        made.attributes["address"] = IntegerAttr(address, i64)
        made.location = op.location
        insert_before(made, op)
        return made.results[0]


_CAST = "ttir.ttnn_metal_layout_cast"


def erase_unused(ops: Iterable[Operation]) -> None:
    """Erases tensors that no op writes any more, and casts that none reads."""
    for op in reversed([*ops]):
        if (isinstance(op, EmptyOp) or op.name == _CAST) and not any(result.first_use for result in op.results):
            erase(op)


__all__ = ["Addresses", "CircularBuffer", "KernelLowering", "KernelNames", "erase_unused", "pages_of"]
