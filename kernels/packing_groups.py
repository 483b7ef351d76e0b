"""LLVM IR text of what packs block floats: the exponents of eight rows of a tile, and the codes of two of them.

A row of a tile is two groups of 16 elements. Exponents are found of 16 groups at once, in a tree of vectors which are
folded in pairs. Significands are cut and rounded in words of their own; what is done of codes alone, in vectors of
bytes, 64 codes at once. LLVM cuts the vectors into those that the host has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import Numerics

GROUP = 16
ROWS = 8
"""Rows whose exponents are found together: 16 groups, as many as a vector has words."""

_ROW = 2 * GROUP
_GROUPS = 2 * ROWS
_CODES = 4 * GROUP

_FOLDS = (3, 2, 1)
"""The bits of a lane's number by which vectors are folded, those that lie 16 bytes apart first, as instructions do."""
_LANES_OF_16_BYTES = 8

WORDS = f"<{GROUP} x i32>"
"""LLVM type of the exponents of eight rows, one less each: those of the first groups, then those of the second."""

_HALVES = f"<{_ROW} x i16>"
_BYTES = f"<{_CODES} x i8>"
_MAXIMUM, _MAXIMUM_OF_WORDS = f"@llvm.umax.v{_ROW}i16", f"@llvm.umax.v{GROUP}i32"
_MINIMUM = f"@llvm.umin.v{_CODES}i8"

DECLARATIONS = (
    f"declare {_HALVES} {_MAXIMUM}({_HALVES}, {_HALVES})",
    f"declare {WORDS} {_MAXIMUM_OF_WORDS}({WORDS}, {WORDS})",
    f"declare {_BYTES} {_MINIMUM}({_BYTES}, {_BYTES})",
)
"""Of what the lines call."""


