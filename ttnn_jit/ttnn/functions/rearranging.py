"""`rearrange`: splits, permutes and merges dimensions by a pattern in the notation of einops."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.ttnn.calling.eager_functions import permute, reshape
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.transfers import typecast

_TOKEN = re.compile(r"\s*(?:(->)|([()])|(\.\.\.|[A-Za-z]\w*|1)(?=[\s()]|$|->))")
_REST = "..."

Group = tuple[str, ...]
"""Names of the dimensions that are merged into one dimension of the tensor."""


@host_function(in_programs=True)
def rearrange(tensor: Tensor, pattern: str, **lengths: int) -> Tensor:
    """A tensor with its dimensions rearranged, as by einops: ``rearrange(x, "b (h w) c -> b c h w", h=4)``.

    Args:
        tensor: A tensor of the rank of the pattern's left side.
        pattern: Names of dimensions. Parentheses merge dimensions, ``...`` is any number of dimensions, and 1 is a
            dimension of extent 1.
        **lengths: Extents of names that cannot be inferred from the shape.

    Raises:
        ArgumentError: The pattern does not parse, or its sides name different dimensions.
        ShapeError: The tensor's shape does not fit.
    """
    shape = tuple(tensor.shape)
    left, right = _sides(pattern, len(shape))
    names = _names(left, pattern)
    if sorted(names) != sorted(_names(right, pattern)):
        raise ArgumentError(f"rearrange: the sides of {pattern!r} do not name the same dimensions")
    if unknown := sorted(set(lengths) - set(names)):
        raise ArgumentError(f"rearrange: {pattern!r} has no dimension {unknown[0]!r}")
    extents = _extents(left, shape, lengths)
    order = [names.index(name) for name in _names(right, pattern)]
    split = tuple(extents[name] for name in names)
    merged = tuple(math.prod(extents[name] for name in group) for group in right)
    if order == sorted(order):
        return reshape(tensor, merged)
    # Block floats are rounded by each encoding, hence the conversion to float32 and back.
    result = typecast(tensor, COMPUTE_TYPE) if tensor.dtype.is_block_float else tensor
    result = permute(result if split == shape else reshape(result, split), order)
    result = result if tuple(result.shape) == merged else reshape(result, merged)
    return typecast(result, tensor.dtype) if tensor.dtype.is_block_float else result


def _sides(pattern: str, rank: int) -> tuple[list[Group], list[Group]]:
    """The groups of both sides, with ``...`` expanded to names."""
    left, arrow, right = pattern.partition("->")
    if not arrow or "->" in right:
        raise ArgumentError(f"rearrange: {pattern!r} has no two sides", help='write one "->" between them')
    sides = [_groups(side, pattern) for side in (left, right)]
    if _REST in "".join(map("".join, sides[1])) and (_REST,) not in sides[0]:
        raise ArgumentError(f"rearrange: {pattern!r} has `...` on the right alone")
    others = sum(group != (_REST,) for group in sides[0])
    rest = tuple(f"{_REST}{k}" for k in range(rank - others))
    if (_REST,) not in sides[0] and others != rank:
        raise ShapeError(f"rearrange: the left side of {pattern!r} has {others} dimensions, the tensor {rank}")
    first, second = ([*_with_rest(side, rest)] for side in sides)
    return first, second


def _with_rest(side: Sequence[Group], rest: Sequence[str]) -> list[Group]:
    found: list[Group] = []
    for group in side:
        if group == (_REST,):
            found += [(name,) for name in rest]
        else:
            found.append(tuple(name for own in group for name in (rest if own == _REST else (own,))))
    return found


def _groups(side: str, pattern: str) -> list[Group]:
    groups: list[Group] = []
    inside: list[str] | None = None
    at, side = 0, side.rstrip()
    while at < len(side):
        match = _TOKEN.match(side, at)
        if match is None:
            raise ArgumentError(f"rearrange: {pattern!r} does not parse at {side[at:].lstrip()!r}")
        at = match.end()
        _, bracket, name = match.groups()
        if bracket == "(" and inside is None:
            inside = []
        elif bracket == ")" and inside is not None:
            groups.append(tuple(inside))
            inside = None
        elif bracket:
            raise ArgumentError(f"rearrange: the parentheses of {pattern!r} do not match")
        elif inside is not None:
            inside += [name] if name != "1" else []
        else:
            groups.append((name,) if name != "1" else ())
    if inside is not None:
        raise ArgumentError(f"rearrange: the parentheses of {pattern!r} do not match")
    return groups


def _names(groups: Sequence[Group], pattern: str) -> list[str]:
    names = [name for group in groups for name in group]
    if len(set(names)) != len(names):
        raise ArgumentError(f"rearrange: a side of {pattern!r} names a dimension twice")
    return names


def _extents(groups: Sequence[Group], shape: Sequence[int], lengths: Mapping[str, int]) -> dict[str, Any]:
    """The extent of every name; one name per group may be inferred from the shape."""
    extents: dict[str, int] = {}
    for axis, (group, extent) in enumerate(zip(groups, shape, strict=True)):
        unknown = [name for name in group if name not in lengths]
        known = math.prod(lengths[name] for name in group if name in lengths)
        if len(unknown) > 1:
            raise ShapeError(
                f"rearrange: the extents of {' and '.join(unknown)} are not known", help="give one of them"
            )
        if (extent != known) if not unknown else (known < 1 or extent % known):
            raise ShapeError(f"rearrange: dimension {axis} has extent {extent}, which {known} does not divide")
        extents |= {name: lengths[name] for name in group if name in lengths}
        extents |= dict.fromkeys(unknown, extent // known)
    return extents
