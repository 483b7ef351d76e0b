"""The functions that numba kernels call, one element at a time: float32 arithmetic, and libm functions in float64.

Arithmetic, comparisons, rounding and conversions are IEEE 754 binary32 operations with the same bits as `Primitives`. A
libm function converts its float32 argument to float64, which is exact, and rounds its result once. Its error is half a
float32 ulp plus libm's error in float64, less than `LIBM_ULP` in total. Nothing is contracted, nothing raises.

This module imports numba; only code that compiles kernels with numba imports it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from ttnn_jit.diagnostics.source import codes_in
from ttnn_jit.kernels.numba.libm import BINARY, EXACT, UNARY
from ttnn_jit.kernels.numba.numba_pipeline import LinkedCompiler, LoopCompiler
from ttnn_jit.specs.dtypes import ALL_DTYPES, DataType

LIBM_ULP = 0.51
"""The largest error of a function here, in float32 ulps: the few float64 ulps of libm count 2**-29 each."""

f32, f64 = np.float32, np.float64
i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64


_CALLED_BY_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": LinkedCompiler}
"""Options without Python and C entry points: kernels do not need them, and they compile slower than short functions."""

_called = njit(**_CALLED_BY_KERNELS)
_CALLED: dict[tuple[Any, ...], Any] = {}


def called(function: Any) -> Any:
    """Compile a function that only kernels call; functions with equal code and the same callees share the result."""
    code = function.__code__
    read_globals = [function.__globals__.get(name) for each in codes_in(code) for name in each.co_names]
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    key = (code.replace(co_firstlineno=1), *map(id, (*read_globals, *cells)))  # the function keeps these objects alive
    if key not in _CALLED:
        _CALLED[key] = _called(function)
    return _CALLED[key]


loop = njit(error_model="numpy", boundscheck=False, **{**_CALLED_BY_KERNELS, "pipeline_class": LoopCompiler})
"""Compiles the loop of a routine."""

scalar = njit(error_model="numpy", inline="never", **_CALLED_BY_KERNELS)
"""Compiles a function of one element: division by zero is an infinity, not an exception."""


def _conversion(source: Any, target: Any, instruction: str) -> Any:
    """A function from `source` to `target` that is one LLVM instruction."""

    def typed(_: Any, __: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(arguments[0], context.get_value_type(signature.return_type))

        return target(source), generate

    return typed


def _pointer_to(dtype: DataType) -> Any:
    """A function from an address to a pointer to stored elements of `dtype`; truths are bytes."""
    stored = types.uint8 if dtype.compute.is_bool else getattr(types, dtype.traits.numpy)
    return intrinsic(_conversion(types.int64, types.CPointer(stored), "inttoptr"))


globals().update({f"{dtype.name.lower()}_at": _pointer_to(dtype) for dtype in ALL_DTYPES})


def _memory(element: Any) -> Callable[[Any, Any], Any]:
    """``f(count)``: a pointer to `count` elements on the stack; the count must be a literal."""

    def typed(_: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, __: Any) -> Any:
            kind = context.get_value_type(signature.return_type.dtype)
            return cgutils.alloca_once(builder, kind, size=count.literal_value)

        return types.CPointer(element)(count), generate

    return typed


float32_memory = intrinsic(prefer_literal=True)(_memory(types.float32))
bfloat16_memory = intrinsic(prefer_literal=True)(_memory(types.uint16))
bits = intrinsic(_conversion(types.float32, types.int32, "bitcast"))
"""The bits of a float32 as int32."""
from_bits = intrinsic(_conversion(types.int32, types.float32, "bitcast"))
"""The float32 with these bits."""


@intrinsic  # type: ignore[untyped-decorator]
def fma(_: Any, a: Any, b: Any, c: Any) -> Any:
    """A * b + c, rounded once; by libm's fmaf if the processor has no instruction."""
    del a, b, c

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float32(types.float32, types.float32, types.float32), generate


