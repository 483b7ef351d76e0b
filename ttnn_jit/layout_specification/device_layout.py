"""The device of tt-mlir's specification: a logical grid of cores, and which core of which chip each of them is.

A tensor's layout (`tensor_layout.py`) divides it onto a grid without saying where that is. A device says it, by an
affine map from its grid to (index in `chip_ids`, row, column); so one tensor lies on one chip, on several, or the other
way round, without a change of its layout.
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
"""Rows and columns of cores of a chip, in every example of the specification."""


@dataclass(frozen=True)
class PhysicalCore:
    """A core: the chip's id in the description of the system, and its row and column on the chip."""

    chip: int
    row: int
    column: int


@dataclass(frozen=True)
class DeviceLayout:
    """A logical grid of cores over the chips of a mesh.

    Attributes:
        grid: The logical extents (`workerGrid`).
        mapping: From logical coordinates to (index in `chip_ids`, row, column).
        mesh_shape: How the chips lie to each other; their number is its volume.
        chip_ids: The ids of the chips in the system, in the mesh's row-major order.
        chip_grid: Rows and columns of cores of each chip.
        l1_map: As the text has it, where it has one: from a layout's indices to L1.
        dram_map: The same of DRAM.

    Raises:
        ShapeError: An extent below 1.
        LayoutError: Ranks that differ, a number of chips that is not the mesh's, a chip twice.
        GridError: Two logical cores are one, or one is on no chip.
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
            other = seen.setdefault(self.mapping.at(point), point)
            if other != point:
                raise GridError(f"`{self.mapping}` makes one core of {list(other)} and {list(point)}")

    @staticmethod
    def of_mesh(
        mesh_shape: Iterable[int] = (1, 1),
        chip_ids: Iterable[int] | None = None,
        chip_grid: tuple[int, int] = CHIP_GRID,
    ) -> DeviceLayout:
        """The device whose chips are put together as `mesh_shape` says: the last two of it extend rows and columns.

        Args:
            mesh_shape: Of one dimension, chips in a row; of more than two, the others are dimensions of the grid.
            chip_ids: Of the system, in row-major order; given none, 0, 1 and so on.
            chip_grid: Rows and columns of cores of each chip.

        Raises:
            ShapeError: An extent below 1.
            LayoutError: A number of chips that is not the mesh's, or a chip twice.
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
        """The core at a logical point.

        Raises:
            GridError: The grid has none.
        """
        if len(point) != len(self.grid) or not all(0 <= at < end for at, end in zip(point, self.grid, strict=True)):
            raise GridError(f"a grid of {extents_text(self.grid)} has no core {list(point)}")
        chip, row, column = self.mapping.at(point)
        return PhysicalCore(self.chip_ids[chip], row, column)

    def reinterpreted(self, grid: Iterable[int], view: AffineMap) -> DeviceLayout:
        """The same chips as another grid.

        Args:
            grid: Its extents.
            view: From its coordinates to those of this grid.

        Raises:
            LayoutError: Ranks that differ.
            GridError: Two of its cores are one, or one is on no chip.
        """
        mapping = self.mapping.after(view)
        return DeviceLayout(tuple(grid), mapping, self.mesh_shape, self.chip_ids, self.chip_grid)

    def transposed(self) -> DeviceLayout:
        """Rows and columns of the grid, its last two dimensions, swapped: tensors are transposed where they lie."""
        *outer, row, column = map(Dim, range(len(self.grid)))
        *extents, height, width = self.grid
        return self.reinterpreted((*extents, width, height), AffineMap(len(self.grid), (*outer, column, row)))

    def wide(self) -> DeviceLayout:
        """A grid of two dimensions as one row, in the specification's order.

        ``(d0, d1) -> (d0 * 8 + d1 floordiv 8, d1 mod 8)``: for a grid of 8 columns, its rows one after the other.
        """
        rows, columns = self._two_dimensional()
        row = total((times(Dim(0), columns), divided(Dim(1), columns)))
        return self.reinterpreted((1, rows * columns), AffineMap(2, (row, remainder(Dim(1), columns))))

    def tall(self) -> DeviceLayout:
        """A grid of two dimensions as one column: `wide` with its coordinates swapped, in the same order of cores."""
        return self.wide().transposed()

    def staircase(self) -> DeviceLayout:
        """A grid of two dimensions each of whose rows begins one core later: a ring of systolic products."""
        rows, columns = self._two_dimensional()
        column = remainder(total((Dim(0), Dim(1))), columns)
        return self.reinterpreted((rows, columns), AffineMap(2, (Dim(0), column)))

    def _two_dimensional(self) -> tuple[int, int]:
        if len(self.grid) != 2:
            raise GridError(f"only a grid of rows and columns is seen in that way, got {extents_text(self.grid)}")
        return self.grid[0], self.grid[1]

    def ttnn_mesh_shape(self) -> tuple[int, int]:
        """The mesh of rows and columns of chips that TTNN opens, which knows no other grids.

        Raises:
            GridError: A grid with more dimensions, or that is not the mesh's own.
        """
        if len(self.grid) != 2:
            raise GridError(f"TTNN has meshes of rows and columns of chips, and no grid of {extents_text(self.grid)}")
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
    """Where an element lies: its core, the coordinates of its tile in the core's buffer, and its first byte there."""

    core: PhysicalCore
    tile: tuple[int, ...]
    byte: int


def locate(layout: TensorLayout, device: DeviceLayout, index: Sequence[int]) -> Location:
    """The chip, core, tile and byte of the element at a logical index.

    Raises:
        ShapeError: The tensor has no such element.
        GridError: The layout's grid is not one of the device's: another rank, or larger.
    """
    check_fits(layout, device)
    address = layout.address(*index)
    return Location(device.core(*address.core), address.tile, address.byte)


def check_fits(layout: TensorLayout, device: DeviceLayout) -> None:
    """Refuse a layout whose grid is no corner of the device's.

    Raises:
        GridError: See there.
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
            help="see the device as another grid, with `wide`, `tall` or `reinterpreted`",
        )


def distribution(layout: TensorLayout, device: DeviceLayout) -> tuple[str, ...]:
    """Per dimension of the device's grid over several chips, whether a tensor is sharded along it, or replicated.

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
