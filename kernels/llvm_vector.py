"""Vector math as LLVM IR text: that of float32, and bfloat16 words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.kernels.bfloat16_powers import MANTISSA_BITS, Bfloat16Power
from ttnn_jit.kernels.llvm_float import TABLE, LlvmFloat
from ttnn_jit.kernels.llvm_line import Literal, Work
from ttnn_jit.kernels.primitives import Int
from ttnn_jit.ops.emit import Mask, Value
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType


class LlvmVector(LlvmFloat):
    """Writes instructions on ``<lanes x float>`` into `lines`; a value is its operand text, ``%v7`` or ``splat (...)``.

    Use::

        module = ModuleText()
        b = LlvmVector(isa, module, prefix="c0.", block="chunk")
        x = b.load_bf16("%words")            # or any %name of type <lanes x float>
        y = b.round_to(b.exp(x), DataType.BFLOAT16, Numerics.DEVICE)
        words = b.store_bf16(y, Numerics.DEVICE)   # <lanes x i16>
        b.lines                              # go into a function
        module.text()                        # goes beside it, once per module

    Names begin with `prefix`, which must be unique in the function. A rare path (sin and cos of huge arguments) ends
    the basic block and begins another: `block` is the label in which the lines end, for a phi that follows them.

    The text relies on no IR pass and calls nothing but intrinsics that the target has as instructions, and functions
    of `module`.
    """

    def round_to(self, value: Value, dtype: DataType, numerics: Numerics) -> Value:
        """As `VectorMath.round_to`, by the instruction of avx512_bf16 where the host has it."""
        if dtype.is_upper_half and self.isa.avx512_bf16:
            return self.load_bf16(self.converted((value,), numerics))
        return super().round_to(value, dtype, numerics)

    def extended(self, elements: Value, dtype: DataType) -> Value:
        """The words of `elements`, which are the low bits of them: ``<lanes x i8>``, for one."""
        opcode = "sext" if dtype.compute.is_signed else "zext"
        return self._emit(f"{opcode} <{self.isa.lanes} x {dtype.traits.llvm}> %s to {self._int}", elements)

    def cut(self, words: Value, dtype: DataType) -> Value:
        """The inverse of `extended`."""
        return self._emit(f"trunc {self._int} %s to <{self.isa.lanes} x {dtype.traits.llvm}>", words)

    def add_products(self, total: Value, left: Int, right: Int) -> Value:
        """See `DotProduct.add_products`: one instruction where the processor has it."""
        if not self.isa.avx512_bf16:
            return super().add_products(total, left, right)
        kind = f"<{2 * self.isa.lanes} x bfloat>"
        words = [self._emit(f"bitcast {self._int} %s to {kind}", each, work=Work.NONE) for each in (left, right)]
        pairs = ((kind, each) for each in words)
        return self._call(self._float, "llvm.x86.avx512bf16.dpbf16ps.512", (self._float, total), *pairs)

    def load_bf16(self, words: Value) -> Value:
        """The float32 values of bfloat16 `words`, an operand of type ``<lanes x i16>``."""
        wide = self._emit(f"zext <{self.isa.lanes} x i16> %s to {self._int}", words)
        return self.from_bits(self.shift_left(wide, self.int_const(16)))

    def store_bf16(self, value: Value, numerics: Numerics) -> Value:
        """The bfloat16 words, ``<lanes x i16>``, of `value` rounded."""
        if self.isa.avx512_bf16:
            return self.converted((value,), numerics)
        return self.high_words((self.round_bfloat16(value, numerics),))

    def high_words(self, values: Sequence[Value]) -> str:
        """The upper halves of one or two values, one's after the other's: ``<n x i16>``."""
        count = 2 * self.isa.lanes
        kind = f"<{count} x i16>"
        halves = [self._emit(f"bitcast {self._float} %s to {kind}", value, work=Work.NONE) for value in values]
        return self.shuffled(count, halves, range(1, len(values) * count, 2))

    def shuffled(self, count: int, parts: Sequence[str], order: Sequence[int]) -> str:
        """The words of one or two ``<count x i16>`` in another order."""
        first, second = (*parts, "poison")[:2]
        indices = ", ".join(f"i32 {index}" for index in order)
        kind = f"<{count} x i16>"
        return self._emit(f"shufflevector {kind} {first}, {kind} {second}, <{len(order)} x i32> <{indices}>")

    def upper_lanes(self, value: Value, width: int) -> Value:
        """`value` with the lanes from `width` on as the first ones."""
        lanes = self.isa.lanes
        indices = ", ".join(f"i32 {(lane + width) % lanes}" for lane in range(lanes))
        return self._emit(f"shufflevector {self._float} %s, {self._float} poison, <{lanes} x i32> <{indices}>", value)

    def halves(self, words: str) -> tuple[Value, Value]:
        """The float32 values of the even and of the odd ones of bfloat16 `words`, ``<2 lanes x i16>``."""
        pairs = self._emit(f"bitcast <{2 * self.isa.lanes} x i16> %s to {self._int}", words, work=Work.NONE)
        even, odd = self.shift_left(pairs, self.int_const(16)), self.int_and(pairs, self.int_const(-0x1_0000))
        return self.from_bits(even), self.from_bits(odd)

    def interleaved_high_words(self, even: Value, odd: Value) -> str:
        """The words, ``<2 lanes x i16>``, whose `halves` are these values; their lower halves are zeros."""
        low = self.shift_right_zero(self.bits(even), self.int_const(16))
        pairs = self.int_or(low, self.bits(odd))
        return self._emit(f"bitcast {self._int} %s to <{2 * self.isa.lanes} x i16>", pairs, work=Work.NONE)

    def looked_up(self, words: str, count: int) -> str:
        """The entries of the module's table, kernels/lookup_table.py, for `count` words, a multiple of 4."""
        # Extracted four at a time and separated by shifts.
        fours, kind, result = count // 4, f"<{count} x i16>", "poison"
        indices = self._emit(f"bitcast {kind} %s to <{fours} x i64>", words, work=Work.NONE)
        for k in range(count):
            if k % 4 == 0:
                four = self._emit(f"extractelement <{fours} x i64> %s, i64 {k // 4}", indices)
            moved = self._emit(f"lshr i64 %s, {16 * (k % 4)}", four)
            index = self._emit(f"and i64 %s, {0xFFFF}", moved)
            place = self._emit(f"getelementptr i16, ptr @{TABLE}, i64 %s", index)
            entry = self._emit("load i16, ptr %s", place)
            result = self._emit(f"insertelement {kind} %s, i16 %s, i64 {k}", result, entry)
        return result

    def bfloat16_power(self, words: str, form: Bfloat16Power, name: str, body: Callable[[LlvmVector, str], str]) -> str:
        """The nearest bfloat16 to a power of each word, ``<2 lanes x i16>``, by the byte permutations of AVX-512 VBMI.

        Args:
            words: What is raised to the power.
            form: The power.
            name: Names the body, in generated text.
            body: Computes the results of words among which are others than normal numbers with normal results.
        """
        count, root = 2 * self.isa.lanes, form.root
        kind, masks = f"<{count} x i16>", f"<{count} x i1>"
        zeros = "zeroinitializer"
        opcode = "add" if form.sign > 0 else "sub"
        argument = self._emit(f"{opcode} {kind} %s, %s", self._word_const(form.bias, count), words)
        found = self._byte_of(form.mantissas, argument)
        exponent = argument if root == 1 else self._emit(f"lshr {kind} {argument}, splat (i16 1)")
        upper = self._emit(f"and {kind} %s, %s", exponent, self._word_const(-1 << MANTISSA_BITS, count))
        lower = self._emit(f"and {kind} %s, %s", found, self._word_const((1 << MANTISSA_BITS) - 1, count))
        result = self._emit(f"or {kind} %s, %s", upper, lower)
        # Twice the word is without its sign.
        step, magnitude = (1, words) if root == 2 else (2, self._emit(f"add {kind} %s, %s", words, words))
        first = 1 << MANTISSA_BITS
        above = self._emit(f"sub {kind} %s, %s", magnitude, self._word_const(step * first, count))
        beyond = self._word_const(step * (form.beyond - first), count)
        special = self._emit(f"icmp uge {kind} %s, %s", above, beyond)
        if form.sign > 0:  # zeros are no rarity
            is_zero = self._emit(f"icmp eq {kind} %s, %s", words, zeros)
            result = self._emit(f"select {masks} %s, {kind} %s, {kind} %s", is_zero, zeros, result)
            other = self._emit(f"icmp ne {kind} %s, %s", words, zeros)
            special = self._emit(f"and {masks} %s, %s", special, other)
        return self._if_any_lane(special, kind, result, lambda: self._out_of_line(name, kind, body, words), count)

    def _byte_of(self, entries: tuple[int, ...], words: str) -> str:
        """Looks up bytes: the lower half of each of 32 words indexes a table of 128 or 256 bytes."""
        kind, index = "<64 x i8>", self._emit("bitcast <32 x i16> %s to <64 x i8>", words, work=Work.NONE)
        found = ""
        for start in range(0, len(entries), 128):
            low, high = (_bytes(entries[k : k + 64]) for k in (start, start + 64))
            operands = ((kind, low), (kind, index), (kind, high))
            part = self._call(kind, "llvm.x86.avx512.vpermi2var.qi.512", *operands)
            if start:
                above = self._emit(f"icmp slt {kind} %s, zeroinitializer", index)
                part = self._emit(f"select <64 x i1> %s, {kind} %s, {kind} %s", above, part, found)
            found = part
        return self._emit(f"bitcast {kind} %s to <32 x i16>", found, work=Work.NONE)

    def _word_const(self, value: int, count: int) -> Literal:
        return Literal.of(f"splat (i16 {value})", f"<{count} x i16>", is_zero=value == 0)

    def flushed(self, words: str, count: int) -> str:
        """`count` bfloat16 words with +infinity for every NaN and zero of its sign for every denormal."""
        kind = f"<{count} x i16>"
        magnitude = self._emit(f"and {kind} %s, %s", words, self._word_const(0x7FFF, count))
        sign = self._emit(f"and {kind} %s, %s", words, self._word_const(-0x8000, count))
        is_denormal = self._emit(f"icmp slt {kind} %s, %s", magnitude, self._word_const(0x0080, count))
        infinity = self._word_const(0x7F80, count)
        is_nan = self._emit(f"icmp sgt {kind} %s, %s", magnitude, infinity)
        masks = f"<{count} x i1>"
        normal = self._emit(f"select {masks} %s, {kind} %s, {kind} %s", is_denormal, sign, words)
        return self._emit(f"select {masks} %s, {kind} %s, {kind} %s", is_nan, infinity, normal)

    def unless_nan(self, words: str, count: int, otherwise: Callable[[], str]) -> str:
        """`count` bfloat16 words, or those that `otherwise` writes, off the straight path, if any of them is a NaN."""
        kind = f"<{count} x i16>"
        magnitude = self._emit(f"and {kind} %s, %s", words, self._word_const(0x7FFF, count))
        is_nan = self._emit(f"icmp sgt {kind} %s, %s", magnitude, self._word_const(0x7F80, count))
        return self._if_any_lane(is_nan, kind, words, otherwise, count)

    def as_high(self, words: str, start: int) -> Value:
        """The float32 values of a vector's bfloat16 words, those from `start` on of ``<2 lanes x i16>``."""
        count = 2 * self.isa.lanes
        order = [count + k if k % 2 == 0 else start + k // 2 for k in range(count)]
        placed = self.shuffled(count, [words, "zeroinitializer"], order)
        return self._emit(f"bitcast <{count} x i16> %s to {self._float}", placed, work=Work.NONE)

    def converted(self, values: Sequence[Value], numerics: Numerics, *, leaves_nan: bool = False) -> str:
        """The bfloat16 words of one or two values, one's after the other's, by the instructions of avx512_bf16.

        They round to nearest even and read denormals as zeros of their sign: device numerics but for NaN, which
        `leaves_nan` leaves, IEEE numerics but for denormals.
        """
        if numerics is Numerics.DEVICE and leaves_nan:
            return self._converted(values)
        if numerics is Numerics.DEVICE:
            # vminps gives its second operand where the first is NaN.
            kinds = ((self._float, self.const(float("inf"))), ("i32", "4"))
            minimum = "llvm.x86.avx512.min.ps.512"
            return self._converted([self._call(self._float, minimum, (self._float, v), *kinds) for v in values])
        words = self._converted(values)
        denormal = [
            self._call(self._mask, "llvm.x86.avx512.fpclass.ps.512", (self._float, v), ("i32", "32")) for v in values
        ]
        count = len(values) * self.isa.lanes
        kind = f"<{count} x i16>"

        def keep_denormals() -> str:
            kept = self.high_words([self.round_bfloat16(value, numerics) for value in values])
            lanes = denormal[0] if len(values) == 1 else self._side_by_side(denormal)
            return self._emit(f"select <{count} x i1> %s, {kind} %s, {kind} %s", lanes, kept, words)

        any_denormal = denormal[0] if len(values) == 1 else self.either(*denormal)
        return self._if_any_lane(any_denormal, kind, words, keep_denormals)

    def _converted(self, values: Sequence[Value]) -> str:
        count = len(values) * self.isa.lanes
        name = "llvm.x86.avx512bf16.cvtneps2bf16.512" if len(values) == 1 else "llvm.x86.avx512bf16.cvtne2ps2bf16.512"
        # Of two, the instruction puts the second operand's words first.
        halves = self._call(f"<{count} x bfloat>", name, *((self._float, value) for value in reversed(values)))
        return self._emit(f"bitcast <{count} x bfloat> %s to <{count} x i16>", halves, work=Work.NONE)

    def _side_by_side(self, masks: Sequence[Mask]) -> Mask:
        first, second = masks
        indices = ", ".join(f"i32 {index}" for index in range(2 * self.isa.lanes))
        order = f"<{2 * self.isa.lanes} x i32> <{indices}>"
        return self._emit(f"shufflevector {self._mask} {first}, {self._mask} {second}, {order}")


def _bytes(entries: Sequence[int]) -> Literal:
    return Literal.of(f"<{', '.join(f'i8 {entry}' for entry in entries)}>", f"<{len(entries)} x i8>")
