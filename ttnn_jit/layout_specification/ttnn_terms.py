"""The conversion of layouts to TTNN's terms, which cover a part of the layout specification.

TTNN always collapses all dimensions but the last to rows, with dense strides. Its grid has two dimensions.
"""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import LayoutError
from ttnn_jit.layout_specification.tensor_layout import TensorLayout, collapsed_map, extents_of, two_extents
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.index_expressions import Dim, dims_of
from ttnn_jit.specs.cores.sharding import dense_strides, folded_2d, round_up
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


@dataclass(frozen=True)
class TTNNTensorSpec:
    """A tensor in TTNN's terms, divided into shards of rows and columns.

    Attributes:
        shape: The logical extents.
        shard_shape: Logical rows and columns of a shard, not necessarily whole tiles.
        tile_shape: Rows and columns of a tile.

    Raises:
        ShapeError: An extent is below 1, or a shard or tile does not have two extents.
    """

    shape: tuple[int, ...]
    shard_shape: tuple[int, int]
    tile_shape: tuple[int, int] = (TILE_HEIGHT, TILE_WIDTH)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", extents_of(self.shape, "a tensor's shape"))
        for name in ("shard_shape", "tile_shape"):
            object.__setattr__(self, name, two_extents(getattr(self, name), f"`{name}`"))

    @property
    def stride(self) -> tuple[int, ...]:
        """The dense strides of the shape, in elements."""
        return dense_strides(self.shape)

    @property
    def physical_shape(self) -> tuple[int, int]:
        """Rows and columns: all dimensions but the last are collapsed to rows."""
        return folded_2d(self.shape)

    @property
    def physical_shard_shape(self) -> tuple[int, int]:
        """The shard, padded to whole tiles."""
        (height, width), (rows, columns) = self.shard_shape, self.tile_shape
        return round_up(height, rows), round_up(width, columns)

    @property
    def grid_shape(self) -> tuple[int, int]:
        """Shards along rows and columns.

        The formula of the specification divides ``stride[0] // stride[-2]`` and ``stride[-2]`` by the shard's rows.
        That omits the outermost extent and confuses rows with columns: the number of rows is
        ``shape[0] * stride[0] // stride[-2]``.
        """
        shape, stride = ((1, *self.shape), (self.shape[0], 1)) if len(self.shape) == 1 else (self.shape, self.stride)
        rows, columns = shape[0] * stride[0] // stride[-2], stride[-2]
        return -(-rows // self.shard_shape[0]), -(-columns // self.shard_shape[1])


def ttnn_spec(layout: TensorLayout) -> TTNNTensorSpec:
    """The TTNN terms of a layout.

    Raises:
        LayoutError: The map collapses other dimensions than all but the last, or its strides are not dense.
    """
    if layout.linear != collapsed_map(layout.shape) or len(layout.grid) != 2:
        raise LayoutError(
            f"TTNN collapses all dimensions but the last to rows, without gaps, and cannot express `{layout.linear}`",
            help="map separate dimensions to slices on the devices of a mesh, with `mesh_slices`, or use "
            f"`{collapsed_map(layout.shape)}`",
        )
    rows, columns = layout.shard_shape
    return TTNNTensorSpec(layout.shape, (rows, columns), layout.tile or (1, 1))


def mesh_slices(layout: TensorLayout) -> tuple[tuple[int, ...], TensorLayout]:
    """The mesh of devices for the leading dimensions of a layout, and the layout of the slice on each device.

    Raises:
        LayoutError: A leading result of the map is not a dimension by itself, or the grid does not divide it.
    """
    outer = len(layout.grid) - 2
    results, grid = layout.linear.results, layout.grid
    for dim, devices in enumerate(grid[: max(0, outer)]):
        others = results[:dim] + results[dim + 1 :]
        if results[dim] != Dim(dim) or any(dim in dims_of(other) for other in others):
            raise LayoutError(f"`{layout.linear}` does not keep d{dim} separate, so that no mesh can divide it")
        if layout.shape[dim] % devices:
            raise LayoutError(f"{devices} devices cannot take equal slices of d{dim}, which has {layout.shape[dim]}")
    if outer < 1:
        raise LayoutError(
            f"a grid of rank {len(grid)} has no dimensions for a mesh", help="`ttnn_spec` converts the layout"
        )
    shape = tuple(
        extent // devices
        for extent, devices in zip(layout.shape, grid[:outer] + (1,) * (len(layout.shape) - outer), strict=True)
    )
    if len(layout.shape) <= outer + 1 or layout.linear != collapsed_map(layout.shape, [(outer, -1)]):
        raise LayoutError(
            f"TTNN collapses all dimensions but the last of a slice, and cannot express `{layout.linear}`"
        )
    fields = (layout.element, layout.tile, layout.out_of_bounds, layout.memory_space, layout.memory_layout)
    return grid[:outer], TensorLayout(shape, collapsed_map(shape), grid[outer:], *fields)
