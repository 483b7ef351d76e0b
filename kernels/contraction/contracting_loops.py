"""The base of kernels that contract a dimension of two tensors.

The right operand may be in *panels* (runtime/native/panels.py), packed before the call. Its strides along columns and
along the contracted loop are then the strides between panels and between steps, and its stride along rows, in which it
is invariant, is 1 instead of 0 as a flag.

Results are computed block by block, in float32. The block holds the accumulators between parts of the contracted loop,
and the microkernel (kernels/contraction/contracting_tiles.py) keeps tiles of it in registers, so an accumulation is
never split. A step is one fused multiply-add, or a pair of them for bfloat16 (ops/families/contraction.py). The
epilogue, a loop of kernels/loops/tile_loop.py, writes the finished block to the results.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce

from ttnn_jit.kernels.contraction.contracting_packing import Packing
from ttnn_jit.kernels.contraction.contracting_tiles import Microkernel, Shape
from ttnn_jit.kernels.contraction.contracting_unpacking import Unpacking, unit
from ttnn_jit.kernels.contraction.mantissa_truncation import MantissaTruncation, truncation_of
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction, NestedCall
from ttnn_jit.kernels.llvm.llvm_module import Functions, ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I16, I32, I64, Type, type_of
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.kernels.loops.staged_loops import StageCall
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.product_precision import Multiplication
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

PANEL_VECTORS = 2
"""Vectors of a panel: its columns of the right operand are contiguous in each packed step."""
LEFT, RIGHT = 0, 1
"""The two factors."""


@dataclass(frozen=True)
class ContractingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; see kernels/llvm/kernel_function.py.

    From the inside out: loop 0 iterates over columns, then come the contracted loops, the loops over rows, and batch
    loops. Steps never cross the ends of the innermost contracted loop.

    Attributes:
        name: Symbol of the function.
        streams: The kernel's streams.
        rank: Loops around the innermost one, at least 2.
        contracted: Number of contracted loops.
        row_loops: Number of loops over rows; the right stream is invariant in them.
        left: Number of the left stream, with rows; for block floats, rows are whole tiles and terms are their columns.
        right: Number of the right stream, with columns; for block floats, loops 0 and 1 cover a matrix of tiles.
        in_pairs: Whether both factors are bfloat16, or are converted to it, and products are added in pairs.
        multiplication: The precision of a chip's multiplication; None: exact.
        epilogue: A loop of rank 1 over rows; the number after the streams' is the block of results.
        isa: The instruction set, which determines the shape of a tile.
        module: Receives the declarations.
    """

    name: str
    streams: tuple[Stream, ...]
    rank: int
    contracted: int
    row_loops: int
    left: int
    right: int
    in_pairs: bool
    multiplication: Multiplication | None
    epilogue: StageCall
    isa: HostIsa
    module: ModuleText

    @abstractmethod
    def definitions(self) -> list[str]:
        """The text of the function and of those that it calls, without the epilogue."""

    @abstractmethod
    def _blocks(self, p: Product) -> None:
        """Emit the computation of all blocks of one product."""

    def _kernel(self, pitch: int, **memory: int) -> str:
        """The function.

        Args:
            pitch: Stride between rows of the block, in results.
            memory: Sizes in words of the arrays on the stack, by name; ``block`` is among them.
        """
        p = Product(self, pitch, memory)
        streams = p.streams()
        with self._expected(p), p.outer_loops(streams, 1 + self.contracted + self.row_loops) as p.addresses:
            self._blocks(p)
        return p.build()

    def _expected(self, p: Product) -> AbstractContextManager[object]:  # noqa: ARG002
        """A condition on launches that the kernel assumes; a launch that violates it does nothing."""
        return nullcontext()

    @property
    def _terms(self) -> int:
        """Terms of a step."""
        return 2 if self.in_pairs else 1

    def _steps_of(self, b: Builder, terms: Value) -> Value:
        """The number of steps of so many terms."""
        return b.shift_right_zero(b.add(terms, self._terms - 1), self._terms - 1)

    @property
    def panels(self) -> tuple[int, int] | None:
        """Columns of a panel and terms of a word, if the right operand may be in panels; else None.

        Panels hold the unchanged bits of its elements.
        """
        is_whole = self.element(self.right) is (I16 if self.in_pairs else FLOAT) and self._truncation(RIGHT) is None
        return (self._panel_width, self._terms) if self.contracted == 1 and is_whole else None

    @property
    def _panel_width(self) -> int:
        return PANEL_VECTORS * self.isa.lanes

    def element(self, k: int) -> Type:
        """The unit of a stream's strides."""
        dtype = self.streams[k].dtype
        return unit(dtype) if dtype.is_block_float else type_of(dtype.traits.llvm)

    def _packing(self, side: int, width: int, steps: int, rows_listed: int = 0) -> str:
        """The function that packs groups of columns of a factor, or of its rows, whose offsets are in a list."""
        symbol = f"ttnn_jit.pack_{('left', 'right')[side]}"
        k, are_listed, truncation = (self.left, self.right)[side], rows_listed > 0, self._truncation(side)
        stream, own = self.streams[k], (width, self.in_pairs, steps * width)
        if stream.dtype.is_block_float:
            is_transposed, kept = (
                stream.access is not InnerAccess.CONTIGUOUS,
                min(rows_listed or TILE_WIDTH, TILE_HEIGHT),
            )
            functions = _functions_of(
                Unpacking(symbol, stream.dtype, *own, is_transposed, are_listed, kept, truncation)
            )
        else:
            functions = _functions_of(Packing(symbol, self.element(k), *own, self.isa.lanes, are_listed, truncation))
        self.module.add(functions.module)
        return "\n".join(functions.definitions)

    def _truncation(self, side: int) -> MantissaTruncation | None:
        """The truncation of a factor's mantissas by a chip; None if there is none."""
        if self.multiplication is None:
            return None
        kept, k = self.multiplication.kept[side], (self.left, self.right)[side]
        return truncation_of(kept, self.element(k), in_pairs=self.in_pairs)

    @property
    def _rounds_tiles(self) -> bool:
        """Whether accumulators are rounded after every tile of terms."""
        return self.multiplication is not None and self.multiplication.rounds_tiles

    def _microkernel(
        self, shape: Shape, in_place: Type | None = None, kind: type[Microkernel] = Microkernel
    ) -> Microkernel:
        """A microkernel with this kernel's multiplication."""
        own = self.multiplication or Multiplication((0, 0), None, rounds_tiles=False)
        truncation = self._truncation(RIGHT) if in_place else None
        rounds = TILE_WIDTH // self._terms if own.rounds_tiles else 0
        return kind(*shape, self.in_pairs, self.isa, in_place, rounds, own.dropped, truncation)

    def _function(self, name: str, parameters: Sequence[Parameter]) -> FunctionBuilder:
        """A function with internal linkage."""
        return FunctionBuilder(f"ttnn_jit.{name}", self.module, parameters, is_internal=True)


