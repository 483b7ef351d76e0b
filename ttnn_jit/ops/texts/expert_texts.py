"""Mixtures of experts on a mesh: tokens go to the devices of their experts, and the experts' results come back.

An expert is a number. The devices along ``cluster_axis`` are a group, which exchanges tokens. A mapping says which
devices have an expert: a column of ones and zeros for each device of the mesh, or for each expert the number of its
device. A device's own experts are those that it has, in ascending order, as many as its tensors have rows for. What no
expert of a device needs is zeros here; ttnn leaves the memory as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, Role, TextCall, text
from ttnn_jit.ops.selection.selections import SORT
from ttnn_jit.ops.texts import expert_goldens
from ttnn_jit.ops.texts.exchange_texts import by_group, groups_along
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType

OnGroup = Callable[[list[Any], list[int]], list[Any]]


def _of_groups(call: TextCall, inputs: Sequence[Any], found: OnGroup) -> list[Any]:
    """The results of every device, from a function of the inputs of a group.

    Raises:
        ShapeError: The groups have another number of devices than the op says.
    """
    groups = groups_along(call.mesh, call.cluster_axis)
    wanted = vars(call).get("num_devices", len(groups[0]))
    if wanted != len(groups[0]):
        raise ShapeError(f"`num_devices` is {wanted}, and {len(groups[0])} devices lie along the axis of the mesh")
    return by_group(found, [*inputs], groups)


def _result_by_result(found: Sequence[Sequence[Any]]) -> list[Any]:
    """The first results of all devices, then the second ones."""
    return [each for results in zip(*found, strict=True) for each in results]


def _joined(ops: Ops, tensors: Sequence[Value], axis: int) -> Value:
    return ops.concat([*tensors], axis) if len(tensors) > 1 else tensors[0]


def _batched(ops: Ops, x: Value) -> Value:
    """[B, 1, S, X] or [B, S, 1, X] as [1, B, S, X].

    Raises:
        ShapeError: It has another shape.
    """
    batch, first, second, width = x.shape
    if 1 not in {first, second}:
        raise ShapeError(f"tokens have the shape {list(x.shape)}, and neither [B, 1, S, H] nor [B, S, 1, H]")
    return ops.reshaped(x, (1, batch, first * second, width))


# --- Which experts a device has ---------------------------------------------------------------------------------------


def _column(ops: Ops, mapping: Value, device: int, devices: int) -> Value:
    """[E, 1] of int32: 1 for the experts of a device, from [1, 1, E, D].

    Raises:
        ShapeError: The mapping has no column for each device.
    """
    if mapping.shape[-1] != devices:
        raise ShapeError(f"the mapping has {mapping.shape[-1]} columns, and the mesh {devices} devices")
    column = ops.reshaped(ops.part(mapping, 3, device, device + 1), (mapping.shape[2], 1))
    return ops.rounded(ops.ne(column, 0), DataType.INT32)


def _owned_by(ops: Ops, mapping: Value, device: int) -> Value:
    """[E, 1] of int32: 1 for the experts of a device, from [..., D, E] of the numbers of their devices."""
    *_, rows, experts = mapping.shape
    row = ops.part(ops.reshaped(mapping, (rows, experts)), 0, min(device, rows - 1), min(device, rows - 1) + 1)
    return ops.rounded(ops.eq(ops.rounded(ops.reshaped(row, (experts, 1)), DataType.INT32), device), DataType.INT32)


def _ranks(ops: Ops, column: Value) -> Value:
    """The place of each expert among those of the device; 0 for those that it has not."""
    return (ops.cumsum(column, 0) - 1) * column


def _looked_up(ops: Ops, column: Value, experts: Value) -> Value:
    """The numbers in a column for each of the experts; 0 for numbers that no expert has."""
    numbers = ops.rounded(experts, DataType.INT32)
    is_expert = ops.rounded(ops.ge(numbers, 0), DataType.INT32) * ops.rounded(
        ops.lt(numbers, column.shape[0]), DataType.INT32
    )
    flat = ops.reshaped(ops.rounded(numbers * is_expert, DataType.UINT32), (1, math.prod(experts.shape)))
    return ops.reshaped(ops.embedding(flat, column), experts.shape) * is_expert


def _needed(ops: Ops, tokens: Value, experts: Value, column: Value) -> Value:
    """The tokens with an expert in a column, and zeros for the others."""
    is_here = ops.max(_looked_up(ops, column, experts), -1, True)
    return ops.where(ops.rounded(is_here, tokens.spec.dtype.unpacked), tokens, 0.0)


# --- Tokens go to devices ---------------------------------------------------------------------------------------------


def _dispatch(ops: Ops, call: TextCall) -> list[Value]:
    def found(pairs: list[Any], group: list[int]) -> list[Any]:
        tokens, experts = (_joined(ops, [_batched(ops, each) for each in own], 1) for own in zip(*pairs, strict=True))
        columns = [_column(ops, call.expert_mapping[device], device, len(call.input_tensor)) for device in group]
        return [(_needed(ops, tokens, experts, column), experts) for column in columns]

    return _result_by_result(_of_groups(call, [*zip(call.input_tensor, call.expert_indices, strict=True)], found))


_COLUMNS_OF_DEVICES: dict[str, Any] = {"assignments": ("expert_mapping",)}
_NUMBERS_OF_DEVICES: dict[str, Callable[[TextCall], int]] = {
    "tilize_expert_indices_tensor": lambda call: int(call.tilize_expert_mapping_tensor.shape[-1]),
    "tilize_expert_mapping_tensor": lambda _: 1,  # a device that every mesh has
}

DISPATCH = text(
    "ttir.all_to_all_dispatch ttnn.all_to_all_dispatch",
    "input_tensor expert_indices expert_mapping",
    _dispatch,
    expert_goldens.dispatch,
    role=Role.EXCHANGES,
    index_limits={"expert_indices": lambda call: call.expert_mapping.shape[-2]},
    **_COLUMNS_OF_DEVICES,
    num_devices=REQUIRED,
    cluster_axis=REQUIRED,
)


def _dispatch_with_scores(ops: Ops, call: TextCall) -> list[Value]:
    def found(given: list[Any], group: list[int]) -> list[Any]:
        own = zip(*given, strict=True)
        rows = ([ops.reshaped(each, (1, *each.shape[-2:])) for each in tensors] for tensors in own)
        tokens, experts, scores = (_joined(ops, each, 1) for each in rows)
        columns = (_owned_by(ops, call.expert_mapping[device], device) for device in group)
        return [(_needed(ops, tokens, experts, column), experts, scores) for column in columns]

    given = zip(call.input_tensor, call.expert_indices, call.expert_scores, strict=True)
    return _result_by_result(_of_groups(call, [*given], found))


DISPATCH_WITH_SCORES = text(
    "ttir.all_to_all_dispatch_metadata ttnn.all_to_all_dispatch_metadata",
    "input_tensor expert_indices expert_scores expert_mapping dispatched_buffer? indices_buffer? scores_buffer?",
    _dispatch_with_scores,
    expert_goldens.dispatch_with_scores,
    role=Role.EXCHANGES,
    index_limits={
        "expert_indices": lambda call: call.expert_mapping.shape[-1],
        "expert_mapping": lambda _: 1,  # a device that every mesh has
    },
    num_devices=REQUIRED,
    cluster_axis=REQUIRED,
)

# --- Results come back ------------------------------------------------------------------------------------------------


def _combined(
    ops: Ops, results: Sequence[Value], experts: Value, columns: Sequence[Value], dim: int, place: int
) -> Value:
    """[K, B, S, H]: of each of the tokens of a device, the results of its K experts.

    Args:
        ops: The protocol.
        results: The results of the experts of each device of the group, for the tokens of all.
        experts: The experts of all tokens, [1, B, S, K].
        columns: The experts of each device of the group.
        dim: The dimension along which the devices' tokens lie one after the other.
        place: The place of the device in the group.
    """
    extent = experts.shape[dim] // len(columns)
    begin, end = place * extent, (place + 1) * extent
    own = ops.permute(ops.part(experts, dim, begin, end), (3, 1, 2, 0))
    found: Value | float = 0.0
    for tensor, column in zip(results, columns, strict=True):
        part = ops.part(tensor, dim, begin, end)
        index = _looked_up(ops, _ranks(ops, column), own)
        has_row = ops.rounded(ops.lt(index, part.shape[0]), DataType.INT32)
        wide = ops.expand(ops.rounded(index * has_row, DataType.UINT32), (*own.shape[:3], part.shape[3]))
        mask = ops.rounded(_looked_up(ops, column, own) * has_row, part.spec.dtype.unpacked)
        found = ops.where(mask, ops.gather(part, 0, wide), found)
    assert isinstance(found, Value), "a group has a device"
    return found


def output_shard_dim(call: TextCall) -> int:
    """The dimension along which the devices' tokens lie, 1 or 2; without the attribute the one that gets shorter.

    Its default was 1 in tt-mlir once, and is 2.
    """
    if call.output_shard_dim is not None:
        return int(call.output_shard_dim)
    return 2 if call.results[0].shape[1] == call.input_tensor[0].shape[1] else 1


def _combine(ops: Ops, call: TextCall) -> list[Value]:
    def found(pairs: list[Any], group: list[int]) -> list[Any]:
        results = [result for result, _ in pairs]
        columns = [_column(ops, call.expert_mapping[device], device, len(call.input_tensor)) for device in group]
        dim = output_shard_dim(call)
        return [_combined(ops, results, own, columns, dim, place) for place, (_, own) in enumerate(pairs)]

    return _of_groups(call, [*zip(call.input_tensor, call.expert_metadata, strict=True)], found)


COMBINE = text(
    "ttir.all_to_all_combine ttnn.all_to_all_combine",
    "input_tensor expert_metadata expert_mapping",
    _combine,
    expert_goldens.combine,
    role=Role.EXCHANGES,
    index_limits={"expert_metadata": lambda call: call.expert_mapping.shape[-2]},
    **_COLUMNS_OF_DEVICES,
    num_devices=REQUIRED,
    cluster_axis=REQUIRED,
    num_experts_per_tok=None,
    output_shard_dim=None,
)

# --- Scores of a device's own experts ---------------------------------------------------------------------------------


def _own_scores(ops: Ops, call: TextCall, device: int) -> tuple[Value, Value]:
    """The scores of a device's experts, 0 for tokens that have not chosen them, and where a chunk has any."""
    scores, chosen, mapping = (each[device] for each in (call.topk_tensor, call.expert_metadata, call.expert_mapping))
    _, batch, sequence, experts = scores.shape
    if scores.shape[0] != 1 or experts % mapping.shape[3]:
        raise ShapeError(f"scores of the shape {list(scores.shape)} are not those of one device's tokens")
    tokens, count, size = batch * sequence, experts // mapping.shape[3], call.reduction_size
    numbers = _numbers_of(ops, _column(ops, mapping, device, len(call.topk_tensor)), count)
    is_expert = ops.rounded(ops.lt(numbers, experts), DataType.INT32)
    index = ops.expand(ops.rounded(numbers * is_expert, DataType.UINT32), (tokens, count))
    of_own = ops.gather(ops.reshaped(scores, (tokens, experts)), 1, index)
    choices = ops.reshaped(ops.rounded(chosen, DataType.INT32), (tokens, chosen.shape[3], 1))
    is_chosen = ops.max(ops.rounded(ops.eq(choices, ops.reshaped(numbers, (1, 1, count))), DataType.INT32), 1, False)
    found = ops.where(ops.rounded(is_chosen * is_expert, scores.spec.dtype.unpacked), of_own, 0.0)
    marks = ops.rounded(ops.ne(found, 0.0), DataType.INT32)
    missing = -tokens % size
    marks = ops.pad(marks, [(0, missing), (0, 0)], 0) if missing else marks
    chunks = ops.max(ops.reshaped(marks, ((tokens + missing) // size, size, count)), 1, False)
    return ops.reshaped(found, (1, batch, sequence, count)), ops.reshaped(chunks, (1, 1, *chunks.shape))


def _numbers_of(ops: Ops, column: Value, count: int) -> Value:
    """The numbers of the first `count` rows that are 1, [1, count], in ascending order; beyond all rows if too few."""
    flat = ops.reshaped(column, (column.shape[0],))
    numbers = ops.cumsum(flat * 0 + 1, 0) - 1
    places = numbers + (flat * -1 + 1) * column.shape[0]
    ascending = ops.results(SORT, [places], -1, False, False)[0]
    return ops.reshaped(ops.part(ascending, 0, 0, count), (1, count))


REMAP = text(
    "ttir.moe_expert_token_remap ttnn.moe_expert_token_remap",
    "topk_tensor expert_mapping expert_metadata",
    lambda ops, call: _result_by_result([_own_scores(ops, call, device) for device in range(len(call.topk_tensor))]),
    expert_goldens.remap,
    role=Role.EXCHANGES,
    index_limits={"expert_metadata": lambda call: call.expert_mapping.shape[-2]},
    **_COLUMNS_OF_DEVICES,
    reduction_size=REQUIRED,
)

# --- Experts ----------------------------------------------------------------------------------------------------------

_GATE_SLOPE, _GATE_LIMIT = 1.702, 7.0
"""Of the gated unit that gpt-oss uses."""


def _gated(ops: Ops, gate: Value, up: Value, activation: str) -> Value:
    match activation:
        case "silu":
            return ops.silu(gate) * up
        case "swiglu":
            low, wide = ops.clamp(gate, None, _GATE_LIMIT), ops.clamp(up, -_GATE_LIMIT, _GATE_LIMIT)
            return (wide + 1.0) * (low * ops.sigmoid(low * _GATE_SLOPE))
        case _:
            raise ShapeError(f"`activation_function` is {activation}, and silu and swiglu are executed")


def _experts(ops: Ops, call: TextCall, device: int) -> Value:
    """[E, 1, T, H]: the results of the experts of a device for all tokens, each expert a gated layer of three weights.

    An expert computes in float32.
    """
    layer = int(call.layer_id) if call.w0[device].shape[0] > 1 else 0

    def of_layer(operand: list[Value] | None) -> Value | None:
        whole = None if operand is None else ops.rounded(ops.part(operand[device], 0, layer, layer + 1), COMPUTE_TYPE)
        if whole is None or len(whole.shape) == 4:
            return None if whole is None else ops.reshaped(whole, whole.shape[1:])
        return ops.reshaped(whole, (whole.shape[1], 1, whole.shape[2]))

    tokens = ops.rounded(call.tilize_input_tensor[device], COMPUTE_TYPE)
    tokens = ops.reshaped(tokens, (1, math.prod(tokens.shape[:-1]), tokens.shape[-1]))

    def product(x: Value, weight: list[Value], bias: list[Value] | None) -> Value:
        found, added = ops.matmul(x, of_layer(weight)), of_layer(bias)
        return found if added is None else found + added

    count = call.w0[device].shape[1]
    every = ops.expand(tokens, (count, *tokens.shape[1:]))
    gate, up = product(every, call.w0, call.bias_0), product(every, call.w1, call.bias_1)
    made = product(_gated(ops, gate, up, str(call.activation_function)), call.w2, call.bias_2)
    return ops.reshaped(ops.rounded(made, call.result.dtype), (count, 1, *made.shape[1:]))


def _compute(ops: Ops, call: TextCall) -> list[Value]:
    made = [_experts(ops, call, device) for device in range(len(call.w0))]
    mappings = call.tilize_expert_mapping_tensor

    def found(given: list[Any], group: list[int]) -> list[Any]:
        columns = [_owned_by(ops, mappings[device], device) for device in group]
        results = [made[device] for device in group]
        combined = []
        for place, indices in enumerate(given):
            experts = ops.reshaped(indices, (1, 1, *indices.shape[-2:]))
            own = _combined(ops, results, experts, columns, 2, place)
            combined.append(ops.reshaped(own, (own.shape[0], *own.shape[2:])))
        return combined

    return _of_groups(call, call.tilize_expert_indices_tensor, found)


_OF_EXPERTS: dict[str, Any] = {
    "layer_id": 0,
    "output_height_shard_dim": None,
    "intermediate_size": None,
    "activation_function": "silu",
}
COMPUTE = text(
    "ttir.moe_compute",
    "tilize_input_tensor tilize_expert_indices_tensor tilize_expert_scores_tensor tilize_expert_mapping_tensor "
    "w0 w1 w2 bias_0? bias_1? bias_2?",
    _compute,
    expert_goldens.compute,
    role=Role.EXCHANGES,
    index_limits=_NUMBERS_OF_DEVICES,
    cluster_axis=REQUIRED,
    **_OF_EXPERTS,
)

# --- Experts whose weights were prepared ------------------------------------------------------------------------------
# A chip's layout of them is its own. Here the first two lie side by side, and a bias is a row behind its weight.


def _side_by_side(ops: Ops, call: TextCall) -> Value:
    return _with_bias(ops, ops.concat([call.w0, call.w1], 3), call.bias_0, call.bias_1)


def _with_bias(ops: Ops, weight: Value, *biases: Value | None) -> Value:
    rows = [ops.reshaped(each, (*each.shape[:2], 1, each.shape[2])) for each in biases if each is not None]
    return ops.concat([weight, _joined(ops, rows, 3)], 2) if rows else weight


_PREPARED: dict[str, Any] = {"hidden_size": None, "intermediate_size": None}
PREPARE_FIRST = text(
    "ttnn.prepare_moe_compute_w0_w1_weights",
    "w0 w1 bias_0? bias_1?",
    _side_by_side,
    expert_goldens.prepared_first,
    moves=True,
    **_PREPARED,
)
PREPARE_SECOND = text(
    "ttnn.prepare_moe_compute_w2_weights",
    "w2 bias_2?",
    lambda ops, call: _with_bias(ops, call.w2, call.bias_2),
    expert_goldens.prepared_second,
    moves=True,
    **_PREPARED,
)


def _unprepared(ops: Ops, call: TextCall) -> TextCall:
    """The call on the weights that were prepared."""
    first, second = call.matmul_w0_w1_tensor, call.matmul_w2_tensor
    count, inner = int(call.has_bias), first[0].shape[3] // 2

    def rows(x: Value, *, of_bias: bool) -> Value:
        end = x.shape[2]
        return ops.part(x, 2, end - count, end) if of_bias else ops.part(x, 2, 0, end - count)

    found = {
        "w0": [ops.part(rows(each, of_bias=False), 3, 0, inner) for each in first],
        "w1": [ops.part(rows(each, of_bias=False), 3, inner, 2 * inner) for each in first],
        "w2": [rows(each, of_bias=False) for each in second],
        **dict.fromkeys(("bias_0", "bias_1", "bias_2")),
    }
    if count:
        found["bias_0"] = [ops.part(rows(each, of_bias=True), 3, 0, inner) for each in first]
        found["bias_1"] = [ops.part(rows(each, of_bias=True), 3, inner, 2 * inner) for each in first]
        found["bias_2"] = [rows(each, of_bias=True) for each in second]
    whole = TextCall({**vars(call), **found}, call.results)
    whole.mesh = call.mesh
    return whole


COMPUTE_PREPARED = text(
    "ttnn.moe_compute",
    "tilize_input_tensor tilize_expert_indices_tensor tilize_expert_scores_tensor tilize_expert_mapping_tensor "
    "matmul_w0_w1_tensor matmul_w2_tensor optional_output_tensor?",
    lambda ops, call: _compute(ops, _unprepared(ops, call)),
    expert_goldens.compute_prepared,
    role=Role.EXCHANGES,
    index_limits=_NUMBERS_OF_DEVICES,
    has_bias=False,
    cluster_axis=REQUIRED,
    mux_core_range_set=None,
    **_OF_EXPERTS,
)

TEXTS = (
    DISPATCH,
    DISPATCH_WITH_SCORES,
    COMBINE,
    REMAP,
    COMPUTE,
    PREPARE_FIRST,
    PREPARE_SECOND,
    COMPUTE_PREPARED,
)
