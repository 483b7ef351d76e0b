"""Operations that pad their operand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value, movement_alias
from ttnn_jit.ops.families.movement import OPERAND, BackgroundFill, CanonicalCall, Extents
from ttnn_jit.ops.language.parameter import CHOICE, EXTENTS, NUMBER, PAIRS, Parameter
from ttnn_jit.ops.movement.data_movement import CONCAT, FLIP, REPEAT, movement
from ttnn_jit.specs.access.access import Access, Part

Padding = Sequence[tuple[int, int]]
"""Per dimension, the elements before and after; fewer pairs belong to the last dimensions."""


def _canonical_pad(shape: Extents, padding: Padding, value: float) -> CanonicalCall:
    if len(padding) > len(shape) or min(map(min, padding), default=0) < 0:
        raise ShapeError(
            f"a tensor of rank {len(shape)} cannot be padded by {list(padding)}",
            help="give a pair for each dimension, or for the last ones: elements before and after, none below 0",
        )
    return PAD, (((0, 0),) * (len(shape) - len(padding)) + tuple(padding), value)


def _padded(shapes: Sequence[Extents], padding: Padding, _: float) -> tuple[Part, ...]:
    return (Part(tuple(before for before, _ in padding), Access.identity(shapes[0])),)


def _fill(shapes: Sequence[Extents], padding: Padding, value: float) -> BackgroundFill:
    extents = (before + extent + after for extent, (before, after) in zip(shapes[0], padding, strict=True))
    return BackgroundFill(tuple(extents), value)


def _pad_in_torch(torch: Any, x: Any, padding: Padding, value: float) -> Any:
    return torch.nn.functional.pad(x, [each for pair in reversed(padding) for each in pair], value=value)


PAD = movement(
    "pad",
    Parameter("padding", PAIRS),
    Parameter("value", NUMBER, 0),
    Parameter("mode", CHOICE, "constant"),
    summary="The tensor padded with `value`; `padding` has the elements before and after, along the last dimensions.",
    canonicalize=_canonical_pad,
    operand_blocks=_padded,
    background_fill=_fill,
    golden=_pad_in_torch,
    aten="constant_pad_nd",
    examples=(
        ((3, 40), (((0, 1), (2, 3)), 1.5)),
        ((2, 33, 5), (((1, 0), (0, 0), (0, 27)), 0)),
        ((4, 6), (((0, 0), (0, 0)), 7)),
        ((3, 4, 6), (((0, 2), (1, 0)), 0.5)),
        ((0, 5), (((2, 1), (1, 0)), -1.0)),
    ),
)


def canonical_pad_to(shape: Extents, new: Sequence[int], start: Sequence[int], value: float) -> CanonicalCall:
    """The pad of a tensor of `shape` to the extents `new`, with its first element at index `start`."""
    start = start or (0,) * len(shape)
    if not len(new) == len(start) == len(shape):
        raise ShapeError(f"a tensor of shape {list(shape)} cannot be padded to {list(new)} from {list(start)} on")
    after = (extent - first - own for extent, first, own in zip(new, start, shape, strict=True))
    return _canonical_pad(shape, tuple(zip(start, after, strict=True)), value)


PAD_TO = movement_alias(
    "pad",
    Parameter("output_padded_shape", EXTENTS, aliases=("output_tensor_shape",)),
    Parameter("input_tensor_start", EXTENTS, ()),
    Parameter("value", NUMBER, 0),
    summary="The tensor padded with `value` to `output_padded_shape`, its first element at `input_tensor_start`.",
    ttnn_name="pad_to",
    canonicalize=canonical_pad_to,
    golden=lambda torch, x, *attributes: _pad_in_torch(torch, x, *canonical_pad_to(tuple(x.shape), *attributes)[1]),
    examples=(((3, 40), ((4, 64), (0, 0), 1.5)), ((2, 3), ((2, 8), (0, 4), 0))),
)


Edges = Callable[[Ops, Value, int, int, int], tuple[list[Value], list[Value]]]
"""``edges(ops, x, axis, before, after)``: the tensors to concatenate before and after `x` along a dimension."""


def _reflected(ops: Ops, x: Value, axis: int, before: int, after: int) -> tuple[list[Value], list[Value]]:
    extent = x.shape[axis]
    if max(before, after) >= max(extent, 1):
        raise ShapeError(f"dimension {axis} of extent {extent} has no reflection of {max(before, after)} elements")
    first = [ops.sliced(x, axis, 1, before + 1)] if before else []
    last = [ops.sliced(x, axis, extent - 1 - after, extent - 1)] if after else []
    return [ops.call(FLIP, first, (axis,))] if first else [], [ops.call(FLIP, last, (axis,))] if last else []


def _replicated(ops: Ops, x: Value, axis: int, before: int, after: int) -> tuple[list[Value], list[Value]]:
    extent = x.shape[axis]
    if extent == 0:
        raise ShapeError(f"dimension {axis} has no element to repeat")

    def repeated(index: int, times: int) -> list[Value]:
        repetitions = tuple(times if dim == axis else 1 for dim in range(len(x.shape)))
        return [ops.call(REPEAT, [ops.sliced(x, axis, index, index + 1)], repetitions)] if times else []

    return repeated(0, before), repeated(extent - 1, after)


def _wrapped(ops: Ops, x: Value, axis: int, before: int, after: int) -> tuple[list[Value], list[Value]]:
    extent = x.shape[axis]
    if max(before, after) > extent:
        raise ShapeError(f"dimension {axis} of extent {extent} cannot wrap around by {max(before, after)} elements")
    first = [ops.sliced(x, axis, extent - before, extent)] if before else []
    return first, [ops.sliced(x, axis, 0, after)] if after else []


def _pad_mode(mode: str, edges: Edges, description: str, in_numpy: Any) -> MacroOperation:
    def decompose(ops: Ops, x: Value, padding: Padding) -> Value:
        _, (checked, _) = _canonical_pad(x.shape, padding, 0)
        for axis, (before, after) in enumerate(checked):
            if before or after:
                first, last = edges(ops, x, axis, before, after)
                x = ops.call(CONCAT, [*first, x, *last], axis)
        return x

    def golden(torch: Any, x: Any, padding: Padding) -> Any:
        import numpy

        for axis, pair in enumerate(padding, -len(padding)):
            indices = numpy.pad(numpy.arange(x.shape[axis]), pair, mode=in_numpy)
            x = torch.index_select(x, axis, torch.from_numpy(indices))
        return x

    return MacroOperation(
        name="pad",
        ttnn_name=f"pad_{mode}",
        parameters=(OPERAND, Parameter("padding", PAIRS), Parameter("mode", CHOICE, mode)),
        summary=f"The tensor padded by `padding`, {description}.",
        source="torch.nn.functional.pad",
        decompose=decompose,
        golden=golden,
        examples=((((3, 40),), (((0, 1), (2, 3)),)), (((2, 33, 5),), (((1, 0), (0, 4)),))),
    )


PAD_MODES = (
    _pad_mode("reflect", _reflected, "with a reflection that does not repeat its edges", "reflect"),
    _pad_mode("replicate", _replicated, "with copies of its edges", "edge"),
    _pad_mode("circular", _wrapped, "with the elements of its other end", "wrap"),
)

OPERATIONS = (PAD, PAD_TO, *PAD_MODES)
