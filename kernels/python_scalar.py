"""Tile bodies as Python source: one statement per operation, one element at a time, for numba to compile.

Everything that `Primitives` defines exactly is an operator or a call with the same bits. The functions are not those of
`VectorMath` but libm's (`ttnn_jit.kernels.scalar_math`): that the two agree says something of both. A function that
libm lacks is `VectorMath`'s own.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

from ttnn_jit.kernels.primitives import DoubleWord, Int, Table
from ttnn_jit.kernels.scalar_call import register
from ttnn_jit.kernels.vector_math import VectorMath
from ttnn_jit.ops.emit import Mask, Value
from ttnn_jit.ops.tile_body import ScalarFunction
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType


class PythonScalar(VectorMath):
    """Writes statements into `lines`; a value is a variable or a constant's text.

    Attributes:
        lines: The statements, without indentation but for that of an ``if``.
        imported: Names of ``ttnn_jit.kernels.scalar_math`` that they use.
        tables: Name -> text of the tables that they use.
        functions: A user's that they call, by their names in ``ttnn_jit.kernels.scalar_call``.
        limits: Names of ``math`` that they use: ``inf`` and ``nan``.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.imported: set[str] = set()
        self.tables: dict[str, str] = {}
        self.functions: dict[str, ScalarFunction] = {}
        self.limits: set[str] = set()
        self._count = 0
        self._indent = ""

    def assign(self, text: str) -> str:
        """A new variable that holds the value of the expression `text`."""
        name = f"t{self._count}"
        self._count += 1
        self.lines.append(f"{self._indent}{name} = {text}")
        return name

    def call(self, function: str, *operands: str) -> str:
        """A new variable that holds what `function` of scalar_math returns."""
        self.imported.add(function)
        return self.assign(f"{function}({', '.join(operands)})")

    def _cast(self, kind: str, text: str) -> str:
        self.imported.add(kind)
        return f"{kind}({text})"

    # float32

    def const(self, value: float) -> Value:
        text = _float_text(value)
        if not math.isfinite(float(text)):
            self.limits.add(text.removeprefix("-"))
        return self._cast("f32", text)

    def add(self, a: Value, b: Value) -> Value:
        return self.assign(f"{a} + {b}")

    def sub(self, a: Value, b: Value) -> Value:
        return self.assign(f"{a} - {b}")

    def mul(self, a: Value, b: Value) -> Value:
        return self.assign(f"{a} * {b}")

    def div(self, a: Value, b: Value) -> Value:
        return self.assign(f"{a} / {b}")

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        return self.call("fma", a, b, c)

    def neg(self, a: Value) -> Value:
        return self.assign(f"-{a}")

    def abs(self, a: Value) -> Value:
        return self.assign(f"abs({a})")

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        return self.call("copysign", magnitude, sign)

    def sqrt(self, a: Value) -> Value:
        return self.call("sqrt", a)

    def minimum(self, a: Value, b: Value) -> Value:
        return self.call("minimum", a, b)

    def maximum(self, a: Value, b: Value) -> Value:
        return self.call("maximum", a, b)

    def round_even(self, a: Value) -> Value:
        return self.call("round_even", a)

    def floor(self, a: Value) -> Value:
        return self.call("floor", a)

    def ceil(self, a: Value) -> Value:
        return self.call("ceil", a)

    def trunc(self, a: Value) -> Value:
        return self.call("trunc", a)

    # masks

    def lt(self, a: Value, b: Value) -> Mask:
        return self.assign(f"{a} < {b}")

    def le(self, a: Value, b: Value) -> Mask:
        return self.assign(f"{a} <= {b}")

    def gt(self, a: Value, b: Value) -> Mask:
        return self.assign(f"{a} > {b}")

    def ge(self, a: Value, b: Value) -> Mask:
        return self.assign(f"{a} >= {b}")

    def eq(self, a: Value, b: Value) -> Mask:
        return self.assign(f"{a} == {b}")

    def ne(self, a: Value, b: Value) -> Mask:
        return self.assign(f"{a} != {b}")

    def both(self, m: Mask, n: Mask) -> Mask:
        return self.assign(f"{m} & {n}")

    def either(self, m: Mask, n: Mask) -> Mask:
        return self.assign(f"{m} | {n}")

    def invert(self, m: Mask) -> Mask:
        return self.assign(f"not {m}")

    def select(self, m: Mask, a: Value, b: Value) -> Value:
        return self.call("select", m, a, b)

    def rarely(self, mask: Mask, usual: Value, name: str, body: Callable[..., Value], *arguments: Value) -> Value:
        result = self.assign(usual)
        self.lines.append(f"{self._indent}if {mask}:  # {name}")
        self._indent += "    "
        rare = body(self, *arguments)
        self.lines.append(f"{self._indent}{result} = {rare}")
        self._indent = self._indent[4:]
        return result

    # int32: Python's integers are wider, so every result is cut to 32 bits

    def _int(self, text: str) -> Int:
        return self.assign(self._cast("i32", text))

    def int_const(self, value: int) -> Int:
        return self._cast("i32", str(value))

    def bits(self, a: Value) -> Int:
        return self.call("bits", a)

    def from_bits(self, i: Int) -> Value:
        return self.call("from_bits", i)

    def int_add(self, i: Int, j: Int) -> Int:
        return self._int(f"{i} + {j}")

    def int_sub(self, i: Int, j: Int) -> Int:
        return self._int(f"{i} - {j}")

    def int_and(self, i: Int, j: Int) -> Int:
        return self._int(f"{i} & {j}")

    def int_or(self, i: Int, j: Int) -> Int:
        return self._int(f"{i} | {j}")

    def int_xor(self, i: Int, j: Int) -> Int:
        return self._int(f"{i} ^ {j}")

    def shift_left(self, i: Int, count: Int) -> Int:
        return self._int(f"{i} << {count}")

    def shift_right(self, i: Int, count: Int) -> Int:
        return self._int(f"{i} >> {count}")

    def shift_right_zero(self, i: Int, count: Int) -> Int:
        return self._int(f"{self._cast('u32', i)} >> {self._cast('u32', count)}")

    def int_mul(self, i: Int, j: Int) -> Int:
        return self._int(f"{i} * {j}")

    def multiply_wide(self, i: Int, j: Int) -> tuple[Int, Int]:
        factors = [self._cast("u64", self._cast("u32", word)) for word in (i, j)]
        product = self.assign(" * ".join(factors))
        return self._int(f"{product} >> {self._cast('u64', '32')}"), self._int(product)

    def words_of(self, wide: DoubleWord) -> tuple[Int, Int]:
        return self._int(f"{wide} >> {self._cast('i64', '32')}"), self._int(wide)

    def double_word(self, high: Int, low: Int) -> DoubleWord:
        upper, lower = self._cast("i64", high), self._cast("i64", self._cast("u32", low))
        return self.assign(f"({upper} << {self._cast('i64', '32')}) | {lower}")

    def int_eq(self, i: Int, j: Int) -> Mask:
        return self.assign(f"{i} == {j}")

    def int_lt(self, i: Int, j: Int) -> Mask:
        return self.assign(f"{i} < {j}")

    def unsigned_lt(self, i: Int, j: Int) -> Mask:
        return self.assign(f"{self._cast('u32', i)} < {self._cast('u32', j)}")

    def int_select(self, m: Mask, i: Int, j: Int) -> Int:
        return self.call("select", m, i, j)

    def to_float(self, i: Int) -> Value:
        return self.assign(self._cast("f32", i))

    def truncated(self, a: Value) -> Int:
        return self._int(a)

    def lookup(self, table: Table, index: Int) -> Value:
        name = f"TABLE_{table.name.upper()}"
        self.tables[name] = str(table.words)
        return self.from_bits(self._cast("i32", f"{name}[{index} & {len(table.words) - 1}]"))

    def call_scalar(self, function: ScalarFunction, operands: Sequence[Value]) -> Value:
        name = register(function)
        self.functions[name] = function
        return self.assign(f"{name}({', '.join(operands)})")

    # libm

    def exp(self, a: Value) -> Value:
        return self.call("exp", a)

    def log(self, a: Value) -> Value:
        return self.call("log", a)

    def sin(self, a: Value) -> Value:
        return self.call("sin", a)

    def cos(self, a: Value) -> Value:
        return self.call("cos", a)

    def tanh(self, a: Value) -> Value:
        return self.call("tanh", a)

    def sigmoid(self, a: Value) -> Value:
        return self.call("sigmoid", a)

    def silu(self, a: Value) -> Value:
        return self.call("silu", a)

    def erfc(self, a: Value) -> Value:
        return self.call("erfc", a)

    def gelu(self, a: Value) -> Value:
        return self.call("gelu", a)

    def rsqrt(self, a: Value) -> Value:
        return self.call("rsqrt", a)

    def pow(self, a: Value, b: Value) -> Value:
        return self.call("power", a, b)

    def expm1(self, a: Value) -> Value:
        return self.call("expm1", a)

    def log1p(self, a: Value) -> Value:
        return self.call("log1p", a)

    def log10(self, a: Value) -> Value:
        return self.call("log10", a)

    def tan(self, a: Value) -> Value:
        return self.call("tan", a)

    def asin(self, a: Value) -> Value:
        return self.call("asin", a)

    def acos(self, a: Value) -> Value:
        return self.call("acos", a)

    def atan(self, a: Value) -> Value:
        return self.call("atan", a)

    def sinh(self, a: Value) -> Value:
        return self.call("sinh", a)

    def cosh(self, a: Value) -> Value:
        return self.call("cosh", a)

    def asinh(self, a: Value) -> Value:
        return self.call("asinh", a)

    def acosh(self, a: Value) -> Value:
        return self.call("acosh", a)

    def atanh(self, a: Value) -> Value:
        return self.call("atanh", a)

    def erf(self, a: Value) -> Value:
        return self.call("erf", a)

    def atan2(self, a: Value, b: Value) -> Value:
        return self.call("atan2", a, b)

    def hypot(self, a: Value, b: Value) -> Value:
        return self.call("hypot", a, b)

    def fmod(self, a: Value, b: Value) -> Value:
        return self.call("fmod", a, b)

    def exp2(self, a: Value) -> Value:
        return self.call("exp2", a)

    def log2(self, a: Value) -> Value:
        return self.call("log2", a)

    def cbrt(self, a: Value) -> Value:
        return self.call("cbrt", a)

    def lgamma(self, a: Value) -> Value:
        return self.call("lgamma", a)

    # bfloat16

    def loaded(self, element: str, dtype: DataType) -> Value:
        """The value of the compute type of `element` as `dtype` stores it."""
        if dtype.compute.is_double_word:
            return self.assign(self._cast("i64", element))
        if dtype.is_integer:
            return self._int(element)
        return self.call("widen", element) if dtype.is_upper_half else self.assign(element)

    def stored(self, value: Value, dtype: DataType) -> Value:
        """The element of `value`, which `dtype` holds exactly."""
        if dtype.is_integer:
            return self._cast(f"{'i' if dtype.compute.is_signed else 'u'}{8 * dtype.itemsize}", value)
        return self.call("narrow", value) if dtype.is_upper_half else value

    def round_bfloat16(self, value: Value, numerics: Numerics) -> Value:
        return self.call("nearest_bfloat16" if numerics is Numerics.IEEE else "device_bfloat16", value)


def _float_text(value: float) -> str:
    """`value` rounded to float32, as Python reads it."""
    try:
        single = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        single = math.copysign(math.inf, value)
    return repr(single)
