"""The operands of a kernel with a reduction loop: views over common dimensions, with masked padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ttnn_jit.codegen.schedules.bound_kernel import Operand
from ttnn_jit.dialects.d2m import GenericOp, MaskOp
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.specs.target import TILE_HEIGHT


class ReducedOperands(NamedTuple):
    """Inputs and outputs as views that broadcast to each other, and the reduced dimension."""

    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    axis: int


def extents_in(generic: GenericOp, operand: Operand, own: Sequence[int | None]) -> tuple[int, ...]:
    """The extents of an operand in elements, one per dimension in `own`, with leading extents of 1 added.

    Raises:
        CompileError: The operand has more dimensions than its indexing map.
    """
    shape = operand.view.shape
    if len(shape) > len(own):
        raise refusal(generic, f"an indexing map gives {len(own)} indices of a tensor of rank {len(shape)}")
    return (1,) * (len(own) - len(shape)) + shape


def require_extents(generic: GenericOp, name: str, found: Sequence[int], wanted: Sequence[int]) -> None:
    """Refuse an operand whose extents differ from those of the dimensions in its map.

    Raises:
        CompileError: The extents differ.
    """
    if tuple(found) != tuple(wanted):
        raise refusal(generic, f"{name} has extents {list(found)} where its indexing map asks for {list(wanted)}")


def require_masked(generic: GenericOp, number: int, extent: int, fill: float) -> None:
    """Refuse an input with padding along the reduced dimension, unless the padding is masked.

    Raises:
        CompileError: The input is not read through a mask with the number `fill`.
    """
    mask = generic.inputs[number].owner
    is_masked = isinstance(mask, MaskOp) and mask.fill_value.number == fill
    if not is_masked and (extent == 0 or extent % TILE_HEIGHT):
        raise refusal(
            generic, f"what lies beyond the {extent} elements that it reduces would take part", f"mask it with {fill}"
        )
