"""Operations that move elements: permutations, reshapes, slices, repetitions, concatenations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.numpy_scalar import python_number
from ttnn_jit.ops.families.movement import OPERAND, CanonicalCall, Extents, Movement
from ttnn_jit.ops.language.axes import axes_of, axis_of
from ttnn_jit.ops.language.operation import torch_function
from ttnn_jit.ops.language.parameter import AXES, DIMENSION, DIMENSIONS, EXTENTS, IGNORED, TENSORS, Parameter
from ttnn_jit.specs.access.access import Access, Part, reshape_access
from ttnn_jit.specs.access.index_expressions import Const, Dim, Expr, divided, remainder, times, total
from ttnn_jit.specs.access.interval import Interval


def movement(name: str, *parameters: Parameter, **fields: Any) -> Movement:
    """The declaration of a movement of one tensor; `golden` defaults to torch's function of the same name."""
    fields.setdefault("golden", torch_function(name))
    examples = tuple(((shape,), statics) for shape, statics in fields.pop("examples"))
    return Movement(name=name, parameters=(OPERAND, *parameters), examples=examples, **fields)


# --- The same elements in another order -----------------------------------------------------------------------------


def _permuted(shape: Extents, dims: Sequence[int]) -> Access:
    coordinates: list[Expr] = [Const(0)] * len(shape)
    for index, dim in enumerate(dims):
        coordinates[dim] = Dim(index)
    return Access(tuple(shape[dim] for dim in dims), tuple(coordinates))


def _canonical_permute(shape: Extents, dims: Sequence[int]) -> CanonicalCall:
    axes = tuple(axis_of(dim, len(shape)) for dim in dims)
    if sorted(axes) != list(range(len(shape))):
        raise ShapeError(
            f"{list(dims)} is no permutation of the dimensions of a tensor of rank {len(shape)}",
            help=f"name each of 0 to {len(shape) - 1} once",
        )
    return PERMUTE, (axes,)


_PADDING_VALUE = Parameter("pad_value", IGNORED)
"""The number in the padding of tiles, which no operation reads."""

PERMUTE = movement(
    "permute",
    Parameter("permutation", DIMENSIONS, aliases=("dims",)),
    _PADDING_VALUE,
    summary="The tensor with permuted dimensions: dimension i of the result is `permutation[i]` of the operand.",
    canonicalize=_canonical_permute,
    access=_permuted,
    aten="permute",
    is_view=True,
    examples=(((3, 40, 65), ((2, 0, 1),)), ((64, 32), ((1, 0),)), ((2, 3, 4, 33), ((0, -1, 2, 1),))),
)


def _canonical_transpose(shape: Extents, first: int, second: int) -> CanonicalCall:
    return TRANSPOSE, (axis_of(first, len(shape)), axis_of(second, len(shape)))


def _transposed(shape: Extents, first: int, second: int) -> Access:
    dims = list(range(len(shape)))
    dims[first], dims[second] = dims[second], dims[first]
    return _permuted(shape, dims)


TRANSPOSE = movement(
    "transpose",
    Parameter("dim1", DIMENSION, aliases=("dim0",), ir_name="dim0"),
    Parameter("dim2", DIMENSION, aliases=("dim1",), ir_name="dim1"),
    _PADDING_VALUE,
    summary="The tensor with two dimensions exchanged.",
    canonicalize=_canonical_transpose,
    access=_transposed,
    aten="transpose.int",
    is_view=True,
    examples=(((70, 33), (0, 1)), ((2, 3, 64, 32), (-2, -1)), ((5, 1, 7), (0, 2))),
)


# --- The same elements in the same order, in another shape ----------------------------------------------------------


