"""LLVM IR text of a kernel that copies every element several times side by side, a vector at a time.

A vector that is read is shuffled into as many as its elements are repeated. The last ones are moved a second time with
some before them: it is a copy.

Bound: the bytes of both tensors; in a cache a shuffle and a store for each vector that is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType


@dataclass(frozen=True)
class RepeatingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Stream 0 is read, contiguous along loop 0, and does not move along loop 1, of `times` rounds, along which stream 1,
    which is written, is contiguous; along loop 0 it moves by as many.

    Attributes:
        name: Its symbol.
        dtype: Element type of both streams.
        rank: Loops around the innermost one, at least 1.
        lanes: Elements of a vector, of which loop 0 has as many at least.
        times: How often an element is repeated.
    """

    name: str
    dtype: DataType
    rank: int
    lanes: int
    times: int

    @property
    def declarations(self) -> tuple[str, ...]:
        """Of what it calls."""
        return ("declare i64 @llvm.smin.i64(i64, i64)",)

    def text(self) -> str:
        """The function."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        kind = f"i{8 * self.dtype.itemsize}"
        outer = OuterLoops((kind,) * 2, self.rank, innermost=2)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        yield from word("%extent", 0)
        yield f"  %last = sub i64 %extent, {self.lanes}"
        for k in range(2):
            yield f"  %pointer.at{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at{k}"
        yield "  %is.some = icmp sge i64 %last, 0"
        yield f"  br i1 %is.some, label %{outer.first}, label %close{self.rank + 1}"
        yield from outer.open()
        yield from self._row(kind)
        yield from outer.close()
        yield "  ret void"
        yield "}"

    def _row(self, kind: str) -> Iterator[str]:
        vector, align = f"<{self.lanes} x {kind}>", f"align {self.dtype.itemsize}"
        yield "row:"
        yield "  br label %vectors"
        yield "vectors:"
        yield "  %i = phi i64 [0, %row], [%i.next, %vectors]"
        yield "  %i.at = call i64 @llvm.smin.i64(i64 %i, i64 %last)"
        yield f"  %read = getelementptr {kind}, ptr %at2_0, i64 %i.at"
        yield f"  %loaded = load {vector}, ptr %read, {align}"
        yield f"  %away = mul i64 %i.at, {self.times}"
        yield f"  %written0 = getelementptr {kind}, ptr %at2_1, i64 %away"
        for part in range(self.times):
            order = ", ".join(f"i32 {(part * self.lanes + k) // self.times}" for k in range(self.lanes))
            yield f"  %moved{part} = shufflevector {vector} %loaded, {vector} poison, <{self.lanes} x i32> <{order}>"
            if part:
                yield f"  %written{part} = getelementptr {kind}, ptr %written{part - 1}, i64 {self.lanes}"
            yield f"  store {vector} %moved{part}, ptr %written{part}, {align}"
        yield f"  %i.next = add i64 %i, {self.lanes}"
        yield "  %more = icmp slt i64 %i.next, %extent"
        yield "  br i1 %more, label %vectors, label %close2"
