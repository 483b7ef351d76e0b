"""Functions that unpack tiles of block floats into panels of a contraction, as kernels/contracting_packing.py packs.

A tile becomes signed bytes and scales first, which lie in the first cache: an element is then the product of two
numbers, exact but where it is denormal, infinite or no number. Tiles whose exponents allow these are rare, and are
unpacked by the integers of kernels/packing_loops.py. LLVM cuts vectors of 16 words into those that the host has.

Bound: a read of the packed tiles, from memory; from a cache the instructions, about 13 for 32 elements in pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ttnn_jit.kernels.contracting_packing import LISTED, transposed
from ttnn_jit.kernels.cut_factors import FactorCut
from ttnn_jit.kernels.tile_loop import PREFETCH_DECLARATION
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import GROUPS, DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

_GROUP = 16
_ELEMENTS = TILE_HEIGHT * TILE_WIDTH
_INTS, _FLOATS = f"<{_GROUP} x i32>", f"<{_GROUP} x float>"
_BYTES = f"<{GROUPS} x i8>"
_AHEAD = 4096
"""Bytes from what is unpacked to what is prefetched."""

DECLARATIONS = (
    PREFETCH_DECLARATION,
    f"declare {_FLOATS} @llvm.fma.v{_GROUP}f32({_FLOATS}, {_FLOATS}, {_FLOATS})",
    f"declare {_INTS} @llvm.abs.v{_GROUP}i32({_INTS}, i1)",
    f"declare {_BYTES} @llvm.usub.sat.v{GROUPS}i8({_BYTES}, {_BYTES})",
)


@dataclass(frozen=True)
class Unpacking:
    """The function ``void @name(ptr to, ptr from, i64 count, i64 depth, i64 across, i64 along)``.

    It packs as `Packing` does, from the first element of a tile on. Strides count thirty-seconds of tiles. Neighbours
    and terms beyond `count` and `depth` that are in the same tiles are packed too, whatever they are. Where neighbours
    are listed, ``ptr offsets`` stands for ``across``, of which every 32nd is read.

    Attributes:
        name: Its symbol.
        dtype: Of the operand: a type of block floats.
        width: Neighbours of a group, a power of 2.
        in_pairs: Whether words are pairs of bfloat16.
        group_words: From the start of a group to that of the next.
        turned: Whether the rows of a tile are neighbours, and its columns terms.
        are_listed: Whether neighbours are listed.
        kept: Of the neighbours in a tile, how many are packed: the first ones, all, or as many as `width` at least.
        cut: What is left of a word.
    """

    name: str
    dtype: DataType
    width: int
    in_pairs: bool
    group_words: int
    turned: bool
    are_listed: bool = False
    kept: int = TILE_WIDTH
    cut: FactorCut | None = None

    @property
    def _bits(self) -> int:
        """Of a magnitude."""
        return self.dtype.traits.magnitude_bits

    @property
    def _terms(self) -> int:
        return 2 if self.in_pairs else 1

    @property
    def _piece(self) -> int:
        """Neighbours whose words are stored together."""
        return min(self.width, _GROUP)

    @property
    def _pieces(self) -> range:
        return range(self.kept // self._piece)

    def definition(self) -> str:
        """Its text."""
        return "\n".join([*self._loops(), *self._tile("tile", "", exact=False), *self._tile("any", "cold", exact=True)])

    def _loops(self) -> Iterator[str]:
        """The loops over tiles, in the order in which they lie."""
        outer, inner = ("column", "term") if self.turned else ("term", "column")
        yield (
            f"define internal void @{self.name}(ptr noalias %to, ptr noalias readonly %from, i64 %count, i64 %depth, "
            f"{LISTED if self.are_listed else 'i64 %across'}, i64 %along) nounwind {{"
        )
        yield "entry:"
        yield f"  br label %{outer}.loop"
        yield f"{outer}.loop:"
        yield f"  %{outer} = phi i64 [0, %entry], [%{outer}.next, %{inner}.end]"
        yield f"  br label %{inner}.loop"
        yield f"{inner}.loop:"
        yield f"  %{inner} = phi i64 [0, %{outer}.loop], [%{inner}.next, %tile.end]"
        if self.are_listed:
            yield "  %listed = getelementptr i64, ptr %offsets, i64 %column"
            yield "  %moved.across = load i64, ptr %listed"
        else:
            yield "  %moved.across = mul i64 %column, %across"
        yield "  %moved.along = mul i64 %term, %along"
        yield "  %moved = add i64 %moved.across, %moved.along"
        yield f"  %tile.at = getelementptr {unit(self.dtype)}, ptr %from, i64 %moved"
        yield from self._places()
        yield from self._is_rare()
        arguments = ", ".join(["ptr %tile.at", *(f"ptr %place{k}" for k in self._pieces)])
        yield "  br i1 %is.rare, label %rare, label %usual"
        for label, function in (("rare", "any"), ("usual", "tile")):
            yield f"{label}:"
            yield f"  call void @{self.name}.{function}({arguments})"
            yield "  br label %tile.end"
        yield "tile.end:"
        for name, after, extent in ((inner, f"{inner}.end", None), (outer, "done", inner)):
            if extent is not None:
                yield f"{extent}.end:"
            yield f"  %{name}.next = add i64 %{name}, {TILE_WIDTH}"
            yield f"  %{name}.more = icmp slt i64 %{name}.next, %{'count' if name == 'column' else 'depth'}"
            yield f"  br i1 %{name}.more, label %{name}.loop, label %{after}"
        yield "done:"
        yield "  ret void"
        yield "}"

    def _places(self) -> Iterator[str]:
        """``%place<k>``: where the words of a piece of a tile's neighbours go, at its first step."""
        yield f"  %step = lshr i64 %term, {self._terms - 1}"
        yield f"  %step.word = mul i64 %step, {self.width}"
        for k in self._pieces:
            yield f"  %neighbour{k} = add i64 %column, {k * self._piece}"
            yield f"  %group{k} = lshr i64 %neighbour{k}, {self.width.bit_length() - 1}"
            yield f"  %group.word{k} = mul i64 %group{k}, {self.group_words}"
            yield f"  %lane{k} = and i64 %neighbour{k}, {self.width - 1}"
            yield f"  %first{k} = add i64 %group.word{k}, %lane{k}"
            yield f"  %word{k} = add i64 %first{k}, %step.word"
            yield f"  %place{k} = getelementptr i32, ptr %to, i64 %word{k}"

    def _is_rare(self) -> Iterator[str]:
        """``%is.rare``: whether a number of the tile may be denormal, infinite or none, by its groups' exponents."""
        ones = _splat(1, "i8")
        yield f"  %exponents = load {_BYTES}, ptr %tile.at, align 1"
        yield f"  %below = sub {_BYTES} %exponents, {ones}"
        yield f"  %are.small = icmp ult {_BYTES} %below, {_splat(self._bits - 1, 'i8')}"
        yield f"  %are.last = icmp eq {_BYTES} %exponents, {_splat(-1, 'i8')}"
        yield f"  %are.rare = or <{GROUPS} x i1> %are.small, %are.last"
        yield f"  %rare.bits = bitcast <{GROUPS} x i1> %are.rare to i{GROUPS}"
        yield f"  %is.rare = icmp ne i{GROUPS} %rare.bits, 0"

    # A tile

    def _tile(self, name: str, attributes: str, *, exact: bool) -> Iterator[str]:
        places = ", ".join(f"ptr noalias %place{k}" for k in self._pieces)
        head = f"define internal void @{self.name}.{name}(ptr noalias readonly %tile, {places})"
        yield f"{head} nounwind {attributes} {{" if attributes else f"{head} nounwind {{"
        yield "entry:"
        yield f"  %numbers = alloca [{_ELEMENTS} x i8], align {LINE}"
        yield f"  %scales = alloca [{GROUPS} x i32], align {LINE}"
        if self.turned:
            yield f"  %lines = alloca [{_ELEMENTS // self._terms} x i32], align {LINE}"
        yield from self._scales(exact=exact)
        yield "  br label %codes"
        yield from self._numbers()
        yield from self._turned_rows(exact=exact) if self.turned else self._rows(exact=exact)
        yield "done:"
        yield "  ret void"
        yield "}"

    def _scales(self, *, exact: bool) -> Iterator[str]:
        """The units of the groups' magnitudes: floats; or else what is added to a float's bits to multiply by them."""
        words = f"<{GROUPS} x i32>"
        yield f"  %exponents = load {_BYTES}, ptr %tile, align 1"
        if exact:
            yield f"  %wide = zext {_BYTES} %exponents to {words}"
            yield f"  %units = sub {words} %wide, {_splat(127 + self._bits - 1, 'i32')}"
        else:
            lower = f"{_BYTES} {_splat(self._bits - 1, 'i8')}"
            yield f"  %lowered = call {_BYTES} @llvm.usub.sat.v{GROUPS}i8({_BYTES} %exponents, {lower})"
            yield f"  %units = zext {_BYTES} %lowered to {words}"
        yield f"  %shifted = shl {words} %units, {_splat(23, 'i32')}"
        yield f"  store {words} %shifted, ptr %scales, align {LINE}"

    def _numbers(self) -> Iterator[str]:
        """The loop that makes bytes with a sign of codes."""
        width = self._bits + 1
        yield "codes:"
        yield "  %first = phi i64 [0, %entry], [%first.next, %codes]"
        yield f"  %packed = lshr i64 %first, {(8 // width).bit_length() - 1}"
        yield f"  %behind = add i64 %packed, {GROUPS}"
        yield "  %codes.at = getelementptr i8, ptr %tile, i64 %behind"
        yield f"  %ahead = getelementptr i8, ptr %codes.at, i64 {_AHEAD}"
        yield "  call void @llvm.prefetch.p0(ptr %ahead, i32 0, i32 3, i32 1)"
        yield from self._codes(width)
        yield f"  %magnitudes = and {_BYTES} %code, {_splat((1 << self._bits) - 1, 'i8')}"
        yield f"  %signs = and {_BYTES} %code, {_splat(1 << self._bits, 'i8')}"
        yield f"  %are.minus = icmp ne {_BYTES} %signs, zeroinitializer"
        yield f"  %minus = sub {_BYTES} zeroinitializer, %magnitudes"
        yield f"  %signed = select <{GROUPS} x i1> %are.minus, {_BYTES} %minus, {_BYTES} %magnitudes"
        yield "  %number.at = getelementptr i8, ptr %numbers, i64 %first"
        yield f"  store {_BYTES} %signed, ptr %number.at, align {LINE}"
        yield f"  %first.next = add i64 %first, {GROUPS}"
        yield f"  %more.codes = icmp ult i64 %first.next, {_ELEMENTS}"
        yield "  br i1 %more.codes, label %codes, label %rows"

    def _codes(self, width: int) -> Iterator[str]:
        if width == 8:
            yield f"  %code = load {_BYTES}, ptr %codes.at, align 1"
            return
        half, pairs = GROUPS // 2, f"<{GROUPS // 2} x i16>"
        yield f"  %halves = load <{half} x i8>, ptr %codes.at, align 1"
        yield f"  %wide.halves = zext <{half} x i8> %halves to {pairs}"
        yield f"  %moved = shl {pairs} %wide.halves, {_splat(4, 'i16')}"
        yield f"  %both = or {pairs} %wide.halves, %moved"
        yield f"  %apart = and {pairs} %both, {_splat(0x0F0F, 'i16')}"
        yield f"  %code = bitcast {pairs} %apart to {_BYTES}"

    def _rows(self, *, exact: bool) -> Iterator[str]:
        """The loop over the rows of a tile's upper faces, and of its lower ones; a row is a term, or half of a step."""
        yield "rows:"
        yield "  %row = phi i64 [0, %codes], [%row.next, %rows]"
        yield f"  %row.step = lshr i64 %row, {self._terms - 1}"
        yield f"  %row.word0 = mul i64 %row.step, {self.width}"
        yield f"  %row.word1 = add i64 %row.word0, {_GROUP // self._terms * self.width}"
        for face in range(4):
            value = f"value{face}"
            for term in range(self._terms):
                yield from self._value(f"{value}.{term}", _GROUP * face + term, exact=exact)
            if self.in_pairs:
                yield f"  %{value}.even = lshr {_INTS} %{value}.0, {_splat(16)}"
                yield f"  %{value}.odd = and {_INTS} %{value}.1, {_splat(-0x1_0000)}"
                yield f"  %{value} = or {_INTS} %{value}.even, %{value}.odd"
            yield from self._stored(
                face % 2, f"%{value}" if self.in_pairs else f"%{value}.0", f"w{face}", f"%row.word{face // 2}"
            )
        yield f"  %row.next = add i64 %row, {self._terms}"
        yield f"  %more.rows = icmp ult i64 %row.next, {_GROUP}"
        yield "  br i1 %more.rows, label %rows, label %done"

    def _turned_rows(self, *, exact: bool) -> Iterator[str]:
        """The same of a tile whose rows are neighbours, and the loop that transposes 16 of them at a time."""
        line = TILE_WIDTH // self._terms
        yield "rows:"
        yield "  %row = phi i64 [0, %codes], [%row.next, %rows]"
        yield f"  %row.word = mul i64 %row, {line}"
        for half in range(2):
            first, second = f"%value{2 * half}", f"%value{2 * half + 1}"
            for face in (2 * half, 2 * half + 1):
                yield from self._value(f"value{face}", _GROUP * face, exact=exact)
            yield f"  %line{half} = add i64 %row.word, {_GROUP * half * line}"
            yield f"  %line{half}.at = getelementptr i32, ptr %lines, i64 %line{half}"
            yield from self._line(f"%line{half}", first, second)
        yield "  %row.next = add i64 %row, 1"
        yield f"  %more.rows = icmp ult i64 %row.next, {_GROUP}"
        yield "  br i1 %more.rows, label %rows, label %turn"
        yield from self._turns()

    def _line(self, line: str, first: str, second: str) -> Iterator[str]:
        """Stores the words of a row."""
        if not self.in_pairs:
            yield f"  {line}.second = getelementptr i32, ptr {line}.at, i64 {_GROUP}"
            yield f"  store {_INTS} {first}, ptr {line}.at, align {LINE}"
            yield f"  store {_INTS} {second}, ptr {line}.second, align {LINE}"
            return
        words, halves = f"<{TILE_WIDTH} x i32>", f"<{TILE_WIDTH} x i16>"
        order = ", ".join(f"i32 {k}" for k in range(TILE_WIDTH))
        yield f"  {line}.both = shufflevector {_INTS} {first}, {_INTS} {second}, {words} <{order}>"
        yield f"  {line}.upper = lshr {words} {line}.both, {_splat(16)}"
        yield f"  {line}.halves = trunc {words} {line}.upper to {halves}"
        yield f"  store {halves} {line}.halves, ptr {line}.at, align {LINE}"

    def _turns(self) -> Iterator[str]:
        steps = TILE_WIDTH // self._terms
        yield "turn:"
        yield "  %step = phi i64 [0, %rows], [%step.next, %turn]"
        yield f"  %step.word = mul i64 %step, {self.width}"
        yield "  %turn.at = getelementptr i32, ptr %lines, i64 %step"
        for place in self._pieces:
            rows = range(self._piece * place, self._piece * (place + 1))
            for row in rows:
                yield f"  %from{row} = getelementptr i32, ptr %turn.at, i64 {row * steps}"
                yield f"  %from{row}.words = load {_INTS}, ptr %from{row}, align {LINE}"
            words, prefix = [f"%from{row}.words" for row in rows], f"turned{place}."
            is_square = self._piece == _GROUP
            lines, turned = (
                _squared(words, prefix) if is_square else transposed(words, _GROUP, prefix, within=self._piece)
            )
            yield from lines
            for step in range(_GROUP):
                part, k = divmod(step, self._piece)
                yield f"  %word{place}.{step} = add i64 %step.word, {step * self.width}"
                yield from self._piece_stored(place, turned[k], part, f"w{step}", f"%word{place}.{step}")
        yield f"  %step.next = add i64 %step, {_GROUP}"
        yield f"  %more.steps = icmp ult i64 %step.next, {steps}"
        yield "  br i1 %more.steps, label %turn, label %done"

    def _value(self, name: str, behind: int, *, exact: bool) -> Iterator[str]:
        """``%<name>``: the bits of the float32 that a group's elements are; its number is ``%row`` and `behind`."""
        yield f"  %{name}.group = add i64 %row, {behind}"
        yield f"  %{name}.first = mul i64 %{name}.group, {_GROUP}"
        yield f"  %{name}.at = getelementptr i8, ptr %numbers, i64 %{name}.first"
        yield f"  %{name}.bytes = load <{_GROUP} x i8>, ptr %{name}.at, align {_GROUP}"
        yield f"  %{name}.ints = sext <{_GROUP} x i8> %{name}.bytes to {_INTS}"
        yield f"  %{name}.scale.at = getelementptr i32, ptr %scales, i64 %{name}.group"
        yield from self._exact(name) if exact else _scaled(name)

    def _exact(self, name: str) -> Iterator[str]:
        yield f"  %{name}.scale = load i32, ptr %{name}.scale.at"
        yield from _splatted(f"%{name}.scales", "i32", f"%{name}.scale")
        yield f"  %{name}.magnitude = call {_INTS} @llvm.abs.v{_GROUP}i32({_INTS} %{name}.ints, i1 false)"
        yield f"  %{name}.float = uitofp {_INTS} %{name}.magnitude to {_FLOATS}"
        yield f"  %{name}.word = bitcast {_FLOATS} %{name}.float to {_INTS}"
        yield f"  %{name}.bits = add {_INTS} %{name}.word, %{name}.scales"
        yield f"  %{name}.is.none = icmp eq {_INTS} %{name}.magnitude, zeroinitializer"
        yield f"  %{name}.is.denormal = icmp slt {_INTS} %{name}.bits, {_splat(1 << 23)}"
        yield f"  %{name}.is.zero = or <{_GROUP} x i1> %{name}.is.none, %{name}.is.denormal"
        yield f"  %{name}.sign = and {_INTS} %{name}.ints, {_splat(-(1 << 31))}"
        yield f"  %{name}.signed = or {_INTS} %{name}.bits, %{name}.sign"
        chosen = f"{_INTS} zeroinitializer, {_INTS} %{name}.signed"
        yield f"  %{name} = select <{_GROUP} x i1> %{name}.is.zero, {chosen}"

    def _stored(self, h: int, words: str, name: str, moved: str) -> Iterator[str]:
        """Stores the words of half of a tile's neighbours at a step, piece by piece."""
        count = _GROUP // self._piece
        for k in range(count):
            if h * count + k in self._pieces:
                yield from self._piece_stored(h * count + k, words, k, name, moved)

    def _piece_stored(self, place: int, words: str, k: int, name: str, moved: str) -> Iterator[str]:
        """Stores the piece `k` of `words` where those of a tile's piece `place` go."""
        at, piece = f"%{name}.to{place}", words
        yield f"  {at} = getelementptr i32, ptr %place{place}, i64 {moved}"
        if self._piece < _GROUP:
            order = ", ".join(f"i32 {self._piece * k + lane}" for lane in range(self._piece))
            piece = f"%{name}.piece{place}"
            yield f"  {piece} = shufflevector {_INTS} {words}, {_INTS} poison, <{self._piece} x i32> <{order}>"
        if self.cut is not None:
            yield from self.cut.lines(f"{at}.cut", piece, f"<{self._piece} x i32>", self._piece)
            piece = f"{at}.cut"
        yield f"  store <{self._piece} x i32> {piece}, ptr {at}, align 4"


