"""Goldens of mixtures of experts in torch: choices are one-hot over experts, and who has an expert is a matrix.

They share nothing with what they check. Devices of a group stand along an axis of one tensor, as those of exchanges do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.ops.families.text_operation import TextCall


def _groups(torch: Any, call: TextCall) -> list[list[int]]:
    """The numbers of the devices along the axis of the mesh."""
    mesh = [*(1,) * (2 - len(call.mesh)), *call.mesh]
    numbers = torch.arange(math.prod(mesh)).reshape(mesh).movedim(int(call.cluster_axis), -1)
    return numbers.flatten(0, -2).tolist()  # type: ignore[no-any-return]


def _choices(torch: Any, experts: Any, count: int) -> Any:
    """Flags of the experts that each token has, ``[..., K, E]``; none for other numbers."""
    return experts.long()[..., None] == torch.arange(count)


def _by_number(torch: Any, mapping: Any, devices: int) -> Any:
    """Flags [E, D] of ``[..., D, E]``, which has the number of each expert's device in every row."""
    return mapping.reshape(-1, mapping.shape[-1])[0].long()[:, None] == torch.arange(devices)


def _zeroed(torch: Any, tokens: Any, choices: Any, owned: Any) -> Any:
    """The tokens that have one of the owned experts."""
    return torch.where((choices & owned).any(-1).any(-1, keepdim=True), tokens, 0.0)


def dispatch(torch: Any, call: TextCall) -> list[Any]:
    """Tokens and their experts, on every device."""
    devices = len(call.input_tensor)
    tokens, chosen = [None] * devices, [None] * devices
    for group in _groups(torch, call):
        whole = torch.cat([call.input_tensor[each].flatten(1, 2) for each in group]).unsqueeze(0)
        experts = torch.cat([call.expert_indices[each].flatten(1, 2) for each in group]).unsqueeze(0)
        for device in group:
            owned = call.expert_mapping[device][0, 0, :, device] != 0
            tokens[device] = _zeroed(torch, whole, _choices(torch, experts, len(owned)), owned)
            chosen[device] = experts
    return [*tokens, *chosen]


def dispatch_with_scores(torch: Any, call: TextCall) -> list[Any]:
    """Tokens, their experts and scores, on every device."""
    devices = len(call.input_tensor)
    found: list[list[Any]] = [[None] * devices for _ in range(3)]
    operands = call.input_tensor, call.expert_indices, call.expert_scores
    for group in _groups(torch, call):
        whole, experts, scores = (
            torch.cat([each[device].flatten(0, -2) for device in group]).unsqueeze(0) for each in operands
        )
        for device in group:
            owned = _by_number(torch, call.expert_mapping[device], devices)[:, device]
            found[0][device] = _zeroed(torch, whole, _choices(torch, experts, len(owned)), owned)
            found[1][device], found[2][device] = experts, scores
    return [each for results in found for each in results]


def _routed(torch: Any, results: Sequence[Any], choices: Any, owners: Any, dim: int) -> list[Any]:
    """Of each device of a group [K, B, S, H]: what its K experts computed, zeros without one.

    Args:
        torch: The module.
        results: The results of the experts of each device, [E', B, S, H].
        choices: Flags [B, S, K, E] of all tokens.
        owners: Flags [E, G] of the group's devices.
        dim: The dimension of results along which the devices' tokens lie.
    """
    everything = torch.zeros(len(owners), *results[0].shape[1:], dtype=results[0].dtype)
    for place, own in enumerate(results):
        numbers = owners[:, place].nonzero()[:, 0][: len(own)]
        everything[numbers] = own[: len(numbers)]
    is_here = (choices & owners.any(1)).any(-1).movedim(-1, 0)
    batch, sequence = (torch.arange(extent) for extent in everything.shape[1:3])
    chosen = choices.long().argmax(-1).movedim(-1, 0)
    rows = everything[chosen, batch[:, None], sequence]
    return [*torch.where(is_here[..., None], rows, 0.0).chunk(len(results), dim)]


def _shard_dim(call: TextCall) -> int:
    """The dimension along which tokens lie on devices; if no attribute says it, the one of which a part remains."""
    stated, given, made = call.output_shard_dim, call.input_tensor[0].shape, call.result.shape
    return int(stated) if stated is not None else 1 if made[1] < given[1] else 2


