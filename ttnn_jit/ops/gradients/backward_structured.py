"""Gradients of operations that repeat or multiply elements along dimensions, and of gamma functions."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.special_functions import MAX_ORDER
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.gradients.backward import gradient
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.ops.language.parameter import EXTENTS, FLOAT, OPTIONAL_COUNT, Parameter, integers

Shape = Sequence[int]

# --- Repetition and products ------------------------------------------------------------------------------------------


def _repeat(f: Ops, g: Value, x: Value, counts: Shape) -> Value:
    extra = len(counts) - len(x.shape)
    if extra < 0:
        raise ShapeError(f"{len(counts)} counts do not repeat a tensor of {len(x.shape)} dimensions")
    own = (1,) * extra + x.shape
    if g.shape != tuple(count * extent for count, extent in zip(counts, own, strict=True)):
        raise ShapeError(
            f"a gradient of shape {list(g.shape)} is not that of {list(x.shape)} repeated {list(counts)} times"
        )
    split = f.reshape(g, tuple(each for pair in zip(counts, own, strict=True) for each in pair))
    return f.reshape(f.sum(split, tuple(range(0, 2 * len(own), 2)), False), x.shape)


def _exclusive_product(f: Ops, x: Value, axis: int) -> Value:
    """The exclusive cumulative product along a dimension: for each element the product of those before it."""
    one = f.fill(f.sliced(x, axis, 0, 1), 1.0)
    if x.shape[axis] <= 1:
        return one
    return f.cumprod(f.concat([one, f.sliced(x, axis, 0, x.shape[axis] - 1)], axis), axis)


def _product(f: Ops, g: Value, x: Value, dim: int | None) -> Value:
    """The gradient of an element is the product of the others; a quotient would fail where an element is 0."""
    if dim is None:
        flat = f.reshape(x, (math.prod(x.shape),))
        return f.reshape(_product(f, f.reshape(g, (1,)), flat, 0), x.shape)
    axis = axis_of(dim, len(x.shape))
    kept = tuple(1 if index == axis else extent for index, extent in enumerate(x.shape))
    if math.prod(g.shape) != math.prod(kept):
        raise ShapeError(
            f"a gradient of shape {list(g.shape)} is not that of products along dimension {axis} of {list(x.shape)}"
        )
    others = _exclusive_product(f, x, axis) * f.flip(_exclusive_product(f, f.flip(x, (axis,)), axis), (axis,))
    return f.reshape(g, kept) * others


# --- Gamma functions --------------------------------------------------------------------------------------------------

_GAMMAS = (-9.0, 9.0)


def _multigammaln(f: Ops, g: Value, x: Value) -> Value:
    total = f.digamma(x)
    for index in range(1, 4):
        total += f.digamma(x - index / 2)
    return g * f.where(x >= 1.5, total, math.nan)


OPERATIONS = (
    gradient(
        "repeat",
        "`repeat`",
        lambda _, x, counts: x.repeat(counts),
        _repeat,
        Parameter("shape", EXTENTS),
        values=((2, 1, 3),),
        shapes=(((6, 5, 21), (3, 5, 7)), ((2, 5, 21), (5, 7))),
    ),
    gradient(
        "prod",
        "`prod`",
        lambda torch, x, dim: torch.prod(x) if dim is None else torch.prod(x, dim, True),
        _product,
        Parameter("dim", OPTIONAL_COUNT),
        values=(1,),
        shapes=(((3, 1, 4), (3, 5, 4)), ((3, 1), (3, 1)), ((3, 1), (3, 7))),
    ),
    gradient(
        "digamma",
        "`digamma`",
        lambda torch, x: torch.digamma(x),
        lambda f, g, x: g * f.polygamma(x, 1),
        domain=_GAMMAS,
        max_ulp=8.0,
    ),
    gradient(
        "polygamma",
        "`polygamma`",
        lambda torch, x, n: torch.polygamma(int(n), x),
        lambda f, g, x, n: g * f.polygamma(x, int(n) + 1),
        Parameter("n", integers(0, MAX_ORDER - 1)),
        values=(2.0,),
        domain=_GAMMAS,
        max_ulp=20.0,
    ),
    gradient(
        "multigammaln",
        "`multigammaln`",
        lambda torch, x: torch.special.multigammaln(x, 4),
        _multigammaln,
        domain=(1.6, 9.0),
        max_ulp=4.0,
        max_absolute=1e-5,
    ),
    gradient(
        "logiteps",
        "`logit` of numbers that are limited to `eps` and 1 - `eps`",
        lambda torch, x, eps: torch.logit(x, eps),
        lambda f, g, x, eps: f.where((x >= eps) * (x <= 1.0 - eps), g / (x * (1.0 - x)), 0.0),
        Parameter("eps", FLOAT, 0.0),
        values=(0.25,),
        domain=(0.05, 0.95),
        max_ulp=1.0,
    ),
    gradient(
        "clamp_min",
        "`clamp` to no less than a number",
        lambda torch, x, low: torch.clamp(x, low),
        lambda _, g, x, low: g * (x >= low),
        Parameter("min", FLOAT),
        values=(0.5,),
    ),
)
