"""The layouts of ttnn and of metal, whose calls give shapes and not the parameters of the attribute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from ttnn_jit.dialects.upstream.rewriting.d2m_rules.metal_types import geometry, map_attribute
from ttnn_jit.layout_specification.metal_layout import reblock_map
from ttnn_jit.ttmlir.dialect_attributes import DialectAttribute, by_hand
from ttnn_jit.ttmlir.enums import enum_of
from ttnn_jit.ttmlir.mlir_affine import AffineMap
from ttnn_jit.ttmlir.mlir_attributes import Attribute
from ttnn_jit.ttmlir.mlir_contexts import Context
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.types_by_hand import TileType
from ttnn_jit.ttmlir.wrapping import parsed, wrapped

_TILE = 32


@by_hand("ttcore.metal_layout")
class MetalLayoutAttr(DialectAttribute):
    """``#ttcore.metal_layout<...>``."""

    @classmethod
    def get(
        cls,
        context: Context,  # noqa: ARG003 - there is one
        logical_shape: Sequence[int],
        memory_space: int,
        memory_layout: int,
        collapse_intervals: Attribute | None = None,
        dim_alignments: Sequence[int] | None = None,
    ) -> Self:
        """The layout of a tensor in a memory space; by default all dimensions but the last are collapsed."""
        rank = len(logical_shape)
        intervals = f"[[0, {rank - 1}], [{rank - 1}, {rank}]]" if rank > 1 else "[[0, 1]]"
        dense = f"dense<{intervals}> : tensor<{2 if rank > 1 else 1}x2xi64>"
        if collapse_intervals is not None:
            dense = str(collapse_intervals)
        alignments = dim_alignments or [*[1] * (rank - 2), _TILE, _TILE][-rank:]
        space = enum_of("MemorySpace", "ttcore")(int(memory_space)).keyword
        layout = enum_of("TensorMemoryLayout", "ttcore")(int(memory_layout)).keyword
        shape, aligned = (_dimensions(each) for each in (logical_shape, alignments))
        return cls(
            parsed(
                f"#ttcore.metal_layout<logical_shape = {shape}, dim_alignments = {aligned}, "
                f"collapsed_intervals = {dense}, {space}, {layout}>"
            )
        )

    def getDeviceShape(self, grid_shape: Sequence[int], tile_shape: Sequence[int]) -> list[int]:  # noqa: N802 - upstream's name
        """The extents of a tensor: those of the grid, then those of a core's part in tiles.

        Args:
            grid_shape: The extents of the grid.
            tile_shape: The extents of a tile; [] of elements.

        Raises:
            LayoutError: Tiles or the grid do not divide the padded tensor.
        """
        return [*geometry(self.held).device_shape(grid_shape, tile_shape)]


def calculate_reblock_map(
    input_shape: Sequence[int],
    output_shape: Sequence[int],
    context: Context | None = None,  # noqa: ARG001 - there is one
) -> AffineMap:
    """The map from indices of a tensor split over one grid to those of the tensor split over another.

    Args:
        input_shape: The extents of grid and part of the tensor that is seen.
        output_shape: Those of the view.
        context: There is one.

    Raises:
        LayoutError: The shapes have other numbers of elements.
    """
    return AffineMap(map_attribute(reblock_map(input_shape, output_shape)).data)


@by_hand("ttnn.ttnn_layout")
class TTNNLayoutAttr(DialectAttribute):
    """``#ttnn.ttnn_layout<...>``."""

    @property
    def memory_space(self) -> Any:
        """The buffer type: the memory space of its memref."""
        return self.memref.memory_space

    @property
    def tensor_memory_layout_as_int(self) -> int | None:
        """The number of the memory layout; None on the host."""
        layout = self.held.memory_layout
        kinds = enum_of("TensorMemoryLayout", "ttnn")
        return next((int(each) for each in kinds if each.keyword == getattr(layout, "data", layout)), None)

    @property
    def memory_layout_as_int(self) -> int:
        """The number of the layout: tiles or rows."""
        is_tiled = isinstance(self.memref.element_type, TileType)
        return int(enum_of("Layout", "ttnn")["Tile" if is_tiled else "RowMajor"])

    @classmethod
    def get(
        cls,
        context: Context,  # noqa: ARG003 - there is one
        shape: Sequence[int],
        element: Type,
        buffer_type: int,
        grid_shape: Sequence[int],
        core_range_set: Attribute | None = None,
        memLayout: int | None = None,  # noqa: N803 - upstream's name
        tensorMesh: Attribute | None = None,  # noqa: ARG003, N803 - upstream's name
    ) -> Self:
        """The layout of a tensor whose dimensions but the last are collapsed, split over a grid.

        Args:
            context: There is one.
            shape: The extents of the tensor.
            element: The type of an element, or the tile that elements are stored in.
            buffer_type: The number of the memory.
            grid_shape: The extents of the grid.
            core_range_set: The cores of the grid, if they are said.
            memLayout: The number of how it lies in the memory of a device.
            tensorMesh: Of no effect: the module has one mesh.
        """
        is_tiled = str(element).startswith("!ttcore.tile")
        unit = _TILE if is_tiled else 1
        rows, columns = _collapsed(shape, unit)
        shards = [math.ceil(extent / unit / cores) for extent, cores in zip((rows, columns), grid_shape, strict=True)]
        buffer = enum_of("BufferType", "ttnn")(int(buffer_type)).keyword
        memory = "" if memLayout is None else f", <{enum_of('TensorMemoryLayout', 'ttnn')(int(memLayout)).keyword}>"
        cores = "" if core_range_set is None else f", core_ranges = {core_range_set}"
        return cls(
            parsed(
                f"#ttnn.ttnn_layout<{_linear_map(shape, unit)}, <{_dimensions(grid_shape)}>, "
                f"memref<{_dimensions(shards)}x{element}, #ttnn.buffer_type<{buffer}>>{memory}{cores}>"
            )
        )

    @property
    def memref(self) -> Any:
        """The type of the part of a core."""
        return wrapped(self.held.memref)

    @property
    def grid_shape(self) -> list[int]:
        """The extents of the grid."""
        return list(self.held.grid.data)


def _collapsed(shape: Sequence[int], unit: int) -> tuple[int, int]:
    """Rows and columns of the tensor as a matrix, of which each matrix ends with whole tiles."""
    if not shape:
        return 1, 1
    *outer, last = shape
    rows = math.ceil(outer[-1] / unit) * unit * math.prod(outer[:-1]) if outer else 1
    return rows, last


def _linear_map(shape: Sequence[int], unit: int) -> str:
    names = [f"d{index}" for index in range(len(shape))]
    if not shape:
        return "() -> (0, 0)"
    if len(shape) == 1:
        return "(d0) -> (0, d0)"
    outer = [*shape[:-2], math.ceil(shape[-2] / unit) * unit]
    terms = [
        name if (stride := math.prod(outer[index + 1 :])) == 1 else f"{name} * {stride}"
        for index, name in enumerate(names[:-1])
    ]
    return f"({', '.join(names)}) -> ({' + '.join(terms)}, {names[-1]})"


def _dimensions(extents: Sequence[int]) -> str:
    return "x".join(map(str, extents))
