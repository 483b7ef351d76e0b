"""Products of queries, counted by position, head and user, with matrices of each user that groups of heads share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.decomposition import Composite, Ops
from ttnn_jit.ops.parameter import IGNORED, TENSOR, Parameter
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.specs.tensor_spec import TensorSpec

Shape = Sequence[int]

_SWAPPED = (2, 1, 0, 3)
"""Positions and users change places."""


def _spelled(a: Shape, b: Shape) -> tuple[()]:
    fits = len(a) == len(b) == 4 and a[2] == b[0] and a[3] == b[2] and b[1] > 0 and a[1] % b[1] == 0
    if not fits:
        raise ShapeError(
            f"queries of shape {list(a)} do not meet matrices of shape {list(b)}",
            help="queries have positions, heads, users, channels; matrices users, groups of heads, channels, columns",
        )
    return ()


def _product(ops: Ops, a: Any, b: Any) -> Any:
    positions, heads, users, channels = a.shape
    groups, columns = b.shape[1], b.shape[3]
    queries = ops.reshaped(ops.permute(a, _SWAPPED), (users, groups, heads // groups, positions, channels))
    product = ops.matmul(queries, ops.reshaped(b, (users, groups, 1, channels, columns)), False, False)
    return ops.permute(ops.reshaped(product, (users, heads, positions, columns)), _SWAPPED)


def _result(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    return interleaved(a).with_(shape=(*tuple(a.shape)[:3], tuple(b.shape)[3]))


def _golden(torch: Any, a: Any, b: Any) -> Any:
    shared = torch.repeat_interleave(b, a.shape[1] // b.shape[1], dim=1)
    return torch.einsum("qhuk,uhkc->qhuc", a, shared)


def _named(name: str, *others: Parameter) -> Composite:
    return Composite(
        name=f"experimental.{name}",
        parameters=(
            Parameter("input_tensor_a", TENSOR),
            Parameter("input_tensor_b", TENSOR),
            Parameter("compute_with_storage_grid_size", IGNORED),
            *others,
        ),
        summary="Queries of positions, heads and users times the matrices of each user and group of heads.",
        source=f"ttnn.experimental.{name}",
        decompose=_product,
        spelled=_spelled,
        result=_result,
        golden=_golden,
        examples=((((1, 6, 3, 40), (3, 2, 40, 5)), ()), (((2, 4, 3, 33), (3, 1, 33, 7)), ())),
    )


OPERATIONS = (_named("group_attn_matmul"), _named("attn_matmul"))
