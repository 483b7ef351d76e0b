"""Operations that are written in terms of a product of matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.contraction.contractions import MATMUL, PRECISION_CONFIG, TRANSPOSED
from ttnn_jit.ops.elementwise.activation_text import activated, activated_in_torch, check_activation
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.axes import is_broadcast_to
from ttnn_jit.ops.language.parameter import ACTIVATION, FLOAT, IGNORED, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.specs.tensor_spec import TensorSpec


def _activated(ops: Ops, a: Any, b: Any, *statics: Any) -> Any:
    transpose_a, transpose_b, activation, precision = statics
    product = ops.matmul(a, b, transpose_a, transpose_b, precision)
    return activated(ops, product, activation)


def _check_activated(a: Sequence[int], b: Sequence[int], *statics: Any) -> None:
    transpose_a, transpose_b, activation, _ = statics
    MATMUL.extents((a, b), (transpose_a, transpose_b))
    check_activation(activation)


ACTIVATED_MATMUL = Composite(
    name="matmul",
    ttnn_name="matmul_activation",
    parameters=(*MATMUL.operands, *TRANSPOSED, Parameter("activation", ACTIVATION), PRECISION_CONFIG),
    summary="The product of matrices, then the unary function that `activation` names.",
    decompose=_activated,
    kernel_of=MATMUL,
    canonicalize=_check_activated,
    result=lambda a, b, *statics: MATMUL.results((a, b), statics[:2])[0],
    golden=lambda torch, a, b, *statics: activated_in_torch(
        torch, MATMUL.golden(torch, a, b, *statics[:2]), statics[2]
    ),
    examples=(
        (((2, 33, 40), (70, 40)), (False, True, "gelu", None)),
        (((40, 33), (40, 70)), (True, False, "relu", None)),
        (((3, 4), (4, 5)), (False, False, None, None)),
    ),
)


def _linear(ops: Ops, a: Any, b: Any, bias: Any, *statics: Any) -> Any:
    transpose_a, transpose_b, activation, precision = statics
    total = ops.matmul(a, b, transpose_a, transpose_b, precision)
    if bias is not None:
        total = total + ops.reshaped(bias, bias.shape[max(0, len(bias.shape) - len(total.shape)) :])
    return activated(ops, total, activation)


def _check_linear(a: Sequence[int], b: Sequence[int], bias: Sequence[int] | None, *statics: Any) -> None:
    transpose_a, transpose_b, activation, _ = statics
    named, extents = MATMUL.extents((a, b), (transpose_a, transpose_b))
    product = tuple(extents[label] for label in named.result)
    if bias is not None and not is_broadcast_to(bias, product):
        raise ShapeError(
            f"the bias has shape {list(bias)}, and the product {list(product)}",
            help=f"a bias that is added to every row has shape {[1, *product[-1:]]}",
        )
    check_activation(activation)


def _linear_golden(torch: Any, a: Any, b: Any, bias: Any, *statics: Any) -> Any:
    transpose_a, transpose_b, activation, _ = statics
    product = MATMUL.golden(torch, a, b, transpose_a, transpose_b)
    return activated_in_torch(torch, product if bias is None else product + bias, activation)


LINEAR = Composite(
    name="linear",
    parameters=(
        *MATMUL.operands,
        Parameter("bias", OPTIONAL_TENSOR),
        *TRANSPOSED,
        Parameter("activation", ACTIVATION),
        PRECISION_CONFIG,
    ),
    summary="The product of matrices (`matmul`), plus `bias`, which is broadcast to it, then the unary function that "
    "`activation` names.",
    decompose=_linear,
    canonicalize=_check_linear,
    result=lambda a, b, _, *statics: MATMUL.results((a, b), statics[:2])[0],
    golden=_linear_golden,
    aten="linear",
    examples=(
        (((3, 40), (40, 5), (5,)), (False, False, None, None)),
        (((2, 33, 40), (70, 40), (1, 70)), (False, True, "gelu", None)),
        (((40, 33), (40, 70), None), (True, False, "relu", None)),
    ),
)


def _addmm(ops: Ops, x: Any, a: Any, b: Any, alpha: float, beta: float) -> Any:
    product = ops.matmul(a, b, False, False) * alpha
    return product + x * beta if beta else product


def _check_addmm(x: Sequence[int], a: Sequence[int], b: Sequence[int], *_: float) -> None:
    if len(a) != 2 or len(b) != 2:
        raise ShapeError(f"the tensors that are multiplied are matrices, got shapes {list(a)} and {list(b)}")
    named, extents = MATMUL.extents((a, b), (False, False))
    product = [extents[label] for label in named.result]
    if not is_broadcast_to(x, product):
        raise ShapeError(f"the tensor that is added has shape {list(x)}, and the product {product}")


def _addmm_result(x: TensorSpec, a: TensorSpec, b: TensorSpec, *_: Any) -> TensorSpec:  # noqa: ARG001
    return MATMUL.results((a, b), (False, False))[0]


ADDMM = Composite(
    name="addmm",
    parameters=(
        *(Parameter(name, TENSOR) for name in ("input_tensor", "mat1_tensor", "mat2_tensor")),
        Parameter("alpha", FLOAT, 1.0),
        Parameter("beta", FLOAT, 1.0),
    ),
    summary="`beta` times a tensor, plus `alpha` times the product of two matrices; with a `beta` of 0 the tensor is "
    "not read.",
    decompose=_addmm,
    canonicalize=_check_addmm,
    result=_addmm_result,
    golden=lambda torch, x, a, b, alpha, beta: torch.addmm(x, a, b, alpha=alpha, beta=beta),
    aten="addmm",
    examples=(
        (((3, 5), (3, 40), (40, 5)), (1.0, 1.0)),
        (((70,), (33, 40), (40, 70)), (0.5, -2.0)),
        (((33, 1), (33, 7), (7, 70)), (3.0, 0.0)),
    ),
)


def _outer(ops: Ops, a: Any, b: Any) -> Any:
    *batch, rows, columns = _outer_shape(a.shape, b.shape)
    matrices = ops.reshaped(a, (*batch, rows, 1)), ops.reshaped(b, (*batch, 1, columns))
    return ops.matmul(*matrices, False, False)


def _outer_shape(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    batch = () if max(len(a), len(b)) < 3 else (1, 1)
    return (*batch, math.prod(a), math.prod(b))


def _check_outer(*shapes: Sequence[int]) -> None:
    for shape in shapes:
        if not shape or sum(extent != 1 for extent in shape) > 1:
            raise ShapeError(f"an outer product is of tensors with one dimension longer than 1, got {list(shape)}")


OUTER = Composite(
    name="outer",
    parameters=(Parameter("input_tensor_a", TENSOR), Parameter("input_tensor_b", TENSOR)),
    summary="The products of all pairs of elements of two vectors, which may lie along any dimension.",
    decompose=_outer,
    canonicalize=_check_outer,
    result=lambda a, b: a.interleaved.with_(shape=_outer_shape(a.shape, b.shape)),
    golden=lambda torch, a, b: torch.outer(a.reshape(-1), b.reshape(-1)).reshape(_outer_shape(a.shape, b.shape)),
    examples=((((33,), (40,)), ()), (((1, 1, 33, 1), (1, 1, 1, 70)), ()), (((1, 1, 1, 5), (1, 1, 1, 5)), ())),
)


# --- Products with matrices that groups of heads share ----------------------------------------------------------------


Shape = Sequence[int]

_SWAPPED = (2, 1, 0, 3)
"""The permutation that swaps positions and users."""


def _check_groups(a: Shape, b: Shape) -> None:
    fits = len(a) == len(b) == 4 and a[2] == b[0] and a[3] == b[2] and b[1] > 0 and a[1] % b[1] == 0
    if not fits:
        raise ShapeError(
            f"queries of shape {list(a)} do not fit matrices of shape {list(b)}",
            help="queries have positions, heads, users, channels; matrices users, groups of heads, channels, columns",
        )


def _grouped(ops: Ops, a: Any, b: Any) -> Any:
    positions, heads, users, channels = a.shape
    groups, columns = b.shape[1], b.shape[3]
    queries = ops.reshaped(ops.permute(a, _SWAPPED), (users, groups, heads // groups, positions, channels))
    product = ops.matmul(queries, ops.reshaped(b, (users, groups, 1, channels, columns)), False, False)
    return ops.permute(ops.reshaped(product, (users, heads, positions, columns)), _SWAPPED)


def _grouped_result(a: TensorSpec, b: TensorSpec) -> TensorSpec:
    return a.interleaved.with_(shape=(*tuple(a.shape)[:3], tuple(b.shape)[3]))


def _grouped_golden(torch: Any, a: Any, b: Any) -> Any:
    shared = torch.repeat_interleave(b, a.shape[1] // b.shape[1], dim=1)
    return torch.einsum("qhuk,uhkc->qhuc", a, shared)


def _group_matmul(name: str, *others: Parameter) -> Composite:
    return Composite(
        name=f"experimental.{name}",
        parameters=(
            Parameter("input_tensor_a", TENSOR),
            Parameter("input_tensor_b", TENSOR),
            Parameter("compute_with_storage_grid_size", IGNORED),
            *others,
        ),
        summary="Queries [positions, heads, users, channels] times a matrix for each user and group of heads.",
        decompose=_grouped,
        canonicalize=_check_groups,
        result=_grouped_result,
        golden=_grouped_golden,
        examples=((((1, 6, 3, 40), (3, 2, 40, 5)), ()), (((2, 4, 3, 33), (3, 1, 33, 7)), ())),
    )


OPERATIONS = (LINEAR, ACTIVATED_MATMUL, ADDMM, OUTER, _group_matmul("group_attn_matmul"), _group_matmul("attn_matmul"))
