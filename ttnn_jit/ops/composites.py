"""Operations that are written in terms of others, a reduction among them."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.activation_text import activated, activated_in_torch, check_activation
from ttnn_jit.ops.axes import axes_of, axis_of, without_axes
from ttnn_jit.ops.contractions import EXACTLY, MATMUL, TRANSPOSED
from ttnn_jit.ops.decomposition import Composite, Ops
from ttnn_jit.ops.operation import Example
from ttnn_jit.ops.parameter import ACTIVATION, DIMENSION, FLAG, OPTIONAL_TENSOR, REDUCED, TENSOR, Parameter, members
from ttnn_jit.ops.reductions import SUM
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import TensorSpec


def _mean(ops: Ops, x: Any, axes: Sequence[int], keepdim: bool) -> Any:
    total = ops.sum(x, axes, keepdim) if axes else x
    return total / float(math.prod(x.shape[axis] for axis in axes))


def spelled_axes(shape: Sequence[int], dims: Sequence[int], *others: Any) -> tuple[Any, ...]:
    """Dimensions counted from the front, and other attributes as they are."""
    return axes_of(dims, len(shape)), *others


def along_axes(x: TensorSpec, axes: Sequence[int], keepdim: bool, *_: Any) -> TensorSpec:
    """What a reduction of these dimensions results in."""
    return x.interleaved.with_(shape=without_axes(x.shape, axes, keep=keepdim))


MEAN = Composite(
    name="mean",
    parameters=REDUCED,
    summary="The mean along dimensions: their sum by their number of elements.",
    decompose=_mean,
    kernel_of=SUM,
    spelled=spelled_axes,
    result=along_axes,
    golden=lambda torch, x, dim, keepdim: torch.mean(x, dim or None, keepdim),
    aten="mean.dim",
    examples=((((3, 40),), ((-1,), True)), (((64, 33),), ((0,), False)), (((2, 5, 37),), ((), False))),
)


def moments(ops: Ops, x: Any, mean: Callable[[Any], Any]) -> tuple[list[Any], Any]:
    """What `mean` makes of `x`, in parts to be taken off one after the other; and the variance.

    A mean is rounded, of float32 perhaps by more than x spreads. What is left of it is the mean of the differences, and
    its square is what the mean of their squares has too much. Narrower types spread by more, where they spread.
    """
    first = mean(x)
    difference = x - first
    squares = mean(ops.square(difference))
    if x.spec.dtype is not COMPUTE_TYPE:
        return [first], squares
    left = mean(difference)
    return [first, left], ops.maximum(squares - ops.square(left), 0.0)


def less(x: Any, parts: Sequence[Any]) -> Any:
    """`x` without each of `parts`."""
    for part in parts:
        x = x - part
    return x


def _variance(ops: Ops, x: Any, axes: Sequence[int], keepdim: bool, correction: bool) -> Any:
    count = math.prod(x.shape[axis] for axis in axes)
    difference = x - ops.mean(x, axes, True)
    squares = ops.sum(ops.square(difference), axes, keepdim)
    if x.spec.dtype is COMPUTE_TYPE:  # as in `moments`
        left = ops.sum(difference, axes, keepdim)
        squares = ops.maximum(squares - ops.square(left) / float(count), 0.0)
    return squares / float(max(count - correction, 0))


_SPREAD = (*REDUCED, Parameter("correction", FLAG, default=True))
_SPREAD_EXAMPLES: tuple[Example, ...] = (
    (((3, 40),), ((-1,), True, True)),
    (((64, 33),), ((0,), False, False)),
    (((2, 5, 37),), ((1, 2), False, True)),
)

VAR = Composite(
    name="var",
    parameters=_SPREAD,
    summary="The variance along dimensions; with `correction` by Bessel's, one element less.",
    decompose=_variance,
    spelled=spelled_axes,
    result=along_axes,
    golden=lambda torch, x, dim, keepdim, correction: torch.var(x, dim or None, correction=correction, keepdim=keepdim),
    aten="var.correction",
    examples=_SPREAD_EXAMPLES,
)

STD = Composite(
    name="std",
    parameters=_SPREAD,
    summary="The standard deviation along dimensions; with `correction` by Bessel's, one element less.",
    decompose=lambda ops, *call: ops.sqrt(_variance(ops, *call)),
    spelled=spelled_axes,
    result=along_axes,
    golden=lambda torch, x, dim, keepdim, correction: torch.std(x, dim or None, correction=correction, keepdim=keepdim),
    aten="std.correction",
    examples=_SPREAD_EXAMPLES,
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
        raise ShapeError(f"the bias has shape {list(bias)}, and the product {list(product)}")
    check_activation(activation)


def is_broadcast_to(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a tensor of `shape` broadcasts to `wanted`, and makes it no larger."""
    pairs = zip_longest(reversed(shape), reversed(wanted), fillvalue=1)
    return all(extent in {1, by} for extent, by in pairs)


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
        EXACTLY,
    ),
    summary="The product of matrices, as `matmul` has it, plus `bias`, which is broadcast to it, then the function of "
    "one tensor that `activation` names.",
    decompose=_linear,
    spelled=_check_linear,
    result=lambda a, b, _, *statics: MATMUL.results((a, b), statics[:2])[0],
    golden=_linear_golden,
    aten="linear",
    examples=(
        (((3, 40), (40, 5), (5,)), (False, False, None, None)),
        (((2, 33, 40), (70, 40), (1, 70)), (False, True, "gelu", None)),
        (((40, 33), (40, 70), None), (True, False, "relu", None)),
    ),
)


