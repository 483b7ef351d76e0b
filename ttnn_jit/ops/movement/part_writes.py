"""Writes to a slice of a tensor, as a new tensor with the slice replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.movement import CanonicalCall, Extents, Movement
from ttnn_jit.ops.language.axes import is_broadcast_to
from ttnn_jit.ops.language.parameter import EXTENTS, TENSOR, Parameter
from ttnn_jit.ops.movement.data_movement import SLICE
from ttnn_jit.specs.access.access import Access, Part
from ttnn_jit.specs.access.interval import Interval


def _canonical(
    whole: Extents, part: Extents, begins: Sequence[int], ends: Sequence[int], steps: Sequence[int]
) -> CanonicalCall:
    _, bounds = SLICE.canonicalize(whole, begins, ends, steps)
    extents = tuple(Interval(*each).count for each in zip(*bounds, strict=True))
    if extents != tuple(part):
        raise ShapeError(f"a tensor of shape {list(part)} cannot be written to a slice of shape {list(extents)}")
    return SLICE_WRITE, bounds


def _blocks(
    shapes: Sequence[Extents], begins: Sequence[int], _: Sequence[int], steps: Sequence[int]
) -> tuple[Part, ...]:
    whole, part = shapes
    return (
        Part((0,) * len(whole), Access.identity(whole)),
        Part(tuple(begins), Access.identity(part), tuple(steps)),
    )


def _golden(_: Any, x: Any, part: Any, begins: Sequence[int], ends: Sequence[int], steps: Sequence[int]) -> Any:
    written = x.clone()
    written[tuple(slice(*each) for each in zip(begins, ends, steps or (1,) * x.dim(), strict=True))] = part
    return written


def fits(shape: Sequence[int], part: Sequence[int]) -> bool:
    """Whether a tensor of `shape` broadcasts to a slice of shape `part`."""
    return len(shape) <= len(part) and is_broadcast_to(shape, part)


SLICE_WRITE = Movement(
    name="slice_write",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("part", TENSOR),
        Parameter("begins", EXTENTS),
        Parameter("ends", EXTENTS),
        Parameter("step", EXTENTS, ()),
    ),
    source="x[begins:ends:step] = part",
    summary="x with `part` in place of the elements of the slice.",
    canonicalize=_canonical,
    operand_blocks=_blocks,
    golden=_golden,
    examples=(
        (((64, 70), (64, 32)), ((0, 3), (64, 35), ())),
        (((5, 40, 33), (2, 40, 9)), ((1, 0, -9), (5, 40, 33), (2, 1, 1))),
        (((8, 8), (0, 3)), ((2, 2), (2, 8), (1, 2))),
    ),
)

OPERATIONS = (SLICE_WRITE,)
