"""Macro operations that only move elements: splits, chunks, stacks, rolls, copies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value, movement_alias
from ttnn_jit.ops.families.movement import OPERAND, CanonicalCall, Extents
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.ops.language.parameter import AXES, DIMENSION, EXTENTS, TENSOR, TENSORS, Parameter
from ttnn_jit.ops.movement.data_movement import CONCAT, REPEAT, RESHAPE, SLICE, canonical_reshape

VIEW = movement_alias(
    "view",
    Parameter("shape", EXTENTS),
    summary="The elements as a tensor of another shape, as by `reshape`.",
    canonicalize=canonical_reshape,
    golden=lambda torch, x, shape: torch.reshape(x, shape),
    aten="view",
    is_view=True,
    examples=(((6, 40), ((3, -1),)), ((2, 32, 32), ((64, 32),))),
)

RESHAPE_ON_DEVICE = movement_alias(
    "reshape_on_device",
    *(Parameter(name, DIMENSION) for name in ("W", "Z", "Y", "X")),
    summary="The elements as a tensor of these four extents, one of which may be -1.",
    canonicalize=lambda shape, *extents: canonical_reshape(shape, extents),
    golden=lambda torch, x, *extents: torch.reshape(x, extents),
    is_view=True,
    examples=(((6, 40), (1, 3, -1, 20)), ((2, 32, 32), (1, 1, 64, 32))),
)


def _canonical_expand(shape: Extents, new: Sequence[int]) -> CanonicalCall:
    padded = (1,) * (len(new) - len(shape)) + shape
    target = tuple(extent if other == -1 else other for extent, other in zip(padded, new, strict=False))
    if len(new) < len(shape) or any(
        other < 0 or extent not in (1, other) for extent, other in zip(padded, target, strict=False)
    ):
        raise ShapeError(
            f"a tensor of shape {list(shape)} does not expand to {list(new)}",
            help="only dimensions of extent 1 expand; -1 keeps an extent, and new dimensions come first",
        )
    return REPEAT, (tuple(other if extent == 1 else 1 for extent, other in zip(padded, target, strict=True)),)


EXPAND = movement_alias(
    "expand",
    Parameter("output_shape", EXTENTS, aliases=("shape", "sizes")),
    summary="The tensor repeated along dimensions of extent 1, and along new ones in front, to `output_shape`.",
    canonicalize=_canonical_expand,
    golden=lambda torch, x, shape: x.expand(shape),  # noqa: ARG005 - goldens are given torch
    aten="expand",
    is_view=True,
    examples=(((1, 40), ((3, 40),)), ((3, 1, 5), ((2, -1, 4, 5),)), ((33,), ((33,),))),
)


def _slices(ops: Ops, x: Value, axis: int, bounds: Iterable[tuple[int, int]]) -> list[Value]:
    """The slices within `bounds` along `axis`."""
    return [ops.sliced(x, axis, *each) for each in bounds]


def _reshaped_in_padding(ops: Ops, x: Value, shape: Sequence[int], padded_shape: Sequence[int]) -> Value:
    if -1 in shape or math.prod(shape) == math.prod(x.shape):
        return ops.call(RESHAPE, [x], tuple(shape))
    if len(shape) != len(padded_shape) or any(own > padded for own, padded in zip(shape, padded_shape, strict=True)):
        raise ShapeError(f"a tensor of shape {list(shape)} has no padded shape {list(padded_shape)}")
    return ops.call(SLICE, [ops.call(RESHAPE, [x], tuple(padded_shape))], (0,) * len(shape), tuple(shape), ())


RESHAPE_IN_PADDING = MacroOperation(
    name="reshape",
    ttnn_name="reshape_in_padding",
    parameters=(
        OPERAND,
        Parameter("shape", EXTENTS, aliases=("logical_shape",)),
        Parameter("padded_shape", EXTENTS),
    ),
    summary="The elements as a tensor of `padded_shape`, cut to those with indices below `shape`.",
    decompose=_reshaped_in_padding,
    golden=lambda torch, x, shape, padded: (
        torch.reshape(x, shape) if x.numel() == math.prod(shape) else torch.reshape(x, padded)[tuple(map(slice, shape))]
    ),
    examples=((((1, 1, 32, 40),), ((1, 1, 5, 40), (1, 1, 32, 40))), (((3, 64),), ((1, 192), (32, 192)))),
)


def _split_evenly(ops: Ops, x: Value, size: int, dim: int) -> list[Value]:
    axis = axis_of(dim, len(x.shape))
    extent = x.shape[axis]
    if size < 1:
        raise ShapeError(f"`split_size` is at least 1, got {size}")
    count = -(-max(extent, 1) // size)
    return _slices(ops, x, axis, [(part * size, min((part + 1) * size, extent)) for part in range(count)])


SPLIT = MacroOperation(
    name="split",
    parameters=(OPERAND, Parameter("split_size", DIMENSION), Parameter("dim", DIMENSION, 0)),
    summary="Parts of `split_size` elements along `dim`; the last one has the rest.",
    decompose=_split_evenly,
    result_container=list,
    golden=lambda torch, x, size, dim: list(torch.split(x, size, dim)),
    aten="split.Tensor",
    is_view=True,
    examples=((((6, 40),), (2, 0)), (((3, 33),), (16, -1)), (((2, 5, 7),), (9, 1))),
)


def _split_sizes(ops: Ops, x: Value, sizes: Sequence[int], dim: int) -> list[Value]:
    axis = axis_of(dim, len(x.shape))
    extent = x.shape[axis]
    bounds = [*itertools.pairwise(itertools.accumulate(sizes, initial=0))]
    if min(sizes, default=-1) < 0 or sum(sizes) < extent or any(begin >= extent < end for begin, end in bounds):
        raise ShapeError(
            f"parts of {list(sizes)} elements do not make up dimension {axis} of {list(x.shape)}",
            help=f"their sum must be {extent}; only the last part may be larger than the rest",
        )
    return _slices(ops, x, axis, [(begin, min(end, extent)) for begin, end in bounds])


SPLIT_SIZES = MacroOperation(
    name="split",
    ttnn_name="split_sizes",
    parameters=(
        OPERAND,
        Parameter("split_size", EXTENTS, aliases=("split_sizes",)),
        Parameter("dim", DIMENSION, 0),
    ),
    summary="Parts along `dim` with the numbers of elements in `split_size`; the last one has at most the rest.",
    decompose=_split_sizes,
    result_container=list,
    golden=lambda torch, x, sizes, dim: list(torch.split(x, sizes, dim)),
    aten="split_with_sizes",
    is_view=True,
    examples=((((6, 40),), ((1, 3, 2), 0)), (((3, 33),), ((32, 1), -1))),
)


def _chunked(ops: Ops, x: Value, chunks: int, dim: int) -> list[Value]:
    axis = axis_of(dim, len(x.shape))
    if chunks < 1:
        raise ShapeError(f"`chunks` is at least 1, got {chunks}")
    if not x.shape[axis]:
        return _slices(ops, x, axis, [(0, 0)] * chunks)  # the same number as torch
    return _split_evenly(ops, x, -(-x.shape[axis] // chunks), axis)


CHUNK = MacroOperation(
    name="chunk",
    parameters=(OPERAND, Parameter("chunks", DIMENSION), Parameter("dim", DIMENSION, 0)),
    summary="At most `chunks` parts along `dim`, of equal extents except the last one.",
    decompose=_chunked,
    result_container=list,
    golden=lambda torch, x, chunks, dim: list(torch.chunk(x, chunks, dim)),
    aten="chunk",
    is_view=True,
    examples=((((6, 40),), (4, 1)), (((7, 33),), (3, 0)), (((2, 5),), (4, -1)), (((0, 5),), (3, 0))),
)


def _stacked(ops: Ops, tensors: Sequence[Value], dim: int) -> Value:
    shape = tensors[0].shape
    axis = axis_of(dim, len(shape) + 1)
    for tensor in tensors:
        if tensor.shape != shape:
            raise ShapeError(f"tensors of shapes {list(shape)} and {list(tensor.shape)} cannot be stacked")
    extents = (*shape[:axis], 1, *shape[axis:])
    return ops.call(CONCAT, [ops.call(RESHAPE, [tensor], extents) for tensor in tensors], axis)


STACK = MacroOperation(
    name="stack",
    parameters=(Parameter("tensors", TENSORS, aliases=("input_tensors",)), Parameter("dim", DIMENSION, 0)),
    summary="Tensors of one shape, concatenated along a new dimension before `dim`.",
    decompose=_stacked,
    golden=lambda torch, *arguments: torch.stack(arguments[:-1], arguments[-1]),
    aten="stack",
    examples=((((3, 40), (3, 40)), (0,)), (((2, 33), (2, 33), (2, 33)), (-1,)), (((5,),), (1,))),
)


def _concatenated_in_groups(ops: Ops, tensors: Sequence[Value], dim: int, groups: int) -> Value:
    axis = axis_of(dim, len(tensors[0].shape))
    if groups < 1 or any(len(each.shape) <= axis or each.shape[axis] % groups for each in tensors):
        shapes = " and ".join(str(list(each.shape)) for each in tensors)
        raise ShapeError(f"dimension {axis} of tensors of shapes {shapes} does not make {groups} equal groups")
    parts = []
    for group, tensor in itertools.product(range(groups), tensors):
        size = tensor.shape[axis] // groups
        parts.append(ops.sliced(tensor, axis, group * size, (group + 1) * size))
    return ops.call(CONCAT, parts, axis)


def _grouped_in_torch(torch: Any, *arguments: Any) -> Any:
    *tensors, dim, groups = arguments
    chunks = [tensor.chunk(groups, dim) for tensor in tensors]
    return torch.cat([chunk[group] for group in range(groups) for chunk in chunks], dim)


CONCAT_GROUPS = MacroOperation(
    name="concat",
    ttnn_name="concat_groups",
    parameters=(
        Parameter("tensors", TENSORS, aliases=("input_tensors",)),
        Parameter("dim", DIMENSION, 0),
        Parameter("groups", DIMENSION),
    ),
    summary="Tensors in `groups` equal parts along `dim`: the first part of each, then the second of each, and so on.",
    decompose=_concatenated_in_groups,
    golden=_grouped_in_torch,
    examples=((((3, 40), (3, 8)), (1, 4)), (((6, 33), (2, 33), (4, 33)), (0, 2)), (((5, 7),), (-1, 1))),
)


def _rolled_along(ops: Ops, x: Value, shift: int, axis: int) -> Value:
    extent = x.shape[axis]
    start = -shift % extent if extent else 0
    return x if start == 0 else ops.call(CONCAT, _slices(ops, x, axis, [(start, extent), (0, start)]), axis)


def _rolled(ops: Ops, x: Value, shifts: Sequence[int], dims: Sequence[int]) -> Value:
    if not dims:
        flat = ops.call(RESHAPE, [x], (math.prod(x.shape),))
        return ops.call(RESHAPE, [_rolled(ops, flat, shifts, (0,))], x.shape)
    if len(shifts) != len(dims):
        raise ShapeError(f"{len(shifts)} shifts are given for {len(dims)} dimensions")
    for shift, dim in zip(shifts, dims, strict=True):
        x = _rolled_along(ops, x, shift, axis_of(dim, len(x.shape)))
    return x


ROLL = MacroOperation(
    name="roll",
    parameters=(OPERAND, Parameter("shifts", AXES), Parameter("dim", AXES, aliases=("dims",))),
    summary="Elements rotated by `shifts` along `dim`; the flattened tensor is rotated if `dim` is None.",
    decompose=_rolled,
    golden=lambda torch, x, shifts, dim: torch.roll(x, shifts, dim or None),
    aten="roll",
    examples=(
        (((6, 40),), ((2,), (0,))),
        (((3, 33),), ((-35, 1), (1, 0))),
        (((2, 5),), ((3,), ())),
        (((4, 4),), ((0,), (1,))),
    ),
)


# --- Copies -----------------------------------------------------------------------------------------------------------


def _copied(ops: Ops, x: Value, into: Value) -> Value:
    if x.shape != into.shape:
        raise ShapeError(f"a tensor of shape {list(x.shape)} cannot be copied into one of shape {list(into.shape)}")
    return ops.rounded(x, into.spec.dtype)


COPY_INTO = MacroOperation(
    name="copy",
    parameters=(
        Parameter("input_a", TENSOR, aliases=("input_tensor_a",)),
        Parameter("input_b", TENSOR, aliases=("input_tensor_b",)),
    ),
    summary="The first tensor in the element type of the second, which is written.",
    decompose=_copied,
    in_place_synonyms=("copy",),
    written_operand=1,
    golden=lambda torch, x, into: x.to(into.dtype),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40), (3, 40)), ()),),
)

ASSIGN = MacroOperation(
    name="assign",
    parameters=(OPERAND,),
    summary="A copy of the tensor.",
    decompose=lambda ops, x: x,  # noqa: ARG005 - an operand that is returned is copied
    golden=lambda torch, x: x.clone(),  # noqa: ARG005 - goldens are given torch
    examples=((((3, 40),), ()),),
)

OPERATIONS = (
    VIEW, RESHAPE_ON_DEVICE, RESHAPE_IN_PADDING, EXPAND, SPLIT, SPLIT_SIZES, CHUNK, STACK, CONCAT_GROUPS, ROLL,
    COPY_INTO, ASSIGN,
)  # fmt: skip
