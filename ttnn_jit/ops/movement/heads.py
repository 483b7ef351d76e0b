"""Operations that split rows of queries, keys and values into heads, and that concatenate heads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.families.movement import OPERAND
from ttnn_jit.ops.language.parameter import DIMENSION, FLAG, IGNORED, OPTIONAL_COUNT, OPTIONAL_TENSOR, TENSOR, Parameter
from ttnn_jit.ops.movement.data_movement import PERMUTE, RESHAPE
from ttnn_jit.ops.movement.padding import PAD
from ttnn_jit.specs.target import TILE_HEIGHT

_KEYS_AND_VALUES = Parameter("input_tensor_kv", OPTIONAL_TENSOR, aliases=("kv_input_tensor", "kv_input", "input_kv"))
_NUM_HEADS = Parameter("num_heads", DIMENSION, aliases=("num_q_heads",))
_NUM_KV_HEADS = Parameter("num_kv_heads", OPTIONAL_COUNT)
_TRANSPOSES = Parameter("transpose_k_heads", FLAG, default=True)
_GRID = Parameter("compute_with_storage_grid_size", IGNORED)

BY_HEAD, TRANSPOSED = (0, 2, 1, 3), (0, 2, 3, 1)
"""Permutations of [batch, positions, heads, channels] to heads of positions x channels, and of channels x positions."""


# --- From rows to heads ---------------------------------------------------------------------------------------------


def _check_heads(heads: int, kv_heads: int | None, least: int = 1) -> int:
    kv_heads = heads if kv_heads is None else kv_heads
    if heads < 1 or kv_heads < least or heads % max(1, kv_heads):
        raise ShapeError(
            f"{heads} heads of queries do not share {kv_heads} of keys and values",
            help="`num_heads` is a multiple of `num_kv_heads`",
        )
    return kv_heads


def _channels(width: int, heads: int, what: str) -> int:
    """The number of channels of a head, in rows of that width."""
    if width == 0 or width % heads:
        raise ShapeError(f"{what} of {width} channels do not divide into {heads} heads")
    return width // heads


def _as_positions(ops: Ops, x: Value, rank: int, name: str) -> Value:
    """`x` as ``[batch, positions, channels]``, from that or from ``[batch, 1, positions, channels]``."""
    if len(x.shape) != rank or (rank == 4 and x.shape[1] != 1):
        expected = "[batch, positions, channels]" if rank == 3 else "[batch, 1, positions, channels]"
        raise ShapeError(f"`{name}` has shape {list(x.shape)}", help=f"it must be {expected}")
    return x if rank == 3 else ops.call(RESHAPE, [x], (x.shape[0], *x.shape[2:]))


def _split_heads(ops: Ops, x: Value, heads: int, order: Sequence[int] = BY_HEAD) -> Value:
    """``[batch, positions, channels]`` as ``[batch, positions, heads, channels of one]``, permuted by `order`."""
    batch, positions, width = x.shape
    return ops.call(PERMUTE, [ops.call(RESHAPE, [x], (batch, positions, heads, width // heads))], tuple(order))


def _split_qkv(
    ops: Ops, x: Value, kv: Value | None, heads: int, kv_heads: int | None, transposes: bool, *, rank: int
) -> list[Value]:
    kv_heads = _check_heads(heads, kv_heads, least=0)
    x = _as_positions(ops, x, rank, "input_tensor")
    keys = TRANSPOSED if transposes else BY_HEAD
    if kv is None:
        width = _channels(x.shape[2], heads + 2 * kv_heads, "rows")
        query, kv = ops.part(x, 2, 0, heads * width), ops.part(x, 2, heads * width, x.shape[2])
    else:
        width, query = _channels(x.shape[2], heads, "rows of queries"), x
        kv = _as_positions(ops, kv, rank, "input_tensor_kv")
        if kv.shape != (*x.shape[:2], 2 * kv_heads * width):
            raise ShapeError(
                f"keys and values of shape {list(kv.shape)} do not fit queries of shape {list(x.shape)}",
                help=f"they have its positions, and {2 * kv_heads * width} channels: {2 * kv_heads} heads of {width}",
            )
    if kv_heads == 0:
        nothing = ops.call(RESHAPE, [kv], (x.shape[0], 0, x.shape[1], width))
        return [_split_heads(ops, query, heads), nothing, nothing]
    middle = kv_heads * width
    return [
        _split_heads(ops, query, heads),
        _split_heads(ops, ops.part(kv, 2, 0, middle), kv_heads, keys),
        _split_heads(ops, ops.part(kv, 2, middle, 2 * middle), kv_heads),
    ]


def _heads_of_groups(ops: Ops, x: Value, groups: int, width: int, first: int, count: int) -> Value:
    """The heads [first, first + count) of every group, as rows."""
    batch, positions, total = x.shape
    grouped = ops.call(RESHAPE, [x], (batch, positions, groups, total // groups))
    found = ops.part(grouped, 3, first * width, (first + count) * width)
    return ops.call(RESHAPE, [found], (batch, positions, groups * count * width))


def _split_groups(ops: Ops, x: Value, heads: int, kv_heads: int | None, transposes: bool) -> list[Value]:
    """The heads of rows of groups; a group is the queries that share a key, that key, and its value."""
    kv_heads = _check_heads(heads, kv_heads)
    queries_per_group = heads // kv_heads
    rows = partial(_heads_of_groups, ops, x, kv_heads, _channels(x.shape[2], heads + 2 * kv_heads, "rows"))
    return [
        _split_heads(ops, rows(0, queries_per_group), heads),
        _split_heads(ops, rows(queries_per_group, 1), kv_heads, TRANSPOSED if transposes else BY_HEAD),
        _split_heads(ops, rows(queries_per_group + 1, 1), kv_heads),
    ]


def _split_separate(ops: Ops, x: Value, kv: Value, heads: int, kv_heads: int | None, transposes: bool) -> list[Value]:
    """The heads of rows of queries, and of rows of pairs of a key and its value."""
    kv_heads = _check_heads(heads, kv_heads)
    x, kv = _as_positions(ops, x, 4, "input_tensor"), _as_positions(ops, kv, 4, "input_tensor_kv")
    width = _channels(x.shape[2], heads, "rows of queries")
    if (kv.shape[0], kv.shape[2]) != (x.shape[0], 2 * kv_heads * width):
        raise ShapeError(
            f"keys and values of shape {list(kv.shape)} do not fit queries of shape {list(x.shape)}",
            help=f"they have its batch, and {2 * kv_heads * width} channels: {2 * kv_heads} heads of {width}",
        )
    rows = partial(_heads_of_groups, ops, kv, kv_heads, width)
    return [
        _split_heads(ops, x, heads),
        _split_heads(ops, rows(0, 1), kv_heads, TRANSPOSED if transposes else BY_HEAD),
        _split_heads(ops, rows(1, 1), kv_heads),
    ]


def _split_positions(
    ops: Ops, x: Value, kv: Value | None, heads: int, kv_heads: int | None, transposes: bool
) -> list[Value]:
    if kv is None and x.spec.memory_config.is_sharded():  # as in ttnn's kernel for shards: a core has whole groups
        return _split_groups(ops, _as_positions(ops, x, 3, "input_tensor"), heads, kv_heads, transposes)
    return _split_qkv(ops, x, kv, heads, kv_heads, transposes, rank=3)


def _heads_in_torch(
    torch: Any, x: Any, kv: Any, heads: int, kv_heads: int | None, transposes: bool
) -> tuple[Any, Any, Any]:
    kv_heads = heads if kv_heads is None else kv_heads
    batch, positions = x.shape[0], x.shape[-2]
    rows = (x if kv is None else torch.cat([x, kv], -1)).reshape(batch, positions, heads + 2 * kv_heads, -1)
    query, key, value = torch.split(rows.movedim(2, 1), [heads, kv_heads, kv_heads], 1)
    return query, key.mT if transposes else key, value


SPLIT_HEADS = MacroOperation(
    name="transformer.split_query_key_value_and_split_heads",
    parameters=(
        OPERAND,
        _KEYS_AND_VALUES,
        _NUM_HEADS,
        _NUM_KV_HEADS,
        Parameter("transpose_key", FLAG, default=True),
    ),
    summary=(
        "Heads of queries, of keys, transposed by default, and of values, from rows of all three, or from two tensors "
        "of rows; sharded rows consist of groups."
    ),
    decompose=_split_positions,
    reads_layout=True,
    result_container=tuple,
    golden=_heads_in_torch,
    examples=(
        (((2, 5, 24), None), (2, None, True)),
        (((1, 33, 96), None), (4, 1, False)),
        (((2, 3, 8), (2, 3, 16)), (4, None, True)),
    ),
)

NLP_CREATE_QKV_HEADS = MacroOperation(
    name="experimental.nlp_create_qkv_heads",
    parameters=(
        OPERAND,
        _KEYS_AND_VALUES,
        _NUM_HEADS,
        _NUM_KV_HEADS,
        _TRANSPOSES,
    ),
    summary="Heads of queries, of keys, transposed by default, and of values, from rows in four dimensions.",
    decompose=partial(_split_qkv, rank=4),
    result_container=tuple,
    golden=_heads_in_torch,
    examples=(
        (((2, 1, 5, 24), None), (2, None, True)),
        (((1, 1, 33, 96), None), (4, 1, False)),
        (((2, 1, 3, 16), (2, 1, 3, 8)), (4, 1, False)),
        (((2, 1, 3, 24), None), (4, 0, False)),
    ),
)


_FALCON_HEADS = 71, 1, False
"""Falcon-7B: heads of queries, heads of keys and values, and whether keys are transposed."""

NLP_CREATE_QKV_HEADS_FALCON7B = MacroOperation(
    name="experimental.nlp_create_qkv_heads_falcon7b",
    parameters=(OPERAND,),
    summary="71 heads of queries, one of keys and one of values, in this order, from rows in four dimensions.",
    decompose=lambda ops, x: _split_qkv(ops, x, None, *_FALCON_HEADS, rank=4),
    result_container=tuple,
    golden=lambda torch, x: _heads_in_torch(torch, x, None, *_FALCON_HEADS),
    examples=((((2, 1, 3, 146),), ()), (((1, 1, 33, 73 * 32),), ())),
)


def _groups_in_torch(torch: Any, x: Any, heads: int, kv_heads: int | None, transposes: bool) -> tuple[Any, Any, Any]:
    kv_heads, (batch, _, positions, total) = kv_heads or heads, x.shape
    width = total // (heads + 2 * kv_heads)
    groups = x.reshape(batch, positions, kv_heads, -1, width).permute(0, 2, 3, 1, 4)
    query, key, value = torch.split(groups, [heads // kv_heads, 1, 1], 2)
    return (
        query.reshape(batch, heads, positions, width),
        key[:, :, 0].mT if transposes else key[:, :, 0],
        value[:, :, 0],
    )


CREATE_QKV_HEADS = MacroOperation(
    name="experimental.create_qkv_heads",
    parameters=(OPERAND, _NUM_HEADS, _NUM_KV_HEADS, _TRANSPOSES),
    summary="Heads of rows of groups; a group is the queries that share a key, that key, and its value.",
    decompose=lambda ops, x, *statics: _split_groups(ops, _as_positions(ops, x, 4, "input_tensor"), *statics),
    result_container=tuple,
    golden=_groups_in_torch,
    examples=((((2, 1, 5, 32),), (2, 1, True)), (((1, 1, 3, 48),), (4, None, False))),
)


def _separate_in_torch(_: Any, x: Any, kv: Any, heads: int, kv_heads: int | None, transposes: bool) -> tuple[Any, ...]:
    query = x.squeeze(1).unflatten(-1, (heads, -1)).transpose(1, 2)
    key, value = kv.squeeze(1).unflatten(-1, (kv_heads or heads, 2, -1)).permute(3, 0, 2, 1, 4)
    return query, key.mT if transposes else key, value


SEPARATE_QKV_HEADS = MacroOperation(
    name="experimental.create_qkv_heads_from_separate_tensors",
    parameters=(
        OPERAND,
        Parameter("input_tensor_kv", TENSOR, aliases=("input_kv",)),
        _NUM_HEADS,
        _NUM_KV_HEADS,
        _TRANSPOSES,
    ),
    summary="Heads of rows of queries, and of rows of pairs of a key and its value.",
    decompose=_split_separate,
    result_container=tuple,
    golden=_separate_in_torch,
    examples=((((2, 1, 5, 16), (2, 1, 7, 16)), (2, 1, True)), (((1, 1, 3, 24), (1, 1, 33, 48)), (4, None, False))),
)


def _split_shards(ops: Ops, x: Value, heads: int) -> list[Value]:
    """The heads of rows; each shard of sharded rows has the queries, keys and values of some heads."""
    shard = x.spec.memory_config.shard_spec
    shards = 1 if shard is None or shard.shape[1] < 1 else -(-x.shape[-1] // shard.shape[1])
    if shards == 1 or heads % shards or x.shape[-1] % shards:
        return _split_qkv(ops, x, None, heads, None, True, rank=4)
    rows = _as_positions(ops, x, 4, "input_tensor")
    heads_per_shard = heads // shards
    part = partial(_heads_of_groups, ops, rows, shards, _channels(x.shape[-1], 3 * heads, "rows"))
    return [
        _split_heads(ops, part(0, heads_per_shard), heads),
        _split_heads(ops, part(heads_per_shard, heads_per_shard), heads, TRANSPOSED),
        _split_heads(ops, part(2 * heads_per_shard, heads_per_shard), heads),
    ]


BERT_SPLIT_HEADS = MacroOperation(
    name="experimental.split_query_key_value_and_split_heads",
    ttnn_name="split_qkv_of_16_heads",
    parameters=(OPERAND, Parameter("num_heads", DIMENSION, 16), _GRID),
    summary=(
        "Heads of queries, of keys, transposed, and of values, from rows in four dimensions; each shard of sharded "
        "rows has all three for some heads."
    ),
    decompose=_split_shards,
    reads_layout=True,
    result_container=tuple,
    golden=lambda torch, x, heads: _heads_in_torch(torch, x, None, heads, None, True),
    examples=((((2, 1, 3, 96),), (16,)), (((1, 1, 33, 192),), (2,))),
)


def _split_users(ops: Ops, x: Value, heads: int, kv_heads: int | None) -> list[Value]:
    kv_heads = _check_heads(heads, kv_heads)
    if len(x.shape) != 4 or x.shape[:2] != (1, 1):
        raise ShapeError(f"`input_tensor` has shape {list(x.shape)}", help="it must be [1, 1, users, channels]")
    users = x.shape[2]
    width = _channels(x.shape[3], heads + 2 * kv_heads, "rows")
    ends = (0, heads, heads + kv_heads, heads + 2 * kv_heads)
    parts = [ops.part(x, 3, begin * width, end * width) for begin, end in itertools.pairwise(ends)]
    return [ops.call(RESHAPE, [part], (1, users, part.shape[3] // width, width)) for part in parts]


def _users_in_torch(torch: Any, x: Any, heads: int, kv_heads: int | None) -> tuple[Any, ...]:
    sizes = (heads, kv_heads or heads, kv_heads or heads)
    return tuple(torch.split(x.reshape(1, x.shape[2], sum(sizes), -1), sizes, 2))


NLP_CREATE_QKV_HEADS_DECODE = MacroOperation(
    name="experimental.nlp_create_qkv_heads_decode",
    parameters=(
        OPERAND,
        _NUM_HEADS,
        _NUM_KV_HEADS,
        Parameter("overlap_qkv_coregrid", IGNORED, aliases=("overlap_qk_coregrid",)),
    ),
    summary="Heads of queries, keys and values of one position of every user, each [1, users, heads, channels].",
    decompose=_split_users,
    result_container=tuple,
    core_for_each=True,
    golden=_users_in_torch,
    examples=((((1, 1, 5, 48),), (4, 1)), (((1, 1, 33, 24),), (2, None))),
)


# --- From heads to rows ---------------------------------------------------------------------------------------------


def _check_rank(x: Value, expected: str) -> None:
    if len(x.shape) != 4:
        raise ShapeError(f"`input_tensor` has shape {list(x.shape)}", help=f"it must be {expected}")


def _concatenated(ops: Ops, x: Value, *, unit: bool) -> Value:
    _check_rank(x, "[batch, heads, positions, channels]")
    batch, heads, positions, width = x.shape
    extents = (batch, *((1,) if unit else ()), positions, heads * width)
    return ops.call(RESHAPE, [ops.call(PERMUTE, [x], BY_HEAD)], extents)


def _concatenation(name: str, *parameters: Parameter, unit: bool, ttnn_name: str = "") -> MacroOperation:
    shape = "[batch, 1, positions, channels]" if unit else "[batch, positions, channels]"

    def golden(_: Any, x: Any) -> Any:
        rows = x.transpose(1, 2).flatten(2)
        return rows.unsqueeze(1) if unit else rows

    return MacroOperation(
        name=name,
        ttnn_name=ttnn_name,
        parameters=(OPERAND, *parameters),
        summary=f"Heads [batch, heads, positions, channels of one] as rows {shape}.",
        decompose=lambda ops, x: _concatenated(ops, x, unit=unit),
        golden=golden,
        examples=((((2, 3, 5, 8),), ()), (((1, 4, 33, 32),), ())),
    )


CONCATENATIONS = (
    _concatenation("transformer.concatenate_heads", unit=False),
    _concatenation("experimental.concatenate_heads", _GRID, unit=True, ttnn_name="concatenate_heads_4d"),
    _concatenation("experimental.nlp_concat_heads", unit=True),
)


def _concatenated_users(ops: Ops, x: Value, heads: int) -> Value:
    _check_rank(x, "[1, users, heads, channels]")
    one, users, available, width = x.shape
    if one != 1 or not 1 <= heads <= available:
        raise ShapeError(f"a tensor of shape {list(x.shape)} does not contain {heads} heads")
    rows = ops.call(RESHAPE, [ops.part(x, 2, 0, heads)], (1, 1, users, heads * width))
    missing = max(0, TILE_HEIGHT - users)
    return ops.call(PAD, [rows], ((0, 0), (0, 0), (0, missing), (0, 0)), 0) if missing else rows


def _concat_users_in_torch(torch: Any, x: Any, heads: int) -> Any:
    rows = x[:, :, :heads].flatten(2).unsqueeze(1)
    return torch.nn.functional.pad(rows, (0, 0, 0, max(0, 32 - x.shape[1])))


NLP_CONCAT_HEADS_DECODE = MacroOperation(
    name="experimental.nlp_concat_heads_decode",
    parameters=(OPERAND, _NUM_HEADS),
    summary="The first `num_heads` heads of every user as a row, [1, 1, users, channels], padded with 0 to 32 rows.",
    decompose=_concatenated_users,
    golden=_concat_users_in_torch,
    examples=((((1, 5, 4, 8),), (3,)), (((1, 33, 2, 32),), (2,))),
)

OPERATIONS = (
    SPLIT_HEADS,
    NLP_CREATE_QKV_HEADS,
    NLP_CREATE_QKV_HEADS_FALCON7B,
    CREATE_QKV_HEADS,
    SEPARATE_QKV_HEADS,
    BERT_SPLIT_HEADS,
    NLP_CREATE_QKV_HEADS_DECODE,
    *CONCATENATIONS,
    NLP_CONCAT_HEADS_DECODE,
)
