"""Functions of complex numbers in terms of their real and imaginary parts, and the ops that make and take these."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops.families.complex_parts import ComplexTensor, Convert
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import conversion

Function = Callable[[TtirOps, ComplexTensor], Any]


def _times(ops: TtirOps, x: Tensor, y: Tensor) -> Tensor:
    return ops.same("ttir.multiply", x, y)


def _plus(ops: TtirOps, x: Tensor, y: Tensor) -> Tensor:
    return ops.same("ttir.add", x, y)


def _minus(ops: TtirOps, x: Tensor, y: Tensor) -> Tensor:
    return ops.same("ttir.subtract", x, y)


def _over(ops: TtirOps, x: Tensor, y: Tensor) -> Tensor:
    return ops.same("ttir.div", x, y)


def _negative(ops: TtirOps, x: Tensor) -> Tensor:
    return ops.compared("ttir.lt", x, ops.like(x, 0))


def sinh(ops: TtirOps, x: Tensor) -> Tensor:
    """(e + e / (e + 1)) / 2 of e = exp(x) - 1, which is exact near 0; where it overflows, of exp(|x| / 2) squared."""
    magnitude = ops.same("ttir.abs", x)
    less = ops.same("ttir.expm1", magnitude)
    near = _plus(ops, less, _over(ops, less, _plus(ops, less, ops.like(x, 1))))
    half = ops.same("ttir.exp", _times(ops, magnitude, ops.like(x, 0.5)))
    far = _times(ops, _times(ops, half, ops.like(x, 0.5)), half)
    is_far = ops.compared("ttir.gt", magnitude, ops.like(x, 20.0))
    found = ops.select(is_far, far, _times(ops, near, ops.like(x, 0.5)))
    return ops.select(_negative(ops, x), ops.same("ttir.neg", found), found)


def cosh(ops: TtirOps, x: Tensor) -> Tensor:
    """(exp(x) + exp(-x)) / 2, of the square of exp(|x| / 2), which does not overflow before the result does."""
    half = ops.same("ttir.exp", _times(ops, ops.same("ttir.abs", x), ops.like(x, 0.5)))
    whole = _times(ops, _times(ops, half, ops.like(x, 0.5)), half)
    return _plus(ops, whole, _over(ops, _over(ops, ops.like(x, 0.5), half), half))


def magnitude(ops: TtirOps, z: ComplexTensor) -> Tensor:
    """The larger part times sqrt(1 + q^2) of the quotient q of both, which neither overflows nor underflows."""
    parts = [ops.same("ttir.abs", each) for each in z.parts]
    largest, smallest = ops.same("ttir.maximum", *parts), ops.same("ttir.minimum", *parts)
    exact = _is_one_of(ops, largest, 0.0, math.inf)
    quotient = _over(ops, smallest, ops.select(exact, ops.like(largest, 1), largest))
    root = ops.same("ttir.sqrt", _plus(ops, _times(ops, quotient, quotient), ops.like(quotient, 1)))
    return ops.select(exact, largest, _times(ops, largest, root))


def _is_one_of(ops: TtirOps, x: Tensor, first: float, second: float) -> Tensor:
    flags = [ops.compared("ttir.eq", x, ops.like(x, each)) for each in (first, second)]
    return ops.same("ttir.logical_or", *flags)


def product(ops: TtirOps, z: ComplexTensor, w: ComplexTensor) -> ComplexTensor:
    """``(a + b i) (c + d i)``."""
    real = _minus(ops, _times(ops, z.real, w.real), _times(ops, z.imag, w.imag))
    return ComplexTensor(real, _plus(ops, _times(ops, z.real, w.imag), _times(ops, z.imag, w.real)))


def quotient(ops: TtirOps, z: ComplexTensor, w: ComplexTensor) -> ComplexTensor:
    """``z conj(w) / |w|^2`` of `z` and `w` divided by the larger part of `w`, so that no square overflows."""
    scale = ops.same("ttir.maximum", *(ops.same("ttir.abs", each) for each in w.parts))
    exact = _is_one_of(ops, scale, 0.0, math.inf)
    scale = ops.select(exact, ops.like(scale, 1), scale)
    real, imag = (_over(ops, each, scale) for each in w.parts)
    square = _plus(ops, _times(ops, real, real), _times(ops, imag, imag))
    found = product(ops, z, ComplexTensor(real, ops.same("ttir.neg", imag)))
    return ComplexTensor(*(_over(ops, _over(ops, each, square), scale) for each in found.parts))


def exponential(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``exp(a) (cos(b) + i sin(b))``."""
    size = ops.same("ttir.exp", z.real)
    return ComplexTensor(*(_times(ops, size, ops.same(f"ttir.{name}", z.imag)) for name in ("cos", "sin")))