@dataclass(frozen=True)
class GroupPacking:
    """How groups are packed.

    Attributes:
        source: Element type of what is read.
        target: Element type of what is written.
        numerics: Under those of devices a NaN is packed as an infinity.
        nontemporal: Whether codes are written past the caches; they are aligned then.
    """

    source: DataType
    target: DataType
    numerics: Numerics
    nontemporal: bool

    def _hint(self, nbytes: int) -> str:
        return f"align {nbytes}, !nontemporal !0" if self.nontemporal else "align 1"

    @property
    def _bits(self) -> int:
        """Of a magnitude."""
        return self.target.traits.magnitude_bits

    def exponents(self, first: str, down: str, words: str) -> Iterator[str]:
        """Those of `ROWS` rows from ``first`` on: as bytes to ``%exponents<h>``, one less and as words to ``words``."""
        element, at = self.source.traits.llvm, first
        pending: list[tuple[int, str, list[int]]] = []
        for k in range(ROWS):
            if k:
                yield f"%row{k} = getelementptr {element}, ptr {at}, i64 {down}"
                at = f"%row{k}"
            yield from self._upper_halves(k, at)
            yield f"%fold{k} = and {_HALVES} %seen{k}, {splat(0x7FFF, 'i16', _ROW)}"
            pending.append((0, f"%fold{k}", [ROWS * (lane // GROUP) + k for lane in range(_ROW)]))
            while len(pending) > 1 and pending[-1][0] == pending[-2][0]:
                (level, a, of_a), (_, b, of_b) = pending[-2:]
                yield from _folded(_FOLDS[level], f"{a}.{level}", a, b)
                pending[-2:] = [(level + 1, f"{a}.{level}", _chosen(_FOLDS[level], of_a, of_b))]
        ((_, folded, labels),) = pending
        yield f"%pairs = bitcast {_HALVES} {folded} to {WORDS}"
        yield f"%pairs.upper = lshr {WORDS} %pairs, {splat(16)}"
        yield f"%pairs.lower = and {WORDS} %pairs, {splat(0xFFFF)}"
        yield f"%largest = call {WORDS} {_MAXIMUM_OF_WORDS}({WORDS} %pairs.upper, {WORDS} %pairs.lower)"
        yield f"%tops.any = lshr {WORDS} %largest, {splat(7)}"
        order = [labels[::2].index(group) for group in range(_GROUPS)]
        yield f"%tops = {_shuffled(WORDS, '%tops.any', 'poison', order)}"
        yield f"%tops.bytes = trunc {WORDS} %tops to <{_GROUPS} x i8>"
        for h in range(2):
            yield f"%tops{h} = {_part(f'<{_GROUPS} x i8>', '%tops.bytes', ROWS, h)}"
            yield f"store <{ROWS} x i8> %tops{h}, ptr %exponents{h}, align 1"
        yield f"%less = sub {WORDS} %tops, {splat(1)}"
        yield from self._words("%less")
        yield f"store {WORDS} %less.words, ptr {words}, align 64"

    def _upper_halves(self, k: int, at: str) -> Iterator[str]:
        """``%seen<k>``: sign, exponent and some of the fraction of a row, in 16 bits."""
        if self.source.is_upper_half:
            yield f"%seen{k} = load {_HALVES}, ptr {at}, align 2"
            return
        for h in range(2):
            yield f"%at{k}.{h} = getelementptr float, ptr {at}, i64 {GROUP * h}"
            yield f"%seen{k}.{h} = load {_HALVES}, ptr %at{k}.{h}, align 4"
        yield f"%seen{k} = {_shuffled(_HALVES, f'%seen{k}.0', f'%seen{k}.1', range(1, 2 * _ROW, 2))}"

    def _words(self, less: str) -> Iterator[str]:
        """``<less>.words``: as words of the elements' width, two of 16 bits in one."""
        yield f"{less}.low = and {WORDS} {less}, {splat(0xFFFF if self.source.is_upper_half else -1)}"
        yield f"{less}.high = shl {WORDS} {less}, {splat(16)}"
        doubled = f"or {WORDS} {less}.low, {less}.high"
        yield f"{less}.words = {doubled if self.source.is_upper_half else f'or {WORDS} {less}.low, {less}'}"

    def two_rows(self, words: str, k: str) -> Iterator[str]:
        """Packs rows ``k`` and the next, at ``%dense0`` and ``%dense1``, the groups h to ``%code<h>``."""
        for row in range(2):
            for h in range(2):
                yield f"%place{row}{h} = add i64 {k}, {ROWS * h + row}"
                yield f"%less{row}{h}.at = getelementptr i32, ptr {words}, i64 %place{row}{h}"
                yield f"%less{row}{h} = load i32, ptr %less{row}{h}.at"
        yield from self._rounded_halves() if self.source.is_upper_half else self._rounded_words()
        yield from self._coded()

    def _rounded_words(self) -> Iterator[str]:
        """``%magnitudes`` and ``%signs`` of float32.

        The 24 bits of a significand that is cut are a float, which is rounded by a sum with a larger one: the last bit
        of that has the weight of a magnitude's.
        """
        floats, exponent = f"<{GROUP} x float>", 23 + 24 - self._bits
        large = splat(f"0x{1023 + exponent << 52:016X}", "float")
        for row in range(2):
            for h in range(2):
                v = f"{row}{h}"
                yield f"%at{v} = getelementptr float, ptr %dense{row}, i64 {GROUP * h}"
                yield f"%shared{v}.first = insertelement {WORDS} poison, i32 %less{v}, i64 0"
                yield f"%shared{v} = {_shuffled(WORDS, f'%shared{v}.first', 'poison', [0] * GROUP)}"
                yield from self._cut(v, f"%at{v}", GROUP, 32, 23, 24)
                yield f"%exact{v} = sitofp {WORDS} %cut{v} to {floats}"
                yield f"%sum{v} = fadd {floats} %exact{v}, {large}"
                yield f"%sum.bytes{v} = bitcast {floats} %sum{v} to {_BYTES}"
                yield f"%bytes{v} = bitcast {WORDS} %bits{v} to {_BYTES}"
        for name, given, byte in (("magnitudes", "sum.bytes", 0), ("signs", "bytes", 3)):
            lanes = [of + byte + 4 * lane for of in (0, _CODES) for lane in range(GROUP)]
            for h in range(2):
                yield f"%{name}{h} = {_shuffled(_BYTES, f'%{given}0{h}', f'%{given}1{h}', lanes)}"
            yield f"%{name} = {_shuffled(f'<{_ROW} x i8>', f'%{name}0', f'%{name}1', range(_CODES))}"

    def _rounded_halves(self) -> Iterator[str]:
        """``%magnitudes`` and ``%signs`` of bfloat16, whose 8 bits round as 24 do when a byte lies below a magnitude.

        What is cut off of them lies below half of the last bit that is kept.
        """
        eighth = f"<{GROUP // 2} x i32>"
        for v in range(2):
            for h in range(2):
                yield f"%less{v}{h}.first = insertelement {eighth} poison, i32 %less{v}{h}, i64 0"
                yield f"%shared{v}{h} = {_shuffled(eighth, f'%less{v}{h}.first', 'poison', [0] * (GROUP // 2))}"
            yield f"%shared{v}.words = {_shuffled(eighth, f'%shared{v}0', f'%shared{v}1', range(GROUP))}"
            yield f"%shared{v} = bitcast {WORDS} %shared{v}.words to {_HALVES}"
            yield from self._cut(f"{v}", f"%dense{v}", _ROW, 16, 7, 8 + self._bits)
            yield f"%cut.bytes{v} = bitcast {_HALVES} %cut{v} to {_BYTES}"
            yield f"%bytes{v} = bitcast {_HALVES} %bits{v} to {_BYTES}"
        for name, given, byte in (("whole", "cut.bytes", 1), ("lost", "cut.bytes", 0), ("signs", "bytes", 1)):
            starts = (0, _CODES, _ROW, _CODES + _ROW)  # a group of either row, then the other
            lanes = [start + byte + 2 * lane for start in starts for lane in range(GROUP)]
            yield f"%{name} = {_shuffled(_BYTES, f'%{given}0', f'%{given}1', lanes)}"
        yield f"%odd = and {_BYTES} %whole, {_splat_bytes(1)}"
        yield f"%lost.and.odd = or {_BYTES} %lost, %odd"
        yield f"%is.up = icmp ugt {_BYTES} %lost.and.odd, {_splat_bytes(0x80)}"
        yield f"%next = add {_BYTES} %whole, {_splat_bytes(1)}"
        yield f"%magnitudes = select <{_CODES} x i1> %is.up, {_BYTES} %next, {_BYTES} %whole"

    def _cut(self, v: str, at: str, count: int, width: int, fraction_bits: int, kept: int) -> Iterator[str]:
        """``%cut<v>``: significands of that many bits, cut to the exponent that is shared; ``%bits<v>``: what was read.

        Exponents are one less here, so that of a denormal wraps around, and it is cut off as a whole.
        """
        kind, one = f"i{width}", 1 << kept - 1
        vector, unsigned = f"<{count} x {kind}>", splat((1 << width - 1) - 1, kind, count)
        yield from self._without_nan(v, at, vector, unsigned, splat(0xFF << fraction_bits, kind, count))
        yield f"%magnitude{v} = and {vector} %bits{v}, {unsigned}"
        yield f"%lowered{v} = sub {vector} %magnitude{v}, {splat(1 << fraction_bits, kind, count)}"
        yield f"%own{v} = lshr {vector} %lowered{v}, {splat(fraction_bits, kind, count)}"
        yield f"%below{v} = sub {vector} %shared{v}, %own{v}"
        yield f"%raised{v} = shl {vector} %bits{v}, {splat(kept - 1 - fraction_bits, kind, count)}"
        yield f"%fraction{v} = and {vector} %raised{v}, {splat(one - 1, kind, count)}"
        yield f"%significand{v} = or {vector} %fraction{v}, {splat(one, kind, count)}"
        yield f"%near{v} = icmp ult {vector} %below{v}, {splat(width, kind, count)}"
        yield f"%shifted{v} = lshr {vector} %significand{v}, %below{v}"
        yield f"%cut{v} = select <{count} x i1> %near{v}, {vector} %shifted{v}, {vector} zeroinitializer"

    def _without_nan(self, v: str, at: str, vector: str, unsigned: str, infinity: str) -> Iterator[str]:
        """``%bits<v>``: what was read, its NaN infinities under the numerics of devices."""
        if self.numerics is Numerics.IEEE:
            yield f"%bits{v} = load {vector}, ptr {at}, align {self.source.itemsize}"
            return
        mask = vector.replace(vector.rpartition(" ")[2], "i1>")
        yield f"%read{v} = load {vector}, ptr {at}, align {self.source.itemsize}"
        yield f"%unsigned{v} = and {vector} %read{v}, {unsigned}"
        yield f"%nan{v} = icmp ugt {vector} %unsigned{v}, {infinity}"
        yield f"%bits{v} = select {mask} %nan{v}, {vector} {infinity}, {vector} %read{v}"

    def _coded(self) -> Iterator[str]:
        """Saturates ``%magnitudes``, gives those that are not zero their sign, and stores them, or two in a byte."""
        count = self._bits
        most, sign = _splat_bytes((1 << count) - 1), _splat_bytes(1 << count)
        yield f"%clamped = call {_BYTES} {_MINIMUM}({_BYTES} %magnitudes, {_BYTES} {most})"
        yield f"%sign.bits = lshr {_BYTES} %signs, {_splat_bytes(7 - count)}"
        yield f"%minus = and {_BYTES} %sign.bits, {sign}"
        yield f"%signed = or {_BYTES} %clamped, %minus"
        yield f"%none = icmp eq {_BYTES} %clamped, zeroinitializer"
        yield f"%coded = select <{_CODES} x i1> %none, {_BYTES} zeroinitializer, {_BYTES} %signed"
        codes, stored = "%coded", _CODES
        if count <= 3:
            codes, stored = "%nibbles", _CODES // 2
            yield f"%in.pairs = bitcast {_BYTES} %coded to {_HALVES}"
            yield f"%second = lshr {_HALVES} %in.pairs, {splat(4, 'i16', _ROW)}"
            yield f"%joined = or {_HALVES} %second, %in.pairs"
            yield f"{codes} = trunc {_HALVES} %joined to <{stored} x i8>"
        for h in range(2):
            yield f"%codes.of{h} = {_part(f'<{stored} x i8>', codes, stored // 2, h)}"
            yield f"store <{stored // 2} x i8> %codes.of{h}, ptr %code{h}, {self._hint(stored // 2)}"


def splat(number: int | str, kind: str = "i32", lanes: int = GROUP) -> str:
    """A vector of one number, as text."""
    return f"<{', '.join(f'{kind} {number}' for _ in range(lanes))}>"


def _splat_bytes(number: int) -> str:
    return splat(number, "i8", _CODES)


def _shuffled(vector: str, a: str, b: str, lanes: Iterable[int]) -> str:
    """Lanes of two vectors, those of the second numbered behind those of the first."""
    order = [f"i32 {lane}" for lane in lanes]
    return f"shufflevector {vector} {a}, {vector} {b}, <{len(order)} x i32> <{', '.join(order)}>"


def _part(vector: str, name: str, count: int, h: int) -> str:
    """The first or the second `count` lanes."""
    return _shuffled(vector, name, "poison", range(count * h, count * (h + 1)))


def _lower(bit: int) -> list[int]:
    """The lanes of two vectors of 16-bit words whose number has that bit clear, as a fold orders them.

    Those that lie 16 bytes apart come vector by vector, others by every 16 bytes of both.
    """
    span = _ROW if 1 << bit >= _LANES_OF_16_BYTES else _LANES_OF_16_BYTES
    return [
        vector + lane
        for start in range(0, _ROW, span)
        for vector in (0, _ROW)
        for lane in range(start, start + span)
        if not lane >> bit & 1
    ]


def _chosen(bit: int, a: Sequence[int], b: Sequence[int]) -> list[int]:
    both = [*a, *b]
    return [both[lane] for lane in _lower(bit)]


def _folded(bit: int, name: str, a: str, b: str) -> Iterator[str]:
    """``name``: of each group of both vectors half as many elements."""
    lower = _lower(bit)
    yield f"{name}.lower = {_shuffled(_HALVES, a, b, lower)}"
    yield f"{name}.upper = {_shuffled(_HALVES, a, b, (lane + (1 << bit) for lane in lower))}"
    yield f"{name} = call {_HALVES} {_MAXIMUM}({_HALVES} {name}.lower, {_HALVES} {name}.upper)"
