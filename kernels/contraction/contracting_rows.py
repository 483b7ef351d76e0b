"""A product of a few rows, which reads its right operand once, at the bandwidth of memory.

The left operand is packed. If columns are contiguous, the right operand is read in place, a few of its rows at a time,
which processors prefetch. Otherwise it is packed panel by panel into the L1 cache, right before its use. Block floats
are unpacked in the same way, tile by tile in memory order.

Bound: a read of the right operand.
"""

from __future__ import annotations

from ttnn_jit.kernels.contraction.contracting_loops import (
    LEFT,
    PANEL_VECTORS,
    RIGHT,
    ContractingLoops,
    Product,
    rest_of,
)
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.types import FLOAT, I1, I32, I64, PTR, VOID, Type
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.nest.limits import MAX_ROWS
from ttnn_jit.nest.streams import InnerAccess
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

COLUMNS = 2048
"""Columns of a block of results, which takes at most 64 KB."""
DEPTH = 4096
"""Steps of the left operand that are packed at a time: at most 128 KB."""
STEPS_IN_PLACE = 8
"""Steps at a time if columns are contiguous: so many rows of the right operand are read together, or twice as many in
pairs."""
STEPS_PACKED = 128
"""Steps at a time otherwise: a panel of 16 KB, or of 32 KB for up to half of `MAX_ROWS`, which stays in the L1 cache
(benchmarks/kernels/matmul.py)."""


