"""Custom calls that become operations of TTNN which TTIR lacks: composites of these, with functions of TTIR."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ttnn_jit.ops.conversions.converted_targets import CALL, attributes_of_call
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall
from ttnn_jit.ops.texts import text_operations

Convert = Callable[[TtirOps, ConversionCall, dict[str, Any]], Tensor]


def _composite(name: str, operands: str, convert: Convert, **defaults: Any) -> Conversion:
    """A call ``tt.NAME`` with the operands of ``ttnn.NAME``; ``has_X`` says whether it has an optional one.

    Args:
        name: The name of the operation in TTNN.
        operands: Its operands.
        convert: Its result in terms of TTIR.
        **defaults: Attributes and their defaults.
    """
    optional = [each.rstrip("?") for each in operands.split() if each.endswith("?")]
    flags = {f"has_{each}": None for each in optional}

    def arranged(call: Any) -> tuple[dict[str, Any], list[bool]]:
        """Operands by name, and which of the optional ones there are."""
        given = [vars(call)[each] for each in optional if vars(call)[each] is not None]
        stated = attributes_of_call(call, flags)
        present = [bool(stated.get(f"has_{each}", at < len(given))) for at, each in enumerate(optional)]
        rest = iter(given)
        own = {each: next(rest, None) if is_there else None for each, is_there in zip(optional, present, strict=True)}
        return {**vars(call), **own}, present

    def attributes(call: Any) -> dict[str, Any]:
        _, present = arranged(call)
        found = attributes_of_call(call, defaults)
        return found | {f"has_{each}": is_there for each, is_there in zip(optional, present, strict=True)}

    def written(ops: TtirOps, call: ConversionCall) -> Tensor:
        given, _ = arranged(call)
        return convert(ops, ConversionCall.of(given, call.results), attributes_of_call(call, defaults))

    def golden(torch: Any, call: TextCall) -> Any:
        operation = text_operations()[f"ttnn.{name}"]
        given, _ = arranged(call)
        own = [given[each.rstrip("?")] for each in operands.split()]
        present = [each for each in own if each is not None]
        sizes = [int(each is not None) for each in own]
        bound = operation.bound(present, sizes, attributes_of_call(call, defaults))
        return operation.golden(torch, TextCall(bound, call.results))

    made = conversion(f"stablehlo.custom_call@tt.{name}", operands, written, golden, **CALL)
    return replace(made, golden=golden, rounds_intermediates=True, composite=name, composite_attributes=attributes)


def _visible(ops: TtirOps, shape: tuple[int, ...], first: int, element: str) -> Tensor:
    """0 where the column is at most the row + `first`, else -infinity; indices are int32."""
    row, column = (ops.counted(shape, axis, "i32") for axis in (2, 3))
    reach = ops.same("ttir.add", row, ops.like(row, first)) if first else row
    zeros, lowest = (ops.filled(number, shape, element) for number in (0.0, -math.inf))
    return ops.select(ops.compared("ttir.ge", reach, column), zeros, lowest)


def _latent_attention(ops: TtirOps, call: ConversionCall, given: dict[str, Any]) -> Tensor:
    """Attention in which the query heads of one key head lie one after the other in the dimension of queries."""
    query, key, element = call.query, call.key, call.query.element
    batch, heads, rows, width = query.shape
    _, served, columns, _ = key.shape
    value = ops.part(key, 3, 0, int(given["head_dim_v"])) if call.value is None else call.value
    folded, shape = (batch, served, heads // served * rows), (batch, heads, rows, columns)
    keys = ops.permute(key, (0, 1, 3, 2))
    scores = ops.op("ttir.matmul", [ops.reshape(query, (*folded, width)), keys], (*folded, columns), element)
    scores = ops.reshape(scores, shape)
    scale = given.get("scale", 1.0 / math.sqrt(width))
    scores = ops.same("ttir.multiply", scores, ops.like(scores, float(scale)))
    if call.attention_mask is not None:
        scores = ops.same("ttir.add", scores, ops.expand(ops.cast(call.attention_mask, element), shape))
    elif given["is_causal"]:
        scores = ops.same("ttir.add", scores, ops.expand(_visible(ops, (1, 1, rows, columns), 0, element), shape))
    weights = ops.same("ttir.softmax", scores, dimension=3)
    weights = ops.reshape(weights, (*folded, columns))
    found = ops.op("ttir.matmul", [weights, value], (*folded, value.shape[3]), element)
    return ops.reshape(found, (batch, heads, rows, value.shape[3]))


def _index_scores(ops: TtirOps, call: ConversionCall, given: dict[str, Any]) -> Tensor:
    """Of each query and key the weighted sum over heads of products above 0, of keys up to the query."""
    query, key, element = call.query, call.key, call.query.element
    batch, heads, rows, width = query.shape
    columns = key.shape[2]
    keys = ops.permute(key, (0, 1, 3, 2))
    folded = ops.reshape(query, (batch, 1, heads * rows, width))
    products = ops.op("ttir.matmul", [folded, keys], (batch, 1, heads * rows, columns), element)
    products = ops.same("ttir.relu", ops.reshape(products, (batch, heads, rows, columns)))
    weighted = ops.same("ttir.multiply", products, ops.expand(call.weights, products.shape))
    shape = (batch, 1, rows, columns)
    scores = ops.op("ttir.sum", [weighted], shape, element, keep_dim=True, dim_arg=(1,))
    return ops.same("ttir.add", scores, _visible(ops, shape, int(given["chunk_start_idx"]), element))


TEXTS = (
    _composite(
        "flash_mla_prefill",
        "query key value? attention_mask?",
        _latent_attention,
        head_dim_v=REQUIRED,
        is_causal=True,
        scale=None,
    ),
    _composite("indexer_score_dsa", "query key weights", _index_scores, chunk_start_idx=0),
)