def exponential_minus_one(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``expm1(a) cos(b) - 2 sin(b / 2)^2``, and ``exp(a) sin(b)``."""
    half = ops.same("ttir.sin", _times(ops, z.imag, ops.like(z.imag, 0.5)))
    less = _times(ops, ops.same("ttir.expm1", z.real), ops.same("ttir.cos", z.imag))
    real = _minus(ops, less, _times(ops, ops.like(half, 2), _times(ops, half, half)))
    return ComplexTensor(real, exponential(ops, z).imag)


def logarithm(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``log |z| + i arg(z)``."""
    return ComplexTensor(ops.same("ttir.log", magnitude(ops, z)), ops.same("ttir.atan2", z.imag, z.real))


def logarithm_plus_one(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``log1p(a (2 + a) + b^2) / 2 + i arg(1 + z)``."""
    square = _plus(ops, _times(ops, z.real, _plus(ops, z.real, ops.like(z.real, 2))), _times(ops, z.imag, z.imag))
    real = _times(ops, ops.same("ttir.log1p", square), ops.like(square, 0.5))
    return ComplexTensor(real, ops.same("ttir.atan2", z.imag, _plus(ops, z.real, ops.like(z.real, 1))))


def root(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``t + i b / 2 t`` of t = sqrt((|a| + |z|) / 2), with parts exchanged where `a` is negative."""
    half = ops.like(z.real, 0.5)
    size = _plus(ops, _times(ops, ops.same("ttir.abs", z.real), half), _times(ops, magnitude(ops, z), half))
    first = ops.same("ttir.sqrt", size)
    is_zero = ops.compared("ttir.eq", first, ops.like(first, 0))
    second = _over(ops, _times(ops, z.imag, half), ops.select(is_zero, ops.like(first, 1), first))
    left = _negative(ops, z.real)
    signed = ops.select(_negative(ops, z.imag), ops.same("ttir.neg", first), first)
    return ComplexTensor(ops.select(left, ops.same("ttir.abs", second), first), ops.select(left, signed, second))


def inverse_root(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """The inverse of the root."""
    one = ComplexTensor(ops.like(z.real, 1), ops.like(z.real, 0))
    return quotient(ops, one, root(ops, z))


def sine(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``sin(a) cosh(b) + i cos(a) sinh(b)``."""
    real = _times(ops, ops.same("ttir.sin", z.real), cosh(ops, z.imag))
    return ComplexTensor(real, _times(ops, ops.same("ttir.cos", z.real), sinh(ops, z.imag)))


def cosine(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``cos(a) cosh(b) - i sin(a) sinh(b)``."""
    real = _times(ops, ops.same("ttir.cos", z.real), cosh(ops, z.imag))
    imag = _times(ops, ops.same("ttir.sin", z.real), sinh(ops, z.imag))
    return ComplexTensor(real, ops.same("ttir.neg", imag))


def hyperbolic_tangent(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``(t (1 + u^2) + i u / cosh(a)^2) / (1 + t^2 u^2)`` of t = tanh(a) and u = tan(b)."""
    t, u = ops.same("ttir.tanh", z.real), ops.same("ttir.tan", z.imag)
    one, both = ops.like(t, 1), _times(ops, t, u)
    under = _plus(ops, one, _times(ops, both, both))
    real = _times(ops, t, _plus(ops, one, _times(ops, u, u)))
    steep = _over(ops, one, cosh(ops, z.real))
    imag = _times(ops, u, _times(ops, steep, steep))
    return ComplexTensor(*(_over(ops, each, under) for each in (real, imag)))


def power(ops: TtirOps, z: ComplexTensor, w: ComplexTensor) -> ComplexTensor:
    """``exp(w log z)``; of z = 0, 1 if w is 0, and else 0."""
    found = exponential(ops, product(ops, w, logarithm(ops, z)))
    is_zero, is_one = (ops.compared("ttir.eq", magnitude(ops, each), ops.like(each.real, 0)) for each in (z, w))
    zero, one = ops.like(z.real, 0), ops.like(z.real, 1)
    real = ops.select(is_zero, ops.select(is_one, one, zero), found.real)
    return ComplexTensor(real, ops.select(is_zero, zero, found.imag))


def sign(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``z / |z|``; 0 of 0."""
    size = magnitude(ops, z)
    size = ops.select(ops.compared("ttir.eq", size, ops.like(size, 0)), ops.like(size, 1), size)
    return ComplexTensor(*(_over(ops, each, size) for each in z.parts))


def logistic(ops: TtirOps, z: ComplexTensor) -> ComplexTensor:
    """``1 / (1 + exp(-z))``."""
    less = exponential(ops, ComplexTensor(*(ops.same("ttir.neg", each) for each in z.parts)))
    one = ops.like(z.real, 1)
    return quotient(ops, ComplexTensor(one, ops.like(one, 0)), ComplexTensor(_plus(ops, less.real, one), less.imag))


def compared(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Whether both parts are equal, or not."""
    names = {"EQ": ("ttir.eq", "ttir.logical_and"), "NE": ("ttir.ne", "ttir.logical_or")}
    if call.comparison_direction not in names:
        raise DTypeError(f"complex numbers have no order, and `comparison_direction` is {call.comparison_direction}")
    compare, join = names[call.comparison_direction]
    return ops.same(join, *(ops.compared(compare, *pair) for pair in zip(call.lhs.parts, call.rhs.parts, strict=True)))


def cast(ops: TtirOps, call: ConversionCall) -> ComplexTensor | Tensor:
    """Between complex types, or of a real number, whose imaginary part is 0; a real result is the real part."""
    x, element = call.operand, call.result.element
    parts = x.parts if isinstance(x, ComplexTensor) else (x, ops.like(x, 0))
    real, imag = (ops.cast(each, element) for each in parts)
    return ComplexTensor(real, imag) if call.element_types["result"].startswith("complex") else real


def of_operand(function: Function) -> Convert:
    """A function of the one operand of an op."""
    return lambda ops, call: function(ops, call.operand)


def of_both(function: Callable[[TtirOps, ComplexTensor, ComplexTensor], ComplexTensor]) -> Convert:
    """A function of both operands of an op."""
    return lambda ops, call: function(ops, call.lhs, call.rhs)


def _refused(*_: Any) -> Any:
    raise DTypeError("it computes with complex numbers, and its operand has none")


MAKE = conversion(
    "stablehlo.complex",
    "lhs rhs",
    _refused,
    lambda torch, call: torch.complex(call.lhs, call.rhs),
    of_complex=lambda _, call: ComplexTensor(call.lhs, call.rhs),
)
REAL = conversion(
    "stablehlo.real",
    "operand",
    lambda _, call: call.operand,
    lambda torch, call: torch.real(call.operand),
    of_complex=lambda _, call: call.operand.real,
)
IMAG = conversion(
    "stablehlo.imag",
    "operand",
    lambda ops, call: ops.like(call.operand, 0),
    lambda torch, call: torch.imag(call.operand) if call.operand.is_complex() else torch.zeros_like(call.operand),
    of_complex=lambda _, call: call.operand.imag,
)
CONJUGATE = conversion(
    "chlo.conj",
    "operand",
    _refused,
    lambda torch, call: torch.conj(call.operand).resolve_conj(),
    of_complex=lambda ops, call: ComplexTensor(call.operand.real, ops.same("ttir.neg", call.operand.imag)),
)

TEXTS = (MAKE, REAL, IMAG, CONJUGATE)