@dataclass(frozen=True)
class FewRowsContraction(ContractingLoops):
    """A product of a few rows.

    Attributes:
        tile: Rows of a tile of results: 1, 2, 4 or 8.
    """

    tile: int = MAX_ROWS

    def definitions(self) -> list[str]:
        """See the base class."""
        packed = {"packed_left": self.tile * DEPTH, "panel": self._columns_packed * self._steps}
        kernel = self._kernel(COLUMNS, **packed, offsets=2 * self.tile, block=self.tile * COLUMNS)
        functions = [kernel, self._sweep(), self._tile_function("tile", self._vectors)]
        if self._is_in_place:
            functions.append(self._tile_function("tile_in_place", self._vectors, self.element(self.right)))
        if self.panels:
            functions.append(self._sweep_of_panels())
            if self._tile_of_panel != "tile":
                functions.append(self._tile_function(self._tile_of_panel, PANEL_VECTORS))
        left = self._packing(LEFT, self.tile, DEPTH, self.tile)
        return [*functions, left, self._packing(RIGHT, self._panel, self._steps)]

    @property
    def _is_in_place(self) -> bool:
        return self._lies_in_rows and not self._is_unpacked

    @property
    def _lies_in_rows(self) -> bool:
        return self.streams[self.right].access is InnerAccess.CONTIGUOUS

    @property
    def _is_unpacked(self) -> bool:
        return self.streams[self.right].dtype.is_block_float

    @property
    def _vectors(self) -> int:
        """Vectors of a row of a tile: accumulators use half of the registers, so that a few rows hide latency.

        At most four, because columns of a partial panel are packed one by one. At most eight for block floats, which
        are unpacked by whole tiles, unless they are transposed in a panel of many steps.
        """
        most = 8 if self._is_unpacked and self._lies_in_rows else 4
        return max(2, min(most, self.isa.registers // 2 // self.tile))

    @property
    def _panel(self) -> int:
        return self._vectors * self.isa.lanes

    @property
    def _columns_packed(self) -> int:
        """Columns that are packed at a time: those of a panel, or of a tile of block floats."""
        return max(self._panel, TILE_WIDTH) if self._is_unpacked else self._panel

    @property
    def _steps(self) -> int:
        if self._rounds_tiles:
            return TILE_WIDTH // self._terms
        if not self._lies_in_rows:
            return STEPS_PACKED
        return TILE_HEIGHT // self._terms if self._is_unpacked else STEPS_IN_PLACE

    def _blocks(self, p: Product) -> None:
        with p.count("first.row", p.rows.steps, step=self.tile) as tile:
            row = tile.index
            height = rest_of(p, p.rows.steps, row, self.tile)
            if self.streams[self.left].dtype.is_block_float:
                # A tile of block floats is unpacked for the rows of one tile of results only.
                tile.end = height
            p.list_rows(row, height, self.left)
            with p.count("column", p.columns, step=COLUMNS) as column:
                width = rest_of(p, p.columns, column.index, COLUMNS)
                right = p.column(self.right, column.index)
                with p.count("term", p.depth.steps) as depth:
                    depth.step = self._part_of_depth(p, depth.index, right, height, width)
                p.finish(row, height, column.index, width)

    def _part_of_depth(self, p: Product, term: Value, right: Value, height: Value, width: Value) -> Value:
        """Pack and multiply up to `DEPTH` steps of a block; returns the number of terms."""
        index = p.depth.index(term)
        depth = self._steps if self._rounds_tiles else DEPTH  # each call over panels rounds once, at its end
        run = p.depth.run(index, depth * self._terms)
        source, right = (
            p.moved(k, start, p.depth.offset(index, k))
            for k, start in ((self.left, p.addresses[self.left]), (self.right, right))
        )
        packed, block = p.memory["packed_left"], p.memory["block"]
        along = p.depth.strides[self.left][0]
        p.call(VOID, "ttnn_jit.pack_left", packed, source, height, run, p.memory["offsets"], along)
        is_first = p.compare("eq", term, 0)
        across, along = p.across[self.right], p.depth.strides[self.right][0]
        operands = packed, right, p.memory["panel"], block, is_first, width, run, across, along
        if not self.panels:
            p.call(VOID, "ttnn_jit.sweep", *operands)
            return run
        with p.choose(p.is_plain, "plain") as plain:
            p.call(VOID, "ttnn_jit.sweep", *operands)
            plain.otherwise()
            p.call(VOID, "ttnn_jit.sweep_panels", packed, right, block, is_first, width, run, across)
        return run

    @property
    def _tile_of_panel(self) -> str:
        """The function of tiles as wide as a prepacked panel."""
        return "tile" if self._vectors == PANEL_VECTORS else "tile_of_panel"

    def _sweep_of_panels(self) -> str:
        """The loop over prepacked panels; each covers the whole depth."""
        scalars = (Parameter(name, I64) for name in ("width", "depth", "across"))
        b = self._function("sweep_panels", [*_FACTORS, Parameter("block", PTR, "noalias"), _IS_FIRST, *scalars])
        left, right, block, is_first, width, depth, across = b.parameters
        steps = self._steps_of(b, depth)
        with b.count("column", width, step=self._panel_width) as column:
            panel = b.element(right, self.element(self.right), b.mul(column.index, across))
            results = b.element(block, FLOAT, column.index)
            b.call(VOID, f"ttnn_jit.{self._tile_of_panel}", left, panel, results, is_first, steps, i64(0))
        return b.build()

    def _sweep(self) -> str:
        """Loops over panels of a block and parts of its depth; the depth is outermost unless terms are contiguous."""
        pointers = (Parameter(name, PTR, "noalias") for name in ("panel", "block"))
        scalars = (Parameter(name, I64) for name in ("width", "depth", "across", "along"))
        b = self._function("sweep", [*_FACTORS, *pointers, _IS_FIRST, *scalars])
        width, depth = b.parameters[5:7]
        loops = {"term": (depth, self._steps * self._terms), "column": (width, self._panel)}
        outer, inner = loops if self._lies_in_rows or self._is_unpacked else reversed(loops)
        (most, step), (most_inside, step_inside) = loops[outer], loops[inner]
        with b.count(outer, most, step=step) as around, b.count(inner, most_inside, step=step_inside) as inside:
            indices = {outer: around.index, inner: inside.index}
            self._part_of_sweep(b, indices["term"], indices["column"])
        return b.build()

    def _part_of_sweep(self, b: FunctionBuilder, term: Value, column: Value) -> None:
        """Multiply by one panel, over one part of the depth."""
        left, right, panel, block, starts, width, depth, across, along = b.parameters
        terms = rest_of(b, depth, term, self._steps * self._terms)
        count = rest_of(b, width, column, self._panel)
        words = b.element(left, I32, b.mul(b.shift_right_zero(term, self._terms - 1), self.tile))
        source = b.element(right, self.element(self.right), b.add(b.mul(column, across), b.mul(term, along)))
        results, steps = b.element(block, FLOAT, column), self._steps_of(b, terms)
        is_first = b.bit_and(starts, b.compare("eq", term, 0))

        def pack() -> None:
            b.call(VOID, "ttnn_jit.pack_right", panel, source, count, terms, across, along)

        def multiply(function: str, factor: Value) -> None:
            b.call(VOID, f"ttnn_jit.{function}", words, factor, results, is_first, steps, along)

        if self._is_unpacked:  # a panel may have fewer columns than a tile of block floats
            column_in_tile = b.bit_and(column, self._columns_packed - 1)
            own = b.element(panel, I32, b.mul(column_in_tile, self._steps))
            with b.when(b.compare("eq", column_in_tile, 0), "unpack"):
                pack()
            multiply("tile", own)
        elif self._is_in_place:
            is_even = b.compare("eq", b.mul(steps, self._terms), terms)
            with b.choose(b.bit_and(is_even, b.compare("eq", count, self._panel)), "in.place") as in_place:
                multiply("tile_in_place", source)
                in_place.otherwise()
                pack()
                multiply("tile", panel)
        else:
            pack()
            multiply("tile", panel)

    def _tile_function(self, name: str, vectors: int, in_place: Type | None = None) -> str:
        scalars = Parameter("steps", I64), Parameter("along", I64)
        b = self._function(name, [*_FACTORS, Parameter("results", PTR, "noalias"), _IS_FIRST, *scalars])
        self._microkernel((self.tile, vectors, self.tile, COLUMNS), in_place).over_steps(b, *b.parameters)
        return b.build()


_FACTORS = Parameter("left", PTR, "noalias readonly"), Parameter("right", PTR, "noalias readonly")
_IS_FIRST = Parameter("is.first", I1)
