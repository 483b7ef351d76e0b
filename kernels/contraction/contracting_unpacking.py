"""Functions that unpack tiles of block floats into panels of a contraction, as contracting_packing.py packs.

A tile becomes signed bytes and scales first, which lie in the first cache: an element is then the product of two
numbers, exact but where it is denormal, infinite or no number. Tiles whose exponents allow these are rare, and are
unpacked by the integers of kernels/block_floats/packing_loops.py. LLVM cuts vectors of 16 words into those that the
host has.

Bound: a read of the packed tiles, from memory; from a cache the instructions, about 13 for 32 elements in pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.block_floats.packing_loops import codes_at, exact_words
from ttnn_jit.kernels.contraction.contracting_packing import packing_parameters
from ttnn_jit.kernels.contraction.cut_factors import FactorCut, cut_words
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import Functions, ModuleText
from ttnn_jit.kernels.llvm.shuffles import transposed
from ttnn_jit.kernels.llvm.types import FLOAT, I8, I16, I32, I64, PTR, VOID, Type, type_of
from ttnn_jit.kernels.llvm.values import FALSE, Value, integer, zero
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import GROUPS, DataType
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

_GROUP = 16
_ELEMENTS = TILE_HEIGHT * TILE_WIDTH
_INTS, _FLOATS = I32.times(_GROUP), FLOAT.times(_GROUP)
_BYTES = I8.times(GROUPS)
_AHEAD = 4096
"""Bytes from what is unpacked to what is prefetched."""


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
        is_transposed: Whether the rows of a tile are neighbours, and its columns terms.
        are_listed: Whether neighbours are listed.
        kept: Of the neighbours in a tile, how many are packed: the first ones, all, or as many as `width` at least.
        cut: What is left of a word.
    """

    name: str
    dtype: DataType
    width: int
    in_pairs: bool
    group_words: int
    is_transposed: bool
    are_listed: bool = False
    kept: int = TILE_WIDTH
    cut: FactorCut | None = None

    @property
    def bits(self) -> int:
        """Of a magnitude."""
        return self.dtype.traits.magnitude_bits

    @property
    def terms(self) -> int:
        """Of a word."""
        return 2 if self.in_pairs else 1

    @property
    def piece(self) -> int:
        """Neighbours whose words are stored together."""
        return min(self.width, _GROUP)

    @property
    def pieces(self) -> range:
        """Those of a tile."""
        return range(self.kept // self.piece)

    def functions(self) -> Functions:
        """The function, and what it calls."""
        module = ModuleText()
        tiles = _Tile(self, module, "tile"), _Tile(self, module, "any", "cold", exact=True)
        return Functions((self._loops(module), *(tile.text() for tile in tiles)), module)

    def _loops(self, module: ModuleText) -> str:
        """The loops over tiles, in the order in which they lie."""
        parameters = packing_parameters(are_listed=self.are_listed)
        b = FunctionBuilder(self.name, module, parameters, is_internal=True)
        to, source, count, depth, across, along = b.parameters
        extents = {"term": depth, "column": count}
        outer, inner = reversed(extents) if self.is_transposed else extents
        with b.count(outer, extents[outer], step=TILE_WIDTH) as x, b.count(inner, extents[inner], step=TILE_WIDTH) as y:
            at = {outer: x.index, inner: y.index}
            term, column = at["term"], at["column"]
            moved = b.load(I64, b.element(across, I64, column)) if self.are_listed else b.mul(column, across)
            tile = b.element(source, unit(self.dtype), b.add(moved, b.mul(term, along)), "tile.at")
            addresses = self._addresses(b, to, term, column)
            with b.choose(self._is_rare(b, tile), "rare") as rare:
                b.call(VOID, f"{self.name}.any", tile, *addresses)
                rare.otherwise()
                b.call(VOID, f"{self.name}.tile", tile, *addresses)
        return b.ended()

    def _addresses(self, b: Builder, to: Value, term: Value, column: Value) -> list[Value]:
        """Where the words of each piece of a tile's neighbours go, at its first step."""
        words = b.mul(b.shift_right_zero(term, self.terms - 1), self.width)
        found = list[Value]()
        for k in self.pieces:
            neighbour = b.add(column, k * self.piece)
            group = b.mul(b.shift_right_zero(neighbour, self.width.bit_length() - 1), self.group_words)
            first = b.add(group, b.bit_and(neighbour, self.width - 1))
            found.append(b.element(to, I32, b.add(first, words), f"address{k}"))
        return found

    def _is_rare(self, b: Builder, tile: Value) -> Value:
        """Whether a number of the tile may be denormal, infinite or none, by its groups' exponents."""
        exponents = b.load(_BYTES, tile, 1)
        are_small = b.compare("ult", b.sub(exponents, integer(1, _BYTES)), integer(self.bits - 1, _BYTES))
        are_rare = b.bit_or(are_small, b.compare("eq", exponents, integer(-1, _BYTES)))
        return b.compare("ne", b.bitcast(are_rare, type_of(f"i{GROUPS}")), 0, "is.rare")


class _Tile:
    """Writes a function of one tile, ``void @name(ptr tile, ptr addresses...)``."""

    def __init__(
        self, unpacking: Unpacking, module: ModuleText, name: str, attributes: str = "", *, exact: bool = False
    ) -> None:
        addresses = [Parameter(f"address{k}", PTR, "noalias") for k in unpacking.pieces]
        parameters = [Parameter("tile", PTR, "noalias readonly"), *addresses]
        attributes, symbol = f"nounwind {attributes}".rstrip(), f"{unpacking.name}.{name}"
        b = self.b = FunctionBuilder(symbol, module, parameters, is_internal=True, attributes=attributes)
        self.unpacking = unpacking
        self.exact = exact
        self.tile, *self.addresses = b.parameters
        self.numbers = b.alloca(I8, _ELEMENTS, LINE, "numbers")
        self.scales = b.alloca(I32, GROUPS, LINE, "scales")

    def text(self) -> str:
        """The function."""
        b, lines = self.b, None
        if self.unpacking.is_transposed:
            lines = b.alloca(I32, _ELEMENTS // self.unpacking.terms, LINE, "lines")
        self._store_scales()
        self._store_numbers()
        if lines is None:
            self._rows()
        else:
            self._transposed_rows(lines)
            self._transpose(lines)
        return b.ended()

    def _store_scales(self) -> None:
        """The units of the groups' magnitudes: floats; or else what is added to a float's bits to multiply by them."""
        b, words, bits = self.b, I32.times(GROUPS), self.unpacking.bits
        exponents = b.load(_BYTES, self.tile, 1)
        if self.exact:
            units = b.sub(b.zext(exponents, words), integer(127 + bits - 1, words))
        else:
            lower = integer(bits - 1, _BYTES)
            units = b.zext(b.intrinsic(_BYTES, "llvm.usub.sat.{}", exponents, lower), words)
        b.store(b.shift_left(units, 23), self.scales, LINE)

    def _store_numbers(self) -> None:
        """The loop that makes bytes with a sign of codes."""
        b, bits = self.b, self.unpacking.bits
        with b.count("first", _ELEMENTS, step=GROUPS) as first:
            packed = b.shift_right_zero(first.index, (8 // (bits + 1)).bit_length() - 1)
            codes = b.bytes_on(self.tile, b.add(packed, GROUPS))
            b.prefetch(b.bytes_on(codes, _AHEAD))
            code = codes_at(b, codes, GROUPS, bits)
            magnitudes = b.bit_and(code, integer((1 << bits) - 1, _BYTES))
            signs = b.bit_and(code, integer(1 << bits, _BYTES))
            are_minus = b.compare("ne", signs, zero(_BYTES))
            signed = b.select(are_minus, b.sub(zero(_BYTES), magnitudes), magnitudes)
            b.store(signed, b.bytes_on(self.numbers, first.index), LINE)

    def _value(self, row: Value, behind: int) -> Value:
        """The bits of the float32 that a group's elements are; its number is `row` and `behind`."""
        b = self.b
        group = b.add(row, behind)
        numbers = b.load(I8.times(_GROUP), b.bytes_on(self.numbers, b.mul(group, _GROUP)), _GROUP)
        ints = b.sext(numbers, _INTS)
        kind = I32 if self.exact else FLOAT
        scales = b.splat(b.load(kind, b.element(self.scales, I32, group)), _GROUP)
        return _exact(b, ints, scales) if self.exact else _scaled(b, ints, scales)

    def _rows(self) -> None:
        """The loop over the rows of a tile's upper faces, and of its lower ones; a row is a term, or half of a step."""
        b, terms, width = self.b, self.unpacking.terms, self.unpacking.width
        with b.count("row", _GROUP, step=terms) as row:
            upper = b.mul(b.shift_right_zero(row.index, terms - 1), width)
            words = upper, b.add(upper, _GROUP // terms * width)
            for face in range(4):
                value, *odd = [self._value(row.index, _GROUP * face + term) for term in range(terms)]
                for upper_half in odd:
                    value = b.bit_or(b.shift_right_zero(value, 16), b.bit_and(upper_half, integer(-0x1_0000, _INTS)))
                self._store_half(face % 2, value, words[face // 2])

    def _transposed_rows(self, lines: Value) -> None:
        """The same of a tile whose rows are neighbours: one by one into `lines`."""
        b, line = self.b, TILE_WIDTH // self.unpacking.terms
        with b.count("row", _GROUP) as row:
            words = b.mul(row.index, line)
            for half in range(2):
                values = [self._value(row.index, _GROUP * face) for face in (2 * half, 2 * half + 1)]
                self._store_line(b.element(lines, I32, b.add(words, _GROUP * half * line)), *values)

    def _store_line(self, line: Value, first: Value, second: Value) -> None:
        """The words of a row."""
        b = self.b
        if not self.unpacking.in_pairs:
            behind = b.element(line, I32, _GROUP)
            b.store(first, line, LINE)
            b.store(second, behind, LINE)
            return
        upper = b.shift_right_zero(b.shuffle(first, second, range(TILE_WIDTH)), 16)
        b.store(b.narrow(upper, I16.times(TILE_WIDTH)), line, LINE)

    def _transpose(self, lines: Value) -> None:
        """The loop that transposes 16 `lines` at a time."""
        b, unpacking, steps = self.b, self.unpacking, TILE_WIDTH // self.unpacking.terms
        piece = unpacking.piece
        with b.count("step", steps, step=_GROUP) as first:
            word = b.mul(first.index, unpacking.width)
            at = b.element(lines, I32, first.index)
            for piece_index in unpacking.pieces:
                rows = range(piece * piece_index, piece * (piece_index + 1))
                words = [b.load(_INTS, b.element(at, I32, row * steps), LINE) for row in rows]
                columns = _squared(b, words) if piece == _GROUP else transposed(b, words, within=piece)
                for step in range(_GROUP):
                    part, k = divmod(step, piece)
                    self._store_piece(piece_index, columns[k], part, b.add(word, step * unpacking.width))

    def _store_half(self, h: int, words: Value, moved: Value) -> None:
        """The words of half of a tile's neighbours at a step, piece by piece."""
        count = _GROUP // self.unpacking.piece
        for k in range(count):
            if h * count + k in self.unpacking.pieces:
                self._store_piece(h * count + k, words, k, moved)

    def _store_piece(self, piece_index: int, words: Value, k: int, moved: Value) -> None:
        """The piece `k` of `words` where those of a tile's piece `piece_index` go."""
        b, piece = self.b, self.unpacking.piece
        at = b.element(self.addresses[piece_index], I32, moved)
        own = words if piece == _GROUP else b.shuffle(words, None, range(piece * k, piece * (k + 1)))
        b.store(cut_words(self.unpacking.cut, b, own), at, 4)


def _squared(b: Builder, words: Sequence[Value]) -> list[Value]:
    """Transposes 16 vectors of 16 words.

    Words move within quarters of vectors first, and then quarters: in one go, LLVM takes ten times as long to cut
    these vectors into those of a host that has shorter ones.
    """
    quarters = [transposed(b, words[first : first + 4], within=4) for first in range(0, _GROUP, 4)]
    columns = dict[int, Value]()
    for k, of_four in enumerate(zip(*quarters, strict=True)):
        for own in ([0, 1], [2, 3]):
            order = [*own, *(4 + quarter for quarter in own)]
            pairs = [_of_quarters(b, of_four[pair : pair + 2], order) for pair in (0, 2)]
            for side, quarter in enumerate(own):
                columns[4 * quarter + k] = _of_quarters(b, pairs, [side, 2 + side, 4 + side, 6 + side])
    return [columns[k] for k in range(_GROUP)]


def _of_quarters(b: Builder, pair: Sequence[Value], quarters: Sequence[int]) -> Value:
    """Four quarters of two vectors."""
    return b.shuffle(pair[0], pair[1], [4 * quarter + word for quarter in quarters for word in range(4)])


def unit(dtype: DataType) -> Type:
    """What strides of block floats count."""
    return type_of(f"[{dtype.stride_bytes} x i8]")


def _exact(b: Builder, ints: Value, scales: Value) -> Value:
    """Numbers times units that are added to their exponents."""
    return exact_words(b, b.intrinsic(_INTS, "llvm.abs.{}", ints, FALSE), scales, ints, 31)


def _scaled(b: Builder, ints: Value, scales: Value) -> Value:
    """Numbers times their unit; a zero is added, so that none is negative."""
    numbers = b.convert("sitofp", ints, _FLOATS)
    return b.bitcast(b.intrinsic(_FLOATS, "llvm.fma.{}", numbers, scales, zero(_FLOATS)), _INTS)
