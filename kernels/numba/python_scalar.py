"""Tile bodies as Python source for numba: one statement per operation, one element at a time.

Every exactly defined primitive is an operator or a call with the same bits. Functions are libm's
(`ttnn_jit.kernels.numba.scalar_math`), not those of `VectorMath`, so agreement of the two is evidence for both.
Functions that libm lacks are those of `VectorMath`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.kernels.llvm.values import OrdinaryParameter
from ttnn_jit.kernels.math.primitives import Table
from ttnn_jit.kernels.math.vector_math import VectorMath
from ttnn_jit.kernels.math.wide_primitives import Int, Int64
from ttnn_jit.kernels.numba.libm import BINARY, UNARY
from ttnn_jit.kernels.numba.python_wide import PythonWide
from ttnn_jit.kernels.numba.scalar_call import register
from ttnn_jit.ops.language.emit import Mask, Value
from ttnn_jit.ops.language.kinds import as_float32
from ttnn_jit.ops.language.tile_body import ScalarFunction
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

INDENT = "    "


def _infix(operator: str) -> Callable[..., Any]:
    """A method that writes an operator between its operands."""
    return lambda self, a, b: self.assign(f"{a} {operator} {b}")


def _integer_infix(operator: str) -> Callable[..., Any]:
    """A method that writes an operator and truncates the result to 32 bits, because numba's integers are wider."""
    return lambda self, i, j: self._int(f"{i} {operator} {j}")


def _calls(function: str) -> Callable[..., Any]:
    """A method that writes a call of a function of scalar_math."""
    return lambda self, *operands: self.call(function, *operands)


class PythonScalar(VectorMath):
    """Writes statements into `lines`; a value is the text of a variable or a constant.

    Attributes:
        lines: The statements, indented only inside of an ``if``.
        imported: Names of ``ttnn_jit.kernels.numba.scalar_math`` that they use.
        tables: Texts of the tables that they use, by name.
        functions: User functions that they call, by their names in ``ttnn_jit.kernels.numba.scalar_call``.
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
        """A new variable that holds the result of `function` of scalar_math."""
        self.imported.add(function)
        return self.assign(f"{function}({', '.join(operands)})")

    def _cast(self, kind: str, text: str) -> str:
        self.imported.add(kind)
        return f"{kind}({text})"

    # float32

    def const(self, value: float | OrdinaryParameter) -> Value:
        if isinstance(value, OrdinaryParameter):
            return value.number
        single = as_float32(value)
        text = repr(single)
        if not math.isfinite(single):
            self.limits.add(text.removeprefix("-"))
        return self._cast("f32", text)

    add = _infix("+")
    sub = _infix("-")
    mul = _infix("*")
    div = _infix("/")
    fma = _calls("fma")

    def neg(self, a: Value) -> Value:
        return self.assign(f"-{a}")

    def abs(self, a: Value) -> Value:
        return self.assign(f"abs({a})")

    copysign = _calls("copysign")
    sqrt = _calls("sqrt")
    minimum = _calls("minimum")
    maximum = _calls("maximum")
    round_even = _calls("round_even")
    floor = _calls("floor")
    ceil = _calls("ceil")
    trunc = _calls("trunc")
    # masks

    lt = _infix("<")
    le = _infix("<=")
    gt = _infix(">")
    ge = _infix(">=")
    eq = _infix("==")
    ne = _infix("!=")
    both = _infix("&")
    either = _infix("|")

    def invert(self, m: Mask) -> Mask:
        return self.assign(f"not {m}")

    select = _calls("select")

    def rarely(self, mask: Mask, usual: Value, body: Callable[..., Value], *arguments: Value) -> Value:
        result = self.assign(usual)
        self.lines.append(f"{self._indent}if {mask}:  # {body.__name__}")
        self._indent += INDENT
        rare = body(self, *arguments)
        self.lines.append(f"{self._indent}{result} = {rare}")
        self._indent = self._indent.removesuffix(INDENT)
        return result

    @cached_property
    def wide(self) -> PythonWide:
        """The primitives on elements of 64 bits, which write into the same lines."""
        return PythonWide(self)

    # int32

    def _int(self, text: str) -> Int:
        return self.assign(self._cast("i32", text))

    def int_const(self, value: int) -> Int:
        return self._cast("i32", str(value))

    bits = _calls("bits")
    from_bits = _calls("from_bits")
    int_add = _integer_infix("+")
    int_sub = _integer_infix("-")
    int_and = _integer_infix("&")
    int_or = _integer_infix("|")
    int_xor = _integer_infix("^")
    shift_left = _integer_infix("<<")
    shift_right = _integer_infix(">>")

    def shift_right_zero(self, i: Int, count: Int) -> Int:
        return self._int(f"{self._cast('u32', i)} >> {self._cast('u32', count)}")

    int_mul = _integer_infix("*")

    def multiply_wide(self, i: Int, j: Int) -> tuple[Int, Int]:
        factors = [self._cast("u64", self._cast("u32", word)) for word in (i, j)]
        product = self.assign(" * ".join(factors))
        return self._int(f"{product} >> {self._cast('u64', '32')}"), self._int(product)

    def int64_halves(self, wide: Int64) -> tuple[Int, Int]:
        return self._int(f"{wide} >> {self._cast('i64', '32')}"), self._int(wide)

    def int64(self, high: Int, low: Int) -> Int64:
        upper, lower = self._cast("i64", high), self._cast("i64", self._cast("u32", low))
        return self.assign(f"({upper} << {self._cast('i64', '32')}) | {lower}")

    int_eq = _infix("==")
    int_lt = _infix("<")

    def unsigned_lt(self, i: Int, j: Int) -> Mask:
        return self.assign(f"{self._cast('u32', i)} < {self._cast('u32', j)}")

    int_select = _calls("select")

    def to_float(self, i: Int) -> Value:
        return self.assign(self._cast("f32", i))

    def truncated(self, a: Value) -> Int:
        return self._int(a)

    def lookup(self, table: Table, index: Int) -> Value:
        name = f"TABLE_{table.name.upper()}"
        self.tables[name] = str(table.entries)
        return self.from_bits(self._cast("i32", f"{name}[{index} & {len(table.entries) - 1}]"))

    def call_scalar(self, function: ScalarFunction, operands: Sequence[Value]) -> Value:
        name = register(function)
        self.functions[name] = function
        return self.assign(f"{name}({', '.join(operands)})")

    # bfloat16

    def loaded(self, element: str, dtype: DataType) -> Value:
        """Convert a stored `element` of `dtype` to its compute type."""
        if dtype.is_integer:
            return self.assign(self._cast("i64" if dtype.compute.is_wide else "i32", element))
        if dtype.is_compute_type:
            return self.assign(element)
        return self.call("widen_half" if dtype.is_ieee_half else "widen", element)

    def stored(self, value: Value, dtype: DataType) -> Value:
        """Convert `value`, which `dtype` represents exactly, to a stored element."""
        if dtype.is_integer:
            return self._cast(f"{'i' if dtype.compute.is_signed else 'u'}{8 * dtype.itemsize}", value)
        if dtype.is_compute_type:
            return value
        return self.call("narrow_half" if dtype.is_ieee_half else "narrow", value)

    def round_bfloat16(self, value: Value, numerics: Numerics) -> Value:
        return self.call("nearest_bfloat16" if numerics is Numerics.IEEE else "device_bfloat16", value)


for _name in ("sigmoid", "silu", "gelu", "rsqrt", *UNARY, *BINARY):
    setattr(PythonScalar, _name, _calls(_name))  # overrides the method of `VectorMath`
