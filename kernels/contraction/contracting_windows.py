"""A product whose left operand is windows of a tensor: it is read where it lies, and is not packed.

Rows of such an operand lie near each other, and overlap, so that a block of them stays in the first two caches. Their
terms are runs of contiguous elements, one for each step of the outer contracted loops: the columns of a kernel with
their channels. The microkernel has a pointer to each row of a tile, and one index for all.

Bound: that of the microkernel; packing loads and stores the right operand once for `ROWS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from ttnn_jit.kernels.contraction.contracting_blocks import COLUMNS, DEPTH, ROWS, BlockedContraction
from ttnn_jit.kernels.contraction.contracting_loops import PANEL_VECTORS, RIGHT, Product
from ttnn_jit.kernels.contraction.contracting_tiles import Chains, Microkernel, Tile
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.function import Parameter
from ttnn_jit.kernels.llvm.types import FLOAT, I16, I64, PTR, type_of
from ttnn_jit.kernels.llvm.values import Value, i64
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class WindowContraction(BlockedContraction):
    """A product in blocks, whose left operand's terms are one element apart along the innermost contracted loop.

    That operand is float32; or it is bfloat16, products are added up in pairs, and runs have an even number of terms.
    """

    def definitions(self) -> list[str]:
        """See the base class."""
        own = {"block": ROWS * COLUMNS, "runs": 4 * DEPTH, "offsets": 2 * ROWS}
        kernel = self._kernel(COLUMNS, right_packed=COLUMNS * DEPTH, **own)
        return [kernel, self._tiles(), self._packing(RIGHT, self._panel_width, DEPTH)]

    @property
    def panels(self) -> None:
        """None: the terms of a part of the depth are several runs."""

    def _expected(self, p: Product) -> AbstractContextManager[object]:
        """That terms lie beside each other: a launch from a file may say otherwise, and reads no memory then."""
        return p.when(p.compare("eq", p.depth.strides[self.left][0], 1), "beside")

    def _take_left(self, p: Product, offset: Value, height: Value, run: Value, step: Value, number: Value) -> None:  # noqa: ARG002
        """A run of terms in the list: the first one's index, and the index behind them."""
        listed = p.element(p.memory["runs"], _RUN, number)
        end = p.element(listed, I64, 1)
        p.store(offset, listed)
        p.store(p.add(offset, run), end)

    def _left_taken(self, p: Product, steps: Value, runs: Value) -> Sequence[Value]:  # noqa: ARG002
        return p.at[self.left], p.memory["offsets"], p.memory["runs"], runs

    @property
    def _left_parameters(self) -> Sequence[Parameter]:
        lists = (Parameter(name, PTR, "noalias readonly") for name in ("left", "offsets", "runs"))
        return *lists, Parameter("count", I64)

    def _tile_of(self, b: Builder, left: Sequence[Value], tile: Tile, row: Value, height: Value) -> None:
        start, offsets, runs, count = left
        last = b.sub(height, 1)
        # Rows beyond the block's last one are the last one.
        numbers = [b.smin(b.add(row, k), last) for k in range(self._tile)]
        element = self.element(self.left)
        rows = [b.element(start, element, b.load(I64, b.element(offsets, I64, number))) for number in numbers]
        kernel = WindowMicrokernel(self._tile, PANEL_VECTORS, 0, COLUMNS, self.in_pairs, self.isa)
        kernel.over_runs(b, rows, *tile, runs, count)


@dataclass(frozen=True)
class WindowMicrokernel(Microkernel):
    """Continues the chains of a tile of results over runs of terms, at least one."""

    def over_runs(
        self, b: Builder, rows: Sequence[Value], right: Value, results: Value, is_first: Value, *runs: Value
    ) -> None:
        """Continues the chains.

        Args:
            b: Of the function.
            rows: Where the elements of each row begin.
            right: Where the first step's words are.
            results: Where the tile is.
            is_first: Whether its chains begin here.
            runs: The list of runs, and how many it has.
        """
        math = LlvmVector(self.isa, b.module, b.body)
        bounds, count = runs

        def parts(chains: Chains) -> Chains:
            carried = [("run.total", chain) for chain in chains]
            with b.loop("run", *carried, ("run.right", right), ("number", i64(0))) as run:
                *before, at, number = run.values
                listed = b.element(bounds, _RUN, number)
                first = b.load(I64, listed)
                behind = b.load(I64, b.element(listed, I64, 1))
                with b.loop("term", *self._named([*before, at, first])) as loop:
                    *totals, at, term = loop.values
                    columns, right_next = self._right(math, at, 0)
                    totals = self._added(math, totals, self._words_of(b, rows, term), columns)
                    following = b.add(term, 2 if self.in_pairs else 1)
                    loop.again_if(b.compare("slt", following, behind), *totals, right_next, following)
                following = b.add(number, 1)
                run.again_if(b.compare("slt", following, count), *totals, right_next, following)
            return totals

        self._continued(b, results, is_first, parts)

    def _words_of(self, b: Builder, rows: Sequence[Value], term: Value) -> list[Value]:
        """Each row's word, in all lanes."""
        element, align = (I16, 2) if self.in_pairs else (FLOAT, 4)
        words = (b.load(self._word, b.element(row, element, term), align) for row in rows)
        return [b.splat(word, self.isa.lanes) for word in words]


_RUN = type_of("[2 x i64]")
