"""The device of tt-mlir's specification: a logical grid of cores, and its map to physical cores.

The layout of a tensor (`tensor_layout.py`) divides it onto a virtual grid. A device maps its grid to physical cores, by
an affine map to (index in `chip_ids`, row, column). So a tensor can be on one chip, on several chips, or transposed,
without a change of its layout.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

from ttnn_jit.diagnostics.errors import GridError, LayoutError
from ttnn_jit.layout_specification.affine_map import AffineMap
from ttnn_jit.layout_specification.tensor_layout import TensorLayout, extents_of, extents_text, two_extents
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.index_expressions import Dim, Expr, bounds, divided, evaluated, remainder, times, total
from ttnn_jit.specs.checks import whole_numbers
from ttnn_jit.specs.cores.sharding import dense_strides

CHIP_GRID = (8, 8)
"""Rows and columns of cores of a chip in every example of the specification."""


@dataclass(frozen=True)
class PhysicalCore:
    """A physical core: the id of its chip in the system description, and its row and column on the chip."""

    chip: int
    row: int
    column: int


@dataclass(frozen=True)
class DeviceLayout:
    """A logical grid of cores over the chips of a mesh.

    Attributes:
        grid: The logical extents (`workerGrid`).
        mapping: From logical coordinates to (index in `chip_ids`, row, column).
        mesh_shape: The extents of the mesh of chips; the number of chips is its volume.
        chip_ids: The ids of the chips in the system, in the mesh's row-major order.
        chip_grid: Rows and columns of cores of each chip.
        l1_map: The map from a layout's indices to L1, if the text has one.
        dram_map: The map from a layout's indices to DRAM, if the text has one.

    Raises:
        ShapeError: An extent is below 1.
        LayoutError: Ranks differ, the number of chips is not the volume of the mesh, or a chip occurs twice.
        GridError: Two logical cores map to one physical core, or one to no core of a chip.
    """

    grid: tuple[int, ...]
    mapping: AffineMap
    mesh_shape: tuple[int, ...] = (1,)
    chip_ids: tuple[int, ...] = (0,)
    chip_grid: tuple[int, int] = CHIP_GRID
    l1_map: AffineMap | None = None
    dram_map: AffineMap | None = None

    def __post_init__(self) -> None:
        for name in ("grid", "mesh_shape"):
            object.__setattr__(self, name, extents_of(getattr(self, name), f"`{name}`"))
        object.__setattr__(self, "chip_grid", two_extents(self.chip_grid, "`chip_grid`"))
        object.__setattr__(self, "chip_ids", whole_numbers(self.chip_ids, "`chip_ids`"))
        self._check_chips()
        if self.mapping.dims != len(self.grid):
            raise LayoutError(
                f"the map `{self.mapping}` has {self.mapping.dims} dims, and the grid <{extents_text(self.grid)}> has "
                f"rank {len(self.grid)}"
            )
        if len(self.mapping.results) != 3:
            raise LayoutError(
                f"the map `{self.mapping}` of a device has {len(self.mapping.results)} results",
                help="it has three: the index of the chip in `chip_ids`, and row and column of the core",
            )
        self._check_cores()

    def _check_chips(self) -> None:
        count = math.prod(self.mesh_shape)
        if len(self.chip_ids) != count:
            raise LayoutError(
                f"a mesh of {extents_text(self.mesh_shape)} has {count} chips, got {len(self.chip_ids)} chip_ids"
            )
        if len(set(self.chip_ids)) != count or min(self.chip_ids) < 0:
            raise LayoutError(f"chip_ids are different numbers of at least 0, got {list(self.chip_ids)}")

    def _check_cores(self) -> None:
        limits = (len(self.chip_ids), *self.chip_grid)
        names = ("chip", "row", "column")
        for name, result, limit in zip(names, self.mapping.results, limits, strict=True):
            reached = (evaluated(result, point) for point in self.points())
            if bounds(result, self.grid)[1] >= limit and (last := max(reached)) >= limit:
                raise GridError(f"`{self.mapping}` leads to {name} {last}, and there are {limit} of them")
        seen: dict[tuple[int, ...], tuple[int, ...]] = {}
        for point in self.points():
            other = seen.setdefault(self.mapping.evaluate(point), point)
            if other != point:
                raise GridError(f"`{self.mapping}` makes one core of {list(other)} and {list(point)}")

    @staticmethod
    def of_mesh(
        mesh_shape: Iterable[int] = (1, 1),
        chip_ids: Iterable[int] | None = None,
        chip_grid: tuple[int, int] = CHIP_GRID,
    ) -> DeviceLayout:
        """The device whose grid joins the chips of a mesh: its last two dimensions extend rows and columns of cores.

        Args:
            mesh_shape: The extents of the mesh. One dimension is chips in a row; dimensions before the last two become
                dimensions of the grid.
            chip_ids: The ids of the chips in the system, in row-major order; None: 0, 1 and so on.
            chip_grid: Rows and columns of cores of each chip.

        Raises:
            ShapeError: An extent is below 1.
            LayoutError: The number of chips is not the volume of the mesh, or a chip occurs twice.
        """
        mesh = extents_of(mesh_shape, "`mesh_shape`")
        ids = range(math.prod(mesh)) if chip_ids is None else chip_ids
        padded = (1,) * (2 - len(mesh)) + mesh
        rank = len(padded)
        rows, columns = two_extents(chip_grid, "`chip_grid`")
        on_chip = (*(1,) * (rank - 2), rows, columns)
        grid = tuple(count * cores for count, cores in zip(padded, on_chip, strict=True))
        mapping = AffineMap(rank, (_chip(padded, on_chip), *_cores(padded, on_chip)))
        return DeviceLayout(grid, mapping, mesh, tuple(ids), (rows, columns))

    def points(self) -> Iterable[tuple[int, ...]]:
        """The coordinates of all logical cores, in row-major order."""
        return itertools.product(*map(range, self.grid))

    def core(self, *point: int) -> PhysicalCore:
        """The physical core at a logical point.

        Raises:
            GridError: The point is outside of the grid.
        """
        if len(point) != len(self.grid) or not all(0 <= at < end for at, end in zip(point, self.grid, strict=True)):
            raise GridError(f"a grid of {extents_text(self.grid)} has no core {list(point)}")
        chip, row, column = self.mapping.evaluate(point)
        return PhysicalCore(self.chip_ids[chip], row, column)

    def reinterpreted(self, grid: Iterable[int], view: AffineMap) -> DeviceLayout:
        """The same chips under another logical grid.

        Args:
            grid: The extents of the other grid.
            view: The map from its coordinates to those of this grid.

        Raises:
            LayoutError: Ranks differ.
            GridError: Two logical cores map to one physical core, or one to no core of a chip.
        """
        mapping = self.mapping.compose(view)
        return DeviceLayout(tuple(grid), mapping, self.mesh_shape, self.chip_ids, self.chip_grid)

    def transposed(self) -> DeviceLayout:
        """The grid with its last two dimensions swapped: tensors are transposed in place."""
        *outer, row, column = map(Dim, range(len(self.grid)))
        *extents, height, width = self.grid
        return self.reinterpreted((*extents, width, height), AffineMap(len(self.grid), (*outer, column, row)))

    def as_row(self) -> DeviceLayout:
        """A two-dimensional grid as one row of cores, in row-major order ("wide" in the specification).

        The view of a grid of 8 columns is ``(d0, d1) -> (d0 * 8 + d1 floordiv 8, d1 mod 8)``.
        """
        rows, columns = self._two_dimensional()
        row = total((times(Dim(0), columns), divided(Dim(1), columns)))
        return self.reinterpreted((1, rows * columns), AffineMap(2, (row, remainder(Dim(1), columns))))

    def as_column(self) -> DeviceLayout:
        """A two-dimensional grid as one column of cores ("tall"): `as_row` with its coordinates swapped."""
        return self.as_row().transposed()

    def skewed(self) -> DeviceLayout:
        """A two-dimensional grid whose row i is rotated by i cores ("staircase"), for systolic products on a ring."""
        rows, columns = self._two_dimensional()
        column = remainder(total((Dim(0), Dim(1))), columns)
        return self.reinterpreted((rows, columns), AffineMap(2, (Dim(0), column)))

    def _two_dimensional(self) -> tuple[int, int]:
        if len(self.grid) != 2:
            raise GridError(f"only a grid of rows and columns has this view, got {extents_text(self.grid)}")
        return self.grid[0], self.grid[1]

    def ttnn_mesh_shape(self) -> tuple[int, int]:
        """The mesh of rows and columns of chips that TTNN opens for this device.

        Raises:
            GridError: TTNN has no such device: its grid has other dimensions than two, or is reinterpreted.
        """
        if len(self.grid) != 2:
            raise GridError(f"TTNN has meshes of rows and columns of chips, and no grid {extents_text(self.grid)}")
        own = DeviceLayout.of_mesh(self.mesh_shape, self.chip_ids, self.chip_grid)
        if own.grid != self.grid or any(own.core(*point) != self.core(*point) for point in self.points()):
            raise GridError(
                f"TTNN does not reinterpret grids, and cannot open <{extents_text(self.grid)}, {self.mapping}>"
            )
        rows, columns = (1, *self.mesh_shape)[-2:]
        return rows, columns


def _chip(mesh: Sequence[int], on_chip: Sequence[int]) -> Expr:
    """The index of a core's chip in the mesh's row-major order."""
    terms = zip(range(len(mesh)), mesh, on_chip, dense_strides(mesh), strict=True)
    return total(times(divided(Dim(axis), cores), stride) for axis, count, cores, stride in terms if count > 1)


def _cores(mesh: Sequence[int], on_chip: Sequence[int]) -> tuple[Expr, Expr]:
    row, column = (
        Dim(axis) if mesh[axis] == 1 else remainder(Dim(axis), on_chip[axis])
        for axis in range(len(mesh) - 2, len(mesh))
    )
    return row, column


# --- Tensors on devices ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Location:
    """The location of an element: its core, the coordinates of its tile in the core's buffer, and its first byte."""

    core: PhysicalCore
    tile: tuple[int, ...]
    byte: int


