"""A kernel that transposes blocks, as many rows at a time as a vector has elements.

Pieces of 16 bytes of the input rows are loaded into the vectors that will hold their elements. The vectors are then
transposed within 16-byte lanes, which shuffles do not cross, and stored as rows of the output. The last rows and
columns of a block that is not a multiple of vectors overlap those before them, which is harmless in a copy. If rows are
short and the rows of the next loop follow them in the output, a vector has rows of that loop side by side.

Bound: the bytes of both tensors, in whole cache lines; in a cache, for each 16 bytes, a load and half a shuffle for
    every bit of the number of an element within 16 bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.shuffles import transposed
from ttnn_jit.kernels.llvm.types import Type, type_of
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType

PIECE = 16
"""Bytes that are loaded at once: the lane width within which byte shuffles are fastest on every host."""
AHEAD = 128
"""Prefetch distance in a row that is read, in bytes, if stores are non-temporal: consecutive blocks are adjacent then
(benchmarks/kernels/movement.py)."""


@dataclass(frozen=True)
class TransposingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; see kernels/llvm/kernel_function.py.

    Stream 1 is written, contiguous along loop 0; stream 0 is read, contiguous along loop 1.

    Attributes:
        name: Symbol of the function.
        dtype: Element type of both streams.
        rank: Loops around the innermost one, at least 1.
        lanes: Elements of an output vector, a power of 2; the extent of loop 0 is at least this.
        columns: Columns that are read at once, a power of 2; the extent of loop 1 is at least this.
        module: Receives the declarations.
        nontemporal: Whether it stores non-temporally; vectors are whole cache lines then.
        rows_per_vector: Iterations of loop 2 in an output vector, each with all elements of loop 0; a power of 2. Above
            1 these elements are contiguous in the output. 1: loop 0 is divided into vectors.
    """

    name: str
    dtype: DataType
    rank: int
    lanes: int
    columns: int
    module: ModuleText
    nontemporal: bool = False
    rows_per_vector: int = 1

    @property
    def _down(self) -> int:
        """The loop along which output vectors are consecutive."""
        return 0 if self.rows_per_vector == 1 else 2

    @property
    def _around(self) -> int:
        """The innermost loop around blocks."""
        return 2 if self.rows_per_vector == 1 else 3

    @property
    def _step(self) -> int:
        """Iterations of loop `_down` in a vector."""
        return self.lanes if self.rows_per_vector == 1 else self.rows_per_vector

    @property
    def _element(self) -> Type:
        return type_of(f"i{8 * self.dtype.itemsize}")

    @property
    def _piece(self) -> int:
        """Elements of a piece."""
        return min(PIECE // self.dtype.itemsize, self.lanes, self.columns)

    def text(self) -> str:
        """The text of the function."""
        f = KernelFunction(self.name, self.module, (self._element,) * 2, self.rank)
        loops = (self._step, self._down), (self.columns, 1)
        extents = [f.extent(loop, "extent") for _, loop in loops]
        last = [f.sub(extent, least, "last") for extent, (least, _) in zip(extents, loops, strict=True)]
        strides = f.stride(0, 0, "next.read"), f.stride(0, self._down, "down.read")
        written = f.stride(1, 1, "down.written")
        is_some = f.compare("sge", f.smin(last[0], last[1], "least"), 0, "is.some")
        streams = f.streams()
        with (
            f.when(is_some, "some"),
            f.outer_loops(streams, innermost=self._around) as (source, target),
            f.count("i", extents[0], step=self._step) as down,
        ):
            at = f.smin(down.index, last[0], "i.at")
            rows = self._rows(f, f.element(source, self._element, f.mul(at, strides[1])), strides)
            columns = f.element(target, self._element, f.mul(at, self.lanes // self._step), "columns")
            with f.count("j", extents[1], step=self.columns) as block:
                self._block(f, rows, columns, written, f.smin(block.index, last[1], "j.at"))
        return f.build(fences=self.nontemporal)

    def _rows(self, f: KernelFunction, first: Value, strides: tuple[Value, Value]) -> list[Value]:
        """The addresses of the input rows of a vector."""
        rows, row = [first], self.lanes // self._step
        for k in range(1, self.lanes):
            before, stride = (k - 1, strides[0]) if k % row else (k - row, strides[1])
            rows.append(f.element(rows[before], self._element, stride, "row"))
        return rows

    def _block(self, f: KernelFunction, rows: Sequence[Value], columns: Value, stride: Value, at: Value) -> None:
        """Emit the transpose of a block at column `at`."""
        written = [f.element(columns, self._element, f.mul(at, stride), "written")]
        for k in range(1, self.columns):
            written.append(f.element(written[k - 1], self._element, stride, "written"))
        read = [f.element(row, self._element, at, "read") for row in rows]
        for each in read if self.nontemporal else ():
            f.prefetch(f.ptr_add(each, AHEAD))
        align = LINE if self.nontemporal else self.dtype.itemsize
        for first in range(0, self.columns, self._piece):
            for k, column in enumerate(self._transposed_columns(f, read, first)):
                f.store(column, written[first + k], align, nontemporal=self.nontemporal)

    def _transposed_columns(self, f: KernelFunction, read: Sequence[Value], first: int) -> Sequence[Value]:
        """The transposed columns of the piece at `first`; before the transpose, vector m has rows m, m + piece, ..."""
        count, joined = self._piece, []
        for m in range(count):
            pieces = [
                f.load(self._element.times(count), f.element(row, self._element, first), self.dtype.itemsize)
                for row in read[m::count]
            ]
            while len(pieces) > 1:
                order = range(2 * pieces[0].type.lanes)
                pieces = [f.shuffle(*pair, order) for pair in zip(pieces[::2], pieces[1::2], strict=True)]
            joined += pieces
        return transposed(f, joined, within=count)
