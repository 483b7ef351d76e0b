"""Kernels that pack tiles into block floats, and unpack them: a group of 16 elements in vectors.

All is arithmetic of integers, and a sum of floats that rounds significands of float32, the same on every host;
kernels/block_floats/block_floats.py says what it computes. LLVM cuts the vectors of 16 words into those that the host
has.

Bound: the bytes of both tensors, 2 or 4 of an element and 1 1/16 or 9/16 of it packed, or the instructions. With
AVX-512 packing a row of a tile, 32 elements, takes 45 of float32 (162 bytes) and 29 of bfloat16 (98 bytes), of which 8
and 6 find exponents; unpacking takes 61. In cache that is 0.35 to 0.48 of a copy, in memory with two threads 0.6 to 0.8
of float32 and 0.6 to 1.1 of bfloat16, the less the faster memory is (benchmarks/kernels/block_floats.py).
"""

from __future__ import annotations

from typing import NamedTuple

from ttnn_jit.kernels.block_floats.packing_blocks import GROUPS, STRIP, PackedBlocks, groups_of
from ttnn_jit.kernels.block_floats.packing_groups import GROUP, GroupPacking
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I8, I16, I32, VOID, Type, array, type_of
from ttnn_jit.kernels.llvm.values import Value, i64, zero
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.target import TILE_HEIGHT, Numerics

_WORDS, _HALVES = I32.times(GROUP), I16.times(GROUP)


class _Strip(NamedTuple):
    """`STRIP` tiles of a row of them, or fewer.

    Attributes:
        dense: Where the row of tiles is in the tensor that is not packed.
        packed: Where it is in the other.
        first: The first tile.
        wanted: The one behind `STRIP`.
        beyond: The one behind the last.
    """

    dense: Value
    packed: Value
    first: Value
    wanted: Value
    beyond: Value


