"""What the source of a numba kernel calls: one element at a time, in float32, every function by libm in float64.

Arithmetic, comparison, rounding and conversion are IEEE 754 binary32's, bit for bit those of `Primitives`. A function
takes the float32 to float64, where it is exact, computes there with libm, and rounds once: its error is half a unit of
float32's last place plus libm's error in float64, less than `LIBM_ULP` in all. Nothing is contracted, nothing raises.

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
from ttnn_jit.kernels.numba.libm import EXACT, OF_ONE, OF_TWO
from ttnn_jit.kernels.numba.numba_pipeline import LinkedCompiler, LoopCompiler
from ttnn_jit.specs.dtypes import ALL_DTYPES, DataType

LIBM_ULP = 0.51
"""Largest error of a function here, in units of float32's last place: libm's few units of float64 count 2**-29 each."""

f32, f64 = np.float32, np.float64
i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64


_CALLED_BY_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": LinkedCompiler}
"""No Python calls it: numba compiles no entry points for that, which take longer than short functions do."""

_called = njit(**_CALLED_BY_KERNELS)
_CALLED: dict[tuple[Any, ...], Any] = {}


def called(function: Any) -> Any:
    """Compiles a function that kernels alone call; one for all that have equal code and call the same functions."""
    code = function.__code__
    met = [function.__globals__.get(name) for each in codes_in(code) for name in each.co_names]
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    key = (code.replace(co_firstlineno=1), *map(id, (*met, *held)))  # what is met lives as long as the function
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
    """A function from an address to it as a pointer to what stores elements of `dtype`: a truth is a byte."""
    stored = types.uint8 if dtype.compute.is_bool else getattr(types, dtype.traits.numpy)
    return intrinsic(_conversion(types.int64, types.CPointer(stored), "inttoptr"))


globals().update({f"{dtype.name.lower()}_at": _pointer_to(dtype) for dtype in ALL_DTYPES})


def _memory(element: Any) -> Callable[[Any, Any], Any]:
    """``f(count)``: a pointer to `count` elements on the stack; the count is a literal."""

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
    """A * b + c, rounded once; libm's fmaf where the processor has no instruction."""
    del a, b, c

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float32(types.float32, types.float32, types.float32), generate


@intrinsic  # type: ignore[untyped-decorator]
def select(_: Any, mask: Any, a: Any, b: Any) -> Any:
    """A where the mask is true, else b: without a branch, of which numba makes blocks."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return a(mask, a, b), generate


# --- bfloat16 -------------------------------------------------------------------------------------------------------


@scalar  # type: ignore[untyped-decorator]
def widen(half: Any) -> Any:
    """The float32 of a bfloat16's bits."""
    return from_bits(i32(u32(half) << u32(16)))


@scalar  # type: ignore[untyped-decorator]
def narrow(a: Any) -> Any:
    """The bits of bfloat16 of a float32 that bfloat16 holds exactly."""
    return u16(u32(bits(a)) >> u32(16))


@scalar  # type: ignore[untyped-decorator]
def nearest_bfloat16(a: Any) -> Any:
    """To the nearest bfloat16, ties to even; NaN stays NaN."""
    if np.isnan(a):
        return f32(math.nan)
    whole = u32(bits(a))
    return from_bits(i32((whole + u32(0x7FFF) + ((whole >> u32(16)) & u32(1))) & u32(0xFFFF_0000)))


@scalar  # type: ignore[untyped-decorator]
def device_bfloat16(a: Any) -> Any:
    """As a device stores bfloat16: NaN becomes infinity, a magnitude below 2**-126 zero of its sign."""
    if np.isnan(a):
        return f32(math.inf)
    if abs(a) < f32(2.0**-126):
        return from_bits(bits(a) & i32(-0x8000_0000))
    return nearest_bfloat16(a)


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


# --- Functions: float64 inside, rounded once ------------------------------------------------------------------------


def _of_libm(name: str) -> Any:
    function = {**EXACT, **OF_ONE, **OF_TWO}[name]

    def exact(a: Any) -> Any:
        return f32(function(a))

    def of_one(a: Any) -> Any:
        return f32(function(f64(a)))

    def of_two(a: Any, b: Any) -> Any:
        return f32(function(f64(a), f64(b)))

    made = exact if name in EXACT else of_one if name in OF_ONE else of_two
    made.__name__ = made.__qualname__ = name  # by which numba calls it
    return scalar(made)


globals().update({name: _of_libm(name) for name in (*EXACT, *OF_ONE, *OF_TWO)})


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