def canonical_reshape(shape: Extents, new: Sequence[int]) -> CanonicalCall:
    """The reshape of a tensor of `shape` to the extents `new`, one of which may be -1.

    Raises:
        ShapeError: The number of elements differs.
    """
    volume, known = math.prod(shape), math.prod(extent for extent in new if extent != -1)
    extents = tuple(volume // known if extent == -1 and known else extent for extent in new)
    if any(extent < 0 for extent in extents) or new.count(-1) > 1 or math.prod(extents) != volume:
        raise ShapeError(
            f"a tensor of shape {list(shape)} has {volume} elements, which {list(new)} does not hold",
            help="the product of the extents must be the number of elements; one of them may be -1",
        )
    return RESHAPE, (extents,)


RESHAPE = movement(
    "reshape",
    Parameter("shape", EXTENTS, aliases=("logical_shape",)),
    _PADDING_VALUE,
    summary="The elements in row-major order as a tensor of another shape; an extent of -1 follows from the others.",
    canonicalize=canonical_reshape,
    access=reshape_access,
    aten="reshape",
    is_view=True,
    examples=(((6, 40, 64), ((240, 64),)), ((4, 6), ((3, -1),)), ((2, 3, 35), ((1, 6, 5, 7),)), ((1,), ((),))),
)


def reshape_of(name: str, *parameters: Parameter, extents: Callable[..., Extents], **fields: Any) -> Movement:
    """A reshape whose extents follow from the operand's: ``extents(shape, *attributes)``."""
    return movement(
        name,
        *parameters,
        canonicalize=lambda shape, *statics: (RESHAPE, (extents(shape, *statics),)),
        access=lambda shape, *statics: reshape_access(shape, extents(shape, *statics)),
        **fields,
    )


def _unsqueezed(shape: Extents, dim: int) -> Extents:
    axis = axis_of(dim, len(shape) + 1)
    return (*shape[:axis], 1, *shape[axis:])


def _squeezed(shape: Extents, dims: Sequence[int]) -> Extents:
    axes = axes_of(dims, len(shape))
    return tuple(extent for axis, extent in enumerate(shape) if extent != 1 or axis not in axes)


UNSQUEEZE = reshape_of(
    "unsqueeze",
    Parameter("dim", DIMENSION),
    extents=_unsqueezed,
    summary="The tensor with a dimension of extent 1 before `dim`.",
    aten="unsqueeze",
    is_view=True,
    examples=(((3, 40), (0,)), ((3, 40), (-1,)), ((2, 32, 64), (1,))),
)

SQUEEZE = reshape_of(
    "squeeze",
    Parameter("dim", AXES),
    extents=_squeezed,
    summary="The tensor without those of the dimensions `dim` (None: all) whose extents are 1.",
    golden=lambda torch, x, dims: torch.squeeze(x, dims) if dims else torch.squeeze(x),
    aten="squeeze.dims",
    is_view=True,
    examples=(
        ((1, 3, 40), ((0,),)),
        ((3, 40, 1), ((-1,),)),
        ((2, 32), ((0,),)),
        ((1, 2, 1, 33), ((),)),
        ((1, 1, 5), ((0, 1),)),
    ),
)


def _four_dimensional(shape: Extents) -> Extents:
    if len(shape) > 4:
        raise ShapeError(f"a tensor of rank {len(shape)} has more than four dimensions")
    return (1,) * (4 - len(shape)) + shape


UNSQUEEZE_TO_4D = reshape_of(
    "unsqueeze_to_4D",
    extents=_four_dimensional,
    summary="The tensor with dimensions of extent 1 in front, four in all.",
    golden=lambda torch, x: torch.reshape(x, (1,) * (4 - x.dim()) + tuple(x.shape)),
    is_view=True,
    examples=(((3, 40), ()), ((2, 3, 4, 5), ()), ((33,), ())),
)


# --- Parts and repetitions ------------------------------------------------------------------------------------------


def _canonical_slice(shape: Extents, begins: Sequence[int], ends: Sequence[int], steps: Sequence[int]) -> CanonicalCall:
    steps = steps or (1,) * len(shape)
    if not len(begins) == len(ends) == len(steps) == len(shape):
        raise ShapeError(
            f"a slice of a tensor of rank {len(shape)} has as many begins, ends and steps, got {list(begins)}, "
            f"{list(ends)} and {list(steps)}"
        )
    if min(steps, default=1) < 1:
        raise ShapeError(f"the steps of a slice are at least 1, got {list(steps)}")
    if not all(
        -extent <= bound <= extent for bounds in (begins, ends) for bound, extent in zip(bounds, shape, strict=True)
    ):
        raise ShapeError(
            f"a slice from {list(begins)} to {list(ends)} leaves a tensor of shape {list(shape)}",
            help="begins and ends lie within each extent, or count from its end; `x[...]` takes what there is",
        )
    parts = [Interval.of_slice(extent, slice(*part)) for extent, *part in zip(shape, begins, ends, steps, strict=True)]
    starts = tuple(part.start for part in parts)
    return SLICE, (starts, tuple(max(part.start, part.stop) for part in parts), tuple(part.step for part in parts))


def _sliced(_: Extents, begins: Sequence[int], ends: Sequence[int], steps: Sequence[int]) -> Access:
    parts = [Interval(*part) for part in zip(begins, ends, steps, strict=True)]
    coordinates = (total((times(Dim(axis), part.step), Const(part.start))) for axis, part in enumerate(parts))
    return Access(tuple(part.count for part in parts), tuple(coordinates))


SLICE = movement(
    "slice",
    Parameter("begins", EXTENTS, aliases=("slice_start", "starts")),
    Parameter("ends", EXTENTS, aliases=("slice_end",)),
    Parameter("step", EXTENTS, (), aliases=("slice_step", "steps")),
    _PADDING_VALUE,
    summary="Per dimension, the elements from `begins` to before `ends`, each `step`-th.",
    ttnn_name="slice_static",
    canonicalize=_canonical_slice,
    access=_sliced,
    golden=lambda torch, x, begins, ends, steps: x[  # noqa: ARG005 - goldens are given torch
        tuple(slice(*part) for part in zip(begins, ends, steps or (1,) * x.dim(), strict=True))
    ],
    aten="slice.Tensor",
    is_view=True,
    examples=(
        ((64, 70), ((0, 3), (64, 35), ())),
        ((5, 40, 33), ((1, 0, -9), (5, 40, 33), (2, 1, 3))),
        ((8, 8), ((2, 2), (2, 8), (1, 1))),
    ),
)


def indexed(shape: Extents, index: object) -> Iterator[CanonicalCall]:
    """The operations, one after the other, of ``x[index]`` for a tensor of `shape`.

    An index may contain whole numbers, slices with positive steps, ``None`` and ``...``, as in torch.

    Raises:
        ShapeError: The index has another type, too many dimensions, or an element out of range.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    ellipses = [position for position, item in enumerate(items) if item is Ellipsis]
    named = sum(item is not None and item is not Ellipsis for item in items)
    if len(ellipses) > 1 or named > len(shape):
        raise ShapeError(f"{index!r} indexes {named} dimensions of a tensor of rank {len(shape)}")
    fill = ellipses[0] if ellipses else len(items)
    items[fill : fill + len(ellipses)] = [slice(None)] * (len(shape) - named)
    parts: list[Interval] = []
    extents: list[int] = []
    for item in items:
        if item is None:
            extents.append(1)
            continue
        parts.append(_part(shape[len(parts)], item))
        if isinstance(item, slice):
            extents.append(parts[-1].count)
    bounds = tuple(tuple(getattr(part, bound) for part in parts) for bound in ("start", "stop", "step"))
    sliced = tuple(part.count for part in parts)
    if sliced != tuple(shape):
        yield _canonical_slice(shape, *bounds)
    if tuple(extents) != sliced:
        yield RESHAPE, (tuple(extents),)


def _part(extent: int, item: object) -> Interval:
    number = python_number(item)
    if isinstance(item, slice):
        part = Interval.of_slice(extent, item)
        if part.step < 1:
            raise ShapeError(f"the steps of a slice are at least 1, got {item.step}")
        return Interval(part.start, max(part.start, part.stop), part.step)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ShapeError(
            f"{type_name(item)} is no index of a tensor",
            help="whole numbers, slices with positive steps, None and ... are",
        )
    if not -extent <= number < extent:
        raise ShapeError(f"there is no element {number} along a dimension of extent {extent}")
    first = number + extent if number < 0 else number
    return Interval(first, first + 1)


def _canonical_repeat(shape: Extents, repetitions: Sequence[int]) -> CanonicalCall:
    if len(repetitions) < len(shape) or min(repetitions, default=1) < 0:
        raise ShapeError(
            f"a tensor of rank {len(shape)} takes at least as many repetitions of 0 and more, got {list(repetitions)}"
        )
    return REPEAT, (tuple(repetitions),)


def _repeated(shape: Extents, repetitions: Sequence[int]) -> Access:
    added = len(repetitions) - len(shape)
    full = (1,) * added + tuple(shape)
    coordinates = (remainder(Dim(axis), max(full[axis], 1)) for axis in range(added, len(full)))
    return Access(tuple(n * extent for n, extent in zip(repetitions, full, strict=True)), tuple(coordinates))


REPEAT = movement(
    "repeat",
    Parameter("repeat_dimensions", DIMENSIONS, aliases=("repeat_dims", "repetition_vector", "shape")),
    summary="The tensor repeated along every dimension; `repeat_dimensions` holds the counts.",
    canonicalize=_canonical_repeat,
    access=_repeated,
    golden=lambda torch, x, repetitions: x.repeat(repetitions),  # noqa: ARG005 - goldens are given torch
    aten="repeat",
    examples=(((3, 40), ((2, 3),)), ((1, 32), ((4, 1),)), ((5,), ((2, 2),))),
)


def _canonical_repeat_interleave(shape: Extents, repeats: int, dim: int) -> CanonicalCall:
    axis = axis_of(dim, len(shape))
    if repeats < 0:
        raise ShapeError(f"`repeats` is at least 0, got {repeats}")
    return REPEAT_INTERLEAVE, (repeats, axis)


def _interleaved(shape: Extents, repeats: int, axis: int) -> Access:
    extents = tuple(extent * repeats if index == axis else extent for index, extent in enumerate(shape))
    every = (Dim(index) for index in range(len(shape)))
    return Access(extents, tuple(divided(dim, max(repeats, 1)) if dim.position == axis else dim for dim in every))


REPEAT_INTERLEAVE = movement(
    "repeat_interleave",
    Parameter("repeats", DIMENSION),
    Parameter("dim", DIMENSION, 0),
    summary="Every element along `dim`, `repeats` times in a row.",
    canonicalize=_canonical_repeat_interleave,
    access=_interleaved,
    aten="repeat_interleave.self_int",
    examples=(((3, 40), (2, 0)), ((2, 33), (3, -1)), ((2, 5, 7), (1, 1))),
)


def _canonical_flip(shape: Extents, dims: Sequence[int]) -> CanonicalCall:
    return FLIP, (axes_of(dims, len(shape)) if dims else (),)


def _flipped(shape: Extents, axes: Sequence[int]) -> Access:
    return Access(
        tuple(shape),
        tuple(
            total((times(Dim(axis), -1), Const(extent - 1))) if axis in axes else Dim(axis)
            for axis, extent in enumerate(shape)
        ),
    )


FLIP = movement(
    "flip",
    Parameter("dims", AXES, aliases=("dim",), ir_name="dimensions"),
    summary="The tensor with its elements in reverse order along `dims`.",
    ttir_name="reverse",
    canonicalize=_canonical_flip,
    access=_flipped,
    aten="flip",
    examples=(((3, 40), ((1,),)), ((2, 33, 5), ((0, -1),)), ((4, 6), ((0, 1),))),
)


def _canonical_concat(shapes: Sequence[Extents], dim: int) -> CanonicalCall:
    first = shapes[0]
    axis = axis_of(dim, len(first))
    for shape in shapes[1:]:
        if len(shape) != len(first) or any(
            extent != other for index, (extent, other) in enumerate(zip(shape, first, strict=True)) if index != axis
        ):
            raise ShapeError(
                f"tensors of shapes {list(first)} and {list(shape)} differ in more than dimension {axis}",
                help="all extents but those along `dim` must be equal",
            )
    return CONCAT, (axis,)


def _concatenated(shapes: Sequence[Extents], axis: int) -> tuple[Part, ...]:
    starts = itertools.accumulate((shape[axis] for shape in shapes), initial=0)
    return tuple(
        Part(tuple(start if dim == axis else 0 for dim in range(len(shape))), Access.identity(shape))
        for start, shape in zip(starts, shapes, strict=False)
    )


CONCAT = Movement(
    name="concat",
    parameters=(Parameter("tensors", TENSORS, aliases=("input_tensors",)), Parameter("dim", DIMENSION, 0)),
    summary="The tensors one after the other along `dim`.",
    canonicalize=_canonical_concat,
    operand_blocks=_concatenated,
    golden=lambda torch, *arguments: torch.cat(arguments[:-1], arguments[-1]),
    aten="cat",
    examples=(
        (((3, 40), (5, 40)), (0,)),
        (((2, 33, 1), (2, 33, 64), (2, 33, 7)), (-1,)),
        (((4, 6),), (1,)),
        (((2, 0, 5), (2, 3, 5)), (1,)),
    ),
)

OPERATIONS = (
    CONCAT, PERMUTE, TRANSPOSE, RESHAPE, UNSQUEEZE, SQUEEZE, UNSQUEEZE_TO_4D, SLICE, REPEAT, REPEAT_INTERLEAVE, FLIP,
)  # fmt: skip
