"""LLVM IR text of a kernel that copies blocks of a transpose, as many rows at a time as a vector has elements.

Rows of what is read are loaded, transposed in registers (kernels/contracting_packing.py), and stored as rows of what is
written. Bound: the bytes of both tensors, in lines of a cache that are used as a whole; in a cache a shuffle of every
vector for each bit of a lane's number.
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.contracting_packing import transposed
from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType


@dataclass(frozen=True)
class TransposingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Stream 1 is written, contiguous along loop 0; stream 0 is read, contiguous along loop 1. The extents of both loops
    are multiples of `lanes`; what is beyond one is left out.

    Attributes:
        name: Its symbol.
        dtype: Element type of both streams.
        rank: Loops around the innermost one, at least 1.
        lanes: Rows of a block that is transposed in registers, and its columns.
    """

    name: str
    dtype: DataType
    rank: int
    lanes: int

    @property
    def _kind(self) -> str:
        return f"i{8 * self.dtype.itemsize}"

    @property
    def _row(self) -> str:
        return f"<{self.lanes} x {self._kind}>"

    def text(self) -> str:
        """The function."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        outer = OuterLoops((self._kind,) * 2, self.rank, innermost=2)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        for k in range(2):
            yield from word(f"%given{k}", k)
            yield f"  %extent{k} = and i64 %given{k}, {-self.lanes}"
            yield f"  %pointer.at{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at{k}"
        yield from word("%down.read", outer.stride_index(0, 0))
        yield from word("%down.written", outer.stride_index(1, 1))
        yield "  %is.some0 = icmp sgt i64 %extent0, 0"
        yield "  %is.some1 = icmp sgt i64 %extent1, 0"
        yield "  %is.some = and i1 %is.some0, %is.some1"
        yield f"  br i1 %is.some, label %{outer.first}, label %close{self.rank + 1}"
        yield from outer.open()
        yield from self._blocks()
        yield from outer.close()
        yield "  ret void"
        yield "}"

    def _blocks(self) -> Iterator[str]:
        yield "row:"
        yield "  br label %down"
        yield "down:"
        yield "  %i = phi i64 [0, %row], [%i.next, %down.end]"
        yield "  br label %block"
        yield "block:"
        yield "  %j = phi i64 [0, %down], [%j.next, %block]"
        yield "  %read.row = mul i64 %i, %down.read"
        yield "  %read.first = add i64 %read.row, %j"
        yield "  %written.row = mul i64 %j, %down.written"
        yield "  %written.first = add i64 %written.row, %i"
        yield f"  %read0 = getelementptr {self._kind}, ptr %at2_0, i64 %read.first"
        yield f"  %written0 = getelementptr {self._kind}, ptr %at2_1, i64 %written.first"
        for k in range(1, self.lanes):
            yield f"  %read{k} = getelementptr {self._kind}, ptr %read{k - 1}, i64 %down.read"
            yield f"  %written{k} = getelementptr {self._kind}, ptr %written{k - 1}, i64 %down.written"
        for k in range(self.lanes):
            yield f"  %row{k} = load {self._row}, ptr %read{k}, align {self.dtype.itemsize}"
        rows = [f"%row{k}" for k in range(self.lanes)]
        lines, columns = transposed(rows, self.lanes, "turned", self._kind)
        yield from lines
        for k, column in enumerate(columns):
            yield f"  store {self._row} {column}, ptr %written{k}, align {self.dtype.itemsize}"
        for name, loop, again, after in (("j", 1, "block", "down.end"), ("i", 0, "down", "close2")):
            if name == "i":
                yield "down.end:"
            yield f"  %{name}.next = add i64 %{name}, {self.lanes}"
            yield f"  %{name}.more = icmp slt i64 %{name}.next, %extent{loop}"
            yield f"  br i1 %{name}.more, label %{again}, label %{after}"