@memoized(maxsize=64)
def _functions_of(packing: Packing | Unpacking) -> Functions:
    """The packing functions. They are cached, because all kernels share them and they are half of a product's text."""
    return packing.functions()


class Walk:
    """Collapsed loops, innermost first.

    Attributes:
        extents: The extent of each loop.
        strides: The strides of each stream along the loops.
        steps: The product of the extents.
    """

    def __init__(self, b: KernelFunction, loops: Sequence[int]) -> None:
        self._b = b
        self.extents = [b.extent(loop) for loop in loops]
        self.strides = [[b.stride(k, loop) for loop in loops] for k, _ in enumerate(b.elements)]
        self.steps = reduce(b.mul, self.extents)

    def index(self, flat: Value) -> list[Value]:
        """The index of each loop at a flat index."""
        b, found = self._b, list[Value]()
        for extent in self.extents[:-1]:
            rest = b.unsigned_div(flat, extent)
            found.append(b.sub(flat, b.mul(rest, extent)))
            flat = rest
        return [*found, flat]

    def run(self, index: Sequence[Value], most: Operand) -> Value:
        """The iterations left in the innermost loop from an index on, at most `most`."""
        return self._b.smin(self._b.sub(self.extents[0], index[0]), most)

    def offset(self, index: Sequence[Value], k: int) -> Value:
        """The offset of a stream at an index, in elements."""
        return reduce(self._b.add, map(self._b.mul, index, self.strides[k]))


