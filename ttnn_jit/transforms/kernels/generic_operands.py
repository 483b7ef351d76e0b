"""Erases inputs of a `d2m.generic` and of the `linalg.generic` inside it."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp

from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.kernels.kernel_ops import compute_properties, kernel_properties


def erase_inputs(generic: d2m.GenericOp, body: LinalgGenericOp, numbers: Collection[int]) -> None:
    """Erases the inputs with these numbers: operand, map, circular buffer, wait, and the tile in `body`.

    The tiles must be unused. `body` must be at the top of the region, with its operands in the generic's order.
    """
    maps = tuple(m for number, m in enumerate(generic.indexing_maps.data) if number not in numbers)
    for op in (generic, body):
        op.operands = [value for number, value in enumerate(op.operands) if number not in numbers]
    generic.properties.update(kernel_properties(generic.grid, maps))
    body.properties.update(compute_properties(maps))
    block = generic.body.block
    tiles = body.body.block
    for number in sorted(numbers, reverse=True):
        tiles.erase_arg(tiles.args[number])
        buffer = block.args[number]
        for use in list(buffer.uses):
            erase(use.operation)
        block.erase_arg(buffer)
