"""The function that packs adjacent tiles into block floats, eight rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ttnn_jit.kernels.block_floats.packing_groups import GROUP, ROWS, WORDS, GroupPacking
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I8, I64, PTR, array
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.nest.limits import LINE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

STRIP = 16
"""Adjacent tiles that are processed together, row by row: their rows of 1 or 2 KB are prefetched by hardware, and the
packed tiles fit in the L1 cache."""

ROWS_AHEAD = 8
"""Prefetch distance in rows: half a microsecond, several times the latency of memory
(benchmarks/kernels/block_floats.py)."""

GROUPS = TILE_HEIGHT * TILE_WIDTH // GROUP
"""Groups of a tile, which begins with as many bytes of exponents."""

_EXPONENTS = array(GROUPS, I8)
_PARAMETERS = (
    Parameter("dense", PTR, "noalias readonly"),
    Parameter("tiles", PTR, "noalias"),
    *(Parameter(name, I64) for name in ("height", "width", "count", "down", "across")),
)


def groups_of(b: FunctionBuilder, row: Value) -> tuple[Value, Value]:
    """The indices of a row's two groups in a tile of four faces of 16 rows."""
    first = b.add(row, b.bit_and(row, GROUP), "group")
    return first, b.add(first, GROUP, "group")


class _Rows(NamedTuple):
    """Up to eight rows of every tile.

    Attributes:
        first: Address of the first row of the first tile.
        down: Stride between rows, in elements.
        across: Stride between tiles, in elements.
        height: Number of rows.
        groups: Indices of the first row's groups in its tile.
    """

    first: Value
    down: Value
    across: Value
    height: Value
    groups: Sequence[Value]


class PackedBlocks:
    """``void @name(ptr dense, ptr tiles, i64 height, i64 width, i64 count, i64 down, i64 across)``, internal.

    Packs `count` adjacent tiles, at most `STRIP`, of `height` rows and `width` columns each. `dense` is the address of
    their elements, `down` and `across` are the strides between rows and tiles. The packed tiles are contiguous. All
    exponents are computed before the first tile is packed, so that packing does not wait for them. Eight rows that are
    not whole are first copied to a buffer padded with zeros.

    Args:
        name: Symbol of the function.
        groups: The packing of groups.
        module: Receives the declarations.
    """

    def __init__(self, name: str, groups: GroupPacking, module: ModuleText) -> None:
        self.groups = groups
        self.element = groups.element
        self.b = FunctionBuilder(name, module, _PARAMETERS, is_internal=True)
        self.dense, self.tiles, self.height, self.width, self.count, self.down, self.across = self.b.parameters
        self.tile = array(groups.target.itemsize, I8)

    def text(self) -> str:
        """The text of the function."""
        b = self.b
        self.words = b.alloca(WORDS, STRIP, 64, "words")
        self.edges = b.alloca(self.element, STRIP * ROWS * TILE_WIDTH, 64, "edges")
        self.exponents = b.alloca(_EXPONENTS, STRIP, LINE, "exponents")
        is_narrow = b.compare("ne", self.width, TILE_WIDTH, "is.narrow")
        with b.when(b.compare("ult", self.height, TILE_HEIGHT, "is.low"), "zero"):
            b.clear_bytes(self.exponents, STRIP * GROUPS)
            b.clear_bytes(self.tiles, b.mul(self.count, self.groups.target.itemsize))
        with b.loop("block", ("r", i64(0))) as block:
            (r,) = block.values
            following = b.add(r, ROWS, "r.next")
            rows = self._rows(r, following, is_narrow)
            self._find_exponents(rows)
            self._store_codes(rows)
            block.again_if(b.compare("ult", following, self.height, "more.blocks"), following)
        self._copy_exponents()
        return b.build()

    def _rows(self, r: Value, following: Value, is_narrow: Value) -> _Rows:
        """The rows from r on, or a padded copy of them if they are not whole."""
        b = self.b
        address = b.element(self.dense, self.element, b.mul(r, self.down), "block.at")
        groups = groups_of(b, r)
        is_last = b.compare("ugt", following, self.height, "is.last")
        is_cut = b.bit_or(is_last, is_narrow, "is.cut")
        height = b.select(is_last, b.sub(self.height, r), ROWS, "rows")
        down = b.select(is_cut, TILE_WIDTH, self.down, "down")
        across = b.select(is_cut, ROWS * TILE_WIDTH, self.across, "across")
        first = b.select(is_cut, self.edges, address, "first")
        with b.when(is_cut, "clear"):
            self._copy_edges(address, height)
        return _Rows(first, down, across, height, groups)

    def _copy_edges(self, address: Value, height: Value) -> None:
        b, source = self.b, self.groups.source
        area = ROWS * TILE_WIDTH
        nbytes = b.mul(self.width, source.itemsize, "row.bytes")
        b.clear_bytes(self.edges, b.mul(self.count, area * source.itemsize))
        with b.count("edge.tile", self.count) as tile:
            read = b.element(address, self.element, b.mul(tile.index, self.across))
            written = b.element(self.edges, self.element, b.mul(tile.index, area))
            with b.count("edge.row", height) as row:
                source_row = b.element(read, self.element, b.mul(row.index, self.down))
                b.copy_bytes(b.element(written, self.element, b.mul(row.index, TILE_WIDTH)), source_row, nbytes)

    def _find_exponents(self, rows: _Rows) -> None:
        b = self.b
        with b.count("look", self.count) as look:
            address = b.element(rows.first, self.element, b.mul(look.index, rows.across))
            exponents = b.element(self.exponents, _EXPONENTS, look.index)
            words = b.element(self.words, WORDS, look.index)
            targets = [b.ptr_add(exponents, group) for group in rows.groups]
            self.groups.store_exponents(b, address, rows.down, targets, words)

    def _store_codes(self, rows: _Rows) -> None:
        b, element = self.b, self.element
        code = array(GROUP * (self.groups.target.traits.magnitude_bits + 1) // 8, I8)
        with b.count("tile", self.count) as tile:
            address = b.element(rows.first, element, b.mul(tile.index, rows.across), "tile.from")
            codes = b.ptr_add(b.element(self.tiles, self.tile, tile.index), GROUPS)
            words = b.element(self.words, WORDS, tile.index)
            groups = [b.element(codes, code, group) for group in rows.groups]
            with b.count("row", rows.height, ("dense", address), step=2) as row:
                (first,) = row.values
                second = b.element(first, element, rows.down)
                row.carry(b.element(second, element, rows.down, "dense.next"))
                ahead = b.mul(rows.down, ROWS_AHEAD, "ahead")
                for each in (first, second):
                    far = b.element(each, element, ahead)
                    for line in range(TILE_WIDTH * self.groups.source.itemsize // LINE):
                        b.prefetch(b.ptr_add(far, LINE * line))
                targets = [b.element(group, code, row.index) for group in groups]
                self.groups.store_two_rows(b, (first, second), words, row.index, targets)

    def _copy_exponents(self) -> None:
        b, nontemporal = self.b, self.groups.nontemporal
        vector = I8.times(GROUPS)
        with b.count("copy", self.count) as copy:
            read = b.element(self.exponents, _EXPONENTS, copy.index)
            written = b.element(self.tiles, self.tile, copy.index)
            copied = b.load(vector, read, LINE)
            b.store(copied, written, LINE if nontemporal else 1, nontemporal=nontemporal)