@intrinsic  # type: ignore[untyped-decorator]
def select(_: Any, mask: Any, a: Any, b: Any) -> Any:
    """A where the mask is true, else b; a select instruction, whereas numba compiles conditionals to branches."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return a(mask, a, b), generate


# --- bfloat16 -------------------------------------------------------------------------------------------------------


@scalar  # type: ignore[untyped-decorator]
def widen(half: Any) -> Any:
    """The float32 of bfloat16 bits."""
    return from_bits(i32(u32(half) << u32(16)))


@scalar  # type: ignore[untyped-decorator]
def narrow(a: Any) -> Any:
    """The bfloat16 bits of a float32 that bfloat16 represents exactly."""
    return u16(u32(bits(a)) >> u32(16))


@scalar  # type: ignore[untyped-decorator]
def nearest_bfloat16(a: Any) -> Any:
    """Round to the nearest bfloat16, ties to even; NaN stays NaN."""
    if np.isnan(a):
        return f32(math.nan)
    whole = u32(bits(a))
    return from_bits(i32((whole + u32(0x7FFF) + ((whole >> u32(16)) & u32(1))) & u32(0xFFFF_0000)))


@scalar  # type: ignore[untyped-decorator]
def device_bfloat16(a: Any) -> Any:
    """Round to bfloat16 as a device does: NaN becomes infinity, a magnitude below 2**-126 zero of its sign."""
    if np.isnan(a):
        return f32(math.inf)
    if abs(a) < f32(2.0**-126):
        return from_bits(bits(a) & i32(-0x8000_0000))
    return nearest_bfloat16(a)


@scalar  # type: ignore[untyped-decorator]
def widen_half(half: Any) -> Any:
    """The float32 of the bits of an IEEE half: an integer times a power of two, or with the exponent of infinity."""
    word = u32(half)
    exponent, mantissa = (word >> u32(10)) & u32(31), word & u32(1023)
    if exponent == u32(31):
        magnitude = from_bits(i32(u32(0x7F80_0000) | (mantissa << u32(13))))
    elif exponent == u32(0):
        magnitude = f32(mantissa) * f32(2.0**-24)
    else:
        magnitude = from_bits(i32(((exponent + u32(112)) << u32(23)) | (mantissa << u32(13))))
    return from_bits(i32(u32(bits(magnitude)) | ((word & u32(0x8000)) << u32(16))))


@scalar  # type: ignore[untyped-decorator]
def narrow_half(a: Any) -> Any:
    """The bits of the IEEE half that a float32 is, or of a NaN."""
    word = u32(bits(a))
    magnitude, sign = word & u32(0x7FFF_FFFF), (word >> u32(16)) & u32(0x8000)
    if magnitude > u32(0x7F80_0000):
        return u16(sign | u32(0x7E00))
    if magnitude == u32(0x7F80_0000):
        return u16(sign | u32(0x7C00))
    if magnitude < u32(0x3880_0000):
        return u16(sign | u32(abs(a) * f32(2.0**24)))
    return u16(sign | ((magnitude - u32(0x3800_0000)) >> u32(13)))


# --- float32 --------------------------------------------------------------------------------------------------------


@scalar  # type: ignore[untyped-decorator]
def copysign(magnitude: Any, sign: Any) -> Any:
    """`magnitude` with the sign bit of `sign`."""
    return from_bits(i32((bits(magnitude) & i32(0x7FFF_FFFF)) | (bits(sign) & i32(-0x8000_0000))))


@scalar  # type: ignore[untyped-decorator]
def minimum(a: Any, b: Any) -> Any:
    """IEEE 754-2019: NaN if either is, -0 below +0."""
    if np.isnan(a) or np.isnan(b):
        return f32(math.nan)
    if a == b:
        return from_bits(i32(bits(a) | bits(b)))
    return a if a < b else b


@scalar  # type: ignore[untyped-decorator]
def maximum(a: Any, b: Any) -> Any:
    """IEEE 754-2019: NaN if either is, -0 below +0."""
    if np.isnan(a) or np.isnan(b):
        return f32(math.nan)
    if a == b:
        return from_bits(i32(bits(a) & bits(b)))
    return a if a > b else b


# --- 64 bits --------------------------------------------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def wide_fma(_: Any, a: Any, b: Any, c: Any) -> Any:
    """`fma` of float64."""
    del a, b, c

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@scalar  # type: ignore[untyped-decorator]
def wide_copysign(magnitude: Any, sign: Any) -> Any:
    """`magnitude` with the sign bit of `sign`."""
    return math.copysign(magnitude, sign)


@scalar  # type: ignore[untyped-decorator]
def wide_minimum(a: Any, b: Any) -> Any:
    """IEEE 754-2019: NaN if either is, -0 below +0."""
    if np.isnan(a) or np.isnan(b):
        return f64(math.nan)
    if a == b:
        return a if math.copysign(1.0, a) < 0 else b
    return a if a < b else b


@scalar  # type: ignore[untyped-decorator]
def wide_maximum(a: Any, b: Any) -> Any:
    """IEEE 754-2019: NaN if either is, -0 below +0."""
    if np.isnan(a) or np.isnan(b):
        return f64(math.nan)
    if a == b:
        return b if math.copysign(1.0, a) < 0 else a
    return a if a > b else b


@scalar  # type: ignore[untyped-decorator]
def wide_quotient(a: Any, b: Any) -> Any:
    """The truncated quotient of signed integers."""
    quotient = a // b
    if quotient * b != a and (a < 0) != (b < 0):
        quotient += i64(1)
    return quotient


# --- Functions: float64 inside, rounded once ------------------------------------------------------------------------


def _of_libm(name: str) -> Any:
    function = {**EXACT, **UNARY, **BINARY}[name]

    def exact(a: Any) -> Any:
        return f32(function(a))

    def of_one(a: Any) -> Any:
        return f32(function(f64(a)))

    def of_two(a: Any, b: Any) -> Any:
        return f32(function(f64(a), f64(b)))

    made = exact if name in EXACT else of_one if name in UNARY else of_two
    made.__name__ = made.__qualname__ = name  # the name in numba's symbols
    return scalar(made)


def _wide_of_libm(name: str) -> Any:
    function = {**EXACT, **UNARY, **BINARY}[name]

    def of_one(a: Any) -> Any:
        return function(a)

    def of_two(a: Any, b: Any) -> Any:
        return function(a, b)

    made = of_two if name in BINARY else of_one
    made.__name__ = made.__qualname__ = f"wide_{name}"  # the name in numba's symbols
    return scalar(made)


globals().update({f"wide_{name}": _wide_of_libm(name) for name in (*EXACT, *UNARY, *BINARY)})
globals().update({name: _of_libm(name) for name in (*EXACT, *UNARY, *BINARY)})


@scalar  # type: ignore[untyped-decorator]
def sigmoid(a: Any) -> Any:
    """1 / (1 + exp(-a))."""
    return f32(f64(1.0) / (f64(1.0) + math.exp(-f64(a))))


@scalar  # type: ignore[untyped-decorator]
def silu(a: Any) -> Any:
    """A * sigmoid(a)."""
    return f32(f64(a) / (f64(1.0) + math.exp(-f64(a))))


@scalar  # type: ignore[untyped-decorator]
def gelu(a: Any) -> Any:
    """A * erfc(-a / sqrt 2) / 2."""
    return f32(f64(0.5) * f64(a) * math.erfc(f64(a) * f64(-(0.5**0.5))))


@scalar  # type: ignore[untyped-decorator]
def rsqrt(a: Any) -> Any:
    """1 / sqrt(a)."""
    return f32(f64(1.0) / np.sqrt(f64(a)))
