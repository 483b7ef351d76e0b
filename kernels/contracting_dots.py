"""LLVM IR text of a batch of dot products: products of one row and one column each, many of them beside each other.

Both operands move along the innermost loop, whose products are lanes. As many of them as two vectors hold are packed
some terms at a time, transposed in registers where their terms lie beside each other, and a step adds one product to
every lane's chain.

Bound: that of packing, a shuffle for each bit of a lane's number and vector of words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.contracting_loops import ContractingLoops, following, part
from ttnn_jit.kernels.contracting_packing import Packing
from ttnn_jit.kernels.contracting_tiles import Microkernel
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_WIDTH

DEPTH = 64
"""Steps that are packed at a time: with two vectors of both operands 16 KB at most, in the first cache."""
_VECTORS = 2


@dataclass(frozen=True)
class DotMicrokernel(Microkernel):
    """A row of results each of which has a left factor of its own."""

    def _left(self, name: str) -> Iterator[str]:
        for vector in range(self.vectors):
            at = f"%{name}.left.at{vector}"
            yield f"  {at} = getelementptr i32, ptr %{name}.left, i64 {vector * self.isa.lanes}"
            yield f"  %{name}.left{vector} = load {self._words}, ptr {at}, align 4"

    def _factors(self, name: str, row: int, vector: int) -> tuple[str, str]:  # noqa: ARG002
        return f"%{name}.left{vector}", f"%{name}.right{vector}"


@dataclass(frozen=True)
class DotContraction(ContractingLoops):
    """Products of one row and one column each."""

    def definitions(self) -> list[str]:
        """See the base class."""
        packing = (self._side("left", self.left), self._side("right", self.right))
        return ["\n".join(self._kernel()), "\n".join(self._tile()), *(each.definition() for each in packing)]

    @property
    def panels(self) -> None:
        """None: columns of different products lie side by side."""

    @property
    def _panel(self) -> int:
        return _VECTORS * self.isa.lanes

    @property
    def _steps(self) -> int:
        return TILE_WIDTH // self._terms if self._rounds_tiles else DEPTH

    @property
    def _rows_kept(self) -> int:
        return 1

    @property
    def _left_width(self) -> int:
        return self._panel

    @property
    def _pitch(self) -> int:
        return self._panel

    @property
    def _memory(self) -> Sequence[tuple[str, int]]:
        words = self._steps * self._panel
        return ("%left.packed", words), ("%right.packed", words), ("%block", self._panel)

    def _side(self, name: str, k: int) -> Packing:
        words, symbol = self._steps * self._panel, f"ttnn_jit.pack_{name}"
        own = symbol, self._element(k), self._panel, self.isa.lanes, self.in_pairs, words
        return Packing(*own, cut=self._cut(name))

    def _blocks(self) -> Iterator[str]:
        left, right = self.left, self.right
        yield "row:"
        yield "  %first.row = add i64 0, 0"
        yield "  %height = add i64 1, 0"
        yield "  br label %columns.loop"
        yield "columns.loop:"
        yield "  %column = phi i64 [0, %row], [%column.next, %block.end]"
        yield from part("width", "columns", "column", self._panel)
        yield from self._right_column()
        yield f"  %left.column = mul i64 %column, %across_{left}"
        yield "  br label %depth.loop"
        yield "depth.loop:"
        yield "  %term = phi i64 [0, %columns.loop], [%term.next, %depth.loop]"
        yield from self._terms_of_both("term", str(self._steps * self._terms))
        yield f"  %left.own = getelementptr {self._element(left)}, ptr %left.at, i64 %left.column"
        for name, at, k in (("left", "own", left), ("right", "at", right)):
            words = f"i64 %width, i64 %run, i64 %across_{k}, i64 %along0_{k}"
            yield f"  call void @ttnn_jit.pack_{name}(ptr %{name}.packed, ptr %{name}.{at}, {words})"
        yield f"  %last.term = add i64 %run, {self._terms - 1}"
        yield f"  %steps = lshr i64 %last.term, {self._terms - 1}"
        yield "  %is.first = icmp eq i64 %term, 0"
        packed = "ptr %left.packed, ptr %right.packed, ptr %block, i1 %is.first, i64 %steps"
        yield f"  call void @ttnn_jit.tile({packed})"
        yield "  %term.next = add i64 %term, %run"
        yield "  %term.more = icmp slt i64 %term.next, %depth"
        yield "  br i1 %term.more, label %depth.loop, label %block.done"
        yield "block.done:"
        yield from self._finish("block.done", "block.end")
        yield "block.end:"
        yield from following("column", "columns", self._panel, "columns.loop", "product.end")

    def _tile(self) -> Iterator[str]:
        pointers = "ptr noalias readonly %left, ptr noalias readonly %right, ptr noalias %block"
        yield f"define internal void @ttnn_jit.tile({pointers}, i1 %is.first, i64 %steps) nounwind {{"
        yield from self._microkernel_of(1, _VECTORS, self._panel, kind=DotMicrokernel).lines(
            "all", "%left", "%right", "%block"
        )
        yield "all.end:"
        yield "  ret void"
        yield "}"
