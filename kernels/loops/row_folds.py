"""The functions that reduce a row: each block, and the results of blocks (ops/families/reduction.py).

Bound: a load of every element, and the latency of `combine` over `CHAINS` accumulators, or more if the order is free.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import Functions, ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I16, I64, PTR, Type
from ttnn_jit.kernels.llvm.values import Value, integer, real, zero
from ttnn_jit.kernels.loops.bfloat16_extrema import Bfloat16Extremum
from ttnn_jit.kernels.loops.chunk_folds import fold_halves
from ttnn_jit.kernels.loops.pairwise_folds import finish, push
from ttnn_jit.kernels.loops.tail_copies import TailCopies
from ttnn_jit.kernels.math.primitives import float_bits
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.ops.families.reduction import CHAINS
from ttnn_jit.process.dataclass import dataclass

_CHAINS_AT_ONCE = 8
"""Vectors of accumulators that hide the latency of `combine`, if the order is free."""


@lru_cache(maxsize=64)
def row_functions(
    name: str, combine: Callable[..., Value], identity: float, in_any_order: bool, reads_bf16: bool, isa: HostIsa
) -> Functions:
    """The functions of `RowFold`, cached."""
    module = ModuleText()
    fold = RowFold(name, combine, identity, in_any_order, reads_bf16, isa, module)
    return Functions(fold.definitions(), module)


@dataclass(frozen=True)
class RowFold:
    """Three functions: ``float @name(ptr terms, i64 count)`` folds a block of at most `BLOCK` elements.

    ``void @name.push(ptr levels, i64 number, float value)`` adds the result of block `number`, in order from 0, and
    ``float @name.finish(ptr levels, i64 blocks)`` returns the result of all (kernels/loops/pairwise_folds.py).

    Attributes:
        name: Symbol of the first function; prefix of the others.
        combine: ``combine(b, x, y)`` over ops/language/emit.py.
        identity: The initial value of accumulators.
        in_any_order: Whether the order does not affect the result; more accumulators may be used then. If moreover the
            identity is infinite, the reduction is the maximum or the minimum.
        reads_bf16: Whether elements are bfloat16, not float32.
        isa: The instruction set, which determines the lanes of a vector.
        module: Receives the declarations.
    """

    name: str
    combine: Callable[..., Value]
    identity: float
    in_any_order: bool
    reads_bf16: bool
    isa: HostIsa
    module: ModuleText

    def definitions(self) -> tuple[str, ...]:
        """The texts of the functions."""
        numbers = _Numbers(self)
        last = finish(self.name, numbers, self.module, lambda f, address: f.load(FLOAT, address))
        return self._fold(), push(self.name, numbers, self.module), last

    def _fold(self) -> str:
        is_extremum = self.reads_bf16 and self.in_any_order and math.isinf(self.identity)
        terms = Bfloat16Extremum(self.identity, 2 * self.isa.lanes) if is_extremum else _Floats(self)
        vector, step = terms.vector, terms.vectors * terms.vector.lanes
        parameters = Parameter("terms", PTR), Parameter("n", I64)
        f = FunctionBuilder(self.name, self.module, parameters, FLOAT, is_internal=True)
        address, n = f.parameters
        chains = [("chain", start) for start in terms.start(f)]
        scratch = f.alloca(vector.scalar, step, 64, "scratch")
        main = f.bit_and(n, -step, "main")
        with f.when(f.compare("ne", main, 0, "some"), "chunks", *chains) as whole:
            with f.count("at", main, *chains, step=step) as chunk:
                chunk.carry(*terms.combined(f, f.element(address, vector.scalar, chunk.index), chunk.values))
            whole.yield_values(*chunk.values)
        rest = f.sub(n, main, "rest")
        with f.when(f.compare("sgt", rest, 0, "has.rest"), "tail", *(("all", each) for each in whole.values)) as tail:
            copies = TailCopies(vector, terms.vectors, self.isa.avx512)
            copies.gather(f, rest, f.element(address, vector.scalar, main), scratch, self._filling(vector))
            tail.yield_values(*terms.combined(f, scratch, whole.values))
        return f.build(terms.result(f, tail.values))

    def _filling(self, vector: Type) -> Value:
        """A vector of identities."""
        bits = float_bits(self.identity)
        return integer(bits >> 16, vector) if self.reads_bf16 else real(self.identity, vector)


@dataclass(frozen=True)
class _Floats:
    """Vectors of float32 accumulators, each combined with a vector of terms."""

    fold: RowFold

    @property
    def vector(self) -> Type:
        """The type of a vector of terms."""
        return (I16 if self.fold.reads_bf16 else FLOAT).times(self.fold.isa.lanes)

    @property
    def vectors(self) -> int:
        """Vectors of a chunk."""
        own = CHAINS // self.fold.isa.lanes
        return max(own, _CHAINS_AT_ONCE) if self.fold.in_any_order else own

    def start(self, f: FunctionBuilder) -> list[Value]:
        """The accumulators before the first term."""
        return [self._builder(f).const(self.fold.identity)] * self.vectors

    def combined(self, f: FunctionBuilder, source: Value, chains: Sequence[Value]) -> list[Value]:
        """The accumulators, each combined with a vector at `source`."""
        builder, vector = self._builder(f), self.vector
        values = [f.load(vector, f.element(source, vector, k), vector.bits // 8) for k, _ in enumerate(chains)]
        values = [builder.load_bf16(bits) for bits in values] if self.fold.reads_bf16 else values
        return [self.fold.combine(builder, chain, value) for chain, value in zip(chains, values, strict=True)]

    def result(self, f: FunctionBuilder, chains: Sequence[Value]) -> Value:
        """The accumulators folded to one number."""
        return f.extract(fold_halves(self._builder(f), self.fold.combine, chains), 0, "result")

    def _builder(self, f: FunctionBuilder) -> LlvmVector:
        return LlvmVector(self.fold.isa, self.fold.module, f.body)


@dataclass(frozen=True)
class _Numbers:
    """The results of blocks of a row: floats, which are combined in lane 0 of a vector."""

    fold: RowFold
    type = FLOAT
    floats = 1

    def combined(self, f: FunctionBuilder, own: Value, level: Value) -> Value:
        builder = LlvmVector(self.fold.isa, self.fold.module, f.body)
        zeros = zero(FLOAT.times(self.fold.isa.lanes))
        left, right = (f.insert(zeros, number, 0) for number in (f.load(FLOAT, level, hint="left"), own))
        return f.extract(self.fold.combine(builder, left, right), 0, "both")

    def keep(self, f: FunctionBuilder, own: Value, level: Value) -> None:
        f.store(own, level)
