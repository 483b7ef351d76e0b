"""Operations that make one element of many."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops import integer_reductions
from ttnn_jit.ops.binary import ADD, MAXIMUM, MINIMUM, MULTIPLY
from ttnn_jit.ops.parameter import REDUCED
from ttnn_jit.ops.reduction import Reduction


def over(torch_function: str) -> Any:
    """The golden: a function of torch's that reduces one dimension, applied to one after the other, the last first."""

    def golden(torch: Any, x: Any, dim: Any, keepdim: Any) -> Any:
        axes = sorted((axis % max(1, x.dim()) for axis in dim), reverse=True) if dim else range(x.dim())[::-1]
        for axis in axes:
            x = getattr(torch, torch_function)(x, axis, keepdim)
        return x

    return golden


SUM = Reduction(
    name="sum",
    parameters=REDUCED,
    summary="The sum along dimensions.",
    tile_name="tile_reduce_sum",
    combined_by=ADD,
    of_integers=integer_reductions.SUM,
    identity=0.0,
    golden=over("sum"),
    aten="sum.dim_IntList",
)

PROD = Reduction(
    name="prod",
    parameters=REDUCED,
    summary="The product along dimensions.",
    tile_name="tile_reduce_prod",
    combined_by=MULTIPLY,
    of_integers=integer_reductions.PROD,
    identity=1.0,
    golden=over("prod"),
    aten="prod.dim_int",
)

MAX = Reduction(
    name="max",
    parameters=REDUCED,
    summary="The largest element along dimensions; NaN where one is.",
    tile_name="tile_reduce_max",
    combined_by=MAXIMUM,
    of_integers=integer_reductions.MAX,
    identity=-math.inf,
    reduces_nothing=False,
    golden=over("amax"),
    aten="amax",
)

MIN = Reduction(
    name="min",
    parameters=REDUCED,
    summary="The smallest element along dimensions; NaN where one is.",
    tile_name="tile_reduce_min",
    combined_by=MINIMUM,
    of_integers=integer_reductions.MIN,
    identity=math.inf,
    reduces_nothing=False,
    golden=over("amin"),
    aten="amin",
)

OPERATIONS = (SUM, PROD, MAX, MIN)
