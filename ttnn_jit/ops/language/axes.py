"""Dimensions as callers name them, counted from the front, and how shapes meet in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from ttnn_jit.diagnostics.errors import ShapeError


def axis_of(dim: int, rank: int) -> int:
    """A dimension counted from the front.

    Raises:
        ShapeError: There is no such dimension.
    """
    if not -rank <= dim < rank:
        has = f"it has {-rank} to {rank - 1}" if rank else "it has none; `ttnn.reshape(x, (1,))` has one"
        raise ShapeError(f"there is no dimension {dim} in a tensor of rank {rank}", help=has)
    return dim % rank


def axis_within(dim: int, rank: int) -> int:
    """As `axis_of`; a tensor without dimensions counts as one of its element in a row, as in torch.

    Raises:
        ShapeError: There is no such dimension.
    """
    return axis_of(dim, rank or 1)


def axes_of(dims: Sequence[int], rank: int) -> tuple[int, ...]:
    """Dimensions counted from the front, in order; none stand for all.

    A tensor without dimensions counts as one of its element in a row, and so has none to name.

    Raises:
        ShapeError: There is no such dimension, or one is named twice.
    """
    axes = sorted(axis_within(dim, rank) for dim in dims) if dims else list(range(rank))
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{list(dims)} names a dimension of a tensor of rank {rank} twice")
    return tuple(axes) if rank else ()


def without_axes(shape: Sequence[int], axes: Sequence[int], *, keep: bool) -> tuple[int, ...]:
    """The extents of a tensor after its `axes` were reduced; `keep` leaves an extent of 1 for each."""
    kept = ((1 if axis in axes else extent) for axis, extent in enumerate(shape) if keep or axis not in axes)
    return tuple(kept)


def broadcast(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The extents that tensors of these shapes broadcast to.

    Raises:
        ShapeError: They do not fit each other.
    """
    wanted = [{*extents} - {1} or {1} for extents in zip_longest(*map(reversed, shapes), fillvalue=1)]
    if any(len(extents) > 1 for extents in wanted):
        raise ShapeError(
            f"shapes that do not fit: {' and '.join(str(list(shape)) for shape in shapes)}",
            help="extents must be equal or 1, counted from the last dimension",
        )
    return tuple(extent for (extent,) in reversed(wanted))


def is_broadcast_to(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a tensor of `shape` broadcasts to `wanted`, and makes it no larger."""
    pairs = zip_longest(reversed(shape), reversed(wanted), fillvalue=1)
    return all(extent in {1, by} for extent, by in pairs)
