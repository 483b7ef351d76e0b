"""Instructions that pack block floats: the exponents of eight rows of a tile, and the codes of two rows.

A row of a tile is two groups of 16 elements. The exponents of 16 groups are computed at once, by a tree reduction over
pairs of vectors. Significands are truncated and rounded in words of the element's width; codes are processed in byte
vectors, 64 at once. LLVM legalizes the vectors to the widths of the host.
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
"""Rows whose exponents are computed together: 16 groups, one for each word of a vector."""

_ROW = 2 * GROUP
_GROUPS = 2 * ROWS
_CODES = 4 * GROUP

_FOLDS = (3, 2, 1)
"""The bits of the lane number that the reduction folds, in order: lanes 16 bytes apart first, as instructions do."""
_LANES_OF_16_BYTES = 8

WORDS = I32.times(GROUP)
"""The type of the exponents of eight rows, each minus one: of the first groups, then of the second groups."""

_HALVES = I16.times(_ROW)
_BYTES = I8.times(_CODES)


@dataclass(frozen=True)
class GroupPacking:
    """The packing of groups.

    Attributes:
        source: Element type of the input.
        target: Element type of the output.
        numerics: Under device numerics a NaN is packed as an infinity.
        nontemporal: Whether codes are stored non-temporally; they are aligned then.
    """

    source: DataType
    target: DataType
    numerics: Numerics
    nontemporal: bool

    @property
    def element(self) -> Type:
        """The LLVM type of an input element."""
        return type_of(self.source.traits.llvm)

    @property
    def _bits(self) -> int:
        """Bits of a magnitude."""
        return self.target.traits.magnitude_bits

    def store_exponents(self, b: Builder, row: Value, down: Value, targets: Sequence[Value], words: Value) -> None:
        """Compute and store the exponents of `ROWS` rows.

        Args:
            b: The builder of the function.
            row: Address of the first row.
            down: Stride between rows, in elements.
            targets: Addresses for the exponents as bytes: of the first groups, and of the second groups.
            words: Address for all exponents as `WORDS`.
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
        """The upper 16 bits of a row's elements: sign, exponent and part of the fraction."""
        if self.source.is_upper_half:
            return b.load(_HALVES, row, 2)
        left, right = (b.load(_HALVES, b.element(row, self.element, GROUP * h), 4) for h in range(2))
        return b.shuffle(left, right, range(1, 2 * _ROW, 2), "seen")

    def _words(self, b: Builder, less: Value) -> Value:
        """The values at the width of the elements; two of 16 bits fill a word."""
        return b.bit_or(b.bit_and(less, 0xFFFF), b.shift_left(less, 16)) if self.source.is_upper_half else less

    def store_two_rows(
        self, b: Builder, rows: Sequence[Value], words: Value, number: Value, targets: Sequence[Value]
    ) -> None:
        """Pack two rows.

        Args:
            b: The builder of the function.
            rows: Addresses of the rows.
            words: Address of the exponents that `store_exponents` stored.
            number: Index of the first row among `ROWS`.
            targets: Addresses for the codes of the first groups, and of the second groups.
        """
        less = [
            [b.load(I32, b.element(words, I32, b.add(number, ROWS * h + row)), hint="less") for h in range(2)]
            for row, _ in enumerate(rows)
        ]
        rounded = self._rounded_halves if self.source.is_upper_half else self._rounded_words
        self._store_codes(b, *rounded(b, rows, less), targets)

    def _rounded_words(self, b: Builder, rows: Sequence[Value], less: Sequence[Sequence[Value]]) -> tuple[Value, Value]:
        """Magnitudes and signs of float32 elements.

        A truncated significand of 24 bits converts to a float exactly. Adding a large float, whose last bit has the
        weight of a magnitude's last bit, rounds it.
        """
        large = real(2.0 ** (23 + 24 - self._bits), FLOAT.times(GROUP))
        sums, read = [], []
        for row, exponents in zip(rows, less, strict=True):
            for h, exponent in enumerate(exponents):
                address = b.element(row, self.element, GROUP * h)
                bits, cut = self._aligned_significands(b, address, b.splat(exponent, GROUP), 23, 24)
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
        """Magnitudes and signs of bfloat16 elements, with a byte for rounding below the magnitude.

        The truncated bits weigh less than half of that byte's last bit, so 8-bit significands round as 24-bit ones do.
        """
        cuts, read = [], []
        for row, exponents in zip(rows, less, strict=True):
            left, right = (b.splat(exponent, GROUP // 2) for exponent in exponents)
            shared = b.bitcast(b.shuffle(left, right, range(GROUP)), _HALVES)
            bits, cut = self._aligned_significands(b, row, shared, 7, 8 + self._bits)
            cuts.append(b.bitcast(cut, _BYTES))
            read.append(b.bitcast(bits, _BYTES))
        starts = (0, _CODES, _ROW, _CODES + _ROW)  # a group of either row, then the other
        whole, lost, signs = (
            b.shuffle(first, second, [start + byte + 2 * lane for start in starts for lane in range(GROUP)])
            for (first, second), byte in ((cuts, 1), (cuts, 0), (read, 1))
        )
        is_up = b.compare("ugt", b.bit_or(lost, b.bit_and(whole, 1)), 0x80, "is.up")
        return b.select(is_up, b.add(whole, 1), whole), signs

    def _aligned_significands(
        self, b: Builder, address: Value, shared: Value, fraction_bits: int, kept: int
    ) -> tuple[Value, Value]:
        """Elements, and their significands of `kept` bits, shifted right to the shared exponent.

        Exponents are decremented here, so the exponent of a denormal wraps around and the shift yields zero.
        """
        width, one = shared.type.bits, 1 << kept - 1
        unsigned = (1 << width - 1) - 1
        bits = b.load(shared.type, address, self.source.itemsize, "read")
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
        """Saturate magnitudes, add the sign of nonzero ones, and store the codes, two in a byte if they are narrow."""
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


def _half(b: Builder, vector: Value, index: int) -> Value:
    """The lower (h = 0) or upper half of the lanes."""
    count = vector.type.lanes // 2
    return b.shuffle(vector, None, range(count * index, count * (index + 1)))


def _lower(bit: int) -> list[int]:
    """The lanes of two vectors of 16-bit words whose number has `bit` clear, in the order of a fold.

    Lanes 16 bytes apart are ordered vector by vector; others alternate between the vectors every 16 bytes.
    """
    span = _ROW if 1 << bit >= _LANES_OF_16_BYTES else _LANES_OF_16_BYTES
    return [
        vector + lane
        for start in range(0, _ROW, span)
        for vector in (0, _ROW)
        for lane in range(start, start + span)
        if not lane >> bit & 1
    ]
