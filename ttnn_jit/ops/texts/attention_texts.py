"""Attention of texts, also of training, and routers of experts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.attention.attention import SCALED_DOT_PRODUCT_ATTENTION as WHOLE
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.ops.families.element_goldens import GoldenOfElements, index_of_places
from ttnn_jit.ops.families.spelling import Spelling
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, TextOps, text
from ttnn_jit.ops.movement.sequences import arange
from ttnn_jit.ops.selection.routines import TOPK
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType

_LSE_WIDTH = 32
"""Columns of a tensor of intermediates, in all of which a row's logarithm of its sum of exponentials stands."""
_MASKED = -1e30
"""What a score of a masked key becomes: its exponential is 0, and it is finite."""


def _group(call: TextCall) -> int:
    """How many heads of queries share a head of keys."""
    return int(call.query.shape[-3]) // int(call.key.shape[-3])


def _require_no_dropout(call: TextCall) -> None:
    if call.dropout_probability:
        raise ArgumentError(f"`dropout_probability` is {call.dropout_probability}, and dropped scores are not computed")


def _scores(ops: TextOps, call: TextCall) -> tuple[Value, Value]:
    """The masked scores, and the keys of each head of queries."""
    _require_no_dropout(call)
    key = _of_each_head(ops, call.key, _group(call))
    scores = ops.matmul(call.query, key, transpose_b=True) * (1.0 / math.sqrt(call.query.shape[-1]))
    if call.mask_type == "causal":
        scores = scores + _causal_mask(ops, call)
    elif call.mask_type == "arbitrary" and call.attention_mask is not None:
        scores = scores + ops.typecast(call.attention_mask, COMPUTE_TYPE)
    return scores, key


def _of_each_head(ops: TextOps, x: Value, group: int) -> Value:
    found: Value = x if group == 1 else ops.repeat_interleave(x, group, 1)
    return found


def _causal_mask(ops: TextOps, call: TextCall) -> Value:
    """0 where a key is not behind its query."""
    rows, columns = int(call.query.shape[2]), int(call.key.shape[2])
    row = ops.reshaped(arange(ops, rows, call.query, 0, 1, DataType.FLOAT32), (1, 1, rows, 1))
    column = ops.reshaped(arange(ops, columns, call.query, 0, 1, DataType.FLOAT32), (1, 1, 1, columns))
    found: Value = ops.where(ops.ge(row, column), 0.0, _MASKED)
    return found


def _forward(ops: TextOps, call: TextCall) -> list[Value]:
    scores, _ = _scores(ops, call)
    largest = ops.max(scores, -1, True)
    exponentials = ops.exp(scores - largest)
    sums = ops.sum(exponentials, -1, True)
    value = _of_each_head(ops, call.value, _group(call))
    output = ops.matmul(exponentials / sums, value)
    if len(call.results) == 1:
        return [output]
    logarithm = largest + ops.log(sums)
    return [output, ops.expand(logarithm, (*logarithm.shape[:-1], _LSE_WIDTH))]


def _backward(ops: TextOps, call: TextCall) -> list[Value]:
    scores, key = _scores(ops, call)
    group = _group(call)
    logarithm = ops.sliced(call.intermediates, 3, 0, 1)
    weights = ops.exp(scores - logarithm)
    value = _of_each_head(ops, call.value, group)
    of_value = ops.matmul(weights, call.grad_output, transpose_a=True)
    of_weights = ops.matmul(call.grad_output, value, transpose_b=True)
    row = ops.sum(call.grad_output * call.attn_output, -1, True)
    of_scores = weights * (of_weights - row) * (1.0 / math.sqrt(call.query.shape[-1]))
    of_query = ops.matmul(of_scores, key)
    of_key = ops.matmul(of_scores, call.query, transpose_a=True)
    return [of_query, _summed(ops, of_key, group), _summed(ops, of_value, group)]


