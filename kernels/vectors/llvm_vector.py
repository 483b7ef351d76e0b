"""Vector math as LLVM instructions, on float32 and on the bits of bfloat16."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.kernels.llvm.types import BFLOAT, I8, I16, I64, Type, type_of
from ttnn_jit.kernels.llvm.values import Value, i32, integer, integers, poison, zero
from ttnn_jit.kernels.math.bfloat16_powers import MANTISSA_BITS, Bfloat16Power
from ttnn_jit.kernels.vectors.llvm_float import LlvmFloat
from ttnn_jit.kernels.vectors.lookup_table import results
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType


class LlvmVector(LlvmFloat):
    """Writes instructions on ``<lanes x float>`` and on bfloat16 bits, into a new body or an existing one.

    Use::

        module = ModuleText()
        b = LlvmVector(isa, module)               # or LlvmVector(isa, module, function.body)
        x = b.load_bf16(bits)                     # or any value of type <lanes x float>
        y = b.round_to(b.exp(x), DataType.BFLOAT16, Numerics.DEVICE)
        bits = b.store_bf16(y, Numerics.DEVICE)   # <lanes x i16>
        module.text()                             # the declarations, once per module

    A rare path (sin and cos of huge arguments) ends the basic block and begins another.

    The text relies on no IR pass. It calls only functions of `module`, and intrinsics that are instructions of the
    target.
    """

    def round_to(self, value: Value, dtype: DataType, numerics: Numerics) -> Value:
        """`VectorMath.round_to`, by the instruction of avx512_bf16 if the host has it."""
        if dtype.is_upper_half and self.isa.avx512_bf16:
            return self.load_bf16(self.converted((value,), numerics))
        rounded: Value = super().round_to(value, dtype, numerics)
        return rounded

    def narrow_to(self, bits: Value, dtype: DataType) -> Value:
        """Truncate `bits` to stored elements of `dtype`, for example ``<lanes x i8>``; round floats to halves.

        All instruction sets of isa.py have the conversions of halves, so that LLVM calls no library for them.
        """
        stored = type_of(dtype.traits.llvm, self.isa.lanes)
        return self.convert("fptrunc", bits, stored) if dtype.is_ieee_half else self.narrow(bits, stored)

    def add_products(self, total: Value, left: Value, right: Value) -> Value:
        """`DotProduct.add_products`, by one instruction if the processor has it."""
        if not self.isa.avx512_bf16:
            added: Value = super().add_products(total, left, right)
            return added
        pairs = [self.bitcast(each, BFLOAT.times(2 * self.isa.lanes)) for each in (left, right)]
        return self.intrinsic(self._float, "llvm.x86.avx512bf16.dpbf16ps.512", total, *pairs)

    def load_bf16(self, bits: Value) -> Value:
        """The float32 values of bfloat16 `bits`, of type ``<lanes x i16>``."""
        return self.from_bits(self.shift_left(self.zext(bits, self._int), 16))

    def store_bf16(self, value: Value, numerics: Numerics) -> Value:
        """The bits, ``<lanes x i16>``, of `value` rounded to bfloat16."""
        if self.isa.avx512_bf16:
            return self.converted((value,), numerics)
        return self.upper_halves((self.round_bfloat16(value, numerics),))

    @property
    def _bits_of_two(self) -> Type:
        """The type of the bfloat16 bits of two vectors."""
        return I16.times(2 * self.isa.lanes)

    def upper_halves(self, values: Sequence[Value]) -> Value:
        """The upper halves of one or two values, concatenated: ``<n x i16>``."""
        halves = [self.bitcast(each, self._bits_of_two) for each in values]
        return self.shuffled(halves, range(1, len(values) * self._bits_of_two.lanes, 2))

    def shuffled(self, parts: Sequence[Value], order: Sequence[int]) -> Value:
        """A shuffle of the lanes of one or two vectors."""
        return self.shuffle(parts[0], parts[1] if len(parts) > 1 else None, order)

    def upper_lanes(self, value: Value, width: int) -> Value:
        """`value` with its lanes rotated, so that lane `width` comes first."""
        return self.shuffle(value, None, [(lane + width) % self.isa.lanes for lane in range(self.isa.lanes)])

    def halves(self, bits: Value) -> tuple[Value, Value]:
        """The float32 values of the even and of the odd bfloat16 elements of `bits`, ``<2 lanes x i16>``."""
        pairs = self.bitcast(bits, self._int)
        even, odd = self.shift_left(pairs, 16), self.int_and(pairs, self.int_const(-0x1_0000))
        return self.from_bits(even), self.from_bits(odd)

    def interleaved_upper_halves(self, even: Value, odd: Value) -> Value:
        """The inverse of `halves`, ``<2 lanes x i16>``; the lower halves of the values must be zero."""
        low = self.shift_right_zero(self.bits(even), 16)
        return self.bitcast(self.int_or(low, self.bits(odd)), self._bits_of_two)

    def looked_up(self, bits: Value) -> Value:
        """The entries of the module's table (kernels/vectors/lookup_table.py) for bfloat16 bits, a multiple of 4."""
        # Indices are extracted four at a time and separated by shifts.
        count = bits.type.lanes
        result, table = poison(bits.type), results(self)
        indices = self.bitcast(bits, I64.times(count // 4))
        for k in range(count):
            if k % 4 == 0:
                four = self.extract(indices, k // 4)
            index = self.bit_and(self.shift_right_zero(four, 16 * (k % 4)), 0xFFFF)
            result = self.insert(result, self.load(I16, self.element(table, I16, index)), k)
        return result

    def bfloat16_power(
        self, bits: Value, form: Bfloat16Power, name: str, body: Callable[[LlvmVector, Value], Value]
    ) -> Value:
        """The nearest bfloat16 to a power, ``<2 lanes x i16>``, by the byte permutations of AVX-512 VBMI.

        Args:
            bits: The bits of the base.
            form: The power.
            name: The name of the body in generated text.
            body: Computes the results if an element, or its result, is not a normal number.
        """
        kind, root = self._bits_of_two, form.root
        bias = integer(form.bias, kind)
        argument = self.add(bias, bits) if form.sign > 0 else self.sub(bias, bits)
        found = self._byte_of(form.mantissas, argument)
        exponent = argument if root == 1 else self.shift_right_zero(argument, 1)
        upper = self.bit_and(exponent, integer(-1 << MANTISSA_BITS, kind))
        lower = self.bit_and(found, integer((1 << MANTISSA_BITS) - 1, kind))
        result = self.bit_or(upper, lower)
        # Doubling the bits drops the sign.
        step, magnitude = (1, bits) if root == 2 else (2, self.add(bits, bits))
        first = 1 << MANTISSA_BITS
        above = self.sub(magnitude, integer(step * first, kind))
        special = self.compare("uge", above, integer(step * (form.normal_end - first), kind))
        if form.sign > 0:  # zeros are common, so they do not take the rare path
            is_zero = self.compare("eq", bits, zero(kind))
            result = self.select(is_zero, zero(kind), result)
            special = self.bit_and(special, self.compare("ne", bits, zero(kind)))
        return self._if_any_lane(special, result, lambda: self._out_of_line(name, body, bits))

    def _byte_of(self, entries: tuple[int, ...], bits: Value) -> Value:
        """Look up bytes: the low byte of each of 32 elements indexes a table of 128 or 256 bytes."""
        index = self.bitcast(bits, I8.times(64))
        found = poison(index.type)
        for start in range(0, len(entries), 128):
            low, high = (integers(entries[k : k + 64], I8) for k in (start, start + 64))
            part = self.intrinsic(index.type, "llvm.x86.avx512.vpermi2var.qi.512", low, index, high)
            found = self.select(self.compare("slt", index, zero(index.type)), part, found) if start else part
        return self.bitcast(found, bits.type)

    def flushed(self, bits: Value) -> Value:
        """bfloat16 bits, with NaN replaced by +infinity and denormals by zero of their sign."""
        kind = bits.type
        magnitude = self.bit_and(bits, integer(0x7FFF, kind))
        sign = self.bit_and(bits, integer(-0x8000, kind))
        is_denormal = self.compare("slt", magnitude, integer(0x0080, kind))
        infinity = integer(0x7F80, kind)
        is_nan = self.compare("sgt", magnitude, infinity)
        return self.select(is_nan, infinity, self.select(is_denormal, sign, bits))

    def unless_nan(self, bits: Value, otherwise: Callable[[], Value]) -> Value:
        """bfloat16 bits; if any is NaN, the bits that `otherwise` computes in a rare branch."""
        magnitude = self.bit_and(bits, integer(0x7FFF, bits.type))
        return self._if_any_lane(self.compare("sgt", magnitude, integer(0x7F80, bits.type)), bits, otherwise)

    def from_upper_halves(self, bits: Value, start: int) -> Value:
        """The float32 values of `lanes` bfloat16 elements of ``<2 lanes x i16>``, from lane `start` on."""
        count = 2 * self.isa.lanes
        order = [count + k if k % 2 == 0 else start + k // 2 for k in range(count)]
        return self.bitcast(self.shuffle(bits, zero(bits.type), order), self._float)

    def converted(self, values: Sequence[Value], numerics: Numerics, *, leaves_nan: bool = False) -> Value:
        """The bfloat16 bits of one or two values, concatenated, by the instructions of avx512_bf16.

        The instructions round to nearest even and flush denormal inputs to zeros of their sign. For device numerics NaN
        needs a correction, unless `leaves_nan`; for IEEE numerics denormals do.
        """
        if numerics is Numerics.DEVICE and leaves_nan:
            return self._converted(values)
        if numerics is Numerics.DEVICE:
            # vminps returns its second operand if the first is NaN.
            infinity = self.const(float("inf"))
            minimum = "llvm.x86.avx512.min.ps.512"
            return self._converted([self.intrinsic(self._float, minimum, v, infinity, i32(4)) for v in values])
        bits = self._converted(values)
        is_class = "llvm.x86.avx512.fpclass.ps.512"
        denormal = [self.intrinsic(self._float.mask, is_class, v, i32(32)) for v in values]

        def keep_denormals() -> Value:
            kept = self.upper_halves([self.round_bfloat16(each, numerics) for each in values])
            lanes = denormal[0]
            if len(values) == 2:
                lanes = self.shuffle(denormal[0], denormal[1], range(2 * self.isa.lanes))
            return self.select(lanes, kept, bits)

        any_denormal = denormal[0] if len(values) == 1 else self.either(*denormal)
        return self._if_any_lane(any_denormal, bits, keep_denormals)

    def rounded_normals(self, values: Sequence[Value]) -> list[Value]:
        """One or two values rounded to bfloat16 by the instructions of avx512_bf16; none is subnormal.

        Two values take one conversion and a shuffle each, a quarter of the instructions of `round_bfloat16`.
        """
        bits = self._converted(values)
        if len(values) == 1:
            return [self.load_bf16(bits)]
        return [self.from_upper_halves(bits, start) for start in (0, self.isa.lanes)]

    def _converted(self, values: Sequence[Value]) -> Value:
        count = len(values) * self.isa.lanes
        name = "llvm.x86.avx512bf16.cvtneps2bf16.512" if len(values) == 1 else "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
        # The instruction with two operands puts the second operand's elements first.
        halves = self.intrinsic(BFLOAT.times(count), name, *reversed(values))
        return self.bitcast(halves, I16.times(count))
