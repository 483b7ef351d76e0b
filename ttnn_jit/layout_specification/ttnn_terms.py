"""The terms in which TTNN says what the layout specification says with a map, and which layouts it can say.

TTNN always joins all dimensions but the last to rows, by strides; its grid has two dimensions.
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
    """A tensor that TTNN divides into shards of rows and columns.

    Attributes:
        shape: The logical extents.
        shard_shape: Logical rows and columns of a shard; they need not be whole tiles.
        tile_shape: Rows and columns of a tile.

    Raises:
        ShapeError: An extent below 1, or a shard or a tile that has no two of them.
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
        """In elements, as torch has it: how dimensions join to rows."""
        return dense_strides(self.shape)

    @property
    def physical_shape(self) -> tuple[int, int]:
        """Rows and columns: all dimensions but the last joined."""
        return folded_2d(self.shape)

    @property
    def physical_shard_shape(self) -> tuple[int, int]:
        """The shard, padded to whole tiles."""
        (height, width), (rows, columns) = self.shard_shape, self.tile_shape
        return round_up(height, rows), round_up(width, columns)

    @property
    def grid_shape(self) -> tuple[int, int]:
        """Shards along rows and columns.

        The specification divides ``stride[0] // stride[-2]`` and ``stride[-2]`` by the shard's rows, which leaves out
        the outermost extent, and takes rows for columns: the rows are ``shape[0] * stride[0] // stride[-2]``.
        """
        shape, stride = ((1, *self.shape), (self.shape[0], 1)) if len(self.shape) == 1 else (self.shape, self.stride)
        rows, columns = shape[0] * stride[0] // stride[-2], stride[-2]
        return -(-rows // self.shard_shape[0]), -(-columns // self.shard_shape[1])


def ttnn_spec(layout: TensorLayout) -> TTNNTensorSpec:
    """The TTNN terms of a layout.

    Raises:
        LayoutError: The map joins other dimensions than all but the last, or with gaps, which strides of a dense tensor
            do not say.
    """
    if layout.linear != collapsed_map(layout.shape) or len(layout.grid) != 2:
        raise LayoutError(
            f"TTNN joins all dimensions but the last to rows, without gaps, and cannot say `{layout.linear}`",
            help="keep dimensions apart by slices on devices of a mesh, which is what `mesh_slices` makes of them, or "
            f"take `{collapsed_map(layout.shape)}`",
        )
    rows, columns = layout.shard_shape
    return TTNNTensorSpec(layout.shape, (rows, columns), layout.tile or (1, 1))


def mesh_slices(layout: TensorLayout) -> tuple[tuple[int, ...], TensorLayout]:
    """A layout whose leading dimensions stay apart as a mesh of devices, and the layout of the slice on each.

    Raises:
        LayoutError: A leading result of the map is no dimension of its own, or the grid does not divide it.
    """
    outer = len(layout.grid) - 2
    results, grid = layout.linear.results, layout.grid
    for dim, parts in enumerate(grid[: max(0, outer)]):
        others = results[:dim] + results[dim + 1 :]
        if results[dim] != Dim(dim) or any(dim in dims_of(other) for other in others):
            raise LayoutError(f"`{layout.linear}` does not keep d{dim} apart, so that no mesh can divide it")
        if layout.shape[dim] % parts:
            raise LayoutError(f"{parts} devices cannot take equal slices of d{dim}, which has {layout.shape[dim]}")
    if outer < 1:
        raise LayoutError(
            f"a grid of rank {len(grid)} has no dimensions for a mesh", help="`ttnn_spec` says it in TTNN"
        )
    shape = tuple(
        extent // parts
        for extent, parts in zip(layout.shape, grid[:outer] + (1,) * (len(layout.shape) - outer), strict=True)
    )
    if len(layout.shape) <= outer + 1 or layout.linear != collapsed_map(layout.shape, [(outer, -1)]):
        raise LayoutError(f"TTNN joins all dimensions but the last of a slice, and cannot say `{layout.linear}`")
    fields = (layout.element, layout.tile, layout.out_of_bounds, layout.memory_space, layout.memory_layout)
    return grid[:outer], TensorLayout(shape, collapsed_map(shape), grid[outer:], *fields)
