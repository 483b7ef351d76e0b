"""Norms of tensors whose last dimension is cut over devices, which exchange sums and no elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, Role, TextCall, TextOperation, TextOps, text
from ttnn_jit.ops.texts.exchange_texts import by_group, folded, groups_along
from ttnn_jit.specs.dtypes import COMPUTE_TYPE

OnDevices = Sequence[Any]


def _part(values: OnDevices | None, device: int) -> Any:
    return None if values is None else values[device]


def _mean_of_group(ops: Ops, parts: Sequence[Value]) -> Value:
    """The mean along the last dimension of all parts."""
    sums = [ops.sum(each, (-1,), True) for each in parts]
    return folded(ops, sums, "sum") * (1.0 / sum(each.shape[-1] for each in parts))


def _written(centred: bool) -> Callable[[TextOps, TextCall], list[Value]]:
    def write(ops: TextOps, call: TextCall) -> list[Value]:
        def of_group(tensors: list[Value], devices: list[int]) -> list[Value]:
            wide = [ops.rounded(each, COMPUTE_TYPE) for each in tensors]
            residuals = [_part(call.residual, device) for device in devices]
            wide = [x if more is None else x + more for x, more in zip(wide, residuals, strict=True)]
            if centred:
                mean = _mean_of_group(ops, wide)
                wide = [each - mean for each in wide]
            scale = ops.rsqrt(_mean_of_group(ops, [each * each for each in wide]) + call.epsilon)
            return [_scaled(ops, each * scale, call, device) for each, device in zip(wide, devices, strict=True)]

        return by_group(of_group, call.input, groups_along(call.mesh, call.cluster_axis))

    return write


def _scaled(ops: Ops, x: Value, call: TextCall, device: int) -> Value:
    """A device's part with its weight and bias."""
    weight, bias = _part(call.weight, device), _part(vars(call).get("bias"), device)
    x = x if weight is None else x * ops.reshaped(weight, weight.shape[-1:])
    return x if bias is None else x + ops.reshaped(bias, bias.shape[-1:])


def _in_torch(centred: bool) -> Callable[[Any, TextCall], list[Any]]:
    def golden(torch: Any, call: TextCall) -> list[Any]:
        def of_group(tensors: list[Any], devices: list[int]) -> list[Any]:
            whole = torch.cat(tensors, -1)
            if call.residual is not None:
                whole = whole + torch.cat([call.residual[device] for device in devices], -1)
            vectors = [
                None if each is None else torch.cat([each[device].reshape(-1) for device in devices])
                for each in (call.weight, vars(call).get("bias"))
            ]
            if centred:
                found = torch.nn.functional.layer_norm(whole, whole.shape[-1:], *vectors, call.epsilon)
            else:
                found = torch.nn.functional.rms_norm(whole, whole.shape[-1:], vectors[0], call.epsilon)
            return [*found.chunk(len(devices), -1)]

        return by_group(of_group, call.input, groups_along(call.mesh, call.cluster_axis))

    return golden


def _norm(names: str, operands: str, *, centred: bool) -> TextOperation:
    return text(
        names,
        operands,
        _written(centred),
        _in_torch(centred),
        role=Role.EXCHANGES,
        cluster_axis=REQUIRED,
        epsilon=1e-5,
    )


TEXTS = (
    _norm("ttir.distributed_rms_norm", "input weight? residual?", centred=False),
    _norm("ttir.distributed_layer_norm", "input weight? bias? residual?", centred=True),
    _norm("ttnn.distributed_rms_norm", "input weight? residual? stats?", centred=False),
    _norm("ttnn.distributed_layer_norm", "input weight? bias? residual?", centred=True),
)
