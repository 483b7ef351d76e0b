"""What packs block floats: the exponents of eight rows of a tile, and the codes of two of them.

A row of a tile is two groups of 16 elements. Exponents are found of 16 groups at once, in a tree of vectors which are
folded in pairs. Significands are cut and rounded in words of their own; what is done of codes alone, in vectors of
bytes, 64 codes at once. LLVM cuts the vectors into those that the host has.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.types import FLOAT, I8, I16, I32, Type, type_of
from ttnn_jit.kernels.llvm.values import Value, real, zero
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

WORDS = I32.times(GROUP)
"""Of the exponents of eight rows, one less each: those of the first groups, then those of the second."""

_HALVES = I16.times(_ROW)
_BYTES = I8.times(_CODES)


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

    @property
    def element(self) -> Type:
        """Of what is read."""
        return type_of(self.source.traits.llvm)

    @property
    def _bits(self) -> int:
        """Of a magnitude."""
        return self.target.traits.magnitude_bits

    def store_exponents(self, b: Builder, row: Value, down: Value, targets: Sequence[Value], words: Value) -> None:
        """Those of `ROWS` rows from `row` on.

        Args:
            b: Of the function.
            row: Where the first one is.
            down: Elements from one row to the next.
            targets: Where those of the first groups go as bytes, and those of the second.
            words: Where all go as `WORDS`.
        """
        pending: list[tuple[int, Value, list[int]]] = []
        for k in range(ROWS):
            if k:
                row = b.element(row, self.element, down, f"row{k}")
            seen = b.bit_and(self._upper_halves(b, row), 0x7FFF)
            pending.append((0, seen, [ROWS * (lane // GROUP) + k for lane in range(_ROW)]))
            while len(pending) > 1 and pending[-1][0] == pending[-2][0]:
                (level, x, groups_of_x), (_, y, groups_of_y) = pending[-2:]
                bit, both = _FOLDS[level], [*groups_of_x, *groups_of_y]
                lower = _lower(bit)
                folded = b.umax(b.shuffle(x, y, lower), b.shuffle(x, y, [lane + (1 << bit) for lane in lower]))
                pending[-2:] = [(level + 1, folded, [both[lane] for lane in lower])]
        ((_, folded, groups),) = pending
        pairs = b.bitcast(folded, WORDS)
        largest = b.umax(b.shift_right_zero(pairs, 16), b.bit_and(pairs, 0xFFFF), "largest")
        order = [groups[::2].index(group) for group in range(_GROUPS)]
        tops = b.shuffle(b.shift_right_zero(largest, 7), None, order, "exponents")
        as_bytes = b.narrow(tops, I8.times(_GROUPS))
        for h, target in enumerate(targets):
            b.store(_half(b, as_bytes, h), target, 1)
        b.store(self._words(b, b.sub(tops, 1)), words, 64)

    def _upper_halves(self, b: Builder, row: Value) -> Value:
        """Sign, exponent and some of the fraction of a row's elements, in 16 bits."""
        if self.source.is_upper_half:
            return b.load(_HALVES, row, 2)
        left, right = (b.load(_HALVES, b.element(row, self.element, GROUP * h), 4) for h in range(2))
        return b.shuffle(left, right, range(1, 2 * _ROW, 2), "seen")

    def _words(self, b: Builder, less: Value) -> Value:
        """As words of the elements' width, two of 16 bits in one."""
        return b.bit_or(b.bit_and(less, 0xFFFF), b.shift_left(less, 16)) if self.source.is_upper_half else less

    def store_two_rows(
        self, b: Builder, rows: Sequence[Value], words: Value, number: Value, targets: Sequence[Value]
    ) -> None:
        """Packs two rows.

        Args:
            b: Of the function.
            rows: Where they are.
            words: Where the exponents are that `store_exponents` stored.
            number: Of the first one among `ROWS`.
            targets: Where the codes of their first groups go, and those of their second.
        """
        less = [
            [b.load(I32, b.element(words, I32, b.add(number, ROWS * h + row)), hint="less") for h in range(2)]
            for row, _ in enumerate(rows)
        ]
        rounded = self._rounded_halves if self.source.is_upper_half else self._rounded_words
        self._store_codes(b, *rounded(b, rows, less), targets)

    def _rounded_words(self, b: Builder, rows: Sequence[Value], less: Sequence[Sequence[Value]]) -> tuple[Value, Value]:
        """Magnitudes and signs of float32.

        The 24 bits of a significand that is cut are a float, which is rounded by a sum with a larger one: the last bit
        of that has the weight of a magnitude's.
        """
        large = real(2.0 ** (23 + 24 - self._bits), FLOAT.times(GROUP))
        sums, read = [], []
        for row, exponents in zip(rows, less, strict=True):
            for h, exponent in enumerate(exponents):
                at = b.element(row, self.element, GROUP * h)
                bits, cut = self._cut(b, at, b.splat(exponent, GROUP), 23, 24)
                sums.append(b.bitcast(b.add(b.convert("sitofp", cut, large.type), large), _BYTES))
                read.append(b.bitcast(bits, _BYTES))
        found = []
        for (first, second, third, fourth), byte in ((sums, 0), (read, 3)):
            lanes = [of + byte + 4 * lane for of in (0, _CODES) for lane in range(GROUP)]
            left, right = b.shuffle(first, third, lanes), b.shuffle(second, fourth, lanes)
            found.append(b.shuffle(left, right, range(_CODES)))
        magnitudes, signs = found
        return magnitudes, signs

    def _rounded_halves(
        self, b: Builder, rows: Sequence[Value], less: Sequence[Sequence[Value]]
    ) -> tuple[Value, Value]:
        """Magnitudes and signs of bfloat16, whose 8 bits round as 24 do when a byte lies below a magnitude.

        What is cut off of them lies below half of the last bit that is kept.
        """
        cuts, read = [], []
        for row, exponents in zip(rows, less, strict=True):
            left, right = (b.splat(exponent, GROUP // 2) for exponent in exponents)
            shared = b.bitcast(b.shuffle(left, right, range(GROUP)), _HALVES)
            bits, cut = self._cut(b, row, shared, 7, 8 + self._bits)
            cuts.append(b.bitcast(cut, _BYTES))
            read.append(b.bitcast(bits, _BYTES))
        starts = (0, _CODES, _ROW, _CODES + _ROW)  # a group of either row, then the other
        whole, lost, signs = (
            b.shuffle(first, second, [start + byte + 2 * lane for start in starts for lane in range(GROUP)])
            for (first, second), byte in ((cuts, 1), (cuts, 0), (read, 1))
        )
        is_up = b.compare("ugt", b.bit_or(lost, b.bit_and(whole, 1)), 0x80, "is.up")
        return b.select(is_up, b.add(whole, 1), whole), signs

    def _cut(self, b: Builder, at: Value, shared: Value, fraction_bits: int, kept: int) -> tuple[Value, Value]:
        """Elements, and their significands of so many bits that are `kept`, cut to the exponent that is shared.

        Exponents are one less here, so that of a denormal wraps around, and it is cut off as a whole.
        """
        width, one = shared.type.bits, 1 << kept - 1
        unsigned = (1 << width - 1) - 1
        bits = b.load(shared.type, at, self.source.itemsize, "read")
        if self.numerics is not Numerics.IEEE:
            infinity = 0xFF << fraction_bits
            bits = b.select(b.compare("ugt", b.bit_and(bits, unsigned), infinity, "is.nan"), infinity, bits)
        own = b.shift_right_zero(b.sub(b.bit_and(bits, unsigned), 1 << fraction_bits), fraction_bits, "own")
        below = b.sub(shared, own, "below")
        fraction = b.bit_and(b.shift_left(bits, kept - 1 - fraction_bits), one - 1)
        significand = b.bit_or(fraction, one, "significand")
        is_near = b.compare("ult", below, width, "is.near")
        return bits, b.select(is_near, b.shift_right_zero(significand, below), 0, "cut")

    def _store_codes(self, b: Builder, magnitudes: Value, signs: Value, targets: Sequence[Value]) -> None:
        """Saturates magnitudes, gives those that are not zero their sign, and stores them, or two in a byte."""
        count = self._bits
        clamped = b.umin(magnitudes, (1 << count) - 1, "clamped")
        minus = b.bit_and(b.shift_right_zero(signs, 7 - count), 1 << count)
        signed = b.bit_or(clamped, minus, "signed")
        codes = b.select(b.compare("eq", clamped, zero(_BYTES)), zero(_BYTES), signed, "codes")
        if count <= 3:
            pairs = b.bitcast(codes, _HALVES)
            codes = b.narrow(b.bit_or(b.shift_right_zero(pairs, 4), pairs), I8.times(_ROW), "nibbles")
        for h, target in enumerate(targets):
            stored = _half(b, codes, h)
            align = stored.type.lanes if self.nontemporal else 1
            b.store(stored, target, align, nontemporal=self.nontemporal)


def _half(b: Builder, vector: Value, h: int) -> Value:
    """The first or the second lanes."""
    count = vector.type.lanes // 2
    return b.shuffle(vector, None, range(count * h, count * (h + 1)))


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