def combine(torch: Any, call: TextCall) -> list[Any]:
    """Results of experts on the devices of their tokens."""
    found: list[Any] = [None] * len(call.input_tensor)
    for group in _groups(torch, call):
        owners = call.expert_mapping[group[0]][0, 0][:, group] != 0
        choices = _choices(torch, call.expert_metadata[group[0]][0], len(owners))
        results = [call.input_tensor[each] for each in group]
        for device, own in zip(group, _routed(torch, results, choices, owners, _shard_dim(call)), strict=True):
            found[device] = own
    return found


def remap(torch: Any, call: TextCall) -> list[Any]:
    """Scores of own experts, and the chunks of tokens that have any."""
    scores, chunks = [], []
    for device, every in enumerate(call.topk_tensor):
        owned = call.expert_mapping[device][0, 0, :, device] != 0
        chosen = _choices(torch, call.expert_metadata[device], len(owned)).any(-2)
        count = len(owned) // call.expert_mapping[device].shape[-1]
        own = torch.where(chosen, every, 0.0)[..., owned][..., :count]
        own = torch.nn.functional.pad(own, (0, count - own.shape[-1]))
        rows = own.reshape(-1, own.shape[-1])
        size = int(call.reduction_size)
        padded = torch.nn.functional.pad(rows, (0, 0, 0, -len(rows) % size))
        scores.append(own)
        chunks.append((padded.unflatten(0, (-1, size)) != 0).any(1).to(rows.dtype)[None, None])
    return [*scores, *chunks]


def _expert(torch: Any, call: TextCall, device: int, number: int, x: Any) -> Any:
    """What one expert of a device computes of tokens."""
    layer = int(call.layer_id) if len(call.w0[device]) > 1 else 0

    def product(x: Any, weight: Any, bias: Any) -> Any:
        added = 0.0 if bias is None else bias[device][layer, number]
        return x @ weight[device][layer, number] + added

    gate, up = product(x, call.w0, call.bias_0), product(x, call.w1, call.bias_1)
    match str(call.activation_function):
        case "swiglu":
            gate = gate.clamp(max=7.0)
            inner = (up.clamp(-7.0, 7.0) + 1.0) * gate * torch.sigmoid(1.702 * gate)
        case _:
            inner = torch.nn.functional.silu(gate) * up
    return product(inner, call.w2, call.bias_2)


def compute(torch: Any, call: TextCall) -> list[Any]:
    """Of each device's tokens the results of their experts, one expert after the other."""
    found: list[Any] = [None] * len(call.w0)
    for group in _groups(torch, call):
        owners = _by_number(torch, call.tilize_expert_mapping_tensor[group[0]], len(call.w0))[:, group]
        choices = _choices(torch, call.tilize_expert_indices_tensor[group[0]].flatten(0, -2)[None], len(owners))
        results = []
        for device in group:
            tokens = call.tilize_input_tensor[device].flatten(0, -2)
            count = call.w0[device].shape[1]
            results.append(torch.stack([_expert(torch, call, device, each, tokens)[None] for each in range(count)]))
        for device, own in zip(group, _routed(torch, results, choices, owners, 2), strict=True):
            found[device] = own[:, 0]
    return found


def prepared_first(torch: Any, call: TextCall) -> Any:
    """The first two weights side by side, their biases as a last row."""
    pair = torch.cat([call.w0, call.w1], -1)
    return pair if call.bias_0 is None else torch.cat([pair, torch.cat([call.bias_0, call.bias_1], -1)[:, :, None]], 2)


def prepared_second(torch: Any, call: TextCall) -> Any:
    """The last weight, its bias as a last row."""
    return call.w2 if call.bias_2 is None else torch.cat([call.w2, call.bias_2[:, :, None]], 2)


def compute_prepared(torch: Any, call: TextCall) -> list[Any]:
    """As `compute`, of weights that were prepared."""
    rows = -1 if call.has_bias else None
    pairs = [each[:, :, :rows].chunk(2, -1) for each in call.matmul_w0_w1_tensor]
    given: dict[str, Any] = {"w0": [first for first, _ in pairs], "w1": [second for _, second in pairs]}
    given["w2"] = [each[:, :, :rows] for each in call.matmul_w2_tensor]
    given |= dict.fromkeys(("bias_0", "bias_1", "bias_2"))
    if call.has_bias:
        biases = [each[:, :, -1].chunk(2, -1) for each in call.matmul_w0_w1_tensor]
        given |= {"bias_0": [first for first, _ in biases], "bias_1": [second for _, second in biases]}
        given["bias_2"] = [each[:, :, -1] for each in call.matmul_w2_tensor]
    whole = TextCall({**vars(call), **given}, call.results)
    whole.mesh = call.mesh
    return compute(torch, whole)
