"""Steps of training in texts."""

from __future__ import annotations

from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, TextOperation, text


def _adamw(ops: Ops, call: TextCall) -> list[Value]:
    param = call.param * (1.0 - call.lr * call.weight_decay)
    first = call.exp_avg * call.beta1 + call.grad * (1.0 - call.beta1)
    second = call.exp_avg_sq * call.beta2 + call.grad * call.grad * (1.0 - call.beta2)
    largest = second if call.max_exp_avg_sq is None else ops.maximum(call.max_exp_avg_sq, second)
    away = ops.sqrt(largest * (1.0 / (1.0 - call.beta2_pow))) + call.epsilon
    param = param - first * (call.lr / (1.0 - call.beta1_pow)) / away
    return [param, first, second, largest][: len(call.results)]


def _adamw_in_torch(torch: Any, call: TextCall) -> list[Any]:
    first = torch.lerp(call.exp_avg, call.grad, 1.0 - call.beta1)
    second = call.beta2 * call.exp_avg_sq + (1.0 - call.beta2) * call.grad.square()
    largest = second if call.max_exp_avg_sq is None else torch.maximum(call.max_exp_avg_sq, second)
    mean, variance = first / (1.0 - call.beta1_pow), largest / (1.0 - call.beta2_pow)
    param = call.param - call.lr * (call.weight_decay * call.param + mean / (variance.sqrt() + call.epsilon))
    return [param, first, second, largest][: len(call.results)]


_RATES: dict[str, Any] = dict.fromkeys(
    ("lr", "beta1", "beta2", "beta1_pow", "beta2_pow", "epsilon", "weight_decay"), REQUIRED
)


def _step(name: str, **options: Any) -> TextOperation:
    operands = "param grad exp_avg exp_avg_sq max_exp_avg_sq?"
    return text(
        name, operands, _adamw, _adamw_in_torch, stochastic_rounding=False, in_float32=True, **_RATES, **options
    )


ADAMW = _step("ttir.adamw")
IN_PLACE_ADAMW = _step("ttnn.adamw", updates="param", also_updates=("exp_avg", "exp_avg_sq", "max_exp_avg_sq"))

TEXTS = (ADAMW, IN_PLACE_ADAMW)
