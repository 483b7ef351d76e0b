"""LLVM IR text of the function that packs tiles beside each other into block floats, eight rows of them at a time."""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.packing_groups import DECLARATIONS, GROUP, ROWS, WORDS, GroupPacking
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

STRIP = 16
"""Tiles beside each other that are walked row by row: rows of 1 or 2 KB, which hardware prefetches, and packed tiles
that fit the first cache."""

ROWS_AHEAD = 8
"""From the elements that are packed to those that are prefetched: half a microsecond, several times what memory takes
(benchmarks/block_floats.py)."""

GROUPS = TILE_HEIGHT * TILE_WIDTH // GROUP
"""Of a tile: as many bytes of exponents come first."""

_PREFETCH, _COPY, FILL = "@llvm.prefetch.p0", "@llvm.memcpy.p0.p0.i64", "@llvm.memset.p0.i64"


@dataclass(frozen=True)
class PackedBlocks:
    """``void @name(ptr dense, ptr tiles, i64 height, i64 width, i64 count, i64 down, i64 across)``, internal.

    Packs `count` tiles beside each other, at most `STRIP`, of `height` rows and `width` columns each. Their elements
    lie at `dense`, those of rows and of tiles `down` and `across` apart; the packed tiles lie one after the other. The
    exponents of all are found before the first is packed, so that nothing waits for its own. Eight rows that
    are not whole are copied first, between zeros.

    Attributes:
        name: Its symbol.
        groups: How groups are packed.
    """

    name: str
    groups: GroupPacking

    @property
    def declarations(self) -> tuple[str, ...]:
        """Of what it calls."""
        edges = f"declare void {_COPY}(ptr, ptr, i64, i1)\n", f"declare void {FILL}(ptr, i8, i64, i1)\n"
        return (*DECLARATIONS, *edges)

    def lines(self) -> Iterator[str]:
        """The function."""
        element, area = self.groups.source.traits.llvm, STRIP * ROWS * TILE_WIDTH
        sizes = "i64 %height, i64 %width, i64 %count, i64 %down, i64 %across"
        yield f"define internal void @{self.name}(ptr noalias readonly %dense, ptr noalias %tiles, {sizes}) nounwind {{"
        yield "entry:"
        yield f"  %words = alloca [{STRIP} x {WORDS}], align 64"
        yield f"  %edges = alloca [{area} x {element}], align 64"
        yield f"  %bytes = alloca [{STRIP} x [{GROUPS} x i8]], align {LINE}"
        yield f"  %is.low = icmp ult i64 %height, {TILE_HEIGHT}"
        yield f"  %is.wide = icmp eq i64 %width, {TILE_WIDTH}"
        yield "  br i1 %is.low, label %zero, label %block"
        yield "zero:"
        yield f"  call void {FILL}(ptr align {LINE} %bytes, i8 0, i64 {STRIP * GROUPS}, i1 false)"
        yield f"  %size = mul i64 %count, {self.groups.target.itemsize}"
        yield f"  call void {FILL}(ptr %tiles, i8 0, i64 %size, i1 false)"
        yield "  br label %block"
        yield from self._block()
        yield from self._copied_edges()
        yield from self._exponents()
        yield from self._codes()
        yield from self._copied_exponents()
        yield "done:"
        yield "  ret void"
        yield "}"

    def _block(self) -> Iterator[str]:
        """The loop over eight rows of every tile: these rows, or where they are not whole a copy of them."""
        element = self.groups.source.traits.llvm
        yield "block:"
        yield "  %r = phi i64 [0, %entry], [0, %zero], [%r.next, %block.end]"
        yield f"  %r.next = add i64 %r, {ROWS}"
        yield "  %move = mul i64 %r, %down"
        yield f"  %block.at = getelementptr {element}, ptr %dense, i64 %move"
        yield f"  %faces = and i64 %r, {GROUP}"
        yield "  %group0 = add i64 %r, %faces"
        yield f"  %group1 = add i64 %group0, {GROUP}"
        yield "  %is.high = icmp ule i64 %r.next, %height"
        yield "  %is.whole = and i1 %is.high, %is.wide"
        yield "  %left = sub i64 %height, %r"
        yield f"  %rows = select i1 %is.high, i64 {ROWS}, i64 %left"
        yield "  %step = select i1 %is.whole, i64 %down, i64 32"
        yield f"  %step.across = select i1 %is.whole, i64 %across, i64 {ROWS * TILE_WIDTH}"
        yield "  %from = select i1 %is.whole, ptr %block.at, ptr %edges"
        yield "  br i1 %is.whole, label %look, label %clear"

    def _copied_exponents(self) -> Iterator[str]:
        yield "block.end:"
        yield "  %more.blocks = icmp ult i64 %r.next, %height"
        yield "  br i1 %more.blocks, label %block, label %copy"
        yield "copy:"
        yield "  %t = phi i64 [0, %block.end], [%t.next, %copy]"
        yield f"  %copy.from = getelementptr [{GROUPS} x i8], ptr %bytes, i64 %t"
        yield f"  %copy.to = getelementptr [{self.groups.target.itemsize} x i8], ptr %tiles, i64 %t"
        yield f"  %copied = load <{GROUPS} x i8>, ptr %copy.from, align {LINE}"
        hint = f"align {LINE}, !nontemporal !0" if self.groups.nontemporal else "align 1"
        yield f"  store <{GROUPS} x i8> %copied, ptr %copy.to, {hint}"
        yield "  %t.next = add i64 %t, 1"
        yield "  %more.copies = icmp ult i64 %t.next, %count"
        yield "  br i1 %more.copies, label %copy, label %done"

    def _copied_edges(self) -> Iterator[str]:
        source = self.groups.source
        element = source.traits.llvm
        yield "clear:"
        yield f"  %area = mul i64 %count, {ROWS * TILE_WIDTH * source.itemsize}"
        yield f"  %row.bytes = mul i64 %width, {source.itemsize}"
        yield f"  call void {FILL}(ptr align {LINE} %edges, i8 0, i64 %area, i1 false)"
        yield "  br label %edge.tile"
        yield "edge.tile:"
        yield "  %e = phi i64 [0, %clear], [%e.next, %edge.tile.end]"
        yield "  %e.moved = mul i64 %e, %across"
        yield f"  %e.from = getelementptr {element}, ptr %block.at, i64 %e.moved"
        yield f"  %e.place = mul i64 %e, {ROWS * TILE_WIDTH}"
        yield f"  %e.to = getelementptr {element}, ptr %edges, i64 %e.place"
        yield "  br label %edge.row"
        yield "edge.row:"
        yield "  %er = phi i64 [0, %edge.tile], [%er.next, %edge.row]"
        yield "  %er.down = mul i64 %er, %down"
        yield f"  %er.from = getelementptr {element}, ptr %e.from, i64 %er.down"
        yield f"  %er.place = mul i64 %er, {TILE_WIDTH}"
        yield f"  %er.to = getelementptr {element}, ptr %e.to, i64 %er.place"
        yield f"  call void {_COPY}(ptr align {LINE} %er.to, ptr %er.from, i64 %row.bytes, i1 false)"
        yield "  %er.next = add i64 %er, 1"
        yield "  %more.edge.rows = icmp ult i64 %er.next, %rows"
        yield "  br i1 %more.edge.rows, label %edge.row, label %edge.tile.end"
        yield "edge.tile.end:"
        yield "  %e.next = add i64 %e, 1"
        yield "  %more.edge.tiles = icmp ult i64 %e.next, %count"
        yield "  br i1 %more.edge.tiles, label %edge.tile, label %look"

    def _exponents(self) -> Iterator[str]:
        element = self.groups.source.traits.llvm
        yield "look:"
        yield "  %d = phi i64 [0, %block], [0, %edge.tile.end], [%d.next, %look]"
        yield "  %d.moved = mul i64 %d, %step.across"
        yield f"  %d.at = getelementptr {element}, ptr %from, i64 %d.moved"
        yield f"  %d.bytes = getelementptr [{GROUPS} x i8], ptr %bytes, i64 %d"
        yield f"  %d.words = getelementptr {WORDS}, ptr %words, i64 %d"
        for h in range(2):
            yield f"  %exponents{h} = getelementptr i8, ptr %d.bytes, i64 %group{h}"
        yield from (f"  {line}" for line in self.groups.exponents("%d.at", "%step", "%d.words"))
        yield "  %d.next = add i64 %d, 1"
        yield "  %more.looks = icmp ult i64 %d.next, %count"
        yield "  br i1 %more.looks, label %look, label %tile"

    def _codes(self) -> Iterator[str]:
        source, target = self.groups.source, self.groups.target
        element, code = source.traits.llvm, f"[{GROUP * (target.traits.magnitude_bits + 1) // 8} x i8]"
        yield "tile:"
        yield "  %c = phi i64 [0, %look], [%c.next, %tile.end]"
        yield "  %moved = mul i64 %c, %step.across"
        yield f"  %tile.from = getelementptr {element}, ptr %from, i64 %moved"
        yield f"  %tile.at = getelementptr [{target.itemsize} x i8], ptr %tiles, i64 %c"
        yield f"  %codes = getelementptr i8, ptr %tile.at, i64 {GROUPS}"
        yield f"  %c.words = getelementptr {WORDS}, ptr %words, i64 %c"
        for h in range(2):
            yield f"  %codes{h} = getelementptr {code}, ptr %codes, i64 %group{h}"
        yield "  br label %row"
        yield "row:"
        yield "  %k = phi i64 [0, %tile], [%k.next, %row]"
        yield "  %dense0 = phi ptr [%tile.from, %tile], [%dense.next, %row]"
        yield f"  %dense1 = getelementptr {element}, ptr %dense0, i64 %step"
        yield f"  %dense.next = getelementptr {element}, ptr %dense1, i64 %step"
        yield f"  %ahead = mul i64 %step, {ROWS_AHEAD}"
        for row in range(2):
            yield f"  %ahead{row} = getelementptr {element}, ptr %dense{row}, i64 %ahead"
            for line in range(TILE_WIDTH * source.itemsize // LINE):
                yield f"  %ahead{row}.line{line} = getelementptr i8, ptr %ahead{row}, i64 {LINE * line}"
                yield f"  call void {_PREFETCH}(ptr %ahead{row}.line{line}, i32 0, i32 3, i32 1)"
        for h in range(2):
            yield f"  %code{h} = getelementptr {code}, ptr %codes{h}, i64 %k"
        yield from (f"  {line}" for line in self.groups.two_rows("%c.words", "%k"))
        yield "  %k.next = add i64 %k, 2"
        yield "  %more.rows = icmp ult i64 %k.next, %rows"
        yield "  br i1 %more.rows, label %row, label %tile.end"
        yield "tile.end:"
        yield "  %c.next = add i64 %c, 1"
        yield "  %more.tiles = icmp ult i64 %c.next, %count"
        yield "  br i1 %more.tiles, label %tile, label %block.end"
