"""Comparison of results that are indices by the elements at them: among equal elements any index is correct."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.language.axes import axis_of


def elements_at(torch: Any, x: Any, indices: Any, dim: int) -> Any:
    """The elements of `x` at `indices` along `dim`.

    Raises:
        ShapeError: An index is out of range.
    """
    named, extent = indices.to(torch.int64), x.shape[dim]
    if bool(((named < 0) | (named >= extent)).any()):
        first = named[(named < 0) | (named >= extent)][0]
        raise ShapeError(f"a result names index {int(first)}, and dimension {dim} has {extent} elements")
    return torch.gather(x, dim, named)


def sorted_elements(torch: Any, results: Sequence[Any], x: Any, dim: int) -> tuple[Any, Any]:
    """The values along `dim` of a sort, and the elements of `x` at their indices, which are distinct.

    Raises:
        ShapeError: An index is out of range, or occurs twice.
    """
    values, indices = results
    axis = axis_of(dim, len(x.shape))
    named = indices.to(torch.int64).sort(axis).values
    repeated = named.diff(dim=axis) == 0
    if bool(repeated.any()):
        first = named.narrow(axis, 1, named.shape[axis] - 1)[repeated][0]
        raise ShapeError(f"a result names index {int(first)} of dimension {axis} twice")
    return values, elements_at(torch, x, indices, axis)


def extremum_elements(
    torch: Any, results: Sequence[Any], x: Any, dims: Sequence[int], keepdim: bool
) -> tuple[Any, ...]:
    """The elements at indices of extrema along a dimension, or in the flattened tensor."""
    (indices,) = results
    if not dims:
        return (elements_at(torch, x.reshape(-1), indices.reshape(-1), 0),)
    axis = axis_of(dims[0], len(x.shape))
    return (elements_at(torch, x, indices if keepdim else indices.unsqueeze(axis), axis),)


def nearest_elements(torch: Any, results: Sequence[Any], x: Any, given: Any, dim: int) -> tuple[Any, Any]:
    """The values along `dim`, and the elements of `x` where `given` has the found numbers: the nearest to the value.

    Raises:
        ShapeError: `given` does not contain a found number.
    """
    values, found = results
    axis = axis_of(dim, len(x.shape))
    rows, numbers, wanted, named = (t.movedim(axis, -1).double() for t in (x, given, values, found))
    has = numbers.unsqueeze(-2) == named.unsqueeze(-1)
    if not bool(has.any(-1).all()):
        raise ShapeError("a result is no element of the tensor of indices")
    far = (rows.unsqueeze(-2) - wanted.unsqueeze(-1)).abs().nan_to_num(nan=0.0)
    nearest = torch.where(has, far, math.inf).argmin(-1)
    return values, torch.gather(rows, -1, nearest).movedim(-1, axis)
