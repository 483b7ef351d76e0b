"""What kernels that contract a dimension of two tensors have in common.

The right operand may come in *panels* (runtime/native/panels.py): packed whole, before the call. Its strides along
columns and along the contracted loop are then those from panel to panel and from step to step, and its stride along
rows, along which it does not move, is 1 in place of 0.

A block of results is made at a time, in float32. Its chains go on in it from one part of the contracted loop to the
next, and its microkernel (kernels/contraction/contracting_tiles.py) keeps tiles of it in registers, so that no chain is
ever split; a step is one fused multiply-add, or a pair of them for bfloat16 (ops/families/contraction.py). The
epilogue, a loop of kernels/loops/tile_loop.py, takes the finished block to where results lie.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce

from ttnn_jit.kernels.contraction.contracting_packing import Packing
from ttnn_jit.kernels.contraction.contracting_tiles import Microkernel, Shape
from ttnn_jit.kernels.contraction.contracting_unpacking import Unpacking, unit
from ttnn_jit.kernels.contraction.cut_factors import FactorCut, factor_cut
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
"""Of a panel: columns of the right operand that lie side by side once it is packed."""
LEFT, RIGHT = 0, 1
"""The two factors."""


@dataclass(frozen=True)
class ContractingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; see kernels/llvm/kernel_function.py.

    Loop 0 walks columns, those around it are contracted, those around these walk rows, and those around them repeat
    all. Steps never cross the ends of the innermost contracted loop.

    Attributes:
        name: Its symbol.
        streams: The kernel's.
        rank: Loops around the innermost one, at least 2.
        contracted: How many loops are contracted.
        row_loops: How many walk rows; the right stream does not move along them.
        left: The number of the stream with rows; block floats have whole tiles of rows, and terms along their columns.
        right: The number of the stream with columns; block floats have its loops 0 and 1 walk a matrix of tiles.
        in_pairs: Whether both are bfloat16, or become that, whose products are added up in pairs.
        multiplication: How a chip multiplies; None: exactly.
        epilogue: A loop of rank 1 over rows; the number after the streams' stands for the block of results.
        isa: Decides the shape of a tile.
        module: What its functions need.
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
        """The function and those that it calls, but for the epilogue."""

    @abstractmethod
    def _blocks(self, p: Product) -> None:
        """Writes all blocks of one product."""

    def _kernel(self, pitch: int, **memory: int) -> str:
        """The function.

        Args:
            pitch: Results from one row of the block to the next.
            memory: Names of arrays on the stack, ``block`` among them, and their words.
        """
        p = Product(self, pitch, memory)
        streams = p.streams()
        with self._expected(p), p.outer_loops(streams, 1 + self.contracted + self.row_loops) as p.at:
            self._blocks(p)
        return p.ended()

    def _expected(self, p: Product) -> AbstractContextManager[object]:  # noqa: ARG002
        """What holds of a launch, or it does nothing."""
        return nullcontext()

    @property
    def _terms(self) -> int:
        """Elements along the contracted loop that are a step."""
        return 2 if self.in_pairs else 1

    def _steps_of(self, b: Builder, terms: Value) -> Value:
        """How many steps so many terms are."""
        return b.shift_right_zero(b.add(terms, self._terms - 1), self._terms - 1)

    @property
    def panels(self) -> tuple[int, int] | None:
        """Columns of a panel, and terms of a word, where the right operand may come in panels; else None.

        Those hold the bits of its elements.
        """
        is_whole = self.element(self.right) is (I16 if self.in_pairs else FLOAT) and self._cut(RIGHT) is None
        return (self._panel_width, self._terms) if self.contracted == 1 and is_whole else None

    @property
    def _panel_width(self) -> int:
        return PANEL_VECTORS * self.isa.lanes

    def element(self, k: int) -> Type:
        """What strides of a stream count."""
        dtype = self.streams[k].dtype
        return unit(dtype) if dtype.is_block_float else type_of(dtype.traits.llvm)

    def _packing(self, side: int, width: int, steps: int, rows_listed: int = 0) -> str:
        """The function that packs groups of columns of a factor, or of its rows, which are listed so many together."""
        symbol = f"ttnn_jit.pack_{('left', 'right')[side]}"
        k, are_listed, cut = (self.left, self.right)[side], rows_listed > 0, self._cut(side)
        stream, own = self.streams[k], (width, self.in_pairs, steps * width)
        if stream.dtype.is_block_float:
            is_transposed, kept = (
                stream.access is not InnerAccess.CONTIGUOUS,
                min(rows_listed or TILE_WIDTH, TILE_HEIGHT),
            )
            functions = _functions_of(Unpacking(symbol, stream.dtype, *own, is_transposed, are_listed, kept, cut))
        else:
            functions = _functions_of(Packing(symbol, self.element(k), *own, self.isa.lanes, are_listed, cut))
        self.module.add(functions.module)
        return "\n".join(functions.definitions)

    def _cut(self, side: int) -> FactorCut | None:
        """What a chip leaves of the words of a factor."""
        if self.multiplication is None:
            return None
        kept, k = self.multiplication.kept[side], (self.left, self.right)[side]
        return factor_cut(kept, self.element(k), in_pairs=self.in_pairs)

    @property
    def _rounds_tiles(self) -> bool:
        """Whether sums are rounded after every tile of terms."""
        return self.multiplication is not None and self.multiplication.rounds_tiles

    def _microkernel(
        self, shape: Shape, in_place: Type | None = None, kind: type[Microkernel] = Microkernel
    ) -> Microkernel:
        """One that multiplies as this kernel does."""
        own = self.multiplication or Multiplication((0, 0), None, rounds_tiles=False)
        cut = self._cut(RIGHT) if in_place else None
        rounds = TILE_WIDTH // self._terms if own.rounds_tiles else 0
        return kind(*shape, self.in_pairs, self.isa, in_place, rounds, own.dropped, cut)

    def _function(self, name: str, parameters: Sequence[Parameter]) -> FunctionBuilder:
        """Of the kernel's module alone."""
        return FunctionBuilder(f"ttnn_jit.{name}", self.module, parameters, is_internal=True)


