"""Activations in configs: ttnn's types of unary operations, with or without parameters."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.extents.extent import applied

UnaryOpType = enum.Enum(
    "UnaryOpType",
    """
    EXP RECIP GELU GELU_TANH RELU SQRT SIGMOID LOG LOG1P TANH LOG2 LOG10 SIN COS COSH SINH ABS ABS_INT32 SIGN SQUARE
    EQZ NEZ GTZ LTZ GEZ LEZ RELU_MAX RELU_MIN POWER POWER_ITERATIVE LEAKY_RELU ELU EXP2 HEAVISIDE EXPM1 SIGNBIT ASIN
    ACOS ACOSH RSQRT RELU6 ATAN ASINH ATANH ERF ERFC ISINF ISPOSINF ISNEGINF ISNAN LOGICAL_NOT_UNARY ISFINITE ERFINV
    I0 I1 TAN RSUB RDIV SILU SOFTPLUS IDENTITY NEG ADD_UNARY_SFPU SUB_UNARY_SFPU MUL_UNARY_SFPU DIV_UNARY_SFPU
    UNARY_NE UNARY_EQ UNARY_GT UNARY_LT UNARY_GE UNARY_LE TILED_PROD TYPECAST BITCAST BITWISE_XOR BITWISE_NOT
    BITWISE_AND BITWISE_OR RIGHT_SHIFT FLOOR CEIL TRUNC FRAC ROUND LEFT_SHIFT REMAINDER FMOD DROPOUT FILL PRELU_SFPU
    ZERO_POINT ALT_COMPLEX_ROTATE90 MISH HARDMISH MAXIMUM MINIMUM TANHSHRINK THRESHOLD SOFTSHRINK HARDSHRINK HARDTANH
    HARDSIGMOID HARDSWISH WHERE_TSS MAC_TSS SOFTSIGN CELU CLAMP_TSS SELU RPOW CBRT LOGSIGMOID LOGIT XIELU LGAMMA
    DIGAMMA POLYGAMMA SOFTCAP
    """,
    module=__name__,
    start=0,
)
UnaryOpType.__doc__ = "Types of unary operations; those that are operations here may be applied as activations."


@dataclass(frozen=True, repr=False)
class UnaryWithParam:
    """A unary operation as an activation, with its parameters (ttnn.UnaryWithParam).

    Attributes:
        op_type: The operation.
        params: Its parameters, in order; omitted ones have their defaults.

    Raises:
        ArgumentError: `op_type` is no `UnaryOpType`, or a parameter is no number.
    """

    op_type: UnaryOpType
    params: tuple[float, ...] = ()

    def __init__(self, op_type: Any, *params: Any) -> None:
        if isinstance(op_type, (tuple, list)) and op_type and not params:
            op_type, params = op_type[0], tuple(op_type[1:])
        if len(params) == 1 and isinstance(params[0], Sequence) and not isinstance(params[0], str):
            params = tuple(params[0])
        check_kind(op_type, UnaryOpType, "the operation of a UnaryWithParam")
        object.__setattr__(self, "op_type", op_type)
        object.__setattr__(self, "params", tuple(map(_number, params)))

    def __repr__(self) -> str:
        if not self.params:
            return f"UnaryWithParam(op_type={self.op_type})"
        return f"UnaryWithParam(op_type={self.op_type}, params=[{', '.join(map(str, self.params))}])"


def _number(value: Any) -> float:
    if isinstance(value, str) or not hasattr(value, "__float__"):
        raise ArgumentError(f"a parameter of a UnaryWithParam must be a number, got {type_name(value)}")
    number: float = applied(float, value)
    return number


def activation(value: Any, what: str) -> UnaryWithParam | str | None:
    """The rule of activation fields: a type, a type with parameters, a name, or None."""
    if value is None or isinstance(value, (UnaryWithParam, str)):
        return value
    parts = value if isinstance(value, (tuple, list)) else (value,)
    if parts and isinstance(parts[0], UnaryOpType):
        return UnaryWithParam(*parts)
    raise ArgumentError(
        f"{what} must be an activation, got {type_name(value)}",
        help="give `ttnn.UnaryOpType.RELU`, `ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, True)` or their kin",
    )


class BcastOpMath(enum.Enum):
    """The operation of `ttnn.bcast` on a tensor and a row, a column or a number."""

    ADD = 0
    SUB = 1
    MUL = 2


class BcastOpDim(enum.Enum):
    """The dimensions along which `ttnn.bcast` broadcasts its second operand."""

    H = 0
    W = 1
    HW = 2
