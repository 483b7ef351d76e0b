"""Virtual grids of values of d2m: where they are said, and what a kernel's grid has of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineMap

from ttnn_jit.dialects.ttcore import grid_attr
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.layout_plan import NO_MAPS, CoreMaps
from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import INDEX_MAP, layout_of, map_attribute
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import operand_named
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.layout_specification.metal_layout import core_maps, physical_grid

MAP_NAMES = ("virtualGridForwardMapping", "virtualGridInverseMapping")
"""The attributes of `d2m.empty` that say a virtual grid."""


def core_maps_of(value: SSAValue) -> CoreMaps:
    """The virtual grid of a value: that of the tensor that it is, or is written to."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return NO_MAPS
    match owner.name:
        case "d2m.to_layout" | "d2m.to_device":
            source = operand_named(owner, "output")
        case "d2m.view_layout":
            source = operand_named(owner, "input")
        case "d2m.generic" | "d2m.spatial":
            assert isinstance(value, OpResult)
            source = named_operands(owner)["outputs"][value.index]
        case _:
            found: list[Any] = [owner.properties.get(name, owner.attributes.get(name)) for name in MAP_NAMES]
            return (found[0], found[1])
    return NO_MAPS if source is None else core_maps_of(source)


def remapping_of(value: SSAValue) -> AffineMapAttr | None:
    """The map of the view that a value is; None if it is none."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "d2m.view_layout":
        return None
    found = owner.properties.get("remapping")
    if isinstance(found, AffineMapAttr):
        return found
    layout = layout_of(value.type)
    of_layout = None if layout is None else layout.value(INDEX_MAP)
    return AffineMapAttr(of_layout) if of_layout is not None and of_layout.results else None


def made_core_maps(grid: Sequence[int], device: Sequence[int]) -> CoreMaps:
    """The virtual grid of a grid that does not lie on a device's cores as it is.

    Raises:
        LayoutError: The device has no grid of so many cores.
    """
    forward, inverse = core_maps(grid, physical_grid(math.prod(grid), device))
    return map_attribute(forward), map_attribute(inverse)


def kernel_grid(output: SSAValue, grid: Sequence[int]) -> Attribute:
    """The grid of a kernel that writes a tensor: with maps to the cores of a device, if the tensor has them."""
    maps = _fitting_maps(core_maps_of(output), grid) or _permutation(remapping_of(output), grid)
    if maps is None:
        return grid_attr(*grid)
    forward, inverse = maps
    shape = "x".join(map(str, grid))
    return parsed(f"#ttcore.grid<{shape}, virt_to_physical_map = {forward}, physical_to_virt_map = {inverse}>")


def _fitting_maps(maps: CoreMaps, grid: Sequence[int]) -> tuple[AffineMap, AffineMap] | None:
    """The maps of cores alone; None if they are of a grid of another rank."""
    forward, inverse = (None if each is None else each.data for each in maps)
    rank = len(grid)
    if forward is None or inverse is None or forward.num_dims != 2 * rank or len(forward.results) != rank + 2:
        return None
    if inverse.num_dims != 2 or len(inverse.results) != rank + 1:
        return None
    found = AffineMap(rank, 0, (AffineConstantExpr(0), *forward.results[:2]))
    first, last = found.eval([0] * rank, []), found.eval([extent - 1 for extent in grid], [])
    cores = [end - start + 1 for start, end in zip(first[1:], last[1:], strict=True)]
    return (found, inverse) if math.prod(cores) == math.prod(grid) else None


def _permutation(remapping: AffineMapAttr | None, grid: Sequence[int]) -> tuple[AffineMap, AffineMap] | None:
    """The maps of a view that exchanges the dimensions of a grid."""
    if remapping is None or remapping.data.num_dims != 4 or len(grid) != 2:
        return None
    order = [remapping.data.eval([*each], []) for each in _UNITS]
    if sorted(order) != sorted(map(tuple, _UNITS)) or remapping.data.eval([1, 2, 3, 4], []) == (1, 2, 3, 4):
        return None
    cores = remapping.data.results[:2]
    found = AffineMap(2, 0, (AffineConstantExpr(0), *cores))
    return found, found  # a permutation of two dimensions is its own inverse


_UNITS = [[int(at == dim) for at in range(4)] for dim in range(4)]
