"""A product whose left operand consists of windows of a tensor, which are read in place and not packed.

Rows of such an operand are close to each other and overlap, so a block of them stays in the L1 and L2 caches. Their
terms are runs of contiguous elements, one run for each step of the outer contracted loops: the columns of a convolution
kernel with their channels. The microkernel has a pointer to each row of a tile, and one index for all rows.

Bound: that of the microkernel; packing loads and stores the right operand once per `ROWS`.
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
    """A blocked product whose left operand is contiguous along the innermost contracted loop.

    That operand is float32; or it is bfloat16, products are added in pairs, and runs have an even number of terms.
    """

    def definitions(self) -> list[str]:
        """See the base class."""
        own = {"block": ROWS * COLUMNS, "runs": 4 * DEPTH, "offsets": 2 * ROWS}
        kernel = self._kernel(COLUMNS, right_packed=COLUMNS * DEPTH, **own)
        return [kernel, self._tiles(), self._packing(RIGHT, self._panel_width, DEPTH)]

    @property
    def panels(self) -> None:
        """None: a part of the depth consists of several runs."""

    def _expected(self, p: Product) -> AbstractContextManager[object]:
        """Terms are contiguous. A launch from a file may violate this, and must not read memory then."""
        return p.when(p.compare("eq", p.depth.strides[self.left][0], 1), "contiguous")

    def _pack_left(self, p: Product, offset: Value, height: Value, run: Value, step: Value, number: Value) -> None:  # noqa: ARG002
        """Append a run of terms to the list: its begin and end index."""
        listed = p.element(p.memory["runs"], _RUN, number)
        end = p.element(listed, I64, 1)
        p.store(offset, listed)
        p.store(p.add(offset, run), end)

    def _left_arguments(self, p: Product, steps: Value, runs: Value) -> Sequence[Value]:  # noqa: ARG002
        return p.addresses[self.left], p.memory["offsets"], p.memory["runs"], runs

    @property
    def _left_parameters(self) -> Sequence[Parameter]:
        lists = (Parameter(name, PTR, "noalias readonly") for name in ("left", "offsets", "runs"))
        return *lists, Parameter("count", I64)

    def _tile_of(self, b: Builder, left: Sequence[Value], tile: Tile, row: Value, height: Value) -> None:
        start, offsets, runs, count = left
        last = b.sub(height, 1)
        # Rows beyond the block's last one repeat the last one.
        numbers = [b.smin(b.add(row, k), last) for k in range(self._tile)]
        element = self.element(self.left)
        rows = [b.element(start, element, b.load(I64, b.element(offsets, I64, number))) for number in numbers]
        kernel = WindowMicrokernel(self._tile, PANEL_VECTORS, 0, COLUMNS, self.in_pairs, self.isa)
        kernel.over_runs(b, rows, *tile, runs, count)


@dataclass(frozen=True)
class WindowMicrokernel(Microkernel):
    """Accumulates a tile of results over at least one run of terms."""

    def over_runs(
        self, b: Builder, rows: Sequence[Value], right: Value, results: Value, is_first: Value, *runs: Value
    ) -> None:
        """Emit the accumulation over `runs`.

        Args:
            b: The builder of the function.
            rows: Addresses of the rows.
            right: Address of the right operand's first step.
            results: Address of the tile.
            is_first: Whether accumulators start at zero, not at the stored results.
            runs: Address of the list of runs, and its length.
        """
        math = LlvmVector(self.isa, b.module, b.body)
        bounds, count = runs

        def parts(chains: Chains) -> Chains:
            carried = [("run.total", chain) for chain in chains]
            with b.loop("run", *carried, ("run.right", right), ("number", i64(0))) as run:
                *before, address, number = run.values
                listed = b.element(bounds, _RUN, number)
                first = b.load(I64, listed)
                end = b.load(I64, b.element(listed, I64, 1))
                with b.loop("term", *self._named([*before, address, first])) as loop:
                    *totals, address, term = loop.values
                    columns, right_next = self._right(math, address, 0)
                    totals = self._step_sums(math, totals, self._words_of(b, rows, term), columns)
                    following = b.add(term, 2 if self.in_pairs else 1)
                    loop.again_if(b.compare("slt", following, end), *totals, right_next, following)
                following = b.add(number, 1)
                run.again_if(b.compare("slt", following, count), *totals, right_next, following)
            return totals

        self._continued(b, results, is_first, parts)

    def _words_of(self, b: Builder, rows: Sequence[Value], term: Value) -> list[Value]:
        """The word of each row, broadcast to all lanes."""
        element, align = (I16, 2) if self.in_pairs else (FLOAT, 4)
        words = (b.load(self._word, b.element(row, element, term), align) for row in rows)
        return [b.splat(word, self.isa.lanes) for word in words]


_RUN = type_of("[2 x i64]")