def _squared(words: Sequence[str], prefix: str) -> tuple[list[str], Sequence[str]]:
    """The lines that transpose 16 vectors of 16 words, and what they make.

    Words move within quarters of vectors first, and then quarters: in one go, LLVM takes ten times as long to cut
    these vectors into those of a host that has shorter ones.
    """
    lines, quarters = list[str](), list[Sequence[str]]()
    for first in range(0, _GROUP, 4):
        more, turned = transposed(words[first : first + 4], _GROUP, f"{prefix}{first}.", within=4)
        lines += more
        quarters.append(turned)
    columns = [""] * _GROUP
    for k, of_four in enumerate(zip(*quarters, strict=True)):
        for half in range(2):
            own = [2 * half, 2 * half + 1]
            pairs = [f"%{prefix}half{k}.{half}.{pair}" for pair in range(2)]
            for pair, name in enumerate(pairs):
                lines.append(
                    _of_quarters(name, of_four[2 * pair], of_four[2 * pair + 1], [*own, *(4 + q for q in own)])
                )
            for side in range(2):
                columns[4 * own[side] + k] = name = f"%{prefix}column{4 * own[side] + k}"
                lines.append(_of_quarters(name, pairs[0], pairs[1], [side, 2 + side, 4 + side, 6 + side]))
    return lines, columns


