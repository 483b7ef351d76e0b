"""Axes from dimension arguments of callers, and broadcasting of shapes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from ttnn_jit.diagnostics.errors import ShapeError


def axis_of(dim: int, rank: int) -> int:
    """`dim`, which may count from the end, as an axis counted from the front.

    Raises:
        ShapeError: There is no such dimension.
    """
    if not -rank <= dim < rank:
        has = f"it has {-rank} to {rank - 1}" if rank else "it has none; `ttnn.reshape(x, (1,))` has one"
        raise ShapeError(f"there is no dimension {dim} in a tensor of rank {rank}", help=has)
    return dim % rank


def axis_within(dim: int, rank: int) -> int:
    """As `axis_of`; a tensor without dimensions counts as one of shape [1], as in torch.

    Raises:
        ShapeError: There is no such dimension.
    """
    return axis_of(dim, rank or 1)


def axes_of(dims: Sequence[int], rank: int) -> tuple[int, ...]:
    """`dims` as sorted axes counted from the front; empty `dims` mean all axes.

    A tensor without dimensions accepts the dimensions of shape [1], and has no axes.

    Raises:
        ShapeError: There is no such dimension, or one is named twice.
    """
    axes = sorted(axis_within(dim, rank) for dim in dims) if dims else list(range(rank))
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{list(dims)} names a dimension of a tensor of rank {rank} twice")
    return tuple(axes) if rank else ()


def without_axes(shape: Sequence[int], axes: Sequence[int], *, keep: bool) -> tuple[int, ...]:
    """`shape` after a reduction of `axes`; `keep` leaves an extent of 1 for each."""
    kept = ((1 if axis in axes else extent) for axis, extent in enumerate(shape) if keep or axis not in axes)
    return tuple(kept)


def broadcast(shapes: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The common shape that `shapes` broadcast to.

    Raises:
        ShapeError: There is none.
    """
    columns = [*zip_longest(*map(reversed, shapes), fillvalue=1)]
    wanted = [next((extent for extent in column if extent != 1), 1) for column in columns]
    if any(extent not in (1, by) for column, by in zip(columns, wanted, strict=True) for extent in column):
        raise ShapeError(
            f"shapes that do not broadcast: {' and '.join(str(list(shape)) for shape in shapes)}",
            help="extents must be equal or 1, counted from the last dimension",
        )
    return tuple(reversed(wanted))


def is_broadcast_to(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether a tensor of `shape` broadcasts to exactly `wanted`."""
    pairs = zip_longest(reversed(shape), reversed(wanted), fillvalue=1)
    return all(extent in (1, by) for extent, by in pairs)
