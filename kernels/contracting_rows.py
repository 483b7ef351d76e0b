"""LLVM IR text of a product of a few rows: its right operand is read once, as fast as memory gives it.

The left operand is packed. Where columns are contiguous, the right one is read where it lies, few rows of it at a
time, which processors prefetch; the rest is packed panel by panel into the first cache, right before its use. So are
block floats, tile after tile as they lie.

Bound: a read of the right operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.contracting_loops import PANEL_VECTORS, ContractingLoops, following, part
from ttnn_jit.kernels.contracting_tiles import Microkernel
from ttnn_jit.nest.limits import MAX_ROWS
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

COLUMNS = 2048
"""Of a block of results: 64 KB at most."""
DEPTH = 4096
"""Steps of the left operand that are packed at a time: 128 KB at most."""
STEPS_IN_PLACE = 8
"""Steps at a time where columns are contiguous: that many rows of the right operand are read together, or twice as
many in pairs."""
STEPS_PACKED = 128
"""Steps at a time where they are not: a panel of 16 KB, or of 32 KB for up to half of `MAX_ROWS`, which stays in the
first cache (benchmarks/matmul.py)."""


@dataclass(frozen=True)
class FewRowsContraction(ContractingLoops):
    """A product of a few rows.

    Attributes:
        tile: Rows of a tile of results: 1, 2, 4 or 8.
    """

    tile: int = MAX_ROWS

    def definitions(self) -> list[str]:
        """See the base class."""
        functions = [self._kernel(), self._sweep(), self._function("tile", self._microkernel(""))]
        if self._is_in_place:
            functions.append(self._function("tile_in_place", self._microkernel(self._element(self.right))))
        if self.panels:
            functions.append(self._sweep_of_panels())
            if self._tile_of_panel != "tile":
                kernel = self._microkernel_of(self.tile, PANEL_VECTORS, COLUMNS)
                functions.append(self._function(self._tile_of_panel, kernel))
        packing = (
            self._packing("left", self.left, self.tile, DEPTH),
            self._packing("right", self.right, self._panel, self._steps),
        )
        return [*map("\n".join, functions), *(each.definition() for each in packing)]

    @property
    def _is_in_place(self) -> bool:
        return self._lies_in_rows and not self._is_unpacked

    @property
    def _lies_in_rows(self) -> bool:
        return self.streams[self.right].access is InnerAccess.CONTIGUOUS

    @property
    def _is_unpacked(self) -> bool:
        return self.streams[self.right].dtype.is_block_float

    @property
    def _vectors(self) -> int:
        """Of a row of a tile: as many as half of the registers hold, so that the chains of few rows overlap.

        At most four, because elements of a panel that is not whole are packed one by one; eight of block floats, which
        are unpacked whole, but for those that are transposed in a panel of many steps.
        """
        most = 8 if self._is_unpacked and self._lies_in_rows else 4
        return max(2, min(most, self.isa.registers // 2 // self.tile))

    @property
    def _panel(self) -> int:
        return self._vectors * self.isa.lanes

    @property
    def _columns_packed(self) -> int:
        """At a time: those of a panel, or of a tile of block floats."""
        return max(self._panel, TILE_WIDTH) if self._is_unpacked else self._panel

    @property
    def _steps(self) -> int:
        if self._rounds_tiles:
            return TILE_WIDTH // self._terms
        if not self._lies_in_rows:
            return STEPS_PACKED
        return TILE_HEIGHT // self._terms if self._is_unpacked else STEPS_IN_PLACE

    @property
    def _rows_kept(self) -> int:
        return self.tile

    @property
    def _left_width(self) -> int:
        return self.tile

    @property
    def _pitch(self) -> int:
        return COLUMNS

    @property
    def _memory(self) -> Sequence[tuple[str, int]]:
        extents = {
            "%packed.left": self.tile * DEPTH,
            "%panel": self._columns_packed * self._steps,
            "%offsets": 2 * self.tile,
        }
        return (*extents.items(), ("%block", self.tile * COLUMNS))

    def _microkernel(self, in_place: str) -> Microkernel:
        return self._microkernel_of(self.tile, self._vectors, COLUMNS, in_place)

    def _blocks(self) -> Iterator[str]:
        left, right = self.left, self.right
        yield "row:"
        yield "  br label %rows.loop"
        yield "rows.loop:"
        yield "  %first.row = phi i64 [0, %row], [%first.row.next, %columns.end]"
        yield from part("height", "rows", "first.row", self.tile)
        yield from self._rows_listed("rows.loop", "columns.start")
        yield "columns.start:"
        yield "  br label %columns.loop"
        yield "columns.loop:"
        yield "  %column = phi i64 [0, %columns.start], [%column.next, %block.end]"
        yield from part("width", "columns", "column", COLUMNS)
        yield from self._right_column()
        yield "  br label %depth.loop"
        yield "depth.loop:"
        swept = "swept" if self.panels else "depth.loop"
        yield f"  %term = phi i64 [0, %columns.loop], [%term.next, %{swept}]"
        depth = self._steps if self._rounds_tiles else DEPTH  # each call over panels rounds once, at its end
        yield from self._terms_of_both("term", str(depth * self._terms))
        rows = f"i64 %height, i64 %run, ptr %offsets, i64 %along0_{left}"
        yield f"  call void @ttnn_jit.pack_left(ptr %packed.left, ptr %left.at, {rows})"
        yield "  %is.first = icmp eq i64 %term, 0"
        if self.panels:
            yield "  br i1 %in.panels, label %sweep.panels, label %sweep"
            yield "sweep.panels:"
            pointers = "ptr %packed.left, ptr %right.at, ptr %block, i1 %is.first"
            yield f"  call void @ttnn_jit.sweep_panels({pointers}, i64 %width, i64 %run, i64 %across_{right})"
            yield "  br label %swept"
            yield "sweep:"
        pointers = "ptr %packed.left, ptr %right.at, ptr %panel, ptr %block"
        words = f"i64 %width, i64 %run, i64 %across_{right}, i64 %along0_{right}"
        yield f"  call void @ttnn_jit.sweep({pointers}, i1 %is.first, {words})"
        if self.panels:
            yield "  br label %swept"
            yield "swept:"
        yield "  %term.next = add i64 %term, %run"
        yield "  %term.more = icmp slt i64 %term.next, %depth"
        yield "  br i1 %term.more, label %depth.loop, label %block.done"
        yield "block.done:"
        yield from self._finish("block.done", "block.end")
        yield "block.end:"
        yield from following("column", "columns", COLUMNS, "columns.loop", "columns.end")
        yield "columns.end:"
        # Where rows are packed, those of one tile of results are all that a tile of block floats is unpacked for.
        rows = "height" if self.streams[left].dtype.is_block_float else "rows"
        yield from following("first.row", rows, self.tile, "rows.loop", "product.end")

    @property
    def _tile_of_panel(self) -> str:
        """The function of tiles as wide as a panel that came packed."""
        return "tile" if self._vectors == PANEL_VECTORS else "tile_of_panel"

    def _sweep_of_panels(self) -> Iterator[str]:
        """The loop over panels that came packed, over all of the depth at a time."""
        yield (
            "define internal void @ttnn_jit.sweep_panels(ptr noalias readonly %left, ptr noalias readonly %right, "
            "ptr noalias %block, i1 %is.first, i64 %width, i64 %depth, i64 %across) nounwind {"
        )
        yield "entry:"
        yield f"  %last.term = add i64 %depth, {self._terms - 1}"
        yield f"  %steps = lshr i64 %last.term, {self._terms - 1}"
        yield "  br label %panel.loop"
        yield "panel.loop:"
        yield "  %column = phi i64 [0, %entry], [%column.next, %panel.loop]"
        yield "  %moved = mul i64 %column, %across"
        yield f"  %panel.at = getelementptr {self._element(self.right)}, ptr %right, i64 %moved"
        yield "  %results = getelementptr float, ptr %block, i64 %column"
        rest = "ptr %panel.at, ptr %results, i1 %is.first, i64 %steps, i64 0"
        yield f"  call void @ttnn_jit.{self._tile_of_panel}(ptr %left, {rest})"
        yield from following("column", "width", self._panel_width, "panel.loop", "done")
        yield "done:"
        yield "  ret void"
        yield "}"

    # Loops over the panels of a block, and over parts of its depth, the outer ones but for panels of contiguous terms

    def _sweep(self) -> Iterator[str]:
        yield (
            "define internal void @ttnn_jit.sweep(ptr noalias readonly %left, ptr noalias readonly %right, "
            "ptr noalias %panel, ptr noalias %block, i1 %starts, i64 %width, i64 %depth, i64 %across, i64 %along) "
            "nounwind {"
        )
        rows_outside = self._lies_in_rows or self._is_unpacked
        outer, inner = ("term", "column") if rows_outside else ("column", "term")
        yield "entry:"
        yield f"  br label %{outer}.loop"
        yield f"{outer}.loop:"
        yield f"  %{outer} = phi i64 [0, %entry], [%{outer}.next, %{inner}.end]"
        yield f"  br label %{inner}.loop"
        yield f"{inner}.loop:"
        yield f"  %{inner} = phi i64 [0, %{outer}.loop], [%{inner}.next, %tile.end]"
        yield from part("terms", "depth", "term", self._steps * self._terms)
        yield from part("count", "width", "column", self._panel)
        yield from self._tile_arguments()
        yield from self._tile_call()
        yield "tile.end:"
        extents = {
            "term": ("depth", self._steps * self._terms),
            "column": ("width", self._panel),
        }
        yield from following(inner, *extents[inner], f"{inner}.loop", f"{inner}.end")
        yield f"{inner}.end:"
        yield from following(outer, *extents[outer], f"{outer}.loop", "done")
        yield "done:"
        yield "  ret void"
        yield "}"

    def _tile_arguments(self) -> Iterator[str]:
        yield f"  %first.step = lshr i64 %term, {self._terms - 1}"
        yield f"  %left.word = mul i64 %first.step, {self.tile}"
        yield "  %left.at = getelementptr i32, ptr %left, i64 %left.word"
        yield "  %moved.across = mul i64 %column, %across"
        yield "  %moved.along = mul i64 %term, %along"
        yield "  %moved = add i64 %moved.across, %moved.along"
        yield f"  %right.at = getelementptr {self._element(self.right)}, ptr %right, i64 %moved"
        yield "  %results = getelementptr float, ptr %block, i64 %column"
        yield f"  %last.term = add i64 %terms, {self._terms - 1}"
        yield f"  %steps = lshr i64 %last.term, {self._terms - 1}"
        yield "  %is.at.start = icmp eq i64 %term, 0"
        yield "  %is.first = and i1 %starts, %is.at.start"

    def _tile_call(self) -> Iterator[str]:
        arguments = "ptr %results, i1 %is.first, i64 %steps, i64 %along"
        if self._is_in_place:
            yield f"  %whole.terms = mul i64 %steps, {self._terms}"
            yield "  %is.even = icmp eq i64 %whole.terms, %terms"
            yield f"  %is.whole = icmp eq i64 %count, {self._panel}"
            yield "  %stays = and i1 %is.even, %is.whole"
            yield "  br i1 %stays, label %in.place, label %packed"
            yield "in.place:"
            yield f"  call void @ttnn_jit.tile_in_place(ptr %left.at, ptr %right.at, {arguments})"
            yield "  br label %tile.end"
            yield "packed:"
        if self._is_unpacked:
            yield from self._unpacked_tile_call(arguments)
            return
        source = "ptr %right.at, i64 %count, i64 %terms, i64 %across, i64 %along"
        yield f"  call void @ttnn_jit.pack_right(ptr %panel, {source})"
        yield f"  call void @ttnn_jit.tile(ptr %left.at, ptr %panel, {arguments})"
        yield "  br label %tile.end"

    def _unpacked_tile_call(self, arguments: str) -> Iterator[str]:
        """The same where a panel may have fewer columns than what is unpacked together."""
        yield f"  %behind = and i64 %column, {self._columns_packed - 1}"
        yield f"  %panel.word = mul i64 %behind, {self._steps}"
        yield "  %panel.at = getelementptr i32, ptr %panel, i64 %panel.word"
        yield "  %is.new = icmp eq i64 %behind, 0"
        yield "  br i1 %is.new, label %unpack, label %unpacked"
        yield "unpack:"
        source = "ptr %right.at, i64 %count, i64 %terms, i64 %across, i64 %along"
        yield f"  call void @ttnn_jit.pack_right(ptr %panel, {source})"
        yield "  br label %unpacked"
        yield "unpacked:"
        yield f"  call void @ttnn_jit.tile(ptr %left.at, ptr %panel.at, {arguments})"
        yield "  br label %tile.end"

    def _function(self, name: str, microkernel: Microkernel) -> Iterator[str]:
        parameters = "ptr noalias readonly %left, ptr noalias readonly %right, ptr noalias %results, i1 %is.first"
        yield f"define internal void @ttnn_jit.{name}({parameters}, i64 %steps, i64 %along) nounwind {{"
        yield from microkernel.lines("all", "%left", "%right", "%results")
        yield "all.end:"
        yield "  ret void"
        yield "}"