def _of_quarters(name: str, first: str, second: str, quarters: Sequence[int]) -> str:
    """``name``: four quarters of two vectors."""
    order = ", ".join(f"i32 {4 * quarter + word}" for quarter in quarters for word in range(4))
    return f"  {name} = shufflevector {_INTS} {first}, {_INTS} {second}, {_INTS} <{order}>"


def unit(dtype: DataType) -> str:
    """LLVM type of what strides of block floats count."""
    return f"[{dtype.stride_bytes} x i8]"


def _scaled(name: str) -> Iterator[str]:
    """Numbers times their unit; a zero is added, so that none is negative."""
    yield f"  %{name}.scale = load float, ptr %{name}.scale.at"
    yield from _splatted(f"%{name}.scales", "float", f"%{name}.scale")
    yield f"  %{name}.numbers = sitofp {_INTS} %{name}.ints to {_FLOATS}"
    factors = f"{_FLOATS} %{name}.numbers, {_FLOATS} %{name}.scales"
    yield f"  %{name}.float = call {_FLOATS} @llvm.fma.v{_GROUP}f32({factors}, {_FLOATS} zeroinitializer)"
    yield f"  %{name} = bitcast {_FLOATS} %{name}.float to {_INTS}"


def _splat(number: int, kind: str = "i32") -> str:
    return f"splat ({kind} {number})"


def _splatted(name: str, kind: str, word: str) -> Iterator[str]:
    """``name``: a vector of one word."""
    vector = f"<{_GROUP} x {kind}>"
    yield f"  {name}.first = insertelement {vector} poison, {kind} {word}, i64 0"
    yield f"  {name} = shufflevector {vector} {name}.first, {vector} poison, {_INTS} zeroinitializer"