@dataclass(frozen=True)
class PackingLoops:
    """A kernel (kernels/llvm/kernel_function.py) over tiles.

    Of a tile, loop 0 walks columns and loop 1 rows; loop 2 walks tiles along a row of them, the others rows of tiles.
    Operand 0 is read, operand 1 written; one of them is packed, and moves by whole tiles along loop 2 and those around
    it alone. A tile that is packed has zeros beyond its columns and rows.

    Attributes:
        name: Its symbol.
        source: Element type of what is read.
        target: Element type of what is written.
        numerics: Under those of devices a NaN is packed as an infinity.
        module: What it declares.
        rank: Number of the outermost loop.
        nontemporal: Whether elements are written past the caches; they are aligned then.
        is_internal: Whether its module alone sees it.
    """

    name: str
    source: DataType
    target: DataType
    numerics: Numerics
    module: ModuleText
    rank: int = 3
    nontemporal: bool = False
    is_internal: bool = False

    def definitions(self) -> list[str]:
        """The function, and what it calls."""
        unit, packs = array(self._packed.stride_bytes, I8), self._packs
        dense, packed = (0, 1) if packs else (1, 0)
        elements = (self._element, unit) if packs else (unit, self._element)
        b = KernelFunction(self.name, self.module, elements, self.rank, is_internal=self.is_internal)
        width, height, tiles = b.extent(0, "width"), b.extent(1, "height"), b.extent(2, "tiles")
        down, across = b.stride(dense, 1, "down"), b.stride(dense, 2, "across")
        with (
            b.when(b.compare("ne", width, 0), "some"),
            b.outer_loops(b.streams(), innermost=3) as at,
            b.loop("strip", ("first", i64(0))) as loop,
        ):
            (first,) = loop.values
            wanted = b.add(first, STRIP, "wanted")
            is_last = b.compare("uge", wanted, tiles, "is.last")
            strip = _Strip(at[dense], at[packed], first, wanted, b.select(is_last, tiles, wanted, "beyond"))
            if packs:
                self._pack(b, strip, height, width, down, across)
            else:
                self._unpack(b, strip, down, across)
            loop.again_unless(is_last, strip.beyond)
        text = b.ended(fences=self.nontemporal)
        if not packs:
            return [text]
        groups = GroupPacking(self.source, self.target, self.numerics, self.nontemporal)
        return [PackedBlocks(self._blocks, groups, self.module).text(), text]

    @property
    def _packs(self) -> bool:
        return self.target.is_block_float

    @property
    def _blocks(self) -> str:
        """Symbol of the function that packs."""
        return f"{self.name}.blocks"

    @property
    def _packed(self) -> DataType:
        return self.target if self._packs else self.source

    @property
    def _element(self) -> Type:
        """Of the tensor that is not packed."""
        return type_of((self.source if self._packs else self.target).traits.llvm)

    @property
    def _tile(self) -> Type:
        return array(self._packed.itemsize, I8)

    @property
    def _bits(self) -> int:
        """Of a magnitude."""
        return self._packed.traits.magnitude_bits

    def _pack(self, b: KernelFunction, strip: _Strip, height: Value, width: Value, down: Value, across: Value) -> None:
        """By a function of its own: no line of memory would be written as a whole row by row."""
        source = b.element(strip.dense, self._element, b.mul(strip.first, across), "strip.at")
        target = b.element(strip.packed, self._tile, strip.first, "strip.to")
        count = b.sub(strip.beyond, strip.first, "count")
        b.call(VOID, self._blocks, source, target, height, width, count, down, across)

    def _unpack(self, b: KernelFunction, strip: _Strip, down: Value, across: Value) -> None:
        """Row by row, in each of these tile by tile."""
        code = array(GROUP * (self._bits + 1) // 8, I8)
        with b.count("line", TILE_HEIGHT) as line:
            at = b.element(strip.dense, self._element, b.mul(line.index, down), "line.at")
            groups = groups_of(b, line.index)
            self._prefetch(b, strip, line.index)
            with b.count("tile", strip.beyond, begin=strip.first) as each:
                dense = b.element(at, self._element, b.mul(each.index, across), "dense")
                tile = b.element(strip.packed, self._tile, each.index, "tile.at")
                codes = b.bytes_on(tile, GROUPS, "codes")
                addresses = ((b.bytes_on(tile, group), b.element(codes, code, group)) for group in groups)
                if self.target.is_upper_half:
                    left, right = (
                        b.narrow(b.shift_right_zero(self._words(b, *each), 16), _HALVES) for each in addresses
                    )
                    self._store(b, b.shuffle(left, right, range(2 * GROUP)), dense)  # both groups in one line
                else:
                    for h, address in enumerate(addresses):
                        self._store(b, self._words(b, *address), b.element(dense, self._element, GROUP * h))

    def _store(self, b: KernelFunction, vector: Value, at: Value) -> None:
        b.store(vector, at, LINE if self.nontemporal else self.target.itemsize, nontemporal=self.nontemporal)

    def _prefetch(self, b: KernelFunction, strip: _Strip, row: Value) -> None:
        """Asks for a share of the next strip, whose lines no hardware finds: they are read in 16 pieces of a tile."""
        share = STRIP * self._packed.itemsize // TILE_HEIGHT
        at = b.mul(row, share, "share")
        following = b.element(strip.packed, self._tile, strip.wanted, "next.strip")
        for line in range(-(-share // LINE)):
            b.prefetch(b.bytes_on(following, b.add(at, LINE * line)), locality=2)

    def _words(self, b: KernelFunction, exponent: Value, code: Value) -> Value:
        """The bits of a group's numbers as float32, of the addresses of its exponent and of its codes."""
        count = self._bits
        unit = b.sub(b.zext(b.load(I8, exponent), I32), 127 + count - 1, "unit")
        scales = b.splat(b.shift_left(unit, 23), GROUP, "scales")
        codes = b.zext(codes_at(b, code, GROUP, count), _WORDS, "codes")
        magnitudes = b.bit_and(codes, (1 << count) - 1, "magnitudes")
        return exact_words(b, magnitudes, scales, codes, count)


def codes_at(b: Builder, at: Value, count: int, bits: int) -> Value:
    """The codes of `count` elements in bytes; `bits` of each are its magnitude."""
    if bits > 3:
        return b.load(I8.times(count), at, 1)
    pairs = b.zext(b.load(I8.times(count // 2), at, 1), I16.times(count // 2), "nibbles")
    apart = b.bit_and(b.bit_or(pairs, b.shift_left(pairs, 4)), 0x0F0F)
    return b.bitcast(apart, I8.times(count))


def exact_words(b: Builder, magnitudes: Value, scales: Value, signs: Value, bit: int) -> Value:
    """Of a group: magnitudes times units that are added to their exponents, and a bit as sign; denormals are zeros."""
    bits = b.add(b.bitcast(b.convert("uitofp", magnitudes, FLOAT.times(GROUP)), _WORDS), scales, "bits")
    is_none = b.compare("eq", magnitudes, zero(_WORDS))
    is_zero = b.bit_or(is_none, b.compare("slt", bits, 1 << 23), "is.zero")
    minus = b.bit_and(b.shift_left(signs, 31 - bit), -(1 << 31))
    return b.select(is_zero, zero(_WORDS), b.bit_or(bits, minus), "words")
