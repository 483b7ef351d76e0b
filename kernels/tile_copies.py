"""LLVM IR text of kernels that copy tiles of block floats as they lie."""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType

_COPY = "@llvm.memcpy.p0.p0.i64"
DECLARATION = f"declare void {_COPY}(ptr, ptr, i64, i1)"


@dataclass(frozen=True)
class TileCopies:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Loops 0 and 1, which are in a tile, are no loops of it; without elements it copies nothing.

    Attributes:
        name: Its symbol.
        dtype: The element type of both.
        rank: Number of the outermost loop.
    """

    name: str
    dtype: DataType
    rank: int

    def text(self) -> str:
        """The function."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        outer = OuterLoops((f"[{self.dtype.stride_bytes} x i8]",) * 2, self.rank, innermost=2)
        yield f"define void @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        for k in range(2):
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        yield from word("%width", 0)
        yield "  %empty = icmp eq i64 %width, 0"
        yield f"  br i1 %empty, label %close{self.rank + 1}, label %{outer.first}"
        yield from outer.open()
        yield "row:"
        yield f"  call void {_COPY}(ptr %at2_1, ptr %at2_0, i64 {self.dtype.itemsize}, i1 false)"
        yield "  br label %close2"
        yield from outer.close()
        yield "  ret void"
        yield "}"
