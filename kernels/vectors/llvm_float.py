"""float32 vector math as LLVM instructions."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT, I1, I8, I16, I32, I64
from ttnn_jit.kernels.llvm.values import (
    Body,
    InstructionCost,
    Literal,
    OrdinaryNumber,
    OrdinaryParameter,
    Value,
    i32,
    integer,
    integers,
    literal,
    poison,
    real,
    real_text,
)
from ttnn_jit.kernels.math.primitives import Table
from ttnn_jit.kernels.math.vector_math import VectorMath
from ttnn_jit.kernels.numba.scalar_call import llvm_text
from ttnn_jit.kernels.vectors.llvm_wide import LlvmBuilder, LlvmWide
from ttnn_jit.ops.language.tile_body import ScalarFunction
from ttnn_jit.process.cached_property import cached_property


def _calls(function: str) -> Callable[..., Value]:
    """A method that calls an intrinsic of the vector type."""
    return lambda self, *operands: self.intrinsic(self._float, function, *operands)


def _compares(predicate: str) -> Callable[..., Value]:
    """A method that compares."""
    return lambda self, a, b: self.compare(predicate, a, b)


class LlvmFloat(LlvmBuilder, VectorMath):
    """Writes instructions on ``<lanes x float>``; see `ttnn_jit.kernels.vectors.llvm_vector`, which adds bfloat16."""

    def __init__(self, isa: HostIsa, module: ModuleText, body: Body | None = None) -> None:
        super().__init__(isa, module, body)
        self._float = FLOAT.times(isa.lanes)
        self._int = I32.times(isa.lanes)

    # float32

    def const(self, value: float | OrdinaryParameter) -> Value:
        if isinstance(value, OrdinaryParameter):
            return value.number
        return real(value, self._float)

    fma = _calls("llvm.fma.{}")
    abs = _calls("llvm.fabs.{}")
    copysign = _calls("llvm.copysign.{}")

    def sqrt(self, a: Value) -> Value:
        return self.intrinsic(self._float, "llvm.sqrt.{}", a, cost=InstructionCost.DIVISION)

    def minimum(self, a: Value, b: Value) -> Value:
        return self._extremum("llvm.minimum.{}", 4, a, b)

    def maximum(self, a: Value, b: Value) -> Value:
        return self._extremum("llvm.maximum.{}", 5, a, b)

    def _extremum(self, function: str, kind: int, a: Value, b: Value) -> Value:
        number, other = (b, a) if isinstance(b, OrdinaryNumber) else (a, b)
        if isinstance(number, OrdinaryNumber) and not self.isa.neon:
            return self._extremum_of_number(function, number, other)
        constant = isinstance(a, Literal) or isinstance(b, Literal)
        if constant or not self.isa.avx512:  # one instruction suffices if an operand is a constant
            return self.intrinsic(self._float, function, a, b)
        # vrangeps (4: minimum, 5: maximum, signs unchanged) orders -0 below +0, but prefers numbers to NaN.
        number = self._unmasked("range", a, b, i32(kind))
        return self.select(self.compare("uno", a, b), self.add(a, b), number)

    def _extremum_of_number(self, function: str, number: Value, other: Value) -> Value:
        """The extremum of an ordinary number and another one: x86's instruction returns its last operand for NaN."""
        chosen = self.compare("ogt" if "maximum" in function else "olt", number, other)
        return self.select(chosen, number, other)

    def _unmasked(self, instruction: str, *operands: Value) -> Value:
        """An AVX-512 instruction on all lanes, with the current rounding mode (4)."""
        rest = self.const(0.0), integer(-1, I16), i32(4)
        return self.intrinsic(self._float, f"llvm.x86.avx512.mask.{instruction}.ps.512", *operands, *rest)

    round_even = _calls("llvm.roundeven.{}")
    floor = _calls("llvm.floor.{}")
    ceil = _calls("llvm.ceil.{}")
    trunc = _calls("llvm.trunc.{}")
    # masks

    lt = _compares("olt")
    le = _compares("ole")
    gt = _compares("ogt")
    ge = _compares("oge")
    eq = _compares("oeq")
    ne = _compares("une")

    def both(self, m: Value, n: Value) -> Value:
        return self.bit_and(m, n)

    def either(self, m: Value, n: Value) -> Value:
        return self.bit_or(m, n)

    def invert(self, m: Value) -> Value:
        return self.bit_not(m)

    def rarely(self, mask: Value, usual: Value, body: Callable[..., Value], *arguments: Value) -> Value:
        def rare() -> Value:
            return self.select(mask, self._out_of_line(body.__name__, body, *arguments), usual)

        return self._if_any_lane(mask, usual, rare)

    def _if_any_lane(self, mask: Value, usual: Value, rare: Callable[[], Value]) -> Value:
        """The value of `rare`, computed in a rare branch, if any lane of the mask is true, else `usual`."""
        any_lane = self.intrinsic(I1, f"llvm.vector.reduce.or.{mask.type.suffix}", mask)
        with self.when(any_lane, "rare", ("", usual), is_rare=True) as branch:
            branch.yield_values(rare())
        return branch.values[0]

    # int32

    def int_const(self, value: int) -> Value:
        return integer(value, self._int)

    def bits(self, a: Value) -> Value:
        return self.bitcast(a, self._int)

    def from_bits(self, i: Value) -> Value:
        return self.bitcast(i, self._float)

    int_add = LlvmBuilder.add
    int_sub = LlvmBuilder.sub
    int_and = LlvmBuilder.bit_and
    int_or = LlvmBuilder.bit_or
    int_xor = LlvmBuilder.bit_xor
    int_mul = LlvmBuilder.mul

    def multiply_wide(self, i: Value, j: Value) -> tuple[Value, Value]:
        wide = I64.times(self.isa.lanes)
        return self.int64_halves(self.mul(self.zext(i, wide), self.zext(j, wide)))

    def int64_halves(self, wide: Value) -> tuple[Value, Value]:
        return self.narrow(self.shift_right_zero(wide, 32), self._int), self.narrow(wide, self._int)

    def int64(self, high: Value, low: Value) -> Value:
        wide = I64.times(self.isa.lanes)
        upper, lower = self.zext(high, wide), self.zext(low, wide)
        return self.bit_or(self.shift_left(upper, 32), lower)

    @cached_property
    def wide(self) -> LlvmWide:
        """The primitives on elements of 64 bits, which write into the same body."""
        return LlvmWide(self.isa, self.module, self.body)

    int_eq = _compares("eq")
    int_lt = _compares("slt")
    unsigned_lt = _compares("ult")
    int_select = LlvmBuilder.select

    def to_float(self, i: Value) -> Value:
        return self.convert("sitofp", i, self._float)

    def truncated(self, a: Value) -> Value:
        return self.convert("fptosi", a, self._int)

    def lookup(self, table: Table, index: Value) -> Value:
        if self.isa.avx512:
            return self.from_bits(self._lookup_avx512(table, index))
        if self.isa.avx2:
            return self._lookup_avx2(table, index)
        return self._lookup_neon(table, index)

    def _lookup_avx512(self, table: Table, index: Value) -> Value:
        # vpermd and vpermt2d read the low 4 and 5 bits of each index.
        low = integers(table.entries[:16], I32)
        if len(table.entries) == 16:
            return self.intrinsic(self._int, "llvm.x86.avx512.permvar.si.512", low, index)
        high = integers(table.entries[16:], I32)
        return self.intrinsic(self._int, "llvm.x86.avx512.vpermi2var.d.512", low, index, high)

    def _lookup_avx2(self, table: Table, index: Value) -> Value:
        # vpermps reads the low 3 bits; vblendvps selects between groups of eight by the next bits, shifted to the sign.
        eights = (_floats(table.entries[i : i + 8]) for i in range(0, len(table.entries), 8))
        parts = [self.intrinsic(self._float, "llvm.x86.avx2.permps", eight, index) for eight in eights]
        bit = 3
        while len(parts) > 1:
            chosen = self.from_bits(self.shift_left(index, 31 - bit))
            parts = [
                self.intrinsic(self._float, "llvm.x86.avx.blendv.ps.256", parts[i], parts[i + 1], chosen)
                for i in range(0, len(parts), 2)
            ]
            bit += 1
        return parts[0]

    def _lookup_neon(self, table: Table, index: Value) -> Value:
        # Bytes 4i .. 4i+3 of a table of 64 bytes; tbx keeps the result of tbl where its own index is out of range.
        inside = self.int_and(index, self.int_const(len(table.entries) - 1))
        first_byte = self.int_mul(inside, self.int_const(0x0404_0404))
        byte_index = self.int_add(first_byte, self.int_const(0x0302_0100))
        found = self._neon_table("tbl4", table.entries[:16], byte_index)
        if len(table.entries) == 32:
            beyond = self.int_sub(byte_index, self.int_const(0x4040_4040))
            found = self._neon_table("tbx4", table.entries[16:], beyond, found)
        return self.bitcast(found, self._float)

    def _neon_table(self, instruction: str, entries: tuple[int, ...], index: Value, *kept: Value) -> Value:
        quarters = [_bytes_of(entries[i : i + 4]) for i in range(0, 16, 4)]
        indices = self.bitcast(index, _BYTES)
        return self.intrinsic(_BYTES, f"llvm.aarch64.neon.{instruction}.v16i8", *kept, *quarters, indices)

    def call_scalar(self, function: ScalarFunction, operands: Sequence[Value]) -> Value:
        self.module.linked[function.symbol] = llvm_text(function)
        result = poison(self._float)
        for lane in range(self.isa.lanes):
            elements = [self.extract(operand, lane) for operand in operands]
            result = self.insert(result, self.intrinsic(FLOAT, function.symbol, *elements), lane)
        return result

    # AVX-512 instructions with the same results as the derived operations

    def scale(self, a: Value, n: Value) -> Value:
        return self._unmasked("scalef", a, n) if self.isa.avx512 else super().scale(a, n)

    def scale_by_sixteenths(self, a: Value, sum_: Value, n: Value) -> Value:
        # vscalefps computes the floor itself.
        return self.scale(a, n) if self.isa.avx512 else super().scale_by_sixteenths(a, sum_, n)

    def exp2_by(self, y: Value, coefficients: Sequence[float]) -> Value:
        if not self.isa.avx512:
            power: Value = super().exp2_by(y, coefficients)
            return power
        # vreduceps (9: minus the floor) gives 0 for infinities, and vscalefps computes the floor of any number itself.
        fraction = self._unmasked("reduce", y, i32(9))
        return self.scale(self.polynomial(fraction, coefficients), y)

    def split(self, x: Value) -> tuple[Value, Value]:
        if not self.isa.avx512:
            return super().split(x)
        m = self._mantissa(x, 3)
        return m, self.sub(self._floor_log2(x), self._floor_log2(m))

    def split_at_one(self, x: Value) -> tuple[Value, Value]:
        return (self._mantissa(x, 0), self._floor_log2(x)) if self.isa.avx512 else super().split_at_one(x)

    def _mantissa(self, x: Value, interval: int) -> Value:
        """The mantissa, in [1, 2) for interval 0 or [0.75, 1.5) for 3; NaN for negative numbers (8)."""
        return self._unmasked("getmant", x, i32(interval + 8))

    def _floor_log2(self, x: Value) -> Value:
        return self._unmasked("getexp", x)


def _floats(entries: tuple[int, ...]) -> Literal:
    floats = (struct.unpack("<f", struct.pack("<i", entry))[0] for entry in entries)
    text = ", ".join(f"float {real_text(value)}" for value in floats)
    return literal(f"<{text}>", FLOAT.times(len(entries)))


def _bytes_of(entries: tuple[int, ...]) -> Value:
    return integers(tuple(struct.pack(f"<{len(entries)}i", *entries)), I8)


_BYTES = I8.times(16)
