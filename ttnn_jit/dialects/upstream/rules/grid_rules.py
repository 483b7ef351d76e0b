"""Regions of a chip's grid, each of which runs a generic operation."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Operation
from xdsl.ir.affine import AffineMap

from ttnn_jit.dialects.ttcore import GridAttr
from ttnn_jit.dialects.upstream.rules.view import View, fail, joined, require

Corner = tuple[int, int]
"""Row and column of a core."""


def verify_spatial(op: Operation) -> None:
    """A range of cores for each region, and in each region one generic operation that fits there."""
    ranges: Any = View(op).attribute("grid_ranges")
    require(ranges is not None and len(ranges) > 0, "grid_ranges must contain at least one CoreRange")
    require(
        len(ranges) == len(op.regions),
        f"number of CoreRanges ({len(ranges)}) must match the number of Regions ({len(op.regions)})",
    )
    for region, cores in zip(op.regions, ranges, strict=True):
        require(len(region.blocks) > 0, "each spatial region must not be empty")
        inner = [each for block in region.blocks for each in block.ops if each.name == "d2m.generic"]
        require(len(inner) == 1, f"each region must contain exactly one d2m.generic op, got {len(inner)}")
        first, last = (cores.value(name) for name in ("start_coord", "end_coord"))
        _verify_grid(inner[0].properties["grid"], first, last)


def _verify_grid(grid: Any, first: Corner, last: Corner) -> None:
    """Requires a generic operation's grid to lie within the cores from `first` to `last`."""
    shape = grid.data if isinstance(grid, GridAttr) else grid.value("shape")
    mapping = None if isinstance(grid, GridAttr) else grid.value("physicalToVirtMap")
    if len(shape) != 2:
        fail(f"d2m.generic inside d2m.spatial: only 2D grid is considered for now, got {len(shape)}D")
    if mapping is None:
        cores = [end - start + 1 for start, end in zip(first, last, strict=True)]
        require(
            all(extent <= most for extent, most in zip(shape, cores, strict=True)),
            f"generic op grid shape [{joined(shape, ', ')}] exceeds region CoreRange shape [{joined(cores, ', ')}]",
        )
        return
    corners = zip(_mapped(mapping, first), _mapped(mapping, last), strict=True)
    require(
        all(min(corner) <= 0 and extent - 1 <= max(corner) for extent, corner in zip(shape, corners, strict=True)),
        f"generic op grid not contained in region grid_ranges [{joined(first, ', ')}] to [{joined(last, ', ')}]",
    )


def _mapped(mapping: AffineMap, core: Corner) -> tuple[int, ...]:
    """Where a core lies in the virtual grid, without the number of the device."""
    return tuple(mapping.eval(core, []))[-2:]


def verify_generic(op: Operation) -> None:
    """Maps of one number of dimensions, a block factor for each loop, regions of one number of arguments."""
    view = View(op)
    maps, factors, loops = (view.attribute(name) for name in ("indexing_maps", "block_factors", "iterator_types"))
    if isinstance(maps, ArrayAttr):
        dims = {each.data.num_dims for each in maps if isinstance(each, AffineMapAttr)}
        require(len(dims) <= 1, "all indexing maps must have the same number of dimensions")
    if isinstance(loops, ArrayAttr) and isinstance(factors, ArrayAttr) and len(loops) > 0:
        require(
            len(loops) == len(factors),
            f"number of block factors[{len(factors)}] must match the number of iterators[{len(loops)}]",
        )
    counts = {len(region.blocks[0].args) for region in op.regions if region.blocks}
    require(len(counts) <= 1, "all regions must have the same number of arguments")


GRIDS = {"d2m.generic": (verify_generic,), "d2m.spatial": (verify_spatial,)}
