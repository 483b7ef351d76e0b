"""LLVM IR text of a kernel that copies blocks of a transpose, as many rows at a time as a vector has elements.

Pieces of 16 bytes of the rows that are read are loaded into the vectors where their elements will lie, so that these
are transposed within 16 bytes, which no instruction crosses, and stored as rows of what is written. The last rows and
columns of a block that is no multiple of vectors are moved a second time with some before them: it is a copy. Where
rows are short, and those of the next loop follow them in what is written, a vector has rows of that loop side by side.

Bound: the bytes of both tensors, in lines of a cache that are used as a whole; in a cache a load and, for every bit of
the number of an element within 16 bytes, half of a shuffle for each 16 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.contracting_packing import transposed
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.tile_loop import NONTEMPORAL, PREFETCH_DECLARATION
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType

PIECE = 16
"""Bytes that are loaded at once: what shuffles of bytes, on every host, are fastest within."""
AHEAD = 128
"""Bytes from a row that is read to what is prefetched, where results are stored past the caches: blocks that follow lie
beside each other then (benchmarks/movement.py)."""


@dataclass(frozen=True)
class TransposingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Stream 1 is written, contiguous along loop 0; stream 0 is read, contiguous along loop 1.

    Attributes:
        name: Its symbol.
        dtype: Element type of both streams.
        rank: Loops around the innermost one, at least 1.
        lanes: Elements of a vector that is written, of which loop 0 has as many at least; a power of 2.
        columns: That are read at once, of which loop 1 has as many at least; a power of 2.
        nontemporal: Whether it stores past the caches; vectors are whole lines then.
        together: Rounds of loop 2 whose elements of loop 0, all of them, a vector has side by side; 1: loop 0 is cut
            into vectors. Above 1 these elements follow each other where they are written; a power of 2.
    """

    name: str
    dtype: DataType
    rank: int
    lanes: int
    columns: int
    nontemporal: bool = False
    together: int = 1

    @property
    def _down(self) -> int:
        """The loop that vectors follow each other along."""
        return 0 if self.together == 1 else 2

    @property
    def _around(self) -> int:
        """The innermost loop around blocks."""
        return 2 if self.together == 1 else 3

    @property
    def _step(self) -> int:
        """Rounds of the loop down in a vector."""
        return self.lanes if self.together == 1 else self.together

    @property
    def _kind(self) -> str:
        return f"i{8 * self.dtype.itemsize}"

    @property
    def _vector(self) -> str:
        return f"<{self.lanes} x {self._kind}>"

    @property
    def _piece(self) -> int:
        """Elements of a piece."""
        return min(PIECE // self.dtype.itemsize, self.lanes, self.columns)

    def text(self) -> str:
        """The function."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        outer = OuterLoops((self._kind,) * 2, self.rank, innermost=self._around)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        for k, (least, loop) in enumerate(((self._step, self._down), (self.columns, 1))):
            yield from word(f"%extent{k}", loop)
            yield f"  %last{k} = sub i64 %extent{k}, {least}"
            yield f"  %pointer.at{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at{k}"
        yield from word("%next.read", outer.stride_index(0, 0))
        yield from word("%down.read", outer.stride_index(0, self._down))
        yield from word("%down.written", outer.stride_index(1, 1))
        yield "  %least = call i64 @llvm.smin.i64(i64 %last0, i64 %last1)"
        yield "  %is.some = icmp sge i64 %least, 0"
        yield f"  br i1 %is.some, label %{outer.first}, label %close{self.rank + 1}"
        yield from outer.open()
        yield from self._blocks()
        yield from outer.close()
        if self.nontemporal:
            yield "  fence seq_cst"  # other threads see these stores in no order otherwise
        yield "  ret void"
        yield "}"

    @property
    def declarations(self) -> tuple[str, ...]:
        """Of what it calls."""
        called = ("declare i64 @llvm.smin.i64(i64, i64)",)
        return (NONTEMPORAL, *called, PREFETCH_DECLARATION) if self.nontemporal else called

    def _blocks(self) -> Iterator[str]:
        yield "row:"
        yield "  br label %down"
        yield "down:"
        yield "  %i = phi i64 [0, %row], [%i.next, %down.end]"
        yield "  %i.at = call i64 @llvm.smin.i64(i64 %i, i64 %last0)"
        yield "  %read.row = mul i64 %i.at, %down.read"
        row = self.lanes // self._step
        yield f"  %rows0 = getelementptr {self._kind}, ptr %at{self._around}_0, i64 %read.row"
        yield f"  %written.column = mul i64 %i.at, {row}"
        yield f"  %columns = getelementptr {self._kind}, ptr %at{self._around}_1, i64 %written.column"
        for k in range(1, self.lanes):
            before, stride = (k - 1, "%next.read") if k % row else (k - row, "%down.read")
            yield f"  %rows{k} = getelementptr {self._kind}, ptr %rows{before}, i64 {stride}"
        yield "  br label %block"
        yield "block:"
        yield "  %j = phi i64 [0, %down], [%j.next, %block]"
        yield "  %j.at = call i64 @llvm.smin.i64(i64 %j, i64 %last1)"
        yield "  %written.row = mul i64 %j.at, %down.written"
        yield f"  %written0 = getelementptr {self._kind}, ptr %columns, i64 %written.row"
        for k in range(1, self.columns):
            yield f"  %written{k} = getelementptr {self._kind}, ptr %written{k - 1}, i64 %down.written"
        for k in range(self.lanes):
            yield f"  %read{k} = getelementptr {self._kind}, ptr %rows{k}, i64 %j.at"
        if self.nontemporal:
            for k in range(self.lanes):
                yield f"  %ahead{k} = getelementptr i8, ptr %read{k}, i64 {AHEAD}"
                yield f"  call void @llvm.prefetch.p0(ptr %ahead{k}, i32 0, i32 3, i32 1)"
        for first in range(0, self.columns, self._piece):
            yield from self._moved_pieces(first)
        for name, loop, step, again, after in (
            ("j", 1, self.columns, "block", "down.end"),
            ("i", 0, self._step, "down", f"close{self._around}"),
        ):
            if name == "i":
                yield "down.end:"
            yield f"  %{name}.next = add i64 %{name}, {step}"
            yield f"  %{name}.more = icmp slt i64 %{name}.next, %extent{loop}"
            yield f"  br i1 %{name}.more, label %{again}, label %{after}"

    def _moved_pieces(self, first: int) -> Iterator[str]:
        """Moves the columns of a piece, from `first` on: vector m has the rows m, m + piece, m + 2 pieces ..."""
        count, prefix = self._piece, f"at{first}"
        joined = []
        for m in range(count):
            pieces = []
            for row in range(m, self.lanes, count):
                name = f"%{prefix}.row{row}"
                yield f"  {name}.at = getelementptr {self._kind}, ptr %read{row}, i64 {first}"
                yield f"  {name} = load <{count} x {self._kind}>, ptr {name}.at, align {self.dtype.itemsize}"
                pieces.append(name)
            yield from self._joined(pieces, f"%{prefix}.join{m}")
            joined.append(f"%{prefix}.join{m}" if len(pieces) > 1 else pieces[0])
        lines, columns = transposed(joined, self.lanes, f"{prefix}.turned", self._kind, within=count)
        yield from lines
        hint = f"align {LINE}, !nontemporal !0" if self.nontemporal else f"align {self.dtype.itemsize}"
        for k, column in enumerate(columns):
            yield f"  store {self._vector} {column}, ptr %written{first + k}, {hint}"

    def _joined(self, pieces: list[str], name: str) -> Iterator[str]:
        """``name``: pieces side by side."""
        size = self._piece
        while len(pieces) > 1:
            pairs, kind = list(zip(pieces[::2], pieces[1::2], strict=True)), f"<{size} x {self._kind}>"
            order = ", ".join(f"i32 {lane}" for lane in range(2 * size))
            names = [name] if len(pairs) == 1 else [f"{name}.{size}.{k}" for k in range(len(pairs))]
            for made, (left, right) in zip(names, pairs, strict=True):
                yield f"  {made} = shufflevector {kind} {left}, {kind} {right}, <{2 * size} x i32> <{order}>"
            pieces, size = names, 2 * size
