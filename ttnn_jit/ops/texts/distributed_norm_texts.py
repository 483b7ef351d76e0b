"""Norms of tensors whose last dimension is cut over devices, which exchange sums and no elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, Role, TextCall, TextOperation, TextOps, text
from ttnn_jit.ops.texts import exchange_goldens
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
    x = x if weight is None else x * _flat(ops, weight)
    return x if bias is None else x + _flat(ops, bias)


def _flat(ops: Ops, vector: Value) -> Value:
    """A vector, which chips keep as rows of a tile."""
    return ops.reshaped(vector, (math.prod(vector.shape),))


def _in_torch(centred: bool) -> Callable[[Any, TextCall], list[Any]]:
    def golden(torch: Any, call: TextCall) -> list[Any]:
        def whole(tensors: OnDevices) -> Any:
            """``[outer, inner, ..., elements of a group]``."""
            return exchange_goldens.along_axis(torch, call, tensors).movedim(1, -2).flatten(-2)

        x = whole(call.input)
        x = x if call.residual is None else x + whole(call.residual)
        x = x - x.mean(-1, keepdim=True) if centred else x
        x = x / torch.sqrt(x.square().mean(-1, keepdim=True) + call.epsilon)
        if call.weight is not None:
            x = x * _rows(whole([each.reshape(-1) for each in call.weight]), x)
        if vars(call).get("bias") is not None:
            x = x + _rows(whole([each.reshape(-1) for each in call.bias]), x)
        count = exchange_goldens.along_axis(torch, call, call.input).shape[1]
        return exchange_goldens.by_device(x.unflatten(-1, (count, -1)).movedim(-2, 1))

    return golden


def _rows(vectors: Any, x: Any) -> Any:
    """``[outer, inner, elements]`` that broadcast to `x`."""
    return vectors.reshape(*vectors.shape[:2], *(1,) * (x.dim() - 3), vectors.shape[-1])


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
