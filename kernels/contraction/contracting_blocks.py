"""A product of many rows and columns: both operands packed, blocks of results in the second cache.

`DEPTH` steps of both operands are packed for a block, whatever their strides: the left one's in tiles of a few rows,
the right one's in panels of two vectors, both with zeros beyond their ends. A panel stays in the first cache while all
tiles go by.

Bound: that of the microkernel; packing loads and stores each element of the left operand once for `COLUMNS` results,
and of the right one once for `ROWS`. After Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
2008.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from ttnn_jit.kernels.contraction.contracting_loops import LEFT, PANEL_VECTORS, RIGHT, ContractingLoops, Product, part
from ttnn_jit.kernels.contraction.contracting_tiles import Tile
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import Parameter
from ttnn_jit.kernels.llvm.types import FLOAT, I1, I32, I64, PTR, VOID
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.process.dataclass import dataclass

ROWS = 512
"""Of a block: with `DEPTH` steps, 256 KB of the left operand, which stay in the second cache."""
COLUMNS = 256
"""Of a block: 128 KB of the right operand, and 512 KB of results; all three are on the stack of a thread."""
DEPTH = 128
"""Steps of a chain between which a tile of results leaves the registers: a panel of 16 KB, in the first cache."""
_MIN_TILE_ROWS = 4
"""Rows from which on a tile that is not whole is computed as one that is; fewer are computed one by one."""


def tile_rows(isa: HostIsa) -> int:
    """Rows of a tile of results, which with two vectors of the right operand and a splat fits the registers."""
    return 8 if isa.registers == 32 else 4


@dataclass(frozen=True)
class BlockedContraction(ContractingLoops):
    """A product in blocks."""

    def definitions(self) -> list[str]:
        """See the base class."""
        left = self._packing(LEFT, self._tile, DEPTH, ROWS)
        packed = {"left_packed": ROWS * DEPTH, "right_packed": COLUMNS * DEPTH}
        kernel = self._kernel(COLUMNS, **packed, block=ROWS * COLUMNS, offsets=2 * ROWS)
        return [kernel, self._tiles(), left, self._packing(RIGHT, self._panel_width, DEPTH)]

    @property
    def _tile(self) -> int:
        return tile_rows(self.isa)

    def _blocks(self, p: Product) -> None:
        with p.count("first.row", p.rows.steps, step=ROWS) as row:
            height = part(p, p.rows.steps, row.index, ROWS)
            p.list_rows(row.index, height, self.left)
            with p.count("column", p.columns, step=COLUMNS) as column:
                width = part(p, p.columns, column.index, COLUMNS)
                right = p.column(self.right, column.index)
                with p.loop("depth", ("term", i64(0))) as depth:
                    (term,) = depth.values
                    following, more = self._part_of_depth(p, term, right, height, width)
                    depth.again_if(more, following)
                p.finish(row.index, height, column.index, width)

    def _part_of_depth(self, p: Product, term: Value, right: Value, height: Value, width: Value) -> tuple[Value, Value]:
        """As many terms of a block as are packed at a time; the one behind them, and whether there is one."""
        most = DEPTH * self._terms
        with p.loop("fill", ("packed", i64(0)), ("number", i64(0))) as fill:
            packed, number = fill.values
            index = p.depth.index(p.add(term, packed))
            run = p.depth.run(index, p.sub(most, packed))
            step = p.shift_right_zero(packed, self._terms - 1)
            self._take_left(p, p.depth.offset(index, self.left), height, run, step, number)
            run_at = p.moved(self.right, right, p.depth.offset(index, self.right))
            self._take_right(p, run_at, width, run, step)
            packed, count = p.add(packed, run), p.add(number, 1)
            following = p.add(term, packed)
            more = p.compare("slt", following, p.depth.steps)
            fill.again_if(p.bit_and(p.compare("slt", packed, most), more), packed, count)
        steps = self._steps_of(p, packed)
        is_first = p.compare("eq", term, 0)
        factors = *self._left_taken(p, steps, count), *self._panels(p, run_at)
        p.call(VOID, "ttnn_jit.tiles", *factors, p.memory["block"], is_first, height, width)
        return following, more

    def _take_left(self, p: Product, offset: Value, height: Value, run: Value, step: Value, number: Value) -> None:  # noqa: ARG002
        """So many terms of the left operand, which lie at an offset, for the steps from one on."""
        target = p.element(p.memory["left_packed"], I32, p.mul(step, self._tile))
        source = p.moved(self.left, p.at[self.left], offset)
        along = p.depth.strides[self.left][0]
        p.call(VOID, "ttnn_jit.pack_left", target, source, height, run, p.memory["offsets"], along)

    def _take_right(self, p: Product, source: Value, width: Value, run: Value, step: Value) -> None:
        """So many terms of the right operand, unless they come in panels."""
        with p.when(p.is_plain, "pack") if self.panels else nullcontext():
            target = p.element(p.memory["right_packed"], I32, p.mul(step, self._panel_width))
            strides = p.across[self.right], p.depth.strides[self.right][0]
            p.call(VOID, "ttnn_jit.pack_right", target, source, width, run, *strides)

    def _panels(self, p: Product, given: Value) -> tuple[Value, Value]:
        """The first panel of the block's columns, and the words from one to the next.

        Where panels come packed, all terms of a part of the depth are one run, and `given` is where it begins.
        """
        packed, words = p.memory["right_packed"], i64(DEPTH * self._panel_width)
        if not self.panels:
            return packed, words
        own = p.mul(p.across[self.right], self._panel_width // self._terms)
        return p.select(p.is_plain, packed, given), p.select(p.is_plain, words, own)

    def _left_taken(self, p: Product, steps: Value, runs: Value) -> Sequence[Value]:  # noqa: ARG002
        """What the function of tiles is told of the left operand's terms."""
        return p.memory["left_packed"], steps

    @property
    def _left_parameters(self) -> Sequence[Parameter]:
        """Its parameters for that."""
        return Parameter("left", PTR, "noalias readonly"), Parameter("steps", I64)

    def _tiles(self) -> str:
        right = Parameter("right", PTR, "noalias readonly"), Parameter("panel.words", I64)
        block = Parameter("block", PTR, "noalias"), Parameter("is.first", I1)
        rest = *right, *block, Parameter("height", I64), Parameter("width", I64)
        b = self._function("tiles", [*self._left_parameters, *rest])
        *left, panels, panel_words, results, is_first, height, width = b.parameters
        with b.loop("panel", ("column", i64(0)), ("panel.at", panels)) as panel:
            column, at = panel.values
            below = b.element(results, FLOAT, column)
            with b.count("row", height, step=self._tile) as row:
                address = b.element(below, FLOAT, b.mul(row.index, COLUMNS))
                self._tile_of(b, left, (at, address, is_first), row.index, height)
            following = b.element(at, I32, panel_words)
            column = b.add(column, self._panel_width)
            panel.again_if(b.compare("slt", column, width), column, following)
        return b.ended()

    def _tile_of(self, b: Builder, left: Sequence[Value], tile: Tile, row: Value, height: Value) -> None:
        """The rows from `row` on by a panel."""
        whole, one = (self._microkernel((rows, PANEL_VECTORS, self._tile, COLUMNS)) for rows in (self._tile, 1))
        (words, steps), (panel, results, is_first) = left, tile
        at = b.element(words, I32, b.mul(row, DEPTH))
        rest = b.sub(height, row)
        with b.choose(b.compare("slt", rest, _MIN_TILE_ROWS), "few") as few:
            with b.count("lane", rest) as lane:
                address = b.element(results, FLOAT, b.mul(lane.index, COLUMNS))
                one.over_steps(b, b.element(at, I32, lane.index), panel, address, is_first, steps)
            few.otherwise()
            whole.over_steps(b, at, *tile, steps)