@memoized(maxsize=64)
def _functions_of(packing: Packing | Unpacking) -> Functions:
    """Those that pack, the same for every kernel: half of what a product's text takes."""
    return packing.functions()


class Walk:
    """Loops that are walked as one, the innermost first.

    Attributes:
        extents: Of each.
        strides: Of each stream, along each.
        steps: Of all.
    """

    def __init__(self, b: KernelFunction, loops: Sequence[int]) -> None:
        self._b = b
        self.extents = [b.extent(loop) for loop in loops]
        self.strides = [[b.stride(k, loop) for loop in loops] for k, _ in enumerate(b.elements)]
        self.steps = reduce(b.mul, self.extents)

    def index(self, flat: Value) -> list[Value]:
        """That of each where all have made `flat` steps."""
        b, found = self._b, list[Value]()
        for extent in self.extents[:-1]:
            rest = b.unsigned_div(flat, extent)
            found.append(b.sub(flat, b.mul(rest, extent)))
            flat = rest
        return [*found, flat]

    def run(self, index: Sequence[Value], most: Operand) -> Value:
        """Steps of the innermost one from an index on, up to so many."""
        return self._b.smin(self._b.sub(self.extents[0], index[0]), most)

    def offset(self, index: Sequence[Value], k: int) -> Value:
        """The elements that a stream has moved by."""
        return reduce(self._b.add, map(self._b.mul, index, self.strides[k]))


class Product(KernelFunction):
    """Builds the kernel, of which it knows what stands before its loops.

    Attributes:
        at: Where each stream is, in this round of the loops that repeat all.
        memory: The arrays on the stack.
        columns: The extent of the innermost loop.
        depth: The loops that are contracted.
        rows: Those that walk rows.
        across: Strides along columns.
        is_plain: Whether the right operand is in no panels; of a kernel that takes them.
    """

    at: Sequence[Value]
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
        """Writes into ``offsets`` where stream k has the rows of a block."""
        with self.count("listed", height) as listed:
            offset = self.rows.offset(self.rows.index(self.add(first, listed.index)), k)
            self.store(offset, self.element(self.memory["offsets"], I64, listed.index))

    def column(self, k: int, column: Value) -> Value:
        """Where stream k has the columns from one on."""
        return self.moved(k, self.at[k], self.mul(column, self.across[k]))

    def moved(self, k: int, start: Value, offset: Value) -> Value:
        """So many elements of stream k from an address."""
        return self.element(start, self.elements[k], offset)

    def finish(self, first: Operand, height: Operand, column: Value, width: Value) -> None:
        """The epilogue of the block's rows, as many at a time as have one stride."""
        with self.count("segment", height) as segment:
            row = segment.index
            index = self.rows.index(self.add(first, row))
            segment.step = self.rows.run(index, self.sub(height, row))
            self._epilogue.set_param(0, width)
            self._epilogue.set_param(1, segment.step)
            self._epilogue.run(*(self._operand(k, index, row, column) for k in self._streams_of_epilogue))

    def _operand(self, k: int, index: Sequence[Value], row: Value, column: Value) -> Value:
        """Where the epilogue finds a stream, or the block, of results from a row on."""
        if k >= len(self.elements):
            return self.element(self.memory["block"], FLOAT, self.mul(row, self._pitch))
        both = self.add(self.rows.offset(index, k), self.mul(column, self.across[k]))
        return self.moved(k, self.at[k], both)


def part(b: Builder, extent: Value, start: Value, most: int) -> Value:
    """What is left of an extent from a start, at most `most`."""
    return b.smin(b.sub(extent, start), most)
