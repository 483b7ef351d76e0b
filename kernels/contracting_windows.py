"""LLVM IR text of a product whose left operand is windows of a tensor: it is read where it lies, and is not packed.

Rows of such an operand lie near each other, and overlap, so that a block of them stays in the first two caches. Their
terms are runs of contiguous elements, one for each step of the outer contracted loops: the columns of a kernel with
their channels. The microkernel has a pointer to each row of a tile, and one index for all.

Bound: that of the microkernel; packing loads and stores the right operand once for `ROWS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.contracting_blocks import COLUMNS, DEPTH, ROWS, BlockedContraction
from ttnn_jit.kernels.contracting_loops import PANEL_VECTORS
from ttnn_jit.kernels.contracting_tiles import Microkernel
from ttnn_jit.kernels.llvm_vector import LlvmVector
from ttnn_jit.kernels.outer_loops import OuterLoops
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class WindowContraction(BlockedContraction):
    """A product in blocks, whose left operand's terms are one element apart along the innermost contracted loop.

    That operand is float32; or it is bfloat16, products are added up in pairs, and runs have an even number of terms.
    """

    def definitions(self) -> list[str]:
        """See the base class."""
        packing = self._packing("right", self.right, self._panel_width, DEPTH)
        return [*map("\n".join, (self._kernel(), self._tiles())), packing.definition()]

    @property
    def panels(self) -> None:
        """None: the terms of a part of the depth are several runs."""

    @property
    def _memory(self) -> Sequence[tuple[str, int]]:
        extents = {"%right.packed": COLUMNS * DEPTH, "%block": ROWS * COLUMNS, "%runs": 4 * DEPTH}
        return (*extents.items(), ("%offsets", 2 * ROWS))

    def _entry(self, outer: OuterLoops) -> Iterator[str]:
        """As the base class. A launch from a file may say that terms lie otherwise: it reads no memory then."""
        *lines, _ = super()._entry(outer)
        yield from lines
        yield f"  %are.beside = icmp eq i64 %along0_{self.left}, 1"
        yield f"  br i1 %are.beside, label %{outer.first}, label %close{self.rank + 1}"

    def _left_taken(self) -> Iterator[str]:
        """A run of terms in the list: the first one's place, and the place behind them."""
        yield "  %run.at = getelementptr [2 x i64], ptr %runs, i64 %number"
        yield "  %run.end.at = getelementptr i64, ptr %run.at, i64 1"
        yield "  %run.end = add i64 %left.term, %run"
        yield "  store i64 %left.term, ptr %run.at"
        yield "  store i64 %run.end, ptr %run.end.at"

    @property
    def _left_arguments(self) -> str:
        return f"ptr %at{self._outside}_{self.left}, ptr %offsets, ptr %runs, i64 %number.next"

    @property
    def _left_parameters(self) -> str:
        return "ptr noalias readonly %left, ptr noalias readonly %offsets, ptr noalias readonly %runs, i64 %count"

    def _tile_lines(self) -> Iterator[str]:
        kernel = WindowMicrokernel(self._tile, PANEL_VECTORS, 0, COLUMNS, self.in_pairs, self.isa, self.module)
        yield "  %last.row = sub i64 %height, 1"
        yield from self._row_pointers()
        yield "  br label %whole"
        yield from kernel.lines("whole", self._element(self.left), "%panel.at", "%tile.results")
        yield "whole.end:"
        yield "  br label %tile.end"

    def _row_pointers(self) -> Iterator[str]:
        """``%left<row>``: where the rows of a tile begin; those beyond the block's last one are the last one."""
        for row in range(self._tile):
            yield f"  %number{row} = add i64 %row, {row}"
            yield f"  %is.inside{row} = icmp slt i64 %number{row}, %last.row"
            yield f"  %inside{row} = select i1 %is.inside{row}, i64 %number{row}, i64 %last.row"
            yield f"  %offset.at{row} = getelementptr i64, ptr %offsets, i64 %inside{row}"
            yield f"  %offset{row} = load i64, ptr %offset.at{row}"
            yield f"  %left{row} = getelementptr {self._element(self.left)}, ptr %left, i64 %offset{row}"