class Product(KernelFunction):
    """The builder of the kernel, with the values that are loop-invariant.

    Attributes:
        addresses: The address of each stream in this iteration of the batch loops.
        memory: The arrays on the stack.
        columns: The extent of the innermost loop.
        depth: The contracted loops.
        rows: The loops over rows.
        across: Strides along columns.
        is_plain: Whether the right operand is not in panels; set if the kernel supports panels.
    """

    addresses: Sequence[Value]
    is_plain: Value

    def __init__(self, kernel: ContractingLoops, pitch: int, memory: Mapping[str, int]) -> None:
        numbers = range(len(kernel.streams))
        super().__init__(kernel.name, kernel.module, [kernel.element(k) for k in numbers], kernel.rank)
        self.memory = {name: self.alloca(I32, words, 64, name) for name, words in memory.items()}
        self.columns = self.extent(0, "columns")
        self.depth, self.rows = (
            Walk(self, range(first, first + count))
            for first, count in ((1, kernel.contracted), (1 + kernel.contracted, kernel.row_loops))
        )
        self.across = [self.stride(k, 0) for k in numbers]
        if kernel.panels:
            self.is_plain = self.compare("eq", self.rows.strides[kernel.right][0], 0, "is.plain")
        self._pitch = pitch
        self._streams_of_epilogue = kernel.epilogue.operands
        count = len(self._streams_of_epilogue)
        self._epilogue = NestedCall(self, kernel.epilogue.function, count, 2 + 2 * count)
        for index, k in enumerate(self._streams_of_epilogue):
            strides: Sequence[Operand] = (self.across[k], self.rows.strides[k][0]) if k in numbers else (1, self._pitch)
            for loop, stride in enumerate(strides):
                self._epilogue.set_param(2 + 2 * index + loop, stride)

    def list_rows(self, first: Value, height: Value, k: int) -> None:
        """Write the offsets of a block's rows in stream k to ``offsets``."""
        with self.count("listed", height) as listed:
            offset = self.rows.offset(self.rows.index(self.add(first, listed.index)), k)
            self.store(offset, self.element(self.memory["offsets"], I64, listed.index))

    def column(self, k: int, column: Value) -> Value:
        """The address of a column in stream k."""
        return self.moved(k, self.addresses[k], self.mul(column, self.across[k]))

    def moved(self, k: int, start: Value, offset: Value) -> Value:
        """The address `offset` elements of stream k after `start`."""
        return self.element(start, self.elements[k], offset)

    def finish(self, first: Operand, height: Operand, column: Value, width: Value) -> None:
        """Run the epilogue on the block's rows, on as many at a time as have a constant stride."""
        with self.count("segment", height) as segment:
            row = segment.index
            index = self.rows.index(self.add(first, row))
            segment.step = self.rows.run(index, self.sub(height, row))
            self._epilogue.set_param(0, width)
            self._epilogue.set_param(1, segment.step)
            self._epilogue.run(*(self._operand(k, index, row, column) for k in self._streams_of_epilogue))

    def _operand(self, k: int, index: Sequence[Value], row: Value, column: Value) -> Value:
        """The address in a stream, or in the block, of the results from a row on, for the epilogue."""
        if k >= len(self.elements):
            return self.element(self.memory["block"], FLOAT, self.mul(row, self._pitch))
        both = self.add(self.rows.offset(index, k), self.mul(column, self.across[k]))
        return self.moved(k, self.addresses[k], both)


def rest_of(b: Builder, extent: Value, start: Value, most: int) -> Value:
    """The rest of an extent from `start` on, at most `most`."""
    return b.smin(b.sub(extent, start), most)
