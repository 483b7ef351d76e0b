"""Losses of a prediction against a reference."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.parameter import TENSOR, Parameter, members
from ttnn_jit.specs.tensor_spec import TensorSpec


class LossReductionMode(enum.Enum):
    """The reduction of the losses of all elements (ttnn.LossReductionMode)."""

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
        canonicalize=_check_loss,
        result=_loss_result,
        golden=golden,
        aten=in_torch,
        examples=tuple(
            (((3, 40), (3, 40)), (LossReductionMode[reduction].name,)) for reduction in LossReductionMode.__members__
        ),
    )


OPERATIONS = (
    _loss("l1_loss", "The absolute differences, their sum or their mean.", "abs", "l1_loss"),
    _loss("mse_loss", "The squares of the differences, their sum or their mean.", "square", "mse_loss"),
)
