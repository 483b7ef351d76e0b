"""LLVM IR text of a kernel that copies rows backwards, or every second element of them, a vector at a time.

Vectors are loaded where their elements lie side by side, and shuffled into one. The last elements of a row are moved a
second time with some before them: it is a copy. Rows shorter than a vector are moved element by element.

Bound: the bytes of both tensors; in a cache a load and a shuffle for each vector that is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.tile_loop import NONTEMPORAL
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType


@dataclass(frozen=True)
class SteppingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Stream 1 is written, contiguous along loop 0; stream 0 is read. A launch with another step than the text's is served
    element by element.

    Attributes:
        name: Its symbol.
        dtype: Element type of both streams.
        rank: Loops around the innermost one.
        lanes: Elements of a vector.
        step: One of `STEPS`.
        nontemporal: Whether it stores past the caches; vectors are whole lines then.
    """

    name: str
    dtype: DataType
    rank: int
    lanes: int
    step: int
    nontemporal: bool = False

    @property
    def declarations(self) -> tuple[str, ...]:
        """Of what it calls."""
        called = ("declare i64 @llvm.smin.i64(i64, i64)",)
        return (NONTEMPORAL, *called) if self.nontemporal else called

    @property
    def _kind(self) -> str:
        return f"i{8 * self.dtype.itemsize}"

    @property
    def _vector(self) -> str:
        return f"<{self.lanes} x {self._kind}>"

    def text(self) -> str:
        """The function."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        outer = OuterLoops((self._kind,) * 2, self.rank)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        yield from word("%extent", 0)
        yield from word("%step", outer.stride_index(0, 0))
        for k in range(2):
            yield f"  %pointer.at{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at{k}"
        yield f"  %last = sub i64 %extent, {self.lanes}"
        yield "  %is.long = icmp sge i64 %last, 0"
        yield f"  %is.known = icmp eq i64 %step, {self.step}"
        yield "  %in.vectors = and i1 %is.long, %is.known"
        yield "  %is.some = icmp sgt i64 %extent, 0"
        yield f"  br i1 %is.some, label %{outer.first}, label %close{self.rank + 1}"
        yield from outer.open()
        yield "row:"
        yield "  br i1 %in.vectors, label %vectors, label %elements"
        yield from self._vectors()
        yield from self._elements()
        yield from outer.close()
        if self.nontemporal:
            yield "  fence seq_cst"  # other threads see these stores in no order otherwise
        yield "  ret void"
        yield "}"

    def _vectors(self) -> Iterator[str]:
        yield "vectors:"
        yield "  %i = phi i64 [0, %row], [%i.next, %vectors]"
        yield "  %i.at = call i64 @llvm.smin.i64(i64 %i, i64 %last)"
        yield f"  %away = mul i64 %i.at, {self.step}"
        yield f"  %read = getelementptr {self._kind}, ptr %at1_0, i64 %away"
        # The second of two vectors begins an element early, so that none beyond the last is read.
        firsts = [1 - self.lanes] if self.step < 0 else [0, self.lanes - 1]
        for k, first in enumerate(firsts):
            yield f"  %from{k} = getelementptr {self._kind}, ptr %read, i64 {first}"
            yield f"  %loaded{k} = load {self._vector}, ptr %from{k}, align {self.dtype.itemsize}"
        lanes = range(self.lanes)
        order = [self.lanes - 1 - k for k in lanes] if self.step < 0 else [2 * k + (2 * k >= self.lanes) for k in lanes]
        indices = ", ".join(f"i32 {index}" for index in order)
        other = f"{self._vector} %loaded{len(firsts) - 1}"
        yield f"  %moved = shufflevector {self._vector} %loaded0, {other}, <{self.lanes} x i32> <{indices}>"
        yield f"  %written = getelementptr {self._kind}, ptr %at1_1, i64 %i.at"
        hint = f"align {LINE}, !nontemporal !0" if self.nontemporal else f"align {self.dtype.itemsize}"
        yield f"  store {self._vector} %moved, ptr %written, {hint}"
        yield f"  %i.next = add i64 %i, {self.lanes}"
        yield "  %more = icmp slt i64 %i.next, %extent"
        yield "  br i1 %more, label %vectors, label %close1"

    def _elements(self) -> Iterator[str]:
        yield "elements:"
        yield "  %e = phi i64 [0, %row], [%e.next, %elements]"
        yield "  %e.away = mul i64 %e, %step"
        yield f"  %e.from = getelementptr {self._kind}, ptr %at1_0, i64 %e.away"
        yield f"  %e.to = getelementptr {self._kind}, ptr %at1_1, i64 %e"
        yield f"  %e.moved = load {self._kind}, ptr %e.from, align {self.dtype.itemsize}"
        yield f"  store {self._kind} %e.moved, ptr %e.to, align {self.dtype.itemsize}"
        yield "  %e.next = add i64 %e, 1"
        yield "  %e.more = icmp slt i64 %e.next, %extent"
        yield "  br i1 %e.more, label %elements, label %close1"
