"""Core sets of a given size, the cores of a set in order, and uneven shards."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.specs.checks import check_kind, check_whole_number, whole_numbers
from ttnn_jit.specs.cores.cores import (
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    core_coord,
    merged,
    require_cores,
    runs_along_rows,
)
from ttnn_jit.specs.cores.memory_config import (
    BufferType,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    ShardStrategy,
    TensorMemoryLayout,
)
from ttnn_jit.specs.cores.sharding import folded_2d, round_up, sharded_over
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


def num_cores_to_corerangeset(
    target_num_cores: int, grid_size: CoreCoord | tuple[int, int], row_wise: bool = False
) -> CoreRangeSet:
    """The first cores of a grid (ttnn.num_cores_to_corerangeset): column by column, or row by row.

    Args:
        target_num_cores: The number of cores.
        grid_size: Columns and rows of the grid.
        row_wise: Fill rows first.

    Raises:
        GridError: The grid has fewer cores.
    """
    size = core_coord(grid_size)
    if min(size.x, size.y) < 1:
        raise GridError(f"a grid has at least one column and one row of cores, got {size}")
    whole = CoreRangeSet(CoreRange((0, 0), (size.x - 1, size.y - 1)))
    return num_cores_to_corerangeset_in_subcoregrids((0, 0), target_num_cores, whole, row_wise)


def core_for_each(shape: Iterable[int], grid: tuple[int, int], buffer_type: BufferType) -> MemoryConfig:
    """A height-sharded config with one core for each index of `shape` before its last two dimensions.

    Args:
        shape: Shape of a tiled tensor.
        grid: Rows and columns of cores, which are filled row by row.
        buffer_type: The memory of the shards.

    Raises:
        GridError: The grid has fewer cores.
    """
    *before, height, width = shape
    rows, columns = grid
    cores = num_cores_to_corerangeset(math.prod(before), (columns, rows), row_wise=True)
    return sharded_over((*before, round_up(height, TILE_HEIGHT), width), ShardStrategy.HEIGHT, cores, buffer_type)


def shards_in_l1(
    grid: CoreCoord | Sequence[int] | CoreRangeSet,
    shard_shape: Sequence[int],
    shard_scheme: TensorMemoryLayout,
    shard_orientation: ShardOrientation,
) -> MemoryConfig:
    """Shards of `shard_shape` in the L1 of the cores of a grid of so many columns and rows, or of a set of cores.

    Raises:
        ArgumentError: An argument of a wrong type.
        GridError: A shard has no element, or there is no core.
    """
    check_kind(shard_scheme, TensorMemoryLayout, "`shard_scheme`")
    check_kind(shard_orientation, ShardOrientation, "`shard_orientation`")
    if not isinstance(grid, CoreRangeSet):
        size = core_coord(grid)
        grid = CoreRangeSet({CoreRange(CoreCoord(0, 0), CoreCoord(size.x - 1, size.y - 1))})
    spec = ShardSpec(grid, whole_numbers(shard_shape, "`shard_shape`"), shard_orientation)
    return MemoryConfig(shard_scheme, BufferType.L1, spec)


def with_cores(config: MemoryConfig, shape: tuple[int, ...], cores: CoreRangeSet) -> MemoryConfig:
    """`config`, a sharded config without a shard spec, with even shards of whole tiles over `cores`.

    Args:
        config: Sharded, without a shard spec.
        shape: Padded extents of the tensor.
        cores: The cores that may hold shards.
    """
    strategy = ShardStrategy[config.memory_layout.name.removesuffix("_SHARDED")]
    return sharded_over(shape, strategy, cores, config.buffer_type)


def num_cores_to_corerangeset_in_subcoregrids(
    start_core: CoreCoord | tuple[int, int],
    target_num_cores: int,
    sub_core_grids: CoreRangeSet,
    row_wise: bool = False,
) -> CoreRangeSet:
    """Cores of a set from `start_core` on (ttnn.num_cores_to_corerangeset_in_subcoregrids), range after range.

    Args:
        start_core: The first core.
        target_num_cores: The number of cores.
        sub_core_grids: The available cores.
        row_wise: Within a range row by row, else column by column.

    Raises:
        GridError: `start_core` is none of them, or too few follow it.
    """
    check_whole_number(target_num_cores, "`target_num_cores`")
    cores, start = corerange_to_cores(sub_core_grids, row_wise=row_wise), core_coord(start_core)
    if start not in cores:
        raise GridError(f"the core {start} is none of {sub_core_grids}")
    following = cores[cores.index(start) :]
    if not 0 <= target_num_cores <= len(following):
        raise GridError(
            f"{target_num_cores} cores are asked for, and there are {len(following)} from {start} on",
            help=f"ask for 0 to {len(following)}, or give a larger grid",
        )
    return _ranges_of(following[:target_num_cores], row_wise=row_wise)


def corerange_to_cores(
    core_range_set: CoreRangeSet | CoreRange, max_cores: int | None = None, row_wise: bool = False
) -> list[CoreCoord]:
    """The cores of ranges, one range after the other (ttnn.corerange_to_cores).

    Args:
        core_range_set: A set of ranges, or one.
        max_cores: The most cores to return; None: all.
        row_wise: Within a range row by row, else column by column.

    Raises:
        ArgumentError: An argument of a wrong type.
    """
    cores = core_range_set
    if not isinstance(cores, CoreRange):
        check_kind(cores, CoreRangeSet, "the core ranges")
    ranges = [cores] if isinstance(cores, CoreRange) else cores.ranges()
    if max_cores is not None:
        check_whole_number(max_cores, "`max_cores`")
    listed = [core for each in ranges for core in _cores_of(each, row_wise=row_wise)]
    return listed if max_cores is None else listed[: max(0, max_cores)]


def grid_to_cores(num_cores: int, grid_size_x: int, grid_size_y: int, row_wise: bool = False) -> list[CoreCoord]:
    """The first cores of a grid, in order (ttnn.grid_to_cores).

    Raises:
        GridError: The grid has fewer cores.
    """
    grid = num_cores_to_corerangeset(num_cores, (grid_size_x, grid_size_y), row_wise)
    return corerange_to_cores(grid, row_wise=row_wise)


def split_work_to_cores(
    core_grid: CoreCoord | tuple[int, int] | CoreRangeSet, units_to_divide: int, row_wise: bool = False
) -> tuple[int, CoreRangeSet, CoreRangeSet, CoreRangeSet, int, int]:
    """Distributes units of work over cores as evenly as possible (ttnn.split_work_to_cores).

    Args:
        core_grid: Columns and rows of a grid, or the available cores.
        units_to_divide: The number of units.
        row_wise: Fill rows first, else columns.

    Returns:
        The number of working cores; these cores; those with one unit more, which are all if the units divide evenly;
        the others; the units of a core in each of the two groups.

    Raises:
        ArgumentError, GridError: No number of units, or no grid.
    """
    check_whole_number(units_to_divide, "`units_to_divide`")
    if isinstance(core_grid, CoreRangeSet):
        there = corerange_to_cores(core_grid, row_wise=row_wise)
    else:
        size = core_coord(core_grid)
        there = grid_to_cores(size.x * size.y, size.x, size.y, row_wise)
    if units_to_divide < 0:
        raise ArgumentError(f"`units_to_divide` must be at least 0, got {units_to_divide}")
    working = there[: min(units_to_divide, len(there))]
    units, busier = divmod(units_to_divide, max(1, len(working)))
    every = _ranges_of(working, row_wise=row_wise)
    if not busier:
        return len(working), every, every, CoreRangeSet(), units, 0
    groups = (_ranges_of(cores, row_wise=row_wise) for cores in (working[:busier], working[busier:]))
    return len(working), every, *groups, units + 1, units  # type: ignore[return-value]  # there are two groups


def _cores_of(core_range: CoreRange, *, row_wise: bool) -> list[CoreCoord]:
    columns = range(core_range.start.x, core_range.end.x + 1)
    rows = range(core_range.start.y, core_range.end.y + 1)
    if row_wise:
        return [CoreCoord(x, y) for y in rows for x in columns]
    return [CoreCoord(x, y) for x in columns for y in rows]


def _ranges_of(cores: Iterable[CoreCoord], *, row_wise: bool) -> CoreRangeSet:
    """Cores in order as rectangles: runs along a row or a column, with adjacent equal runs merged."""
    found = merged(runs_along_rows(cores if row_wise else map(_transposed, cores)), _is_below)
    return CoreRangeSet(found if row_wise else (CoreRange(_transposed(r.start), _transposed(r.end)) for r in found))


def _transposed(core: CoreCoord) -> CoreCoord:
    return CoreCoord(core.y, core.x)


def _is_below(first: CoreRange, second: CoreRange) -> bool:
    return (first.start.x, first.end.x, first.end.y + 1) == (second.start.x, second.end.x, second.start.y)


# --- Uneven shards --------------------------------------------------------------------------------------------------


def create_sharded_memory_config_(
    shape: Iterable[int],
    core_grid: CoreGrid | CoreRangeSet,
    strategy: ShardStrategy | TensorMemoryLayout,
    orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    use_height_and_width_as_shard_shape: bool = False,
    tile_layout: bool = False,
) -> MemoryConfig:
    """An L1 config that splits `shape` over cores; the last may have less (ttnn.create_sharded_memory_config_).

    Args:
        shape: Logical extents; leading dimensions fold into the rows.
        core_grid: Columns and rows of cores, or a set of them.
        strategy: HEIGHT splits rows, WIDTH columns, BLOCK both; also as a memory layout.
        orientation: Order of shards over the cores.
        use_height_and_width_as_shard_shape: The last two extents of `shape` are the shard, swapped for column-major.
        tile_layout: Round the rows of the tensor up, so that every core of a block has whole tiles.

    Raises:
        ArgumentError: An argument of a wrong type.
        GridError: BLOCK over cores that are no rectangle, or shards of whole tiles in neither direction.
    """
    layout = _layout_of(strategy)
    check_kind(orientation, ShardOrientation, "`orientation`")
    extents = whole_numbers(shape, "a shape")
    grid = core_grid
    if isinstance(core_grid, CoreGrid):
        grid = CoreRangeSet([CoreRange((0, 0), (core_grid.x - 1, core_grid.y - 1))])
    cores = require_cores(check_kind(grid, CoreRangeSet, "the core ranges"))
    row_major = orientation is ShardOrientation.ROW_MAJOR
    if use_height_and_width_as_shard_shape:
        height, width = (1, 1, *extents)[-2:]
        shard = (height, width) if row_major else (width, height)
    else:
        parts = _parts_of(cores, layout, row_major=row_major)
        shard = _uneven_shard(folded_2d(extents), parts, layout, tiled=tile_layout)
    if tile_layout and shard[0] % TILE_HEIGHT and shard[1] % TILE_WIDTH:
        raise GridError(
            f"a shard of {shard[0]}x{shard[1]} is whole tiles in neither direction",
            help="choose another core grid, or leave `tile_layout` out",
        )
    return MemoryConfig(layout, BufferType.L1, ShardSpec(cores, shard, orientation))


def _layout_of(strategy: object) -> TensorMemoryLayout:
    if isinstance(strategy, TensorMemoryLayout):
        if strategy in {TensorMemoryLayout.INTERLEAVED, TensorMemoryLayout.ND_SHARDED}:
            raise ArgumentError(f"`strategy` is {strategy}, which is none of HEIGHT, WIDTH and BLOCK")
        return strategy
    return TensorMemoryLayout[f"{check_kind(strategy, ShardStrategy, '`strategy`').name}_SHARDED"]


def _parts_of(cores: CoreRangeSet, layout: TensorMemoryLayout, *, row_major: bool) -> tuple[int, int]:
    """The numbers of parts of rows and columns."""
    if layout is TensorMemoryLayout.HEIGHT_SHARDED:
        return cores.num_cores(), 1
    if layout is TensorMemoryLayout.WIDTH_SHARDED:
        return 1, cores.num_cores()
    size = cores.bounding_box().grid_size()
    if size.x * size.y != cores.num_cores():
        raise GridError(f"BLOCK sharding needs a rectangle of cores, got {cores}")
    return (size.y, size.x) if row_major else (size.x, size.y)


def _uneven_shard(
    extents: tuple[int, int], parts: tuple[int, int], layout: TensorMemoryLayout, *, tiled: bool
) -> tuple[int, int]:
    height, width = extents
    if tiled and layout is TensorMemoryLayout.BLOCK_SHARDED:
        height = round_up(height, parts[0] * TILE_HEIGHT)
    return math.ceil(height / parts[0]), math.ceil(width / parts[1])