@dataclass(frozen=True)
class WindowMicrokernel(Microkernel):
    """Continues the chains of a tile of results over runs of terms, at least one."""

    def lines(self, name: str, left: str, right: str, results: str) -> Iterator[str]:
        """As the base class, with rows from ``%left<row>`` on; ``%runs`` says where their ``%count`` runs are.

        Args:
            name: Unique in the function.
            left: LLVM type of the left operand's elements.
            right: Pointer to the first step's words.
            results: Pointer to the tile.
        """
        lanes = self.isa.lanes
        kind = f"<{lanes} x float>"
        totals = [f"%{name}.total{row}.{vector}" for row, vector in self._places]
        yield f"{name}:"
        for (row, vector), total in zip(self._places, totals, strict=True):
            yield f"  {total}.at = getelementptr float, ptr {results}, i64 {row * self.pitch + vector * lanes}"
            yield f"  {total}.before = load {kind}, ptr {total}.at, align 4"
            yield f"  {total}.start = select i1 %is.first, {kind} zeroinitializer, {kind} {total}.before"
        yield f"  br label %{name}.run"
        yield f"{name}.run:"
        for total in totals:
            yield f"  {total}.run = phi {kind} [{total}.start, %{name}], [{total}.next, %{name}.run.end]"
        yield f"  %{name}.run.right = phi ptr [{right}, %{name}], [%{name}.right.next, %{name}.run.end]"
        yield f"  %{name}.number = phi i64 [0, %{name}], [%{name}.number.next, %{name}.run.end]"
        yield f"  %{name}.first.at = getelementptr [2 x i64], ptr %runs, i64 %{name}.number"
        yield f"  %{name}.first = load i64, ptr %{name}.first.at"
        yield f"  %{name}.behind.at = getelementptr i64, ptr %{name}.first.at, i64 1"
        yield f"  %{name}.behind = load i64, ptr %{name}.behind.at"
        yield f"  br label %{name}.loop"
        yield f"{name}.loop:"
        for total in totals:
            yield f"  {total} = phi {kind} [{total}.run, %{name}.run], [{total}.next, %{name}.loop]"
        yield f"  %{name}.right = phi ptr [%{name}.run.right, %{name}.run], [%{name}.right.next, %{name}.loop]"
        yield f"  %{name}.term = phi i64 [%{name}.first, %{name}.run], [%{name}.term.next, %{name}.loop]"
        yield from self._packed_right(name)
        yield from self._left_of(name, left)
        yield from self._products(name, LlvmVector(self.isa, self.module, prefix=f"{name}.v", block=f"{name}.loop"))
        yield f"  %{name}.term.next = add i64 %{name}.term, {2 if self.in_pairs else 1}"
        yield f"  %{name}.more = icmp slt i64 %{name}.term.next, %{name}.behind"
        yield f"  br i1 %{name}.more, label %{name}.loop, label %{name}.run.end"
        yield f"{name}.run.end:"
        yield f"  %{name}.number.next = add i64 %{name}.number, 1"
        yield f"  %{name}.more.runs = icmp slt i64 %{name}.number.next, %count"
        yield f"  br i1 %{name}.more.runs, label %{name}.run, label %{name}.done"
        yield f"{name}.done:"
        for total in totals:
            yield f"  store {kind} {total}.next, ptr {total}.at, align 4"
        yield f"  br label %{name}.end"

    def _left_of(self, name: str, element: str) -> Iterator[str]:
        """``%<name>.left<row>``: a row's word in all lanes."""
        one, align = ("i32", 2) if self.in_pairs else ("float", 4)
        for row in range(self.rows):
            at = f"%{name}.left.at{row}"
            yield f"  {at} = getelementptr {element}, ptr %left{row}, i64 %{name}.term"
            yield f"  {at}.one = load {one}, ptr {at}, align {align}"
            yield from self._splat(f"%{name}.left{row}", at, one)
