"""Kernels that pack tiles into block floats and unpack them: vectors hold groups of 16 elements.

The kernels use integer arithmetic, and a float addition that rounds significands of float32; results are the same on
every host. kernels/block_floats/block_floats.py is the reference. LLVM legalizes the vectors of 16 words to the widths
of the host.

Bound: the bytes of both tensors, 2 or 4 for an element and 1 1/16 or 9/16 for a packed one, or the instructions. With
AVX-512, packing a row of a tile, 32 elements, takes 45 instructions for float32 (162 bytes) and 29 for bfloat16 (98
bytes), of which 8 and 6 compute exponents; unpacking takes 61. In cache the speed is 0.35 to 0.48 of a copy; in memory
with two threads it is 0.6 to 0.8 for float32 and 0.6 to 1.1 for bfloat16, less the faster memory is
(benchmarks/kernels/block_floats.py).
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
    """Up to `STRIP` tiles of a row of tiles.

    Attributes:
        dense: Address of the row of tiles in the dense tensor.
        packed: Address of the row of tiles in the packed tensor.
        first: Index of the first tile.
        following: `first` + `STRIP`.
        end: End index of the tiles.
    """

    dense: Value
    packed: Value
    first: Value
    following: Value
    end: Value


@dataclass(frozen=True)
class PackingLoops:
    """A kernel (kernels/llvm/kernel_function.py) over tiles.

    Loops 0 and 1 are the columns and rows of a tile, loop 2 the tiles of a row of tiles; outer loops are rows of tiles.
    Operand 0 is read, operand 1 written. One of them is packed; its strides along loop 2 and outer loops are whole
    tiles. Packed tiles are padded with zeros.

    Attributes:
        name: Symbol of the kernel.
        source: Element type of the input.
        target: Element type of the output.
        numerics: Under device numerics a NaN is packed as an infinity.
        module: Receives the declarations.
        rank: Number of loops around the innermost one.
        nontemporal: Whether elements are stored non-temporally; they are aligned then.
        is_internal: Whether the function has internal linkage.
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
        """The text of the function and of the functions that it calls."""
        unit, packs = array(self._packed.stride_bytes, I8), self._packs
        dense, packed = (0, 1) if packs else (1, 0)
        elements = (self._element, unit) if packs else (unit, self._element)
        b = KernelFunction(self.name, self.module, elements, self.rank, is_internal=self.is_internal)
        width, height, tiles = b.extent(0, "width"), b.extent(1, "height"), b.extent(2, "tiles")
        down, across = b.stride(dense, 1, "down"), b.stride(dense, 2, "across")
        with (
            b.when(b.compare("ne", width, 0), "some"),
            b.outer_loops(b.streams(), innermost=3) as addresses,
            b.loop("strip", ("first", i64(0))) as loop,
        ):
            (first,) = loop.values
            following = b.add(first, STRIP, "wanted")
            is_last = b.compare("uge", following, tiles, "is.last")
            strip = _Strip(
                addresses[dense], addresses[packed], first, following, b.select(is_last, tiles, following, "beyond")
            )
            if packs:
                self._pack(b, strip, height, width, down, across)
            else:
                self._unpack(b, strip, down, across)
            loop.again_unless(is_last, strip.end)
        text = b.build(fences=self.nontemporal)
        if not packs:
            return [text]
        groups = GroupPacking(self.source, self.target, self.numerics, self.nontemporal)
        return [PackedBlocks(self._blocks, groups, self.module).text(), text]

    @property
    def _packs(self) -> bool:
        return self.target.is_block_float

    @property
    def _blocks(self) -> str:
        """Symbol of the packing function."""
        return f"{self.name}.blocks"

    @property
    def _packed(self) -> DataType:
        return self.target if self._packs else self.source

    @property
    def _element(self) -> Type:
        """The element type of the dense tensor."""
        return type_of((self.source if self._packs else self.target).traits.llvm)

    @property
    def _tile(self) -> Type:
        return array(self._packed.itemsize, I8)

    @property
    def _bits(self) -> int:
        """Bits of a magnitude."""
        return self._packed.traits.magnitude_bits

    def _pack(self, b: KernelFunction, strip: _Strip, height: Value, width: Value, down: Value, across: Value) -> None:
        """Call `PackedBlocks`: packing row by row would write partial cache lines."""
        source = b.element(strip.dense, self._element, b.mul(strip.first, across), "strip.at")
        target = b.element(strip.packed, self._tile, strip.first, "strip.to")
        count = b.sub(strip.end, strip.first, "count")
        b.call(VOID, self._blocks, source, target, height, width, count, down, across)

    def _unpack(self, b: KernelFunction, strip: _Strip, down: Value, across: Value) -> None:
        """Unpack row by row, and tile by tile within a row."""
        code = array(GROUP * (self._bits + 1) // 8, I8)
        with b.count("line", TILE_HEIGHT) as line:
            row_address = b.element(strip.dense, self._element, b.mul(line.index, down), "line.at")
            groups = groups_of(b, line.index)
            self._prefetch(b, strip, line.index)
            with b.count("tile", strip.end, begin=strip.first) as each:
                dense = b.element(row_address, self._element, b.mul(each.index, across), "dense")
                tile = b.element(strip.packed, self._tile, each.index, "tile.at")
                codes = b.ptr_add(tile, GROUPS, "codes")
                addresses = ((b.ptr_add(tile, group), b.element(codes, code, group)) for group in groups)
                if self.target.is_upper_half:
                    left, right = (
                        b.narrow(b.shift_right_zero(self._words(b, *each), 16), _HALVES) for each in addresses
                    )
                    self._store(b, b.shuffle(left, right, range(2 * GROUP)), dense)  # both groups fill one cache line
                else:
                    for h, address in enumerate(addresses):
                        self._store(b, self._words(b, *address), b.element(dense, self._element, GROUP * h))

    def _store(self, b: KernelFunction, vector: Value, address: Value) -> None:
        b.store(vector, address, LINE if self.nontemporal else self.target.itemsize, nontemporal=self.nontemporal)

    def _prefetch(self, b: KernelFunction, strip: _Strip, row: Value) -> None:
        """Prefetch a share of the next strip; hardware prefetchers do not detect this pattern of 16 pieces per tile."""
        share = STRIP * self._packed.itemsize // TILE_HEIGHT
        offset = b.mul(row, share, "share")
        following = b.element(strip.packed, self._tile, strip.following, "next.strip")
        for line in range(-(-share // LINE)):
            b.prefetch(b.ptr_add(following, b.add(offset, LINE * line)), locality=2)

    def _words(self, b: KernelFunction, exponent: Value, code: Value) -> Value:
        """The bits of a group's elements as float32, from the addresses of its exponent and of its codes."""
        count = self._bits
        unit = b.sub(b.zext(b.load(I8, exponent), I32), 127 + count - 1, "unit")
        scales = b.splat(b.shift_left(unit, 23), GROUP, "scales")
        codes = b.zext(codes_at(b, code, GROUP, count), _WORDS, "codes")
        magnitudes = b.bit_and(codes, (1 << count) - 1, "magnitudes")
        return exact_words(b, magnitudes, scales, codes, count)


def codes_at(b: Builder, address: Value, count: int, bits: int) -> Value:
    """Load the codes of `count` elements, whose magnitudes have `bits` bits, as bytes."""
    if bits > 3:
        return b.load(I8.times(count), address, 1)
    pairs = b.zext(b.load(I8.times(count // 2), address, 1), I16.times(count // 2), "nibbles")
    separated = b.bit_and(b.bit_or(pairs, b.shift_left(pairs, 4)), 0x0F0F)
    return b.bitcast(separated, I8.times(count))


def exact_words(b: Builder, magnitudes: Value, scales: Value, signs: Value, bit: int) -> Value:
    """Bits of magnitudes times 2**k, with k added to their exponents, and a sign bit of `signs`; denormals are zero."""
    bits = b.add(b.bitcast(b.convert("uitofp", magnitudes, FLOAT.times(GROUP)), _WORDS), scales, "bits")
    is_none = b.compare("eq", magnitudes, zero(_WORDS))
    is_zero = b.bit_or(is_none, b.compare("slt", bits, 1 << 23), "is.zero")
    minus = b.bit_and(b.shift_left(signs, 31 - bit), -(1 << 31))
    return b.select(is_zero, zero(_WORDS), b.bit_or(bits, minus), "words")
