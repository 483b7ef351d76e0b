"""Gated linear units: one half of a tensor, times a function of the other half."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.ops.language.parameter import DIMENSION, TENSOR, Parameter
from ttnn_jit.specs.tensor_spec import TensorSpec

Extents = tuple[int, ...]


def _canonical_halves(shape: Extents, dim: int) -> tuple[int]:
    axis = axis_of(dim, len(shape))
    if shape[axis] % 2:
        raise ShapeError(f"dimension {axis} of {list(shape)} has no equal halves")
    return (axis,)


def _halved(shape: Extents, axis: int) -> Extents:
    return (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])


def _halved_spec(x: TensorSpec, axis: int) -> TensorSpec:
    return x.interleaved.with_(shape=_halved(tuple(x.shape), axis))


def _gated_unit(name: str, function: str, golden: Callable[[Any, Any], Any]) -> Composite:
    def decompose(ops: Ops, x: Any, axis: int) -> Any:
        middle, end = x.shape[axis] // 2, x.shape[axis]
        gate = getattr(ops, function)(ops.sliced(x, axis, middle, end))
        return ops.sliced(x, axis, 0, middle) * gate

    def in_torch(torch: Any, x: Any, dim: int) -> Any:
        first, second = x.chunk(2, dim)
        return first * golden(torch, second)

    return Composite(
        name=name,
        parameters=(Parameter("input_tensor", TENSOR, aliases=("input",)), Parameter("dim", DIMENSION, -1)),
        summary=f"The first half along `dim`, times `{function}` of the second.",
        decompose=decompose,
        canonicalize=_canonical_halves,
        result=_halved_spec,
        golden=in_torch,
        examples=((((3, 40),), (-1,)), (((2, 6, 33),), (1,))),
    )


OPERATIONS = (
    _gated_unit("glu", "sigmoid", lambda torch, x: torch.sigmoid(x)),
    _gated_unit("reglu", "relu", lambda torch, x: torch.relu(x)),
    _gated_unit("geglu", "gelu", lambda torch, x: x * torch.special.erfc(-x * 0.5**0.5) / 2),  # exact in the tail
    _gated_unit("swiglu", "silu", lambda torch, x: torch.nn.functional.silu(x)),
)
