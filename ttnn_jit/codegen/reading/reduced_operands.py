"""The operands of a kernel with a reduction loop: views over common dimensions, and padding that is masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ttnn_jit.codegen.schedules.bound_kernel import Operand
from ttnn_jit.dialects.d2m import GenericOp, MaskOp
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.specs.target import TILE_HEIGHT


class ReducedOperands(NamedTuple):
    """Inputs and outputs as views that broadcast to each other, and which of their dimensions is reduced."""

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    axis: int


def extents_in(generic: GenericOp, operand: Operand, own: Sequence[int | None]) -> tuple[int, ...]:
    """The extents of an operand in elements, one for each of its `own` dimensions: leading ones of 1 are added.

    Raises:
        CompileError: It has more dimensions than its indexing map.
    """
    shape = operand.view.shape
    if len(shape) > len(own):
        raise refusal(generic, f"an indexing map gives {len(own)} indices of a tensor of rank {len(shape)}")
    return (1,) * (len(own) - len(shape)) + shape


def require_extents(generic: GenericOp, name: str, found: Sequence[int], wanted: Sequence[int]) -> None:
    """Refuses an operand whose extents are not those of the dimensions that its map names.

    Raises:
        CompileError: They are others.
    """
    if tuple(found) != tuple(wanted):
        raise refusal(generic, f"{name} has extents {list(found)} where its indexing map asks for {list(wanted)}")


def require_masked(generic: GenericOp, number: int, extent: int, fill: float) -> None:
    """Refuses an input whose tiles reach beyond the extent that is reduced, if what lies there would take part.

    Raises:
        CompileError: It is not read through a mask of this number.
    """
    if extent and extent % TILE_HEIGHT == 0:
        return
    mask = generic.inputs[number].owner
    if not isinstance(mask, MaskOp) or mask.fill_value.number != fill:
        raise refusal(
            generic, f"what lies beyond the {extent} elements that it reduces would take part", f"mask it with {fill}"
        )
