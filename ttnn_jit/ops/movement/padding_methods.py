"""Methods of ttnn's tensors that pad and unpad, as operations."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.movement import Extents
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.movement.data_movement import SLICE
from ttnn_jit.ops.movement.padding import canonical_pad_to
from ttnn_jit.specs.checks import whole_numbers
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

CanonicalCall = tuple[Operation, tuple[Any, ...]]
"""An operation, and its arguments after the tensor."""


def padded(
    shape: Extents, output_tensor_shape: Sequence[int], input_tensor_start: Sequence[int], pad_value: float
) -> CanonicalCall:
    """`ttnn.Tensor.pad`: the tensor padded to `output_tensor_shape`, its first element at `input_tensor_start`."""
    new = whole_numbers(output_tensor_shape, "`output_tensor_shape` of pad")
    return canonical_pad_to(shape, new, whole_numbers(input_tensor_start, "`input_tensor_start` of pad"), pad_value)


def unpadded(shape: Extents, output_tensor_start: Sequence[int], output_tensor_end: Sequence[int]) -> CanonicalCall:
    """`ttnn.Tensor.unpad`: the elements [output_tensor_start, output_tensor_end)."""
    starts = whole_numbers(output_tensor_start, "`output_tensor_start` of unpad")
    ends = whole_numbers(output_tensor_end, "`output_tensor_end` of unpad")
    if not len(starts) == len(ends) == len(shape) or any(
        not 0 <= start <= end <= extent for start, end, extent in zip(starts, ends, shape, strict=True)
    ):
        raise ShapeError(f"unpad: a tensor of shape {list(shape)} has no part from {list(starts)} to {list(ends)}")
    return SLICE, (starts, ends)


def padded_to_tile(shape: Extents, pad_value: float) -> CanonicalCall:  # noqa: ARG001 - no operation reads padding
    """`ttnn.Tensor.pad_to_tile`: a copy; the padding to tiles is part of the layout, and not of the shape."""
    return SLICE, ((0,) * len(shape), shape)


def unpadded_from_tile(shape: Extents, output_tensor_shape: Sequence[int]) -> CanonicalCall:
    """`ttnn.Tensor.unpad_from_tile`: the first elements of a tensor, without the padding of its last tiles."""
    new = whole_numbers(output_tensor_shape, "`output_tensor_shape` of unpad_from_tile")
    if len(new) != len(shape) or _in_tiles(new) != _in_tiles(shape) or any(map(operator.gt, new, shape)):
        raise ShapeError(
            f"unpad_from_tile: a tensor of shape {list(shape)} is not one of {list(new)} in whole tiles",
            help="`tensor.unpad(start, end)` takes any part",
        )
    return SLICE, ((0,) * len(shape), new)


def _in_tiles(shape: Sequence[int]) -> tuple[int, ...]:
    """`shape` with its last two extents in tiles, rounded up."""
    *outer, rows, columns = (1, 1, *shape)
    return (*outer, -(-rows // TILE_HEIGHT), -(-columns // TILE_WIDTH))
