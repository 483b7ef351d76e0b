"""The microkernel of a contraction: a tile of results stays in registers while both operands are streamed.

Bound: a fused multiply-add for every vector of products; and for each step a load for every vector of the right operand
and for every row of the left operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from ttnn_jit.kernels.contraction.mantissa_truncation import MantissaTruncation, add_partial_product, truncate_words
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.shuffles import interleaved
from ttnn_jit.kernels.llvm.types import FLOAT, I16, I32, Type
from ttnn_jit.kernels.llvm.values import Value, i64, zero
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.nest.limits import LINE
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics

_AHEAD = 512
"""Prefetch distance within a row in bytes, for elements of 16 bits (benchmarks/kernels/matmul.py)."""

Chains = list[Value]
"""The accumulators of a tile, one vector each, row by row."""
Tile = tuple[Value, Value, Value]
"""Address of the right operand's first step, address of the results, and whether accumulators start at zero."""
Shape = tuple[int, int, int, int]
"""The first four attributes of a microkernel."""


@dataclass(frozen=True)
class Microkernel:
    """Accumulates a tile of results over at least one step.

    The left operand is packed: the words of a step are contiguous (kernels/contraction/contracting_packing.py). The
    right operand is packed likewise, or is read in place with contiguous columns.

    Attributes:
        rows: Rows of the tile.
        vectors: Vectors of a row.
        left_width: Stride between steps of the left operand, in words.
        pitch: Stride between rows of results.
        in_pairs: Whether a step adds two bfloat16 products.
        isa: The instruction set, which determines the vectors.
        in_place: Element type of a right operand that is read in place; None if it is packed.
        rounds: The tile is rounded to bfloat16 after this many steps and after the last; 0: it is not rounded.
        dropped: The mantissa bits of each factor below which the product of the low parts is omitted; None: exact.
        truncation: Truncation of words that are read in place; None: there is none.
    """

    rows: int
    vectors: int
    left_width: int
    pitch: int
    in_pairs: bool
    isa: HostIsa
    in_place: Type | None = None
    rounds: int = 0
    dropped: tuple[int, int] | None = None
    truncation: MantissaTruncation | None = None

    def over_steps(
        self, b: Builder, left: Value, right: Value, results: Value, is_first: Value, steps: Value, along: Operand = 0
    ) -> None:
        """Emit the accumulation over `steps`.

        Args:
            b: The builder of the function.
            left: Address of the left operand's first step.
            right: Address of the right operand's first step.
            results: Address of the tile.
            is_first: Whether accumulators start at zero, not at the stored results.
            steps: Number of steps.
            along: For a right operand in place, the stride between terms, in elements.
        """
        math = LlvmVector(self.isa, b.module, b.body)

        def parts(chains: Chains) -> Chains:
            start = [*chains, left, right, i64(0)]
            if not self.rounds:
                return self._steps(math, start, steps, along)[: len(chains)]
            with b.loop("tile", *self._named(start)) as tile:
                limit = b.smin(b.add(tile.values[-1], self.rounds), steps)
                *summed, left_next, right_next, step = self._steps(math, tile.values, limit, along)
                rounded = self._rounded(math, summed)
                tile.again_if(b.compare("slt", step, steps), *rounded, left_next, right_next, step)
            return rounded

        self._continued(b, results, is_first, parts)

    def _rounded(self, b: LlvmVector, totals: Chains) -> Chains:
        """The accumulators rounded to bfloat16; those of pairs of products are not subnormal."""
        if not (self.in_pairs and self.isa.avx512_bf16):
            return [b.round_bfloat16(each, Numerics.IEEE) for each in totals]
        return [each for k in range(0, len(totals), 2) for each in b.rounded_normals(totals[k : k + 2])]

    def _continued(self, b: Builder, results: Value, is_first: Value, parts: Callable[[Chains], Chains]) -> None:
        """Load the accumulators, apply `parts`, and store them."""
        lanes, kind = self.isa.lanes, FLOAT.times(self.isa.lanes)
        addresses, chains = list[Value](), Chains()
        for row, vector in product(range(self.rows), range(self.vectors)):
            addresses.append(b.element(results, FLOAT, row * self.pitch + vector * lanes))
            chains.append(b.select(is_first, zero(kind), b.load(kind, addresses[-1], 4)))
        for chain, address in zip(parts(chains), addresses, strict=True):
            b.store(chain, address, 4)

    def _named(self, values: Sequence[Value]) -> list[tuple[str, Value]]:
        """The loop-carried values: accumulators, addresses of both operands, and the step."""
        *chains, left, right, step = values
        return [*(("total", chain) for chain in chains), ("left", left), ("right", right), ("step", step)]

    def _steps(self, b: LlvmVector, start: Sequence[Value], limit: Value, along: Operand) -> list[Value]:
        """The loop over steps up to `limit`; returns the loop-carried values."""
        with b.loop("step", *self._named(start)) as loop:
            *chains, left, right, step = loop.values
            columns, right_next = self._right(b, right, along)
            chains = self._step_sums(b, chains, self._left(b, left), columns)
            left_next = b.element(left, I32, self.left_width)
            following = b.add(step, 1)
            loop.again_if(b.compare("slt", following, limit), *chains, left_next, right_next, following)
        return list(loop.values)

    def _step_sums(self, b: LlvmVector, chains: Chains, rows: Sequence[Value], columns: Sequence[Value]) -> Chains:
        """One step of every accumulator."""
        return [self._accumulate(b, *each) for each in zip(chains, self._factors(rows, columns), strict=True)]

    def _factors(self, rows: Sequence[Value], columns: Sequence[Value]) -> list[tuple[Value, Value]]:
        """The factors of every accumulator."""
        return list(product(rows, columns))

    def _accumulate(self, b: LlvmVector, total: Value, factors: tuple[Value, Value]) -> Value:
        if self.in_pairs:
            return b.add_products(total, *factors)
        if self.dropped is not None:
            return add_partial_product(b, total, factors, self.dropped)
        return b.fma(*factors, total)

    @property
    def _word(self) -> Type:
        return I32 if self.in_pairs else FLOAT

    @property
    def _words(self) -> Type:
        return self._word.times(self.isa.lanes)

    def _left(self, b: LlvmVector, left: Value) -> list[Value]:
        """The word of each row, broadcast to all lanes."""
        return [b.splat(b.load(self._word, b.element(left, I32, row)), self.isa.lanes) for row in range(self.rows)]

    def _packed(self, b: Builder, address: Value) -> list[Value]:
        """Load the vectors of a packed step."""
        lanes = self.isa.lanes
        return [b.load(self._words, b.element(address, I32, vector * lanes), 4) for vector in range(self.vectors)]

    def _right(self, b: LlvmVector, right: Value, along: Operand) -> tuple[list[Value], Value]:
        """The words of all columns, and the address of the next step."""
        element = self.in_place
        if element is None:
            return self._packed(b, right), b.element(right, I32, self.vectors * self.isa.lanes)
        odd = b.element(right, element, along) if self.in_pairs else right
        words = [self._columns(b, element, right, odd, vector * self.isa.lanes) for vector in range(self.vectors)]
        words = [truncate_words(self.truncation, b, each) for each in words]
        if element is not FLOAT:
            self._prefetch(b, (right, odd) if self.in_pairs else (right,))
        return words, b.element(odd, element, along)

    def _columns(self, b: LlvmVector, element: Type, even: Value, odd: Value, first: int) -> Value:
        """The words of a vector of columns, from one row, or from two in pairs."""
        lanes, address = self.isa.lanes, b.element(even, element, first)
        if element is FLOAT:
            return b.load(self._words, address, 4)
        words = b.load(I16.times(lanes), address, 2)
        if not self.in_pairs:
            return b.load_bf16(words)
        others = b.load(words.type, b.element(odd, element, first), 2)
        return b.bitcast(b.shuffle(words, others, interleaved(lanes)), self._words)

    def _prefetch(self, b: Builder, rows: Sequence[Value]) -> None:
        """Prefetch the columns of later tiles; accesses this short do not train hardware prefetchers."""
        for row in rows:
            for line in range(0, self.vectors * self.isa.lanes * 2, LINE):
                b.prefetch(b.ptr_add(row, _AHEAD + line))
