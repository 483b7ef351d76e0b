"""Softmax, and softmax of scaled and masked scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.axes import axis_within, is_broadcast_to
from ttnn_jit.ops.language.operation import Example
from ttnn_jit.ops.language.parameter import (
    DIMENSION,
    FLAG,
    OPTIONAL_COUNT,
    OPTIONAL_FLOAT,
    OPTIONAL_TENSOR,
    TENSOR,
    Parameter,
)
from ttnn_jit.specs.target import TILE_WIDTH

Extents = Sequence[int]

OPERAND = Parameter("input_tensor", TENSOR, aliases=("input", "tensor"))
_STABLE = Parameter("numeric_stable", FLAG, default=False, ir_name="numericStable")


def softmax_of(ops: Ops, x: Any, axis: int, *_: Any) -> Any:
    """exp(x - m) divided by its sum along a dimension; m is the largest element there."""
    if 0 in tuple(x.shape):
        return ops.exp(x)  # the maximum of no elements is not defined
    exponentials = ops.exp(x - ops.max(x, axis, True))
    return exponentials / ops.sum(exponentials, axis, True)


def _canonical(shape: Extents, dim: int, stable: bool) -> tuple[Any, ...]:
    return axis_within(dim, len(shape)), stable


_EXAMPLES: tuple[Example, ...] = (
    (((3, 40),), (-1, False)),
    (((64, 33),), (0, True)),
    (((2, 5, 37),), (1, False)),
)

SOFTMAX = Composite(
    name="softmax",
    parameters=(OPERAND, Parameter("dim", DIMENSION, -1, ir_name="dimension"), _STABLE),
    summary="exp(x - m) over its sum along `dim`, m the largest element there. `numeric_stable` has no effect.",
    decompose=softmax_of,
    canonicalize=_canonical,
    golden=lambda torch, x, dim, _: torch.softmax(x, dim),
    aten="_softmax",
    in_place_synonyms=("softmax_in_place",),
    examples=_EXAMPLES,
)


def _log_softmax(ops: Ops, x: Any, axis: int, _: bool) -> Any:
    if 0 in tuple(x.shape):
        return ops.exp(x)
    x = x - ops.max(x, axis, True)
    return x - ops.log(ops.sum(ops.exp(x), axis, True))


LOG_SOFTMAX = Composite(
    name="log_softmax",
    parameters=SOFTMAX.parameters,
    summary="The logarithm of `softmax`, without its underflow.",
    source="torch.log_softmax",
    decompose=_log_softmax,
    canonicalize=_canonical,
    golden=lambda torch, x, dim, _: torch.log_softmax(x, dim),
    aten="_log_softmax",
    examples=_EXAMPLES[1:],
)


# --- Of scores ------------------------------------------------------------------------------------------------------


def _mask_extents(mask: Extents, scores: Extents) -> tuple[int, ...] | None:
    """The extents of the mask to add; None if it does not fit.

    One mask for all rows may be split into rows of a tile's width, as ttnn's masks in row-major layout are.
    """
    if is_broadcast_to(mask, scores):
        return tuple(mask)
    rows = (*mask[:-2], 1, math.prod(mask[-2:]))
    return rows if mask[-1:] == (TILE_WIDTH,) and is_broadcast_to(rows, scores) else None


def _check_mask(scores: Extents, mask: Extents | None, name: str) -> None:
    if not scores:
        raise ShapeError("a tensor without dimensions has no rows of scores")
    if mask is not None and _mask_extents(mask, scores) is None:
        raise ShapeError(f"`{name}` has shape {list(mask)}, which does not broadcast to scores of {list(scores)}")


def masked(ops: Ops, x: Any, scale: float | None, mask: Any) -> Any:
    """Scores times `scale` plus `mask`; each may be None."""
    x = x if scale is None else x * scale
    if mask is None:
        return x
    extents = _mask_extents(mask.shape, x.shape)
    return x + ops.reshaped(mask, mask.shape if extents is None else extents)


def _extents_by_head(mask: Extents | None, scores: Extents) -> tuple[int, ...] | None:
    """The extents of scores with a dimension for the heads, if their rows are several heads and the mask is for one."""
    if mask is None or min(len(mask), len(scores)) < 2 or mask[-1] != scores[-1] or is_broadcast_to(mask, scores):
        return None
    fits = mask[-2] > 1 and scores[-2] % mask[-2] == 0 and math.prod(mask[:-2]) == 1
    return (*scores[:-2], scores[-2] // mask[-2], *mask[-2:]) if fits else None


def _check_scale_mask(scores: Extents, mask: Extents | None, *_: Any) -> None:
    if _extents_by_head(mask, scores) is None:
        _check_mask(scores, mask, "mask")


def _scale_mask(ops: Ops, x: Any, mask: Any, scale: float | None, *_: Any) -> Any:
    by_head = None if mask is None else _extents_by_head(mask.shape, x.shape)
    if by_head is None:
        return softmax_of(ops, masked(ops, x, scale, mask), len(x.shape) - 1)
    one = ops.reshaped(mask, tuple(mask.shape)[-2:])
    return ops.reshaped(_scale_mask(ops, ops.reshaped(x, by_head), one, scale), tuple(x.shape))


def _scores_in_torch(torch: Any, x: Any, mask: Any, scale: float | None) -> Any:
    x = x if scale is None else x * scale
    if mask is not None and mask.shape[-1] == 32 != x.shape[-1]:
        mask = mask.flatten(-2).unsqueeze(-2)
    if mask is not None and (by_head := _extents_by_head(mask.shape, x.shape)) is not None:
        return torch.softmax(x.reshape(by_head) + mask.reshape(mask.shape[-2:]), -1).reshape(x.shape)
    return torch.softmax(x if mask is None else x + mask, -1)


SCALE_MASK_SOFTMAX = Composite(
    name="scale_mask_softmax",
    parameters=(
        OPERAND,
        Parameter("scale", OPTIONAL_FLOAT),
        Parameter("mask", OPTIONAL_TENSOR),
        Parameter("is_causal_mask", FLAG, default=False),
        _STABLE,
    ),
    summary="The softmax of rows times `scale` plus `mask`; `is_causal_mask` and `numeric_stable` have no effect.",
    decompose=_scale_mask,
    canonicalize=_check_scale_mask,
    golden=lambda torch, x, mask, scale, *_: _scores_in_torch(torch, x, mask, scale),
    in_place_synonyms=("scale_mask_softmax_in_place", "scale_causal_mask_hw_dims_softmax_in_place"),
    examples=(
        (((2, 3, 5, 40), (1, 1, 5, 40)), (0.125, False, False)),
        (((2, 3, 33, 64), (2, 1, 2, 32)), (0.5, False, True)),
        (((4, 33), None), (2.0, False, False)),
        (((2, 1, 7, 37), (2, 1, 1, 37)), (None, True, True)),
        (((1, 1, 21, 37), (1, 1, 7, 37)), (0.5, True, True)),
    ),
)


def _check_attention(scores: Extents, mask: Extents | None, head_size: int | None, *_: bool) -> None:
    _check_mask(scores, mask, "attention_mask")
    if head_size is not None and head_size < 1:
        raise ShapeError(f"a head has at least one channel, got `head_size` {head_size}")


def _attention_softmax(ops: Ops, x: Any, mask: Any, head_size: int | None, *_: Any) -> Any:
    return _scale_mask(ops, x, mask, None if head_size is None else head_size**-0.5)


ATTENTION_SOFTMAX = Composite(
    name="transformer.attention_softmax",
    parameters=(
        OPERAND,
        Parameter("head_size", OPTIONAL_COUNT),
        Parameter("attention_mask", OPTIONAL_TENSOR),
        Parameter("causal_mask", FLAG, default=False),
        _STABLE,
    ),
    summary="The softmax of rows / sqrt(`head_size`) plus `attention_mask`; `causal_mask` has no effect.",
    decompose=_attention_softmax,
    canonicalize=_check_attention,
    golden=lambda torch, x, mask, size, *_: _scores_in_torch(torch, x, mask, None if size is None else size**-0.5),
    in_place=True,
    examples=(
        (((2, 3, 5, 40), (2, 1, 1, 40)), (64, False, False)),
        (((1, 2, 33, 64), (1, 1, 33, 64)), (None, True, False)),
    ),
)

OPERATIONS = (SOFTMAX, LOG_SOFTMAX, SCALE_MASK_SOFTMAX, ATTENTION_SOFTMAX)
