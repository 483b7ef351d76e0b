"""The functions that reduce a row: each block, and the results of blocks (ops/families/reduction.py).

Bound: a load of every element, and the latency of `combine` over `CHAINS` accumulators, or more if the order is free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.function import FunctionBuilder, Parameter
from ttnn_jit.kernels.llvm.llvm_module import Functions, ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I16, I64, PTR
from ttnn_jit.kernels.llvm.values import Value, integer, zero
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
        in_any_order: Whether the order does not affect the result; more accumulators may be used then.
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

    @property
    def _vectors(self) -> int:
        own = CHAINS // self.isa.lanes
        return max(own, _CHAINS_AT_ONCE) if self.in_any_order else own

    def _fold(self) -> str:
        vectors, element = self._vectors, I16 if self.reads_bf16 else FLOAT
        vector, step = element.times(self.isa.lanes), vectors * self.isa.lanes
        parameters = Parameter("terms", PTR), Parameter("n", I64)
        f = FunctionBuilder(self.name, self.module, parameters, FLOAT, is_internal=True)
        terms, n = f.parameters
        start = LlvmVector(self.isa, self.module, f.body).const(self.identity)
        chains = [("chain", start)] * vectors
        scratch = f.alloca(element, step, 64, "scratch")
        main = f.bit_and(n, -step, "main")
        with f.when(f.compare("ne", main, 0, "some"), "chunks", *chains) as whole:
            with f.count("at", main, *chains, step=step) as chunk:
                chunk.carry(*self._combined(f, f.element(terms, element, chunk.index), chunk.values))
            whole.yield_values(*chunk.values)
        rest = f.sub(n, main, "rest")
        with f.when(f.compare("sgt", rest, 0, "has.rest"), "tail", *(("all", sums) for sums in whole.values)) as tail:
            copies = TailCopies(vector, vectors, self.isa.avx512)
            copies.gather(f, rest, f.element(terms, element, main), scratch, self._filling(start))
            tail.yield_values(*self._combined(f, scratch, whole.values))
        builder = LlvmVector(self.isa, self.module, f.body)
        return f.build(f.extract(fold_halves(builder, self.combine, tail.values), 0, "result"))

    def _filling(self, start: Value) -> Value:
        """A vector of identities."""
        if not self.reads_bf16:
            return start
        return integer(float_bits(self.identity) >> 16, I16.times(self.isa.lanes))

    def _combined(self, f: FunctionBuilder, source: Value, chains: Sequence[Value]) -> list[Value]:
        """The accumulators, each combined with a vector at `source`."""
        builder = LlvmVector(self.isa, self.module, f.body)
        element = I16 if self.reads_bf16 else FLOAT
        vector = element.times(self.isa.lanes)
        loaded = [f.load(vector, f.element(source, vector, k), element.nbytes) for k, _ in enumerate(chains)]
        values = [builder.load_bf16(bits) for bits in loaded] if self.reads_bf16 else loaded
        return [self.combine(builder, chain, value) for chain, value in zip(chains, values, strict=True)]


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
