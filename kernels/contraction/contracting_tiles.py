"""The microkernel of a contraction: a tile of results in registers, while both operands go by.

Bound: a fused multiply-add for every vector of products, and for each step a load for every vector of the right operand
and for every row of the left one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from ttnn_jit.kernels.contraction.cut_factors import FactorCut, added_without, cut_words
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
"""Bytes in a row from what is multiplied to what is prefetched, where elements are 16 bits (matmul.py)."""

Chains = list[Value]
"""The tile's vectors, row by row."""
Tile = tuple[Value, Value, Value]
"""Where the first step's words of the right operand are, where the results are, and whether their chains begin."""
Shape = tuple[int, int, int, int]
"""The first four attributes of a microkernel."""


@dataclass(frozen=True)
class Microkernel:
    """Continues the chains of a tile of results over some steps, at least one.

    Words of the left operand lie packed, those of a step side by side (kernels/contraction/contracting_packing.py). The
    right operand is packed so too, or it is read where it lies, its columns contiguous.

    Attributes:
        rows: Of the tile.
        vectors: Of a row.
        left_width: Words of the left operand from one step to the next.
        pitch: Results from one row to the next.
        in_pairs: Whether a step adds two bfloat16 products.
        isa: Decides the vectors.
        in_place: Type of the right operand's elements where they are read where they lie; None if they are packed.
        rounds: Steps after which the tile is rounded to bfloat16, and where the steps end; 0: it is not.
        dropped: Where it is given, the product of what lies below these many bits of both factors is left out.
        cut: What is left of a word that is read in place.
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
    cut: FactorCut | None = None

    def over_steps(
        self, b: Builder, left: Value, right: Value, results: Value, is_first: Value, steps: Value, along: Operand = 0
    ) -> None:
        """Continues the chains.

        Args:
            b: Of the function.
            left: Where the first step's words of the left operand are.
            right: The same of the right operand.
            results: Where the tile is.
            is_first: Whether its chains begin here.
            steps: How many there are.
            along: In place, elements from one term to the next.
        """
        math = LlvmVector(self.isa, b.module, b.body)

        def parts(chains: Chains) -> Chains:
            start = [*chains, left, right, i64(0)]
            if not self.rounds:
                return self._steps(math, start, steps, along)[: len(chains)]
            with b.loop("tile", *self._named(start)) as tile:
                limit = b.smin(b.add(tile.values[-1], self.rounds), steps)
                *summed, at, below, step = self._steps(math, tile.values, limit, along)
                rounded = [math.round_bfloat16(each, Numerics.IEEE) for each in summed]
                tile.again_if(b.compare("slt", step, steps), *rounded, at, below, step)
            return rounded

        self._continued(b, results, is_first, parts)

    def _continued(self, b: Builder, results: Value, is_first: Value, parts: Callable[[Chains], Chains]) -> None:
        """Takes the chains to where `parts` brings them."""
        lanes, kind = self.isa.lanes, FLOAT.times(self.isa.lanes)
        addresses, chains = list[Value](), Chains()
        for row, vector in product(range(self.rows), range(self.vectors)):
            addresses.append(b.element(results, FLOAT, row * self.pitch + vector * lanes))
            chains.append(b.select(is_first, zero(kind), b.load(kind, addresses[-1], 4)))
        for chain, address in zip(parts(chains), addresses, strict=True):
            b.store(chain, address, 4)

    def _named(self, values: Sequence[Value]) -> list[tuple[str, Value]]:
        """What loops carry: the chains, where both operands are, and a number."""
        *chains, left, right, step = values
        return [*(("total", chain) for chain in chains), ("left", left), ("right", right), ("step", step)]

    def _steps(self, b: LlvmVector, start: Sequence[Value], limit: Value, along: Operand) -> list[Value]:
        """The loop over steps up to a limit; what it carries on."""
        with b.loop("step", *self._named(start)) as loop:
            *chains, left, right, step = loop.values
            columns, right_next = self._right(b, right, along)
            chains = self._added(b, chains, self._left(b, left), columns)
            left_next = b.element(left, I32, self.left_width)
            following = b.add(step, 1)
            loop.again_if(b.compare("slt", following, limit), *chains, left_next, right_next, following)
        return list(loop.values)

    def _added(self, b: LlvmVector, chains: Chains, rows: Sequence[Value], columns: Sequence[Value]) -> Chains:
        """A step of every chain."""
        return [self._sum(b, *each) for each in zip(chains, self._factors(rows, columns), strict=True)]

    def _factors(self, rows: Sequence[Value], columns: Sequence[Value]) -> list[tuple[Value, Value]]:
        """Those of every chain."""
        return list(product(rows, columns))

    def _sum(self, b: LlvmVector, total: Value, factors: tuple[Value, Value]) -> Value:
        if self.in_pairs:
            return b.add_products(total, *factors)
        if self.dropped is not None:
            return added_without(b, total, factors, self.dropped)
        return b.fma(*factors, total)

    @property
    def _word(self) -> Type:
        return I32 if self.in_pairs else FLOAT

    @property
    def _words(self) -> Type:
        return self._word.times(self.isa.lanes)

    def _left(self, b: LlvmVector, left: Value) -> list[Value]:
        """Each row's word, in all lanes."""
        return [b.splat(b.load(self._word, b.element(left, I32, row)), self.isa.lanes) for row in range(self.rows)]

    def _packed(self, b: Builder, at: Value) -> list[Value]:
        """Packed words that are vectors."""
        lanes = self.isa.lanes
        return [b.load(self._words, b.element(at, I32, vector * lanes), 4) for vector in range(self.vectors)]

    def _right(self, b: LlvmVector, right: Value, along: Operand) -> tuple[list[Value], Value]:
        """The words of all columns, and where those of the next step are."""
        element = self.in_place
        if element is None:
            return self._packed(b, right), b.element(right, I32, self.vectors * self.isa.lanes)
        odd = b.element(right, element, along) if self.in_pairs else right
        words = [self._columns(b, element, right, odd, vector * self.isa.lanes) for vector in range(self.vectors)]
        words = [cut_words(self.cut, b, each) for each in words]
        if element is not FLOAT:
            self._prefetch(b, (right, odd) if self.in_pairs else (right,))
        return words, b.element(odd, element, along)

    def _columns(self, b: LlvmVector, element: Type, even: Value, odd: Value, first: int) -> Value:
        """The words of a vector of columns, whose terms lie in one row, or in two."""
        lanes, at = self.isa.lanes, b.element(even, element, first)
        if element is FLOAT:
            return b.load(self._words, at, 4)
        words = b.load(I16.times(lanes), at, 2)
        if not self.in_pairs:
            return b.load_bf16(words)
        others = b.load(words.type, b.element(odd, element, first), 2)
        return b.bitcast(b.shuffle(words, others, interleaved(lanes)), self._words)

    def _prefetch(self, b: Builder, rows: Sequence[Value]) -> None:
        """Asks for what the next tiles read of the rows of a step, a line or two each time: too few for hardware."""
        for row in rows:
            for line in range(0, self.vectors * self.isa.lanes * 2, LINE):
                b.prefetch(b.bytes_on(row, _AHEAD + line))