# --- Gated units ------------------------------------------------------------------------------------------------------


Extents = tuple[int, ...]


def _spelled_halves(shape: Extents, dim: int) -> tuple[int]:
    axis = axis_of(dim, len(shape))
    if shape[axis] % 2:
        raise ShapeError(f"dimension {axis} of {list(shape)} has no equal halves")
    return (axis,)


def _halved(shape: Extents, axis: int) -> Extents:
    return (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])


def _gated(x: TensorSpec, axis: int) -> TensorSpec:
    return x.interleaved.with_(shape=_halved(tuple(x.shape), axis))


def _gate(name: str, function: str, golden: Callable[[Any, Any], Any]) -> Composite:
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
        spelled=_spelled_halves,
        result=_gated,
        golden=in_torch,
        examples=((((3, 40),), (-1,)), (((2, 6, 33),), (1,))),
    )


# --- Losses -----------------------------------------------------------------------------------------------------------


class LossReductionMode(enum.Enum):
    """What a loss makes of the losses of all elements (ttnn.LossReductionMode)."""

    NONE = "none"
    MEAN = "mean"
    SUM = "sum"


def _check_loss(reference: tuple[int, ...], prediction: tuple[int, ...], _: str) -> None:
    if reference != prediction:
        raise ShapeError(f"the reference has shape {list(reference)}, and the prediction {list(prediction)}")


def _loss_result(reference: TensorSpec, _: TensorSpec, reduction: str) -> TensorSpec:
    return reference if reduction == LossReductionMode.NONE.name else reference.interleaved.with_(shape=())


def _reduced_losses(ops: Ops, losses: Any, reduction: str) -> Any:
    return losses if reduction == LossReductionMode.NONE.name else getattr(ops, reduction.lower())(losses)


def _loss(name: str, summary: str, of_difference: str, in_torch: str) -> Composite:
    def golden(torch: Any, reference: Any, prediction: Any, reduction: str) -> Any:
        function: Callable[..., Any] = getattr(torch.nn.functional, in_torch)
        return function(reference, prediction, reduction=LossReductionMode[reduction].value)

    def decompose(ops: Ops, reference: Any, prediction: Any, reduction: str) -> Any:
        return _reduced_losses(ops, getattr(ops, of_difference)(reference - prediction), reduction)

    return Composite(
        name=name,
        parameters=(
            Parameter("input_reference", TENSOR),
            Parameter("input_prediction", TENSOR),
            Parameter("reduction", members(LossReductionMode), LossReductionMode.NONE),
        ),
        summary=summary,
        decompose=decompose,
        spelled=_check_loss,
        result=_loss_result,
        golden=golden,
        aten=in_torch,
        examples=tuple(
            (((3, 40), (3, 40)), (LossReductionMode[reduction].name,)) for reduction in LossReductionMode.__members__
        ),
    )


L1_LOSS = _loss("l1_loss", "The absolute differences, their sum or their mean.", "abs", "l1_loss")
MSE_LOSS = _loss("mse_loss", "The squares of the differences, their sum or their mean.", "square", "mse_loss")

OPERATIONS = (
    MEAN,
    VAR,
    STD,
    LINEAR,
    _gate("glu", "sigmoid", lambda torch, x: torch.sigmoid(x)),
    _gate("reglu", "relu", lambda torch, x: torch.relu(x)),
    _gate("geglu", "gelu", lambda torch, x: x * torch.special.erfc(-x * 0.5**0.5) / 2),  # exact in the tail
    _gate("swiglu", "silu", lambda torch, x: torch.nn.functional.silu(x)),
    L1_LOSS,
    MSE_LOSS,
)
