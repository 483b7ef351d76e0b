"""Types of tensors in layouts of metal: extents of grid and shard, tiles, memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import AffineMapAttr, TensorType, bf16, f32
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineMap

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.dialects.ttcore import ELEMENT_TYPES, TileType
from ttnn_jit.dialects.upstream.rewriting.logical_tensors import METAL_LAYOUT
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rules.collective_rules import elements_of
from ttnn_jit.dialects.upstream.table_attributes import TableAttribute
from ttnn_jit.layout_specification.affine_map import AffineMap as IndexMap
from ttnn_jit.layout_specification.metal_layout import MetalLayout

SYSTEM, DRAM, L1 = "system", "dram", "l1"
"""Memories, as layouts name them."""

_SCALAR_OF_BLOCKS = {"bfp_f8": f32, "bfp_f4": f32, "bfp_f2": f32, "bfp_bf8": bf16, "bfp_bf4": bf16, "bfp_bf2": bf16}
"""Data type of a tile of block floats -> the type of its elements outside the tile."""


def layout_of(type_: Attribute) -> TableAttribute | None:
    """The layout of metal of a tensor; None of a tensor of the host."""
    encoding: Any = type_.encoding if isinstance(type_, TensorType) else None
    return encoding if getattr(encoding, "name", "") == METAL_LAYOUT else None


def geometry(layout: TableAttribute) -> MetalLayout:
    """Extents, alignments and intervals of a layout."""
    _, flat = elements_of(layout.value("collapsed_intervals"))
    intervals = tuple(zip(flat[::2], flat[1::2], strict=True))
    return MetalLayout(
        tuple(layout.value("logical_shape") or ()), tuple(layout.value("dim_alignments") or ()), intervals
    )


def memory_of(type_: Attribute) -> str:
    """The memory that a tensor lies in."""
    layout = layout_of(type_)
    return SYSTEM if layout is None else str(layout.value("memory_space"))


def shape_of_grid(type_: Attribute) -> tuple[int, ...]:
    """The grid that a tensor of a device is split over."""
    assert isinstance(type_, TensorType)
    shape = tuple(type_.get_shape())
    return shape[: len(shape) // 2]


def tile_of(element: Attribute) -> tuple[int, ...]:
    """The extents of a tile; () of an element type that is none."""
    return (element.height.data, element.width.data) if isinstance(element, TileType) else ()


def scalar_of(element: Attribute) -> Attribute:
    """The type of the elements of a tile; another type as it is."""
    if not isinstance(element, TileType):
        return element
    word = str(element).rpartition(", ")[2].removesuffix(">")
    return _SCALAR_OF_BLOCKS.get(word) or ELEMENT_TYPES[element.dtype]


def is_tiled(type_: Attribute) -> bool:
    """Whether the elements of a tensor are tiles."""
    return isinstance(type_, TensorType) and isinstance(type_.element_type, TileType)


def with_values(layout: TableAttribute, **values: Any) -> TableAttribute:
    """A layout with other values of some parameters."""
    return type(layout)(tuple((name, values.get(name, value)) for name, value in layout.data))


def with_index_map(layout: TableAttribute, given: AffineMap) -> TableAttribute:
    """A layout of December 2025 with the map of a view, which has one of August as an attribute."""
    return type(layout)((*((name, value) for name, value in layout.data if name != INDEX_MAP), (INDEX_MAP, given)))


def without_index_map(type_: Attribute) -> Attribute:
    """The type of a tensor of its own with the elements of a view."""
    layout = layout_of(type_)
    if layout is None or layout.value(INDEX_MAP) is None:
        return type_
    assert isinstance(type_, TensorType)
    return TensorType(type_.element_type, type_.get_shape(), with_index_map(layout, AffineMap(0, 0, ())))


INDEX_MAP = "indexAffineMap"
"""The parameter of layouts of December 2025 with the map of a view or of a virtual grid."""


def is_of_december(type_: Attribute) -> bool:
    """Whether a tensor has a layout of December 2025, which says what its padding is."""
    layout = layout_of(type_)
    return layout is not None and layout.value("oob_val") is not None


def require_no_index_map(type_: Attribute) -> None:
    """Refuses a tensor with another order of its cores.

    Raises:
        LayoutError: It has an index map that is not the identity.
    """
    layout = layout_of(type_)
    given = None if layout is None else layout.value(INDEX_MAP)
    if given is not None and given.results and given != AffineMap.identity(given.num_dims):
        raise LayoutError(f"a layout with the index map {given} is not moved to or from here")


def device_type(layout: TableAttribute, grid: Sequence[int], element: Attribute) -> TensorType[Any]:
    """The type of a tensor in a layout, split over a grid, of elements or tiles.

    Raises:
        LayoutError: The grid or the tiles do not divide it.
    """
    return TensorType(element, geometry(layout).device_shape(grid, tile_of(element)), layout)


def map_attribute(given: IndexMap) -> AffineMapAttr:
    """A map as an attribute."""
    found = parsed(f"affine_map<{given}>")
    assert isinstance(found, AffineMapAttr)
    return found
