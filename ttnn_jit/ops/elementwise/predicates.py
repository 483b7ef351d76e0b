"""Elementwise predicates of one tensor: 1 or 0 in its dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttnn_jit.ops.elementwise.unary import unary
from ttnn_jit.ops.families.elementwise import AlgebraicProperties, Elementwise
from ttnn_jit.ops.language.operation import torch_function
from ttnn_jit.ops.language.parameter import FLOAT, Parameter


def _predicate(
    name: str,
    summary: str,
    mask: Callable[[Any, Any], Any],
    golden: Callable[..., Any] | None = None,
    *,
    in_place: bool = False,
    aten: str | None = None,
) -> Elementwise:
    golden = golden or torch_function(name)
    return unary(
        name,
        summary=f"1 where x is {summary}, else 0, in x's dtype.",
        emit=lambda b, x: b.select(mask(b, x), b.const(1.0), b.const(0.0)),
        aten=name if aten is None else aten,
        golden=lambda torch, x: golden(torch, x).to(x.dtype),
        algebra=AlgebraicProperties(selects_operand=True),
        in_place=in_place,
    )


def _sign(b: Any, x: Any) -> Any:
    zero = b.const(0.0)
    return b.select(b.gt(x, zero), b.const(1.0), b.select(b.lt(x, zero), b.const(-1.0), x))


def _heaviside(b: Any, x: Any, value: float) -> Any:
    zero = b.const(0.0)
    at_zero_or_below = b.select(b.eq(x, zero), b.const(value), zero)
    return b.select(b.gt(x, zero), b.const(1.0), b.select(b.ne(x, x), x, at_zero_or_below))


LOGICAL_NOT = _predicate("logical_not", "zero", lambda b, x: b.eq(x, b.const(0.0)), in_place=True)
ISNAN = _predicate("isnan", "NaN", lambda b, x: b.ne(x, x))
ISINF = _predicate("isinf", "infinite", lambda b, x: b.eq(b.abs(x), b.const(math.inf)))
ISPOSINF = _predicate("isposinf", "positive infinity", lambda b, x: b.eq(x, b.const(math.inf)))
ISNEGINF = _predicate("isneginf", "negative infinity", lambda b, x: b.eq(x, b.const(-math.inf)))
ISFINITE = _predicate("isfinite", "neither infinite nor NaN", lambda b, x: b.lt(b.abs(x), b.const(math.inf)))
SIGNBIT = _predicate(
    "signbit",
    "below zero or -0, and not NaN (the sign of NaN depends on the processor)",
    lambda b, x: b.both(b.lt(b.copysign(b.const(1.0), x), b.const(0.0)), b.eq(x, x)),
    lambda torch, x: torch.signbit(x) & ~x.isnan(),
)
SIGN = unary(
    "sign",
    summary="-1, 0 or 1, as x is below zero, zero or above; zeros keep their sign, NaN stays NaN.",
    emit=_sign,
    golden=lambda torch, x: torch.where(x.isnan(), x, torch.sign(x)),
    algebra=AlgebraicProperties(selects_operand=True),
)
HEAVISIDE = unary(
    "heaviside",
    summary="0 below zero, `value` at zero, 1 above; NaN stays NaN.",
    parameters=(Parameter("value", FLOAT, 0.0),),
    emit=_heaviside,
    golden=lambda torch, x, value: torch.where(
        x.isnan(), x, torch.heaviside(x, torch.tensor(value, dtype=x.dtype).expand_as(x))
    ),
)

EQZ = _predicate("eqz", "zero", lambda b, x: b.eq(x, b.const(0.0)), lambda _, x: x == 0, aten="")
NEZ = _predicate("nez", "not zero, NaN too", lambda b, x: b.ne(x, b.const(0.0)), lambda _, x: x != 0, aten="")
GTZ = _predicate("gtz", "above zero", lambda b, x: b.gt(x, b.const(0.0)), lambda _, x: x > 0, aten="")
LTZ = _predicate("ltz", "below zero", lambda b, x: b.lt(x, b.const(0.0)), lambda _, x: x < 0, aten="")
GEZ = _predicate("gez", "not below zero", lambda b, x: b.ge(x, b.const(0.0)), lambda _, x: x >= 0, aten="")
LEZ = _predicate("lez", "not above zero", lambda b, x: b.le(x, b.const(0.0)), lambda _, x: x <= 0, aten="")

OPERATIONS = (
    EQZ,
    NEZ,
    GTZ,
    LTZ,
    GEZ,
    LEZ,
    LOGICAL_NOT,
    ISNAN,
    ISINF,
    ISPOSINF,
    ISNEGINF,
    ISFINITE,
    SIGNBIT,
    SIGN,
    HEAVISIDE,
)
