"""Elementwise operations as calls of others, which depend on the element type or on the number of coefficients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.activations import SIGMOID
from ttnn_jit.ops.elementwise.binary import ADD, FILL, MULTIPLY, binary
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.language.parameter import FLAG, FLOATS_LISTED, TENSOR, TENSOR_OR_NUMBER, Parameter
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, FLOATS, DataType

# --- The next number --------------------------------------------------------------------------------------------------


def _emit_nextafter(b: Any, x: Any, y: Any, dtype: DataType) -> Any:
    """The next number of `dtype` after x toward y: x plus slightly more than half a unit in the last place, rounded.

    See Rump, Zimmermann, Boldo and Melquiond, Computing predecessor and successor in rounding to nearest (2009).
    Scaling by powers of two keeps sums in the normal range.
    """
    digits = dtype.mantissa_bits + 1
    zero, one, magnitude = b.const(0.0), b.const(1.0), b.abs(x)
    sign = b.select(b.lt(x, y), one, b.const(-1.0))
    scale = b.select(b.lt(magnitude, b.const(2.0**-60)), b.const(2.0**64), one)
    scale = b.select(b.gt(magnitude, b.const(2.0**60)), b.const(2.0**-20), scale)
    scaled = b.mul(x, scale)
    step = b.mul(b.abs(scaled), b.const(2.0**-digits * (1 + 2.0 ** (1 - digits))))
    next_number = b.div(_rounded(b, b.add(scaled, b.mul(step, sign)), digits), scale)
    denormal = b.add(x, b.mul(sign, b.const(2.0 ** (-125 - digits))))
    next_number = b.select(b.lt(magnitude, b.const(2.0**-125)), denormal, next_number)
    next_number = b.select(b.eq(next_number, zero), b.mul(x, zero), next_number)
    next_number = b.select(
        b.eq(magnitude, b.const(math.inf)), b.copysign(b.const(dtype.traits.largest), x), next_number
    )
    next_number = b.select(b.eq(x, y), y, next_number)
    return b.select(b.both(b.eq(x, x), b.eq(y, y)), next_number, b.add(x, y))


def _rounded(b: Any, x: Any, digits: int) -> Any:
    """`x`, of up to 2**109, rounded to `digits` bits by Veltkamp's splitting."""
    if digits == COMPUTE_TYPE.mantissa_bits + 1:
        return x
    split = b.mul(x, b.const(2.0 ** (24 - digits) + 1))
    return b.sub(split, b.sub(split, x))


def _nextafter_of(dtype: DataType) -> Any:
    def golden(torch: Any, x: Any, y: Any) -> Any:
        return torch.nextafter(x.to(dtype.torch), y.to(dtype.torch)).to(x.dtype)

    return binary(
        "nextafter",
        summary=f"The next number of {dtype.name} after x toward y.",
        emit=lambda b, x, y: _emit_nextafter(b, x, y, dtype),
        golden=golden,
        ttnn_name=f"nextafter_{dtype.mlir}",
        aten="",
    )


NEXTAFTER_OF_DTYPE = {dtype: _nextafter_of(dtype) for dtype in DataType if dtype in FLOATS}


def _nextafter(ops: Ops, x: Value, y: Value | float) -> Value:
    return ops.call(NEXTAFTER_OF_DTYPE[x.spec.dtype.unpacked], [x, y])


NEXTAFTER = MacroOperation(
    name="nextafter",
    parameters=(Parameter("input_tensor_a", TENSOR), Parameter("input_tensor_b", TENSOR_OR_NUMBER)),
    summary="The next number of x's dtype after x toward y; y where they are equal.",
    source="torch.nextafter",
    decompose=_nextafter,
    takes_dtypes=FLOATS,
    golden=lambda torch, x, y: torch.nextafter(x.float(), torch.as_tensor(y).float()).to(x.dtype),
    aten="nextafter",
    examples=((((3, 40), (3, 40)), ()), (((2, 5, 1), (7,)), ())),
)

# --- Others -----------------------------------------------------------------------------------------------------------


def _polyval(ops: Ops, x: Value, coeffs: Sequence[float]) -> Value:
    if not coeffs:
        raise ShapeError("`coeffs` of polyval is empty", help="give coefficients, that of x**0 last")
    if len(coeffs) == 1:
        return ops.call(FILL, [x, coeffs[0]])
    first, *others = coeffs
    total = ops.call(MULTIPLY, [x, first])
    for coefficient in others[:-1]:
        total = ops.call(MULTIPLY, [ops.call(ADD, [total, coefficient]), x])
    return ops.call(ADD, [total, others[-1]])


def _polyval_golden(_: Any, x: Any, coeffs: Sequence[float]) -> Any:
    return sum(coefficient * x**power for power, coefficient in enumerate(reversed(coeffs))) + 0 * x


POLYVAL = MacroOperation(
    name="polyval",
    parameters=(Parameter("input_tensor_a", TENSOR, aliases=("input_tensor",)), Parameter("coeffs", FLOATS_LISTED)),
    summary="The polynomial in x with the coefficients `coeffs`, that of the highest power first, by Horner's rule.",
    decompose=_polyval,
    takes_dtypes=FLOATS,
    golden=_polyval_golden,
    examples=((((3, 40),), ((1.5, -2.0, 0.25),)), (((2, 5, 3),), ((4.0,),)), (((7,),), ((2.0, 1.0),))),
)

SIGMOID_ACCURATE = MacroOperation(
    name="sigmoid_accurate",
    parameters=(Parameter("input_tensor", TENSOR), Parameter("fast_and_approximate_mode", FLAG, default=False)),
    summary="`sigmoid`, which is always accurate here.",
    decompose=lambda ops, x, _: ops.call(SIGMOID, [x]),
    takes_dtypes=FLOATS,
    golden=lambda torch, x, _: torch.sigmoid(x),
    examples=((((3, 40),), (False,)), (((3, 40),), (True,))),
)

OPERATIONS = (NEXTAFTER, POLYVAL, SIGMOID_ACCURATE)

IN_PROGRAMS = tuple(NEXTAFTER_OF_DTYPE.values())
"""The operations of `ttnn.nextafter` in programs, one per dtype."""