def _summed(ops: TextOps, x: Value, group: int) -> Value:
    """The sum over the heads of queries that share a head of keys."""
    if group == 1:
        return x
    batch, heads, rows, width = x.shape
    parts = ops.reshaped(x, (batch, heads // group, group, rows * width))
    return ops.reshaped(ops.sum(parts, 2, True), (batch, heads // group, rows, width))


def _scores_in_torch(torch: Any, call: TextCall) -> tuple[Any, Any, Any]:
    group = _group(call)
    key, value = (each.repeat_interleave(group, -3) for each in (call.key, call.value))
    scores = call.query @ key.mT / math.sqrt(call.query.shape[-1])
    if call.mask_type == "causal":
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), -math.inf)
    elif call.mask_type == "arbitrary" and call.attention_mask is not None:
        mask = call.attention_mask
        scores = scores + (mask if mask.dim() <= scores.dim() else mask[0])
    return scores, key, value


def _forward_in_torch(torch: Any, call: TextCall) -> list[Any]:
    scores, _, value = _scores_in_torch(torch, call)
    found = [scores.softmax(-1) @ value]
    if len(call.results) == 2:
        logarithm = scores.logsumexp(-1, keepdim=True)
        found.append(logarithm.expand(*logarithm.shape[:-1], _LSE_WIDTH))
    return found


def _backward_in_torch(torch: Any, call: TextCall) -> list[Any]:
    scores, key, value = _scores_in_torch(torch, call)
    weights = (scores - call.intermediates[..., :1]).exp()
    row = (call.grad_output * call.attn_output).sum(-1, keepdim=True)
    of_scores = weights * (call.grad_output @ value.mT - row) / math.sqrt(call.query.shape[-1])
    whole = of_scores.mT @ call.query, weights.mT @ call.grad_output
    group = _group(call)
    return [of_scores @ key, *(each.unflatten(-3, (-1, group)).sum(-3) for each in whole)]


def _with_batch(write: Callable[[TextOps, TextCall], list[Value]]) -> Callable[[TextOps, TextCall], list[Value]]:
    """The same of tensors of heads without a batch, [heads, positions, channels], as a batch of one."""

    def written(ops: TextOps, call: TextCall) -> list[Value]:
        if len(call.query.shape) == 4:
            return write(ops, call)
        given = {
            name: ops.reshaped(each, (1, *each.shape)) if isinstance(each, Value) and len(each.shape) == 3 else each
            for name, each in vars(call).items()
        }
        specs = [each.with_(shape=(1, *each.shape)) for each in call.results]
        found = write(ops, TextCall(given, specs))
        return [ops.reshaped(each, each.shape[1:]) for each in found]

    return written


SDPA_FORWARD = text(
    "ttir.sdpa_fw ttnn.sdpa_fw",
    "query key value attention_mask?",
    _with_batch(_forward),
    _forward_in_torch,
    mask_type="causal",
    dropout_probability=0.0,
    return_intermediates=False,
    in_float32=True,
)
SDPA_BACKWARD = text(
    "ttir.sdpa_bw ttnn.sdpa_bw",
    "grad_output attn_output query key value intermediates attention_mask?",
    _with_batch(_backward),
    _backward_in_torch,
    mask_type="arbitrary",
    dropout_probability=0.0,
    in_float32=True,
)


def _routed(ops: TextOps, call: TextCall) -> list[Value]:
    logits = ops.matmul(call.input, call.weight) + call.bias
    largest, chosen = ops.results(TOPK, [logits], call.k, -1, True, True)
    return [ops.typecast(chosen, DataType.UINT16), ops.softmax(largest, -1)]


def _routed_in_torch(torch: Any, call: TextCall) -> list[Any]:
    largest, chosen = torch.topk(call.input @ call.weight + call.bias, call.k)
    return [chosen, largest.softmax(-1)]


TOPK_ROUTER = text(
    "ttir.topk_router_gpt ttnn.topk_router_gpt",
    "input weight bias",
    _routed,
    _routed_in_torch,
    k=REQUIRED,
    num_experts=REQUIRED,
    in_float32=True,
    compared_elements=lambda _, call, results: [
        (call.input @ call.weight + call.bias).gather(-1, results[0].long()),
        results[1],
    ],
)


def _attention(ops: TextOps, call: TextCall) -> Value:
    """The attention of ttnn, whose sink is multiplied by `scale`; that of TTIR is not."""
    query, sink, scale = call.query, call.attention_sink, call.scale
    if sink is not None and scale == 0.0:
        query, scale = query * 0.0, 1.0
    elif sink is not None:
        sink = sink * (math.sqrt(query.shape[-1]) if scale is None else 1.0 / scale)
    operands = [query, call.key, call.value, call.attention_mask, sink]
    found: Value = ops.call(WHOLE, operands, call.is_causal, scale, call.sliding_window_size)
    return found


_SCORES = 2**22
"""Scores of a golden at a time: 32 MB of float64."""


def _attention_in_torch(torch: Any, call: TextCall) -> Any:
    """By the definition, some rows of queries after another."""
    key, value = (each.repeat_interleave(_group(call), 1) for each in (call.key, call.value))
    batches, heads, queries, _ = call.query.shape
    rows = max(1, _SCORES // max(1, batches * heads * key.shape[2]))
    found = call.query.new_empty((batches, heads, queries, value.shape[3]))
    for positions in torch.split(torch.arange(queries), rows):
        begin, end = int(positions[0]), int(positions[-1]) + 1
        mask = call.attention_mask
        mask = mask if mask is None or mask.shape[-2] == 1 else mask[..., begin:end, :]
        own = call.query[:, :, begin:end], key, value, mask, call.attention_sink
        found[:, :, begin:end] = _attended(torch, call, own, positions)
    return found


def _attended(torch: Any, call: TextCall, operands: Sequence[Any], positions: Any) -> Any:
    """The softmax over scores and, in one more column, the sink; that column has no value.

    Args:
        torch: The module.
        call: The attributes.
        operands: Queries, keys, values, and the mask and the sink, or None.
        positions: The places of the queries among all.
    """
    query, key, value, mask, sink = operands
    keys = key.shape[2]
    scale = 1.0 / math.sqrt(query.shape[-1]) if call.scale is None else call.scale
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key).mul_(scale)
    scores = scores if mask is None else scores + mask
    behind = positions[:, None] - torch.arange(keys)
    if call.is_causal:
        scores = scores.masked_fill(behind < 0, -math.inf)
    if call.sliding_window_size is not None:
        window = call.sliding_window_size
        scores = scores.masked_fill(behind >= window if call.is_causal else behind.abs() > window // 2, -math.inf)
    if sink is not None:
        scores = torch.cat([scores, sink.to(scores).expand(*scores.shape[:3], 1)], -1)
    weights = scores.softmax(-1)[..., :keys]
    if mask is not None or call.sliding_window_size is not None:
        weights = weights.masked_fill((scores == -math.inf).all(-1, keepdim=True), 0.0)  # no key is attended to
    return torch.einsum("bhqk,bhkd->bhqd", weights, value)


def _elements_of_attention(torch: Any, call: TextCall, places: Any) -> GoldenOfElements | None:
    """The rows of queries that the elements depend on, and all keys and values."""
    if call.attention_mask is not None or call.attention_sink is not None:
        return None
    *row, channel = index_of_places(torch, places, call.result.shape)
    _, heads, queries, _ = call.query.shape
    rows, own = torch.unique((row[0] * heads + row[1]) * queries + row[2], return_inverse=True)
    batch, head, position = index_of_places(torch, rows, call.query.shape[:3])
    head = torch.div(head, _group(call), rounding_mode="floor")

    def golden(torch: Any, query: Any, key: Any, value: Any) -> Any:
        found = query.new_empty((len(query), value.shape[3]))
        for each in torch.unique(torch.stack([batch, head], 1), dim=0).tolist():
            (chosen,) = ((batch == each[0]) & (head == each[1])).nonzero(as_tuple=True)
            at = slice(each[0], each[0] + 1), slice(each[1], each[1] + 1)
            operands = query[chosen][None, None], key[at], value[at], None, None
            found[chosen] = _attended(torch, call, operands, position[chosen])[0, 0]
        return found[own, channel]

    return GoldenOfElements(golden, (call.query.flatten(0, 2)[rows], call.key, call.value))


ATTENTION = text(
    "ttir.scaled_dot_product_attention",
    "query key value attention_mask? attention_sink?",
    _attention,
    _attention_in_torch,
    elements_at=_elements_of_attention,
    is_causal=True,
    scale=None,
    sliding_window_size=None,
    rounds_intermediates=True,
)


class _Attention(Spelling):
    """Attention as it is declared."""

    def __init__(self) -> None:
        super().__init__("ttnn.scaled_dot_product_attention", (WHOLE,))
        object.__setattr__(self, "elements_at", self._elements_of)

    def _elements_of(self, torch: Any, call: TextCall, places: Any) -> GoldenOfElements | None:
        bound = self.bound_in_torch(torch, call)
        names = ("query", "key", "value", "attention_mask", "attention_sink")
        given = dict(zip(names, bound.operands, strict=True))
        given |= dict(zip(("is_causal", "scale", "sliding_window_size"), bound.attributes, strict=True))
        return _elements_of_attention(torch, TextCall(given, call.results), places)


ATTENTION_OF_TTNN = _Attention()

# --- Latent attention -------------------------------------------------------------------------------------------------


def _latent_scale(call: TextCall) -> float:
    return float(1.0 / math.sqrt(call.query.shape[-1]) if call.scale is None else call.scale)


def _latent_attention(ops: TextOps, call: TextCall) -> Value:
    """Attention whose values are the first numbers of the keys, if it has no others."""
    value = ops.part(call.key, 3, 0, call.head_dim_v) if call.value is None else call.value
    key, value = (_of_each_head(ops, each, _group(call)) for each in (call.key, value))
    scores = ops.matmul(call.query, key, transpose_b=True) * _latent_scale(call)
    if call.attention_mask is not None:
        scores = scores + ops.typecast(call.attention_mask, COMPUTE_TYPE)
    elif call.is_causal:
        scores = scores + _causal_mask(ops, call)
    found: Value = ops.matmul(ops.softmax(scores, -1), value)
    return found


def _latent_attention_in_torch(torch: Any, call: TextCall) -> Any:
    value = call.key[..., : call.head_dim_v] if call.value is None else call.value
    return torch.nn.functional.scaled_dot_product_attention(
        call.query,
        call.key,
        value,
        attn_mask=call.attention_mask,
        is_causal=call.is_causal and call.attention_mask is None,
        scale=_latent_scale(call),
        enable_gqa=True,
    )


LATENT_PREFILL = text(
    "ttir.flash_mla_prefill ttnn.flash_mla_prefill",
    "query key value? attention_mask?",
    _latent_attention,
    _latent_attention_in_torch,
    head_dim_v=REQUIRED,
    is_causal=True,
    scale=None,
    in_float32=True,
)


def _index_scores(ops: TextOps, call: TextCall) -> Value:
    """Of each query and key the weighted sum over heads of products above 0; -infinity of a key behind its query."""
    products = ops.relu(ops.matmul(call.query, _of_each_head(ops, call.key, _group(call)), transpose_b=True))
    scores = ops.sum(products * call.weights, 1, True)
    rows, columns = (int(each.shape[2]) for each in (call.query, call.key))
    row = ops.reshaped(arange(ops, rows, call.query, call.chunk_start_idx, 1, DataType.FLOAT32), (1, 1, rows, 1))
    column = ops.reshaped(arange(ops, columns, call.query, 0, 1, DataType.FLOAT32), (1, 1, 1, columns))
    found: Value = ops.where(ops.ge(row, column), scores, -math.inf)
    return found


def _index_scores_in_torch(torch: Any, call: TextCall) -> Any:
    products = torch.einsum("bhsd,btd->bhst", call.query, call.key[:, 0]).clamp(min=0)
    scores = (products * call.weights).sum(1, keepdim=True)
    last = torch.arange(scores.shape[2])[:, None] + call.chunk_start_idx
    return scores.masked_fill(torch.arange(scores.shape[3]) > last, -math.inf)


INDEX_SCORES = text(
    "ttnn.indexer_score_dsa",
    "query key weights",
    _index_scores,
    _index_scores_in_torch,
    chunk_start_idx=0,
    cluster_axis=None,
    in_float32=True,
)

TEXTS = (SDPA_FORWARD, SDPA_BACKWARD, TOPK_ROUTER, ATTENTION, ATTENTION_OF_TTNN, LATENT_PREFILL, INDEX_SCORES)
