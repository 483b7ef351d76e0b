"""Reductions: sum, product, maximum, minimum."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.ops.elementwise.binary import ADD, MAXIMUM, MINIMUM, MULTIPLY
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.families.reduction import Reduction
from ttnn_jit.ops.families.routine import Routine
from ttnn_jit.ops.language.parameter import REDUCED
from ttnn_jit.ops.reduction import integer_reductions


def over(torch_function: str) -> Any:
    """A golden: a function of torch that reduces one dimension, applied to each dimension, the last one first."""

    def golden(torch: Any, x: Any, dim: Any, keepdim: Any) -> Any:
        axes = sorted((axis % max(1, x.dim()) for axis in dim), reverse=True) if dim else range(x.dim())[::-1]
        for axis in axes:
            x = getattr(torch, torch_function)(x, axis, keepdim)
        return x

    return golden


def _reduction(name: str, summary: str, combiner: Elementwise, identity: float, **fields: Any) -> Reduction:
    return Reduction(
        name=name,
        parameters=REDUCED,
        summary=summary,
        tile_name=f"tile_reduce_{name}",
        combiner=combiner,
        identity=identity,
        **fields,
    )


SUM = _reduction(
    "sum",
    "The sum along dimensions.",
    ADD,
    0.0,
    of_integers=integer_reductions.SUM,
    golden=over("sum"),
    aten="sum.dim_IntList",
)
PROD = _reduction(
    "prod",
    "The product along dimensions.",
    MULTIPLY,
    1.0,
    of_integers=integer_reductions.PROD,
    golden=over("prod"),
    aten="prod.dim_int",
)


def _extremum(
    name: str, description: str, combiner: Elementwise, identity: float, of_integers: tuple[Routine, Routine]
) -> Reduction:
    return _reduction(
        name,
        f"The {description} element along dimensions; NaN where one is.",
        combiner,
        identity,
        of_integers=of_integers,
        allows_empty=False,
        golden=over(f"a{name}"),
        aten=f"a{name}",
    )


MAX = _extremum("max", "largest", MAXIMUM, -math.inf, integer_reductions.MAX)
MIN = _extremum("min", "smallest", MINIMUM, math.inf, integer_reductions.MIN)

OPERATIONS = (SUM, PROD, MAX, MIN)
