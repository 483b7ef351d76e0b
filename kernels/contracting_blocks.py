"""LLVM IR text of a product of many rows and columns: both operands packed, blocks of results in the second cache.

`DEPTH` steps of both operands are packed for a block, whatever their strides: the left one's in tiles of a few rows,
the right one's in panels of two vectors, both with zeros beyond their ends. A panel stays in the first cache while all
tiles go by.

Bound: that of the microkernel; packing loads and stores each element of the left operand once for `COLUMNS` results,
and of the right one once for `ROWS`. After Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
2008.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.contracting_loops import PANEL_VECTORS, ContractingLoops, following, part
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.process.dataclass import dataclass

ROWS = 512
"""Of a block: with `DEPTH` steps, 256 KB of the left operand, which stay in the second cache."""
COLUMNS = 256
"""Of a block: 128 KB of the right operand, and 512 KB of results; all three are on the stack of a thread."""
DEPTH = 128
"""Steps of a chain between which a tile of results leaves the registers: a panel of 16 KB, in the first cache."""
_MIN_TILE_ROWS = 4
"""Rows from which on a tile that is not whole is computed as one that is; fewer are computed one by one."""


def tile_rows(isa: HostIsa) -> int:
    """Rows of a tile of results, which with two vectors of the right operand and a splat fits the registers."""
    return 8 if isa.registers == 32 else 4


@dataclass(frozen=True)
class BlockedContraction(ContractingLoops):
    """A product in blocks."""

    def definitions(self) -> list[str]:
        """See the base class."""
        packing = (
            self._packing("left", self.left, self._tile, DEPTH),
            self._packing("right", self.right, self._panel_width, DEPTH),
        )
        return [*map("\n".join, (self._kernel(), self._tiles())), *(each.definition() for each in packing)]

    @property
    def _tile(self) -> int:
        return tile_rows(self.isa)

    @property
    def _rows_kept(self) -> int:
        return ROWS

    @property
    def _left_width(self) -> int:
        return self._tile

    @property
    def _pitch(self) -> int:
        return COLUMNS

    @property
    def _memory(self) -> Sequence[tuple[str, int]]:
        steps = DEPTH
        extents = {"%left.packed": ROWS * steps, "%right.packed": COLUMNS * steps, "%block": ROWS * COLUMNS}
        return (*extents.items(), ("%offsets", 2 * ROWS))

    def _blocks(self) -> Iterator[str]:
        yield "row:"
        yield "  br label %rows.loop"
        yield "rows.loop:"
        yield "  %first.row = phi i64 [0, %row], [%first.row.next, %columns.end]"
        yield from part("height", "rows", "first.row", ROWS)
        yield from self._rows_listed("rows.loop", "columns.start")
        yield "columns.start:"
        yield "  br label %columns.loop"
        yield "columns.loop:"
        yield "  %column = phi i64 [0, %columns.start], [%column.next, %block.end]"
        yield from part("width", "columns", "column", COLUMNS)
        yield from self._right_column()
        yield "  br label %depth.loop"
        yield from self._depth()
        yield "block.done:"
        yield from self._finish("block.done", "block.end")
        yield "block.end:"
        yield from following("column", "columns", COLUMNS, "columns.loop", "columns.end")
        yield "columns.end:"
        yield from following("first.row", "rows", ROWS, "rows.loop", "product.end")

    def _depth(self) -> Iterator[str]:
        """From ``depth.loop`` to ``block.done``: all terms of a block, as many at a time as are packed."""
        most, right = DEPTH * self._terms, self.right
        yield "depth.loop:"
        yield "  %term = phi i64 [0, %columns.loop], [%term.next, %filled]"
        yield "  br label %fill"
        yield "fill:"
        filled = "taken" if self.panels else "fill"
        yield f"  %packed = phi i64 [0, %depth.loop], [%packed.next, %{filled}]"
        yield f"  %number = phi i64 [0, %depth.loop], [%number.next, %{filled}]"
        yield "  %packed.term = add i64 %term, %packed"
        yield f"  %packed.left = sub i64 {most}, %packed"
        yield from self._terms_of_both("packed.term", "%packed.left")
        yield f"  %packed.step = lshr i64 %packed, {self._terms - 1}"
        yield from self._left_taken()
        if self.panels:
            yield "  br i1 %in.panels, label %taken, label %pack"
            yield "pack:"
        yield f"  %right.word = mul i64 %packed.step, {self._panel_width}"
        yield "  %right.to = getelementptr i32, ptr %right.packed, i64 %right.word"
        columns = f"i64 %width, i64 %run, i64 %across_{right}, i64 %along0_{right}"
        yield f"  call void @ttnn_jit.pack_right(ptr %right.to, ptr %right.at, {columns})"
        if self.panels:
            yield "  br label %taken"
            yield "taken:"
        yield "  %packed.next = add i64 %packed, %run"
        yield "  %number.next = add i64 %number, 1"
        yield "  %term.next = add i64 %term, %packed.next"
        yield f"  %has.room = icmp slt i64 %packed.next, {most}"
        yield "  %more.terms = icmp slt i64 %term.next, %depth"
        yield "  %more.to.pack = and i1 %has.room, %more.terms"
        yield "  br i1 %more.to.pack, label %fill, label %filled"
        yield "filled:"
        yield f"  %last.term = add i64 %packed.next, {self._terms - 1}"
        yield f"  %steps = lshr i64 %last.term, {self._terms - 1}"
        yield "  %is.first = icmp eq i64 %term, 0"
        yield from self._right_taken()
        rest = "ptr %right.taken, i64 %panel.words, ptr %block, i1 %is.first, i64 %height, i64 %width"
        yield f"  call void @ttnn_jit.tiles({self._left_arguments}, {rest})"
        yield "  br i1 %more.terms, label %depth.loop, label %block.done"

    def _left_taken(self) -> Iterator[str]:
        """``%run`` terms of the left operand, from ``%left.at`` on, for the step ``%packed.step``."""
        yield f"  %left.word = mul i64 %packed.step, {self._tile}"
        yield "  %left.to = getelementptr i32, ptr %left.packed, i64 %left.word"
        rows = f"i64 %height, i64 %run, ptr %offsets, i64 %along0_{self.left}"
        yield f"  call void @ttnn_jit.pack_left(ptr %left.to, ptr %left.at, {rows})"

    def _right_taken(self) -> Iterator[str]:
        """``%right.taken``: the first panel of the block's columns; ``%panel.words``: from one to the next."""
        packed = DEPTH * self._panel_width
        if not self.panels:
            yield "  %right.taken = getelementptr i32, ptr %right.packed, i64 0"
            yield f"  %panel.words = add i64 0, {packed}"
            return
        # All terms of a part of the depth are one run: ``%right.at`` is where they begin.
        yield "  %right.taken = select i1 %in.panels, ptr %right.at, ptr %right.packed"
        yield f"  %panel.given = mul i64 %across_{self.right}, {self._panel_width // self._terms}"
        yield f"  %panel.words = select i1 %in.panels, i64 %panel.given, i64 {packed}"

    @property
    def _left_arguments(self) -> str:
        """What the function of tiles is told of the left operand's terms."""
        return "ptr %left.packed, i64 %steps"

    @property
    def _left_parameters(self) -> str:
        """Its parameters for that."""
        return "ptr noalias readonly %left, i64 %steps"

    def _tiles(self) -> Iterator[str]:
        blocks = "ptr noalias readonly %right, i64 %panel.words, ptr noalias %block"
        rest = f"{blocks}, i1 %is.first, i64 %height, i64 %width"
        yield f"define internal void @ttnn_jit.tiles({self._left_parameters}, {rest}) nounwind {{"
        yield "entry:"
        yield "  br label %panel"
        yield "panel:"
        yield "  %column = phi i64 [0, %entry], [%column.next, %panel.end]"
        yield "  %panel.at = phi ptr [%right, %entry], [%panel.next, %panel.end]"
        yield "  %results = getelementptr float, ptr %block, i64 %column"
        yield "  br label %tile"
        yield "tile:"
        yield "  %row = phi i64 [0, %panel], [%row.next, %tile.end]"
        yield f"  %row.moved = mul i64 %row, {COLUMNS}"
        yield "  %tile.results = getelementptr float, ptr %results, i64 %row.moved"
        yield from self._tile_lines()
        yield "tile.end:"
        yield from following("row", "height", self._tile, "tile", "panel.end")
        yield "panel.end:"
        yield "  %panel.next = getelementptr i32, ptr %panel.at, i64 %panel.words"
        yield from following("column", "width", self._panel_width, "panel", "done")
        yield "done:"
        yield "  ret void"
        yield "}"

    def _tile_lines(self) -> Iterator[str]:
        """To a branch to ``tile.end``: the rows from ``%row`` on by the panel ``%panel.at``, to ``%tile.results``."""
        whole, one = (self._microkernel_of(rows, PANEL_VECTORS, COLUMNS) for rows in (self._tile, 1))
        yield f"  %tile.word = mul i64 %row, {DEPTH}"
        yield "  %tile.at = getelementptr i32, ptr %left, i64 %tile.word"
        yield "  %rest = sub i64 %height, %row"
        yield f"  %is.few = icmp slt i64 %rest, {_MIN_TILE_ROWS}"
        yield "  br i1 %is.few, label %single, label %whole"
        yield from whole.lines("whole", "%tile.at", "%panel.at", "%tile.results")
        yield "whole.end:"
        yield "  br label %tile.end"
        yield "single:"
        yield "  %lane = phi i64 [0, %tile], [%lane.next, %one.end]"
        yield "  %lane.at = getelementptr i32, ptr %tile.at, i64 %lane"
        yield f"  %lane.moved = mul i64 %lane, {COLUMNS}"
        yield "  %lane.results = getelementptr float, ptr %tile.results, i64 %lane.moved"
        yield "  br label %one"
        yield from one.lines("one", "%lane.at", "%panel.at", "%lane.results")
        yield "one.end:"
        yield "  %lane.next = add i64 %lane, 1"
        yield "  %more.lanes = icmp slt i64 %lane.next, %rest"
        yield "  br i1 %more.lanes, label %single, label %tile.end"
