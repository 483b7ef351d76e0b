"""LLVM IR text of kernels that pack tiles into block floats, and unpack them: a group of 16 elements in vectors.

All is arithmetic of integers, the same on every host; kernels/block_floats.py says what it computes. LLVM cuts the
vectors of 16 words into those that the host has.

Bound: the bytes of both tensors, 2 or 4 of an element and 1 1/16 or 9/16 of it packed, or the instructions. With
AVX-512 packing a row of a tile, 32 elements, takes 76 of float32 (162 bytes) and 52 of bfloat16 (98 bytes), loop and
prefetches among them; unpacking takes 61. At three a cycle these are 6.4 and 5.7 bytes a cycle, so that a core whose
copies move 16 packs at 0.4 of a copy, and several cores at more, up to what memory gives all of them. 0.8 on one leaves
38 and 23 instructions, where rounding, sign, zeros, loads and stores of both groups take 40 and 24 without the shared
exponents, which are 22 and 21 now and 14 at least (benchmarks/block_floats.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.kernels.outer_loops import OuterLoops, word
from ttnn_jit.kernels.tile_loop import NONTEMPORAL, PREFETCH_DECLARATION
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, Numerics

GROUP = 16
_GROUPS = 64
_WORDS = f"<{GROUP} x i32>"

_PREFETCH = "@llvm.prefetch.p0"

LINE = 64
"""Bytes of a cache line, of which a packed tile is a whole number."""

STRIP = 16
"""Tiles beside each other that are walked row by row: rows of 1 or 2 KB, which hardware prefetches, and packed tiles
that fit the first cache."""

_COPY, _FILL = "@llvm.memcpy.p0.p0.i64", "@llvm.memset.p0.i64"
EDGES = (f"declare void {_COPY}(ptr, ptr, i64, i1)\n", f"declare void {_FILL}(ptr, i8, i64, i1)\n")

ROWS_AHEAD = 8
"""From the elements that are packed to those that are prefetched: half a microsecond, several times what memory takes
(benchmarks/block_floats.py)."""

MAXIMUM = f"declare i8 @llvm.vector.reduce.umax.v{GROUP}i8(<{GROUP} x i8>)"


@dataclass(frozen=True)
class _Lanes:
    """A vector of elements that are packed, as words of their own width.

    Attributes:
        count: Of elements.
        width: Bits of a word.
        fraction_bits: Of an element, below its exponent.
        kept: Of a significand while it is cut and rounded; a bit above them takes the carry.
    """

    count: int
    width: int
    fraction_bits: int
    kept: int

    @property
    def kind(self) -> str:
        return f"i{self.width}"

    @property
    def vector(self) -> str:
        return f"<{self.count} x {self.kind}>"

    @property
    def mask(self) -> str:
        return f"<{self.count} x i1>"

    @property
    def sign(self) -> int:
        return 1 << self.width - 1

    @property
    def raised(self) -> int:
        """How far a fraction is moved up."""
        return self.kept - 1 - self.fraction_bits

    @property
    def minimum(self) -> str:
        return f"{self.vector} @llvm.umin.v{self.count}{self.kind}"

    @property
    def minimum_declaration(self) -> str:
        return f"declare {self.minimum}({self.vector}, {self.vector})"

    def splat(self, number: int) -> str:
        return _splat(number, self.kind, self.count)

    def half_of_bytes(self, both: str, h: int) -> str:
        """A group of a vector of as many bytes, which holds one or both."""
        first = GROUP * h if self.count > GROUP else 0
        order = ", ".join(f"i32 {lane}" for lane in range(first, first + GROUP))
        kind = f"<{self.count} x i8>"
        return f"shufflevector {kind} {both}, {kind} poison, <{GROUP} x i32> <{order}>"


_FLOAT32 = _Lanes(GROUP, 32, 23, 24)
_BFLOAT16 = _Lanes(2 * GROUP, 16, 7, 15)
"""Of bfloat16, 15 bits round as 24 do: what is cut off of them lies below half of the last bit that is kept."""


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
        lanes = _BFLOAT16 if self.source.is_upper_half else _FLOAT32
        packing = (MAXIMUM, lanes.minimum_declaration, *EDGES) if self._packs else ()
        called = (*packing, PREFETCH_DECLARATION)
        return (NONTEMPORAL, *called) if self.nontemporal else called

    @property
    def _packs(self) -> bool:
        return self.target.is_block_float

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
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        tile, moved = f"[{self._packed.itemsize} x i8]", f"[{self._packed.stride_bytes} x i8]"
        element = self._elements.traits.llvm
        outer = OuterLoops((element, moved) if self._packs else (moved, element), self.rank, innermost=3)
        dense, packed = (0, 1) if self._packs else (1, 0)
        head = "define internal void" if self.is_internal else "define void"
        yield f"{head} @{self.name}(ptr noalias readonly %pointers, ptr noalias readonly %params) nounwind {{"
        yield "entry:"
        if self._packs:
            yield f"  %strip.tiles = alloca [{STRIP} x {tile}], align 64"
            yield f"  %edge = alloca [{TILE_WIDTH} x {element}], align 64"
            yield f"  store [{TILE_WIDTH} x {element}] zeroinitializer, ptr %edge, align 64"
        for k in range(2):
            yield f"  %pointer.at_{k} = getelementptr ptr, ptr %pointers, i64 {k}"
            yield f"  %at{self.rank + 1}_{k} = load ptr, ptr %pointer.at_{k}"
        yield from word("%width", 0)
        yield from word("%height", 1)
        yield from word("%tiles", 2)
        yield from word("%down", outer.stride_index(dense, 1))
        yield from word("%across", outer.stride_index(dense, 2))
        if self._packs:
            yield f"  %edge.bytes = mul i64 %width, {self._elements.itemsize}"
            yield f"  %is.wide = icmp eq i64 %width, {TILE_WIDTH}"
            yield f"  %is.high = icmp eq i64 %height, {TILE_HEIGHT}"
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
        if self._packs:
            yield from self._cleared()
        yield "  br label %rows"
        yield "rows:"
        yield "  br label %line"
        yield from self._line(dense, packed)
        yield "line.end:"
        yield "  %r.next = add i64 %r, 1"
        yield f"  %more.lines = icmp ult i64 %r.next, {'%height' if self._packs else TILE_HEIGHT}"
        yield f"  br i1 %more.lines, label %line, label %{'copy' if self._packs else 'strip.end'}"
        if self._packs:
            yield from self._copied_strip(packed)
        yield "strip.end:"
        yield "  br i1 %is_last, label %close3, label %strip"

    def _cleared(self) -> Iterator[str]:
        """Zeros below the rows of tiles that are not whole."""
        yield "  br i1 %is.high, label %rows, label %clear"
        yield "clear:"
        yield f"  call void {_FILL}(ptr align 64 %strip.tiles, i8 0, i64 {STRIP * self._packed.itemsize}, i1 false)"

    def _line(self, dense: str, packed: str) -> Iterator[str]:
        """A row of the tiles of a strip."""
        element, tile = self._elements.traits.llvm, f"[{self._packed.itemsize} x i8]"
        yield "line:"
        yield "  %r = phi i64 [0, %rows], [%r.next, %line.end]"
        yield "  %move = mul i64 %r, %down"
        yield f"  %line.at = getelementptr {element}, ptr {dense}, i64 %move"
        yield f"  %faces = and i64 %r, {GROUP}"
        yield "  %group0 = add i64 %r, %faces"
        yield f"  %group1 = add i64 %group0, {GROUP}"
        yield from self._prefetched_strip(packed)
        yield "  br label %tile"
        yield "tile:"
        yield f"  %c = phi i64 [%first, %line], [%c.next, %{'group' if self._packs else 'tile'}]"
        yield "  %moved = mul i64 %c, %across"
        yield f"  %{'lies' if self._packs else 'dense0'} = getelementptr {element}, ptr %line.at, i64 %moved"
        if self._packs:
            yield from self._edge()
        yield f"  %dense1 = getelementptr {element}, ptr %dense0, i64 {GROUP}"
        if self._packs:
            yield "  %place = sub i64 %c, %first"
            yield f"  %tile.at = getelementptr {tile}, ptr %strip.tiles, i64 %place"
            yield from self._prefetched_rows()
        else:
            yield f"  %tile.at = getelementptr {tile}, ptr {packed}, i64 %c"
        yield f"  %codes = getelementptr i8, ptr %tile.at, i64 {_GROUPS}"
        for half in range(2):
            yield f"  %exponent{half} = getelementptr i8, ptr %tile.at, i64 %group{half}"
            yield f"  %code{half} = getelementptr [{GROUP * (self._bits + 1) // 8} x i8], ptr %codes, i64 %group{half}"
            if not self._packs:
                yield from (f"  {line}" for line in self._unpack(half))
        if self._packs:
            yield from (f"  {line}" for line in self._pack())
        yield "  %c.next = add i64 %c, 1"
        yield "  %more.tiles = icmp ult i64 %c.next, %beyond"
        yield "  br i1 %more.tiles, label %tile, label %line.end"

    def _edge(self) -> Iterator[str]:
        """``%dense0``: a row of a tile, or a copy of it with zeros beyond its end."""
        yield "  br i1 %is.wide, label %group, label %part"
        yield "part:"
        yield f"  call void {_COPY}(ptr align 64 %edge, ptr %lies, i64 %edge.bytes, i1 false)"
        yield "  br label %group"
        yield "group:"
        yield "  %dense0 = phi ptr [%lies, %tile], [%edge, %part]"

    def _prefetched_rows(self) -> Iterator[str]:
        """Asks for the elements that are packed `ROWS_AHEAD` rows later: a line of a tile, or two of float32."""
        element = self._elements.traits.llvm
        yield f"  %ahead = mul i64 %down, {ROWS_AHEAD}"
        yield f"  %ahead.at = getelementptr {element}, ptr %lies, i64 %ahead"
        for line in range(TILE_WIDTH * self._elements.itemsize // LINE):
            yield f"  %ahead.line{line} = getelementptr i8, ptr %ahead.at, i64 {LINE * line}"
            yield f"  call void {_PREFETCH}(ptr %ahead.line{line}, i32 0, i32 3, i32 1)"

    def _prefetched_strip(self, packed: str) -> Iterator[str]:
        """Asks for a share of the next strip, whose lines no hardware finds: they are read in 16 pieces of a tile."""
        if self._packs:
            return
        share = STRIP * self._packed.itemsize // TILE_HEIGHT
        yield f"  %share = mul i64 %r, {share}"
        yield f"  %next.strip = getelementptr [{self._packed.itemsize} x i8], ptr {packed}, i64 %wanted"
        for line in range(-(-share // LINE)):
            yield f"  %ahead{line} = add i64 %share, {LINE * line}"
            yield f"  %prefetched{line} = getelementptr i8, ptr %next.strip, i64 %ahead{line}"
            yield f"  call void {_PREFETCH}(ptr %prefetched{line}, i32 0, i32 2, i32 1)"

    def _copied_strip(self, packed: str) -> Iterator[str]:
        """Takes a packed strip to where it belongs, line by line of memory."""
        hint = f"align {LINE}, !nontemporal !0" if self.nontemporal else f"align {LINE}"
        yield "copy:"
        yield f"  %target = getelementptr [{self._packed.itemsize} x i8], ptr {packed}, i64 %first"
        yield "  %packed.tiles = sub i64 %beyond, %first"
        yield f"  %lines = mul i64 %packed.tiles, {self._packed.itemsize // LINE}"
        yield "  br label %copy.line"
        yield "copy.line:"
        yield "  %k = phi i64 [0, %copy], [%k.next, %copy.line]"
        yield f"  %from = getelementptr {_WORDS}, ptr %strip.tiles, i64 %k"
        yield f"  %to = getelementptr {_WORDS}, ptr %target, i64 %k"
        yield f"  %copied = load {_WORDS}, ptr %from, align {LINE}"
        yield f"  store {_WORDS} %copied, ptr %to, {hint}"
        yield "  %k.next = add i64 %k, 1"
        yield "  %more.copied = icmp ult i64 %k.next, %lines"
        yield "  br i1 %more.copied, label %copy.line, label %strip.end"

    def _pack(self) -> Iterator[str]:
        """Both groups of a row: bfloat16 in one vector of 16-bit words, which hold all that rounding asks for."""
        if not self.source.is_upper_half:
            for h in range(2):
                yield f"%read{h} = load {_WORDS}, ptr %dense{h}, align 4"
                yield from self._coded(_FLOAT32, f"{h}", (h,))
            return
        yield f"%read = load {_BFLOAT16.vector}, ptr %dense0, align 2"
        yield from self._coded(_BFLOAT16, "", (0, 1))

    def _coded(self, lanes: _Lanes, v: str, halves: tuple[int, ...]) -> Iterator[str]:
        """Packs `%read<v>`, which holds these groups, and stores their codes and exponents."""
        count, lost, vector = self._bits, lanes.kept - self._bits, lanes.vector
        yield from self._without_nan(lanes, v)
        yield f"%magnitude{v} = and {vector} %bits{v}, {lanes.splat(lanes.sign - 1)}"
        yield f"%own{v} = lshr {vector} %magnitude{v}, {lanes.splat(lanes.fraction_bits)}"
        yield f"%narrow{v} = trunc {vector} %own{v} to <{lanes.count} x i8>"
        yield from self._shared(lanes, v, halves)
        yield f"%below{v} = sub {vector} %shared{v}, %own{v}"
        yield f"%shift{v} = call {lanes.minimum}({vector} %below{v}, {vector} {lanes.splat(lanes.width - 1)})"
        yield f"%raised{v} = shl {vector} %bits{v}, {lanes.splat(lanes.raised)}"
        yield f"%fraction{v} = and {vector} %raised{v}, {lanes.splat((1 << lanes.kept - 1) - 1)}"
        yield f"%significand{v} = or {vector} %fraction{v}, {lanes.splat(1 << lanes.kept - 1)}"
        yield f"%cut{v} = lshr {vector} %significand{v}, %shift{v}"
        yield f"%lowest{v} = lshr {vector} %cut{v}, {lanes.splat(lost)}"
        yield f"%odd{v} = and {vector} %lowest{v}, {lanes.splat(1)}"
        yield f"%half{v} = add {vector} %cut{v}, {lanes.splat((1 << lost - 1) - 1)}"
        yield f"%carried{v} = add {vector} %half{v}, %odd{v}"
        yield f"%rounded{v} = lshr {vector} %carried{v}, {lanes.splat(lost)}"
        most = lanes.splat((1 << count) - 1)
        yield f"%clamped{v} = call {lanes.minimum}({vector} %rounded{v}, {vector} {most})"
        yield f"%denormal{v} = icmp eq {vector} %own{v}, zeroinitializer"
        yield f"%kept{v} = select {lanes.mask} %denormal{v}, {vector} zeroinitializer, {vector} %clamped{v}"
        yield f"%sign{v} = lshr {vector} %bits{v}, {lanes.splat(lanes.width - 1 - count)}"
        yield f"%minus{v} = and {vector} %sign{v}, {lanes.splat(1 << count)}"
        yield f"%signed{v} = or {vector} %kept{v}, %minus{v}"
        yield f"%zero{v} = icmp eq {vector} %kept{v}, zeroinitializer"
        yield f"%coded{v} = select {lanes.mask} %zero{v}, {vector} zeroinitializer, {vector} %signed{v}"
        yield f"%codes{v}.all = trunc {vector} %coded{v} to <{lanes.count} x i8>"
        for h in halves:
            yield f"%bytes{h} = {lanes.half_of_bytes(f'%codes{v}.all', h)}"
            yield from self._store_codes(h)
            yield f"store i8 %byte{h}, ptr %exponent{h}"

    def _without_nan(self, lanes: _Lanes, v: str) -> Iterator[str]:
        """``%bits<v>``: what was read, its NaN infinities under the numerics of devices."""
        vector, infinity = lanes.vector, lanes.splat(0xFF << lanes.fraction_bits)
        if self.numerics is Numerics.IEEE:
            yield f"%bits{v} = bitcast {vector} %read{v} to {vector}"
            return
        yield f"%unsigned{v} = and {vector} %read{v}, {lanes.splat(lanes.sign - 1)}"
        yield f"%nan{v} = icmp ugt {vector} %unsigned{v}, {infinity}"
        yield f"%bits{v} = select {lanes.mask} %nan{v}, {vector} {infinity}, {vector} %read{v}"

    def _shared(self, lanes: _Lanes, v: str, halves: tuple[int, ...]) -> Iterator[str]:
        """``%byte<h>``: the exponents of groups; ``%shared<v>``: in every lane that of its group."""
        for h in halves:
            yield f"%narrow{h}.group = {lanes.half_of_bytes(f'%narrow{v}', h)}"
            yield f"%byte{h} = call i8 @llvm.vector.reduce.umax.v{GROUP}i8(<{GROUP} x i8> %narrow{h}.group)"
            yield f"%top{h} = zext i8 %byte{h} to {lanes.kind}"
        first, last = halves[0], halves[-1]
        yield f"%tops{v}.first = insertelement {lanes.vector} poison, {lanes.kind} %top{first}, i64 0"
        yield f"%tops{v} = insertelement {lanes.vector} %tops{v}.first, {lanes.kind} %top{last}, i64 {last - first}"
        order = ", ".join(f"i32 {lane // GROUP}" for lane in range(lanes.count))
        lanes_of_groups = f"<{lanes.count} x i32> <{order}>"
        yield f"%shared{v} = shufflevector {lanes.vector} %tops{v}, {lanes.vector} poison, {lanes_of_groups}"

    def _store_codes(self, h: int) -> Iterator[str]:
        if self._bits > 3:
            yield f"store <{GROUP} x i8> %bytes{h}, ptr %code{h}, align 1"
            return
        pairs, half = f"<{GROUP // 2} x i16>", GROUP // 2
        yield f"%pairs{h} = bitcast <{GROUP} x i8> %bytes{h} to {pairs}"
        yield f"%upper.half{h} = lshr {pairs} %pairs{h}, {_splat(4, 'i16', half)}"
        yield f"%joined{h} = or {pairs} %pairs{h}, %upper.half{h}"
        yield f"%nibbles{h} = trunc {pairs} %joined{h} to <{half} x i8>"
        yield f"store <{half} x i8> %nibbles{h}, ptr %code{h}, align 1"

    def _unpack(self, h: int) -> Iterator[str]:
        count = self._bits
        yield f"%byte{h} = load i8, ptr %exponent{h}"
        yield f"%top{h} = zext i8 %byte{h} to i32"
        yield f"%unit{h} = sub i32 %top{h}, {self._unit}"
        yield f"%scale{h} = shl i32 %unit{h}, 23"
        yield from _splatted(f"%scales{h}", f"%scale{h}")
        yield from self._load_codes(h)
        yield f"%codes{h} = zext <{GROUP} x i8> %bytes{h} to {_WORDS}"
        yield f"%magnitude{h} = and {_WORDS} %codes{h}, {_splat((1 << count) - 1)}"
        yield f"%number{h} = uitofp {_WORDS} %magnitude{h} to <{GROUP} x float>"
        yield f"%word{h} = bitcast <{GROUP} x float> %number{h} to {_WORDS}"
        yield f"%bits{h} = add {_WORDS} %word{h}, %scales{h}"
        yield f"%none{h} = icmp eq {_WORDS} %magnitude{h}, zeroinitializer"
        yield f"%denormal{h} = icmp slt {_WORDS} %bits{h}, {_splat(1 << 23)}"
        yield f"%zero{h} = or <{GROUP} x i1> %none{h}, %denormal{h}"
        yield f"%sign{h} = shl {_WORDS} %codes{h}, {_splat(31 - count)}"
        yield f"%minus{h} = and {_WORDS} %sign{h}, {_splat(-(1 << 31))}"
        yield f"%signed{h} = or {_WORDS} %bits{h}, %minus{h}"
        yield f"%value{h} = select <{GROUP} x i1> %zero{h}, {_WORDS} zeroinitializer, {_WORDS} %signed{h}"
        if not self.target.is_upper_half:
            yield f"store {_WORDS} %value{h}, ptr %dense{h}, {self._hint}"
            return
        yield f"%upper{h} = lshr {_WORDS} %value{h}, {_splat(16)}"
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
        yield f"%moved{h} = shl {pairs} %pairs{h}, {_splat(4, 'i16', half)}"
        yield f"%both{h} = or {pairs} %pairs{h}, %moved{h}"
        yield f"%apart{h} = and {pairs} %both{h}, {_splat(0x0F0F, 'i16', half)}"
        yield f"%bytes{h} = bitcast {pairs} %apart{h} to <{GROUP} x i8>"


def _splat(number: int, kind: str = "i32", lanes: int = GROUP) -> str:
    return f"<{', '.join(f'{kind} {number}' for _ in range(lanes))}>"


def _splatted(name: str, word: str) -> Iterator[str]:
    """``name``: a vector of one word."""
    yield f"{name}.first = insertelement {_WORDS} poison, i32 {word}, i64 0"
    yield f"{name} = shufflevector {_WORDS} {name}.first, {_WORDS} poison, {_WORDS} zeroinitializer"
