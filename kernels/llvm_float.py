"""Vector math of float32 as LLVM IR text."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache

from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm_line import Line, Literal, Work
from ttnn_jit.kernels.llvm_module import ModuleText, RarePath
from ttnn_jit.kernels.primitives import DoubleWord, Int, Table
from ttnn_jit.kernels.vector_math import VectorMath
from ttnn_jit.ops.emit import Mask, Value
from ttnn_jit.ops.tile_body import ScalarFunction

TABLE = "ttnn_jit.results"
"""Symbol of a module's table (kernels/lookup_table.py)."""


class LlvmFloat(VectorMath):
    """Writes instructions on ``<lanes x float>``; see `ttnn_jit.kernels.llvm_vector`, which adds bfloat16."""

    def __init__(self, isa: HostIsa, module: ModuleText | None = None, prefix: str = "v", block: str = "entry") -> None:
        self.isa = isa
        self.module = ModuleText() if module is None else module
        self.code: list[Line] = []
        self.block = block
        self._prefix = prefix
        self._count = 0
        self._is_rare = False
        self._called: set[str] = set()  # rare paths
        self._float = f"<{isa.lanes} x float>"
        self._int = f"<{isa.lanes} x i32>"
        self._mask = f"<{isa.lanes} x i1>"

    @property
    def lines(self) -> list[str]:
        """The text of the instructions and labels written so far."""
        return [line.text for line in self.code]

    def _name(self) -> str:
        self._count += 1
        return f"%{self._prefix}{self._count}"

    def _emit(self, template: str, *operands: str, work: Work = Work.ONE) -> str:
        """An instruction with a result; what only it can use, as a shift its distance, stands in `template`."""
        name = self._name()
        self.code.append(Line(name, template, operands, Work.NONE if self._is_rare else work))
        return name

    def _write(self, text: str) -> None:
        """A label or a branch."""
        self.code.append(Line("", text, (), Work.NONE if self._is_rare else Work.ONE))

    def _call(self, result: str, function: str, *operands: tuple[str, str], work: Work = Work.ONE) -> str:
        """A call of an intrinsic; operands are (type, text) pairs."""
        types, texts = zip(*operands, strict=True)
        declaration, template = _call_texts(result, function, types)
        self.module.declarations[declaration] = None
        return self._emit(template, *texts, work=work)

    def _float_call(self, function: str, *operands: Value, work: Work = Work.ONE) -> Value:
        typed = ((self._float, operand) for operand in operands)
        return self._call(self._float, f"{function}.v{self.isa.lanes}f32", *typed, work=work)

    # float32

    def const(self, value: float) -> Value:
        return _float_literal(struct.pack("<d", value), self._float)

    def add(self, a: Value, b: Value) -> Value:
        return self._emit(f"fadd {self._float} %s, %s", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self._emit(f"fsub {self._float} %s, %s", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self._emit(f"fmul {self._float} %s, %s", a, b)

    def div(self, a: Value, b: Value) -> Value:
        return self._emit(f"fdiv {self._float} %s, %s", a, b, work=Work.DIVISION)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        return self._float_call("llvm.fma", a, b, c)

    def neg(self, a: Value) -> Value:
        return self._emit(f"fneg {self._float} %s", a)

    def abs(self, a: Value) -> Value:
        return self._float_call("llvm.fabs", a)

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        return self._float_call("llvm.copysign", magnitude, sign)

    def sqrt(self, a: Value) -> Value:
        return self._float_call("llvm.sqrt", a, work=Work.DIVISION)

    def minimum(self, a: Value, b: Value) -> Value:
        return self._extremum("llvm.minimum", 4, a, b)

    def maximum(self, a: Value, b: Value) -> Value:
        return self._extremum("llvm.maximum", 5, a, b)

    def _extremum(self, function: str, kind: int, a: Value, b: Value) -> Value:
        constant = isinstance(a, Literal) or isinstance(b, Literal)
        if constant or not self.isa.avx512:  # beside a number that is neither zero nor NaN, one instruction is enough
            return self._float_call(function, a, b)
        # vrangeps (4: minimum, 5: maximum, signs as they are) knows -0 from +0, but prefers numbers to NaN.
        unmasked = ((self._float, self.const(0.0)), ("i16", "-1"), ("i32", "4"))
        operands = ((self._float, a), (self._float, b), ("i32", str(kind)), *unmasked)
        number = self._call(self._float, "llvm.x86.avx512.mask.range.ps.512", *operands)
        return self.select(self._compare("uno", a, b), self.add(a, b), number)

    def round_even(self, a: Value) -> Value:
        return self._float_call("llvm.roundeven", a)

    def floor(self, a: Value) -> Value:
        return self._float_call("llvm.floor", a)

    def ceil(self, a: Value) -> Value:
        return self._float_call("llvm.ceil", a)

    def trunc(self, a: Value) -> Value:
        return self._float_call("llvm.trunc", a)

    # masks

    def _compare(self, predicate: str, a: Value, b: Value) -> Mask:
        return self._emit(f"fcmp {predicate} {self._float} %s, %s", a, b)

    def lt(self, a: Value, b: Value) -> Mask:
        return self._compare("olt", a, b)

    def le(self, a: Value, b: Value) -> Mask:
        return self._compare("ole", a, b)

    def gt(self, a: Value, b: Value) -> Mask:
        return self._compare("ogt", a, b)

    def ge(self, a: Value, b: Value) -> Mask:
        return self._compare("oge", a, b)

    def eq(self, a: Value, b: Value) -> Mask:
        return self._compare("oeq", a, b)

    def ne(self, a: Value, b: Value) -> Mask:
        return self._compare("une", a, b)

    def both(self, m: Mask, n: Mask) -> Mask:
        return self._emit(f"and {self._mask} %s, %s", m, n)

    def either(self, m: Mask, n: Mask) -> Mask:
        return self._emit(f"or {self._mask} %s, %s", m, n)

    def invert(self, m: Mask) -> Mask:
        return self._emit(f"xor {self._mask} %s, splat (i1 true)", m)

    def select(self, m: Mask, a: Value, b: Value) -> Value:
        return self._emit(f"select {self._mask} %s, {self._float} %s, {self._float} %s", m, a, b)

    def rarely(self, mask: Mask, usual: Value, name: str, body: Callable[..., Value], *arguments: Value) -> Value:
        def rare() -> Value:
            return self.select(mask, self._out_of_line(name, self._float, body, *arguments), usual)

        return self._if_any_lane(mask, self._float, usual, rare)

    def _if_any_lane(self, mask: Mask, type_: str, usual: str, rare: Callable[[], str], lanes: int = 0) -> str:
        """What `rare` writes, off the straight path, if the mask is true of any lane, else `usual`."""
        count = lanes or self.isa.lanes
        any_lane = self._call("i1", f"llvm.vector.reduce.or.v{count}i1", (f"<{count} x i1>", mask))
        before, branch, after = self.block, f"{self._prefix}{self._count}.rare", f"{self._prefix}{self._count}.after"
        weights = '!prof !{!"branch_weights", i32 1, i32 100000}'
        self._write(f"br i1 {any_lane}, label %{branch}, label %{after}, {weights}")
        self._is_rare = True
        self._write(f"{branch}:")
        chosen = rare()
        self._write(f"br label %{after}")
        self._is_rare = False
        self._write(f"{after}:")
        self.block = after
        return self._emit(f"phi {type_} [ %s, %s ], [ %s, %s ]", usual, f"%{before}", chosen, f"%{branch}")

    def _out_of_line(self, name: str, kind: str, body: Callable[..., str], *arguments: str) -> str:
        """A call of the function that computes `body`, of arguments and a result of one kind.

        It is written into the module at first use.
        """
        symbol = f"ttnn_jit.{name}.v{self.isa.lanes}"
        self._called.add(symbol)
        if symbol not in self.module.rare_paths:
            self.module.rare_paths[symbol] = None  # keeps its place before what its own body asks for
            inner = type(self)(self.isa, self.module)
            parameters = tuple(f"%x{k}" for k, _ in enumerate(arguments))
            result = body(inner, *parameters)
            written = RarePath(symbol, kind, parameters, tuple(inner.lines), result, frozenset(inner._called))
            self.module.rare_paths[symbol] = written
        operands = ", ".join(f"{kind} %s" for _ in arguments)
        return self._emit(f"call {kind} @{symbol}({operands})", *arguments)

    # int32

    def int_const(self, value: int) -> Int:
        return Literal.of(f"splat (i32 {value})", self._int, is_zero=value == 0)

    def bits(self, a: Value) -> Int:
        return self._emit(f"bitcast {self._float} %s to {self._int}", a, work=Work.NONE)

    def from_bits(self, i: Int) -> Value:
        return self._emit(f"bitcast {self._int} %s to {self._float}", i, work=Work.NONE)

    def _int_op(self, opcode: str, i: Int, j: Int) -> Int:
        return self._emit(f"{opcode} {self._int} %s, %s", i, j)

    def _shift(self, opcode: str, i: Int, count: Int) -> Int:
        return self._emit(f"{opcode} {self._int} {i}, {count}")

    def int_add(self, i: Int, j: Int) -> Int:
        return self._int_op("add", i, j)

    def int_sub(self, i: Int, j: Int) -> Int:
        return self._int_op("sub", i, j)

    def int_and(self, i: Int, j: Int) -> Int:
        return self._int_op("and", i, j)

    def int_or(self, i: Int, j: Int) -> Int:
        return self._int_op("or", i, j)

    def int_xor(self, i: Int, j: Int) -> Int:
        return self._int_op("xor", i, j)

    def shift_left(self, i: Int, count: Int) -> Int:
        return self._shift("shl", i, count)

    def shift_right(self, i: Int, count: Int) -> Int:
        return self._shift("ashr", i, count)

    def shift_right_zero(self, i: Int, count: Int) -> Int:
        return self._shift("lshr", i, count)

    def int_mul(self, i: Int, j: Int) -> Int:
        return self._int_op("mul", i, j)

    def multiply_wide(self, i: Int, j: Int) -> tuple[Int, Int]:
        wide = f"<{self.isa.lanes} x i64>"
        left = self._emit(f"zext {self._int} %s to {wide}", i)
        right = self._emit(f"zext {self._int} %s to {wide}", j)
        product = self._emit(f"mul {wide} %s, %s", left, right)
        shifted = self._emit(f"lshr {wide} %s, splat (i64 32)", product)
        high = self._emit(f"trunc {wide} %s to {self._int}", shifted)
        return high, self._emit(f"trunc {wide} %s to {self._int}", product)

    def words_of(self, wide: DoubleWord) -> tuple[Int, Int]:
        kind = f"<{self.isa.lanes} x i64>"
        shifted = self._emit(f"lshr {kind} %s, splat (i64 32)", wide)
        high = self._emit(f"trunc {kind} %s to {self._int}", shifted)
        return high, self._emit(f"trunc {kind} %s to {self._int}", wide)

    def double_word(self, high: Int, low: Int) -> DoubleWord:
        kind = f"<{self.isa.lanes} x i64>"
        upper, lower = (self._emit(f"zext {self._int} %s to {kind}", word) for word in (high, low))
        shifted = self._emit(f"shl {kind} %s, splat (i64 32)", upper)
        return self._emit(f"or {kind} %s, %s", shifted, lower)

    def int_eq(self, i: Int, j: Int) -> Mask:
        return self._int_op("icmp eq", i, j)

    def int_lt(self, i: Int, j: Int) -> Mask:
        return self._int_op("icmp slt", i, j)

    def unsigned_lt(self, i: Int, j: Int) -> Mask:
        return self._int_op("icmp ult", i, j)

    def int_select(self, m: Mask, i: Int, j: Int) -> Int:
        return self._emit(f"select {self._mask} %s, {self._int} %s, {self._int} %s", m, i, j)

    def to_float(self, i: Int) -> Value:
        return self._emit(f"sitofp {self._int} %s to {self._float}", i)

    def truncated(self, a: Value) -> Int:
        return self._emit(f"fptosi {self._float} %s to {self._int}", a)

    def lookup(self, table: Table, index: Int) -> Value:
        if self.isa.avx512:
            return self.from_bits(self._lookup_avx512(table, index))
        if self.isa.avx2:
            return self._lookup_avx2(table, index)
        return self._lookup_neon(table, index)

    def _lookup_avx512(self, table: Table, index: Int) -> Int:
        # vpermd and vpermt2d read the low 4 and 5 bits of each index.
        low = self._words(table.words[:16])
        if len(table.words) == 16:
            return self._call(self._int, "llvm.x86.avx512.permvar.si.512", (self._int, low), (self._int, index))
        high = self._words(table.words[16:])
        operands = ((self._int, low), (self._int, index), (self._int, high))
        return self._call(self._int, "llvm.x86.avx512.vpermi2var.d.512", *operands)

    def _words(self, words: tuple[int, ...]) -> Literal:
        return Literal.of(f"<{', '.join(f'i32 {word}' for word in words)}>", self._int)

    def _lookup_avx2(self, table: Table, index: Int) -> Value:
        # vpermps reads the low 3 bits; the bits above choose between eights by the sign that vblendvps reads.
        parts = [
            self._call(
                self._float,
                "llvm.x86.avx2.permps",
                (self._float, _floats_text(table.words[i : i + 8])),
                (self._int, index),
            )
            for i in range(0, len(table.words), 8)
        ]
        bit = 3
        while len(parts) > 1:
            chosen = self.from_bits(self.shift_left(index, self.int_const(31 - bit)))
            parts = [
                self._call(
                    self._float,
                    "llvm.x86.avx.blendv.ps.256",
                    (self._float, parts[i]),
                    (self._float, parts[i + 1]),
                    (self._float, chosen),
                )
                for i in range(0, len(parts), 2)
            ]
            bit += 1
        return parts[0]

    def _lookup_neon(self, table: Table, index: Int) -> Value:
        # Bytes 4i .. 4i+3 of a table of 64 bytes; tbx keeps what tbl found where its own index is out of range.
        inside = self.int_and(index, self.int_const(len(table.words) - 1))
        first_byte = self._int_op("mul", inside, self.int_const(0x0404_0404))
        byte_index = self.int_add(first_byte, self.int_const(0x0302_0100))
        found = self._neon_table("tbl4", table.words[:16], byte_index, ())
        if len(table.words) == 32:
            beyond = self.int_sub(byte_index, self.int_const(0x4040_4040))
            found = self._neon_table("tbx4", table.words[16:], beyond, (("<16 x i8>", found),))
        return self._emit(f"bitcast <16 x i8> %s to {self._float}", found, work=Work.NONE)

    def _neon_table(
        self, instruction: str, words: tuple[int, ...], index: Int, kept: tuple[tuple[str, str], ...]
    ) -> str:
        quarters = [_bytes_text(words[i : i + 4]) for i in range(0, 16, 4)]
        indices = self._emit(f"bitcast {self._int} %s to <16 x i8>", index, work=Work.NONE)
        operands = (*kept, *(("<16 x i8>", quarter) for quarter in quarters), ("<16 x i8>", indices))
        return self._call("<16 x i8>", f"llvm.aarch64.neon.{instruction}.v16i8", *operands)

    def call_scalar(self, function: ScalarFunction, operands: Sequence[Value]) -> Value:
        self.module.scalar_functions[function.symbol] = function
        result = "poison"
        for lane in range(self.isa.lanes):
            elements = [self._emit(f"extractelement {self._float} %s, i64 {lane}", operand) for operand in operands]
            value = self._call("float", function.symbol, *(("float", element) for element in elements))
            result = self._emit(f"insertelement {self._float} %s, float %s, i64 {lane}", result, value)
        return result

    # Instructions of AVX-512 with the bits of the generic forms

    def scale(self, a: Value, n: Value) -> Value:
        if not self.isa.avx512:
            return super().scale(a, n)
        operands = ((self._float, a), (self._float, n), (self._float, self.const(0.0)), ("i16", "-1"), ("i32", "4"))
        return self._call(self._float, "llvm.x86.avx512.mask.scalef.ps.512", *operands)

    def scale_by_sixteenths(self, a: Value, sum_: Value, n: Value) -> Value:
        # vscalefps takes the floor itself.
        return self.scale(a, n) if self.isa.avx512 else super().scale_by_sixteenths(a, sum_, n)

    def exp2_by(self, y: Value, coefficients: Sequence[float]) -> Value:
        if not self.isa.avx512:
            return super().exp2_by(y, coefficients)
        # vreduceps (9: less its floor) makes 0 of infinities, and vscalefps takes the floor of any number itself.
        unmasked = ((self._float, self.const(0.0)), ("i16", "-1"), ("i32", "4"))
        operands = ((self._float, y), ("i32", "9"), *unmasked)
        fraction = self._call(self._float, "llvm.x86.avx512.mask.reduce.ps.512", *operands)
        return self.scale(self.polynomial(fraction, coefficients), y)

    def split(self, x: Value) -> tuple[Value, Value]:
        if not self.isa.avx512:
            return super().split(x)
        m = self._mantissa(x, 3)
        return m, self.sub(self._floor_log2(x), self._floor_log2(m))

    def split_at_one(self, x: Value) -> tuple[Value, Value]:
        return (self._mantissa(x, 0), self._floor_log2(x)) if self.isa.avx512 else super().split_at_one(x)

    def _mantissa(self, x: Value, interval: int) -> Value:
        """In [1, 2) for interval 0, [0.75, 1.5) for 3; NaN for numbers below zero (8)."""
        unmasked = ((self._float, self.const(0.0)), ("i16", "-1"), ("i32", "4"))
        operands = ((self._float, x), ("i32", str(interval + 8)), *unmasked)
        return self._call(self._float, "llvm.x86.avx512.mask.getmant.ps.512", *operands)

    def _floor_log2(self, x: Value) -> Value:
        operands = ((self._float, x), (self._float, self.const(0.0)), ("i16", "-1"), ("i32", "4"))
        return self._call(self._float, "llvm.x86.avx512.mask.getexp.ps.512", *operands)


@lru_cache(maxsize=4096)
def _call_texts(result: str, function: str, types: tuple[str, ...]) -> tuple[str, str]:
    """Declaration of a function, and the template of its calls."""
    arguments = ", ".join(f"{type_} %s" for type_ in types)
    return f"declare {result} @{function}({', '.join(types)})", f"call {result} @{function}({arguments})"


@lru_cache(maxsize=4096)
def _float_literal(double: bytes, vector: str) -> Literal:
    """The float32 nearest to a number, by its bits: 0.0 and -0.0 differ."""
    text = _float_text(struct.unpack("<d", double)[0])
    return Literal.of(f"splat (float {text})", vector, is_zero=text == _ZERO)


def _float_text(value: float) -> str:
    """`value` rounded to float32 as LLVM reads it: the bits of the equal double."""
    try:
        single = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        single = float("inf") if value > 0 else float("-inf")
    return f"0x{struct.unpack('<Q', struct.pack('<d', single))[0]:016X}"


_ZERO = _float_text(0.0)


def _floats_text(words: tuple[int, ...]) -> str:
    floats = (struct.unpack("<f", struct.pack("<i", word))[0] for word in words)
    return f"<{', '.join(f'float {_float_text(value)}' for value in floats)}>"


def _bytes_text(words: tuple[int, ...]) -> str:
    data = struct.pack(f"<{len(words)}i", *words)
    return f"<{', '.join(f'i8 {byte}' for byte in data)}>"