def locate(layout: TensorLayout, device: DeviceLayout, index: Sequence[int]) -> Location:
    """The chip, core, tile and byte of the element at a logical index.

    Raises:
        ShapeError: The tensor has no such element.
        GridError: See `check_fits`.
    """
    check_fits(layout, device)
    address = layout.address(*index)
    return Location(device.core(*address.core), address.tile, address.byte)


def check_fits(layout: TensorLayout, device: DeviceLayout) -> None:
    """Refuse a layout whose grid is not contained in the device's.

    Raises:
        GridError: The ranks differ, or an extent of the layout's grid is larger.
    """
    if len(layout.grid) != len(device.grid):
        raise GridError(
            f"the layout's grid <{extents_text(layout.grid)}> has rank {len(layout.grid)}, and the device's, "
            f"<{extents_text(device.grid)}>, has {len(device.grid)}"
        )
    if any(wanted > there for wanted, there in zip(layout.grid, device.grid, strict=True)):
        raise GridError(
            f"the layout's grid <{extents_text(layout.grid)}> is larger than the device's, "
            f"<{extents_text(device.grid)}>",
            help="view the device as another grid, with `as_row`, `as_column` or `reinterpreted`",
        )


def distribution(layout: TensorLayout, device: DeviceLayout) -> tuple[str, ...]:
    """Per dimension of the device's grid, whether a tensor is sharded over chips along it, or replicated.

    Returns:
        "sharded" where the layout's grid has more than one core there, "replicated" where it has one; "one chip" where
        the mesh has one.

    Raises:
        GridError: See `check_fits`.
    """
    check_fits(layout, device)
    mesh = (1,) * (len(device.grid) - len(device.mesh_shape)) + device.mesh_shape
    return tuple(
        "one chip" if chips == 1 else "sharded" if cores > 1 else "replicated"
        for cores, chips in zip(layout.grid, mesh[-len(device.grid) :], strict=True)
    )
