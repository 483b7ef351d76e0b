"""LLVM IR text of kernels that pack tiles into block floats, and unpack them: a group of 16 elements in vectors.

All is arithmetic of integers, and a sum of floats that rounds significands of float32, the same on every host;
kernels/block_floats.py says what it computes. LLVM cuts the vectors of 16 words into those that the host has.

Bound: the bytes of both tensors, 2 or 4 of an element and 1 1/16 or 9/16 of it packed, or the instructions. With
AVX-512 packing a row of a tile, 32 elements, takes 45 of float32 (162 bytes) and 29 of bfloat16 (98 bytes), of which 8
and 6 find exponents; unpacking takes 61. In cache that is 0.35 to 0.48 of a copy, in memory with two threads 0.6 to 0.8
of float32 and 0.6 to 1.1 of bfloat16, the less the faster memory is (benchmarks/block_floats.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.packing_blocks import GROUPS, STRIP, PackedBlocks
from ttnn_jit.kernels.packing_groups import GROUP, GroupPacking, splat
from ttnn_jit.kernels.tile_loop import NONTEMPORAL, PREFETCH_DECLARATION
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import TILE_HEIGHT, Numerics

_WORDS = f"<{GROUP} x i32>"

_PREFETCH = "@llvm.prefetch.p0"


@dataclass(frozen=True)
class PackingLoops:
    """The function ``void @name(ptr pointers, ptr params)``; the words are those of kernels/outer_loops.py.

    Of a tile, loop 0 walks columns and loop 1 rows; loop 2 walks tiles along a row of them, the others rows of tiles.
    Operand 0 is read, operand 1 written; one of them is packed, and moves by whole tiles along loop 2 and those around
    it alone. A tile that is packed has zeros beyond its columns and rows.

    Attributes:
        name: Its symbol.
        source: Element type of what is read.
        target: Element type of what is written.
        numerics: Under those of devices a NaN is packed as an infinity.
        rank: Number of the outermost loop.
        nontemporal: Whether elements are written past the caches; they are aligned then.
        is_internal: Whether its module alone sees it.
    """

    name: str
    source: DataType
    target: DataType
    numerics: Numerics
    rank: int = 3
    nontemporal: bool = False
    is_internal: bool = False

    @property
    def declarations(self) -> tuple[str, ...]:
        """Of what it calls."""
        packing = self._blocks.declarations if self._packs else ()
        called = (*packing, PREFETCH_DECLARATION)
        return (NONTEMPORAL, *called) if self.nontemporal else called

    @property
    def _packs(self) -> bool:
        return self.target.is_block_float

    @property
    def _blocks(self) -> PackedBlocks:
        return PackedBlocks(
            f"{self.name}.blocks", GroupPacking(self.source, self.target, self.numerics, self.nontemporal)
        )

    @property
    def _packed(self) -> DataType:
        return self.target if self._packs else self.source

    @property
    def _elements(self) -> DataType:
        return self.source if self._packs else self.target

    @property
    def _bits(self) -> int:
        """Of a magnitude."""
        return self._packed.traits.magnitude_bits

    @property
    def _unit(self) -> int:
        """What is subtracted from an exponent to get that of the unit of magnitudes."""
        return 127 + self._bits - 1

    @property
    def _hint(self) -> str:
        return f"align {LINE}, !nontemporal !0" if self.nontemporal else f"align {self.target.itemsize}"

    def text(self) -> str:
        """The function."""
        blocks = self._blocks.lines() if self._packs else ()
        return "\n".join((*blocks, *self._lines()))

    def _lines(self) -> Iterator[str]:
        moved = f"[{self._packed.stride_bytes} x i8]"
        element = self._elements.traits.llvm
        outer = OuterLoops((element, moved) if self._packs else (moved, element), self.rank, innermost=3)
        dense, packed = (0, 1) if self._packs else (1, 0)
        head = "define internal void" if self.is_internal else "define void"
        yield f"{head} @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        for k in range(2):
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        yield from word("%width", 0)
        yield from word("%height", 1)
        yield from word("%tiles", 2)
        yield from word("%down", outer.stride_index(dense, 1))
        yield from word("%across", outer.stride_index(dense, 2))
        yield "  %empty = icmp eq i64 %width, 0"
        yield f"  br i1 %empty, label %close{self.rank + 1}, label %{outer.first}"
        yield from outer.open()
        yield from self._strips(f"%at3_{dense}", f"%at3_{packed}")
        yield from outer.close()
        if self.nontemporal:
            yield "  fence seq_cst"  # other threads see these stores in no order otherwise
        yield "  ret void"
        yield "}"

    def _strips(self, dense: str, packed: str) -> Iterator[str]:
        """The loops over a row of tiles: strips of `STRIP` tiles, in each of these rows, in each of these tiles.

        A strip is packed beside, because no line of memory would be written as a whole.
        """
        yield "row:"
        yield "  br label %strip"
        yield "strip:"
        yield "  %first = phi i64 [0, %row], [%beyond, %strip.end]"
        yield f"  %wanted = add i64 %first, {STRIP}"
        yield "  %is_last = icmp uge i64 %wanted, %tiles"
        yield "  %beyond = select i1 %is_last, i64 %tiles, i64 %wanted"
        yield from self._packed_strip(dense, packed) if self._packs else self._unpacked_strip(dense, packed)
        yield "strip.end:"
        yield "  br i1 %is_last, label %close3, label %strip"

    def _packed_strip(self, dense: str, packed: str) -> Iterator[str]:
        yield "  %strip.moved = mul i64 %first, %across"
        yield f"  %strip.at = getelementptr {self._elements.traits.llvm}, ptr {dense}, i64 %strip.moved"
        yield f"  %strip.to = getelementptr [{self._packed.itemsize} x i8], ptr {packed}, i64 %first"
        yield "  %count = sub i64 %beyond, %first"
        sizes = "i64 %height, i64 %width, i64 %count, i64 %down, i64 %across"
        yield f"  call void @{self._blocks.name}(ptr %strip.at, ptr %strip.to, {sizes})"
        yield "  br label %strip.end"

    def _unpacked_strip(self, dense: str, packed: str) -> Iterator[str]:
        element, tile = self._elements.traits.llvm, f"[{self._packed.itemsize} x i8]"
        yield "  br label %line"
        yield "line:"
        yield "  %r = phi i64 [0, %strip], [%r.next, %line.end]"
        yield "  %move = mul i64 %r, %down"
        yield f"  %line.at = getelementptr {element}, ptr {dense}, i64 %move"
        yield f"  %faces = and i64 %r, {GROUP}"
        yield "  %group0 = add i64 %r, %faces"
        yield f"  %group1 = add i64 %group0, {GROUP}"
        yield from self._prefetched_strip(packed)
        yield "  br label %tile"
        yield "tile:"
        yield "  %c = phi i64 [%first, %line], [%c.next, %tile]"
        yield "  %moved = mul i64 %c, %across"
        yield f"  %dense0 = getelementptr {element}, ptr %line.at, i64 %moved"
        yield f"  %dense1 = getelementptr {element}, ptr %dense0, i64 {GROUP}"
        yield f"  %tile.at = getelementptr {tile}, ptr {packed}, i64 %c"
        yield f"  %codes = getelementptr i8, ptr %tile.at, i64 {GROUPS}"
        for half in range(2):
            yield f"  %exponent{half} = getelementptr i8, ptr %tile.at, i64 %group{half}"
            yield f"  %code{half} = getelementptr [{GROUP * (self._bits + 1) // 8} x i8], ptr %codes, i64 %group{half}"
            yield from (f"  {line}" for line in self._unpack(half))
        yield "  %c.next = add i64 %c, 1"
        yield "  %more.tiles = icmp ult i64 %c.next, %beyond"
        yield "  br i1 %more.tiles, label %tile, label %line.end"
        yield "line.end:"
        yield "  %r.next = add i64 %r, 1"
        yield f"  %more.lines = icmp ult i64 %r.next, {TILE_HEIGHT}"
        yield "  br i1 %more.lines, label %line, label %strip.end"

    def _prefetched_strip(self, packed: str) -> Iterator[str]:
        """Asks for a share of the next strip, whose lines no hardware finds: they are read in 16 pieces of a tile."""
        share = STRIP * self._packed.itemsize // TILE_HEIGHT
        yield f"  %share = mul i64 %r, {share}"
        yield f"  %next.strip = getelementptr [{self._packed.itemsize} x i8], ptr {packed}, i64 %wanted"
        for line in range(-(-share // LINE)):
            yield f"  %ahead{line} = add i64 %share, {LINE * line}"
            yield f"  %prefetched{line} = getelementptr i8, ptr %next.strip, i64 %ahead{line}"
            yield f"  call void {_PREFETCH}(ptr %prefetched{line}, i32 0, i32 2, i32 1)"

    def _unpack(self, h: int) -> Iterator[str]:
        count = self._bits
        yield f"%byte{h} = load i8, ptr %exponent{h}"
        yield f"%top{h} = zext i8 %byte{h} to i32"
        yield f"%unit{h} = sub i32 %top{h}, {self._unit}"
        yield f"%scale{h} = shl i32 %unit{h}, 23"
        yield from _splatted(f"%scales{h}", f"%scale{h}")
        yield from self._load_codes(h)
        yield f"%codes{h} = zext <{GROUP} x i8> %bytes{h} to {_WORDS}"
        yield f"%magnitude{h} = and {_WORDS} %codes{h}, {splat((1 << count) - 1)}"
        yield f"%number{h} = uitofp {_WORDS} %magnitude{h} to <{GROUP} x float>"
        yield f"%word{h} = bitcast <{GROUP} x float> %number{h} to {_WORDS}"
        yield f"%bits{h} = add {_WORDS} %word{h}, %scales{h}"
        yield f"%none{h} = icmp eq {_WORDS} %magnitude{h}, zeroinitializer"
        yield f"%denormal{h} = icmp slt {_WORDS} %bits{h}, {splat(1 << 23)}"
        yield f"%zero{h} = or <{GROUP} x i1> %none{h}, %denormal{h}"
        yield f"%sign{h} = shl {_WORDS} %codes{h}, {splat(31 - count)}"
        yield f"%minus{h} = and {_WORDS} %sign{h}, {splat(-(1 << 31))}"
        yield f"%signed{h} = or {_WORDS} %bits{h}, %minus{h}"
        yield f"%value{h} = select <{GROUP} x i1> %zero{h}, {_WORDS} zeroinitializer, {_WORDS} %signed{h}"
        if not self.target.is_upper_half:
            yield f"store {_WORDS} %value{h}, ptr %dense{h}, {self._hint}"
            return
        yield f"%upper{h} = lshr {_WORDS} %value{h}, {splat(16)}"
        yield f"%stored{h} = trunc {_WORDS} %upper{h} to <{GROUP} x i16>"
        if h == 1:  # both groups in one line
            order = ", ".join(f"i32 {lane}" for lane in range(2 * GROUP))
            both = f"<{GROUP} x i16> %stored0, <{GROUP} x i16> %stored1, <{2 * GROUP} x i32> <{order}>"
            yield f"%both = shufflevector {both}"
            yield f"store <{2 * GROUP} x i16> %both, ptr %dense0, {self._hint}"

    def _load_codes(self, h: int) -> Iterator[str]:
        if self._bits > 3:
            yield f"%bytes{h} = load <{GROUP} x i8>, ptr %code{h}, align 1"
            return
        pairs, half = f"<{GROUP // 2} x i16>", GROUP // 2
        yield f"%nibbles{h} = load <{half} x i8>, ptr %code{h}, align 1"
        yield f"%pairs{h} = zext <{half} x i8> %nibbles{h} to {pairs}"
        yield f"%moved{h} = shl {pairs} %pairs{h}, {splat(4, 'i16', half)}"
        yield f"%both{h} = or {pairs} %pairs{h}, %moved{h}"
        yield f"%apart{h} = and {pairs} %both{h}, {splat(0x0F0F, 'i16', half)}"
        yield f"%bytes{h} = bitcast {pairs} %apart{h} to <{GROUP} x i8>"


def _splatted(name: str, word: str) -> Iterator[str]:
    """``name``: a vector of one word."""
    yield f"{name}.first = insertelement {_WORDS} poison, i32 {word}, i64 0"
    yield f"{name} = shufflevector {_WORDS} {name}.first, {_WORDS} poison, {_WORDS} zeroinitializer"
