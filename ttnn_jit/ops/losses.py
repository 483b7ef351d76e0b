"""Losses: the differences between what is and what was predicted, as they are or reduced."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.decomposition import Composite, Ops
from ttnn_jit.ops.parameter import TENSOR, Parameter, members
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.specs.tensor_spec import TensorSpec


class LossReductionMode(enum.Enum):
    """What a loss makes of the losses of all elements (ttnn.LossReductionMode)."""

    NONE = "none"
    MEAN = "mean"
    SUM = "sum"


def _spelled(reference: tuple[int, ...], prediction: tuple[int, ...], reduction: str) -> tuple[str]:
    if reference != prediction:
        raise ShapeError(f"the reference has shape {list(reference)}, and the prediction {list(prediction)}")
    return (reduction,)


def _result(reference: TensorSpec, _: TensorSpec, reduction: str) -> TensorSpec:
    return reference if reduction == LossReductionMode.NONE.name else interleaved(reference).with_(shape=())


def _reduced(ops: Ops, losses: Any, reduction: str) -> Any:
    return losses if reduction == LossReductionMode.NONE.name else getattr(ops, reduction.lower())(losses)


def _loss(name: str, summary: str, of_difference: str, in_torch: str) -> Composite:
    def golden(torch: Any, reference: Any, prediction: Any, reduction: str) -> Any:
        function: Callable[..., Any] = getattr(torch.nn.functional, in_torch)
        return function(reference, prediction, reduction=LossReductionMode[reduction].value)

    def decompose(ops: Ops, reference: Any, prediction: Any, reduction: str) -> Any:
        return _reduced(ops, getattr(ops, of_difference)(ops.subtract(reference, prediction)), reduction)

    return Composite(
        name=name,
        parameters=(
            Parameter("input_reference", TENSOR),
            Parameter("input_prediction", TENSOR),
            Parameter("reduction", members(LossReductionMode), LossReductionMode.NONE),
        ),
        summary=summary,
        source=f"ttnn.{name}",
        decompose=decompose,
        spelled=_spelled,
        result=_result,
        golden=golden,
        aten=in_torch,
        examples=tuple(
            (((3, 40), (3, 40)), (LossReductionMode[reduction].name,)) for reduction in LossReductionMode.__members__
        ),
    )


L1_LOSS = _loss("l1_loss", "The absolute differences, their sum or their mean.", "abs", "l1_loss")
MSE_LOSS = _loss("mse_loss", "The squares of the differences, their sum or their mean.", "square", "mse_loss")

OPERATIONS = (L1_LOSS, MSE_LOSS)
