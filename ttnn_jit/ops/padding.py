"""Operations whose results have elements around those of their operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.data_movement import movement
from ttnn_jit.ops.movement import Background, Extents, Spelling
from ttnn_jit.ops.parameter import EXTENTS, NUMBER, PAIRS, Parameter
from ttnn_jit.ops.shorthand import respelled
from ttnn_jit.specs.access import Access, Part

Padding = Sequence[tuple[int, int]]
"""Per dimension, the elements before and after."""


def _spelled_pad(shape: Extents, padding: Padding, value: float) -> Spelling:
    if len(padding) != len(shape) or min(map(min, padding), default=0) < 0:
        raise ShapeError(
            f"a tensor of rank {len(shape)} is not padded by {list(padding)}",
            help="give a pair for each dimension: elements before and after, none below 0",
        )
    return PAD, (tuple(padding), value)


def _padded(shapes: Sequence[Extents], padding: Padding, _: float) -> tuple[Part, ...]:
    return (Part(tuple(before for before, _ in padding), Access.identity(shapes[0])),)


def _around(shapes: Sequence[Extents], padding: Padding, value: float) -> Background:
    extents = (before + extent + after for extent, (before, after) in zip(shapes[0], padding, strict=True))
    return Background(tuple(extents), value)


def _pad_in_torch(torch: Any, x: Any, padding: Padding, value: float) -> Any:
    return torch.nn.functional.pad(x, [each for pair in reversed(padding) for each in pair], value=value)


PAD = movement(
    "pad",
    Parameter("padding", PAIRS),
    Parameter("value", NUMBER, 0),
    summary="The tensor with as many elements `value` before and after, along each dimension, as `padding` says.",
    spelled=_spelled_pad,
    joined=_padded,
    filled=_around,
    golden=_pad_in_torch,
    aten="constant_pad_nd",
    examples=(
        ((3, 40), (((0, 1), (2, 3)), 1.5)),
        ((2, 33, 5), (((1, 0), (0, 0), (0, 27)), 0)),
        ((4, 6), (((0, 0), (0, 0)), 7)),
        ((0, 5), (((2, 1), (1, 0)), -1.0)),
    ),
)


def _spelled_pad_to(shape: Extents, new: Sequence[int], start: Sequence[int], value: float) -> Spelling:
    start = start or (0,) * len(shape)
    if not len(new) == len(start) == len(shape):
        raise ShapeError(f"a tensor of shape {list(shape)} is not padded to {list(new)} from {list(start)} on")
    after = (extent - first - own for extent, first, own in zip(new, start, shape, strict=True))
    return _spelled_pad(shape, tuple(zip(start, after, strict=True)), value)


PAD_TO = respelled(
    "pad",
    Parameter("output_padded_shape", EXTENTS, aliases=("output_tensor_shape",)),
    Parameter("input_tensor_start", EXTENTS, ()),
    Parameter("value", NUMBER, 0),
    summary="The tensor in one of shape `output_padded_shape` from `input_tensor_start` on, `value` around it.",
    ttnn_name="pad_to",
    spelled=_spelled_pad_to,
    golden=lambda torch, x, *attributes: _pad_in_torch(torch, x, *_spelled_pad_to(tuple(x.shape), *attributes)[1]),
    examples=(((3, 40), ((4, 64), (0, 0), 1.5)), ((2, 3), ((2, 8), (0, 4), 0))),
)

OPERATIONS = (PAD, PAD_TO)
