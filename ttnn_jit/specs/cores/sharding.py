"""Shard arithmetic: the shards of a tensor and their cores, as in ttnn.

Leading dimensions fold into the rows: a shape (..., W) is H x W with H the product of all extents but the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product

from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.checks import check_kind, whole_numbers
from ttnn_jit.specs.cores.cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet, core_coord
from ttnn_jit.specs.cores.memory_config import (
    BufferType,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    ShardStrategy,
    TensorMemoryLayout,
)
from ttnn_jit.specs.extents.divisors import largest_divisor
from ttnn_jit.specs.extents.extent import computed
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple


def dense_strides(shape: Iterable[int]) -> tuple[int, ...]:
    """Row-major element strides of a dense buffer of that shape."""
    return _dense_strides(tuple(shape))


@memoized(maxsize=4096)
def _dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def folded_2d(shape: Iterable[int]) -> tuple[int, int]:
    """(H, W): all leading dimensions folded into the rows."""
    extents = (1, 1, *shape)
    return math.prod(extents[:-1]), extents[-1]


# --- Making configs -------------------------------------------------------------------------------------------------


def create_sharded_memory_config(
    shape: Iterable[int],
    core_grid: CoreGrid | CoreRangeSet,
    strategy: ShardStrategy,
    orientation: ShardOrientation | None = None,
    use_height_and_width_as_shard_shape: bool = False,
) -> MemoryConfig:
    """An L1 memory config that splits `shape` evenly over `core_grid` (ttnn.create_sharded_memory_config).

    Args:
        shape: Logical extents; leading dimensions fold into the rows.
        core_grid: x columns by y rows of cores; a `CoreRangeSet` needs `use_height_and_width_as_shard_shape`.
        strategy: HEIGHT splits rows over all cores, WIDTH columns, BLOCK rows over y and columns over x.
        orientation: Order of shards over the cores; None means row-major.
        use_height_and_width_as_shard_shape: The last two extents of `shape` are the shard, swapped for column-major.

    Raises:
        GridError: The grid does not divide the tensor.
        ArgumentError: A `CoreRangeSet` without the shard's shape; an argument of a wrong type.
    """
    shape = whole_numbers(shape, "a shape")
    orientation = orientation or ShardOrientation.ROW_MAJOR
    check_kind(strategy, ShardStrategy, "`strategy`")
    check_kind(orientation, ShardOrientation, "`orientation`")
    layout = TensorMemoryLayout[f"{strategy.name}_SHARDED"]
    if isinstance(core_grid, CoreRangeSet):
        if not use_height_and_width_as_shard_shape:
            raise ArgumentError(
                "a CoreRangeSet as core_grid does not say how to split a tensor",
                help="pass the shard's shape and `use_height_and_width_as_shard_shape=True`, or a `ttnn.CoreGrid`",
            )
        grid = core_grid
    else:
        check_kind(core_grid, CoreGrid, "`core_grid`")
        grid = CoreRangeSet([CoreRange((0, 0), (core_grid.x - 1, core_grid.y - 1))])
    if use_height_and_width_as_shard_shape:
        height, width = (1, 1, *shape)[-2:]
        shard = (height, width) if orientation is ShardOrientation.ROW_MAJOR else (width, height)
    else:
        assert isinstance(core_grid, CoreGrid)
        shard = _even_shard(folded_2d(shape), core_grid, strategy, orientation)
    return MemoryConfig(layout, BufferType.L1, ShardSpec(grid, shard, orientation))


def _even_shard(
    extents: tuple[int, int], core_grid: CoreGrid, strategy: ShardStrategy, orientation: ShardOrientation
) -> tuple[int, int]:
    height, width = extents
    columns, rows = core_grid.x, core_grid.y
    if orientation is ShardOrientation.COL_MAJOR:
        columns, rows = rows, columns
    parts = _parts_of(strategy, (rows, columns), core_grid.num_cores)
    if height % parts[0] or width % parts[1]:
        raise GridError(
            f"Invalid sharding core_grid: {strategy.name} sharding of {height}x{width} elements over "
            f"x={core_grid.x}, y={core_grid.y}",
            help=f"rows must divide by {parts[0]} and columns by {parts[1]}",
        )
    return height // parts[0], width // parts[1]


def _parts_of(strategy: ShardStrategy, block: tuple[int, int], cores: int) -> tuple[int, int]:
    """The numbers of parts of rows and columns over `cores` cores; a block sharded grid is `block`."""
    return {ShardStrategy.BLOCK: block, ShardStrategy.HEIGHT: (cores, 1), ShardStrategy.WIDTH: (1, cores)}[strategy]


def maximal_block_sharding_grid(shape: Iterable[int], max_grid: tuple[int, int]) -> tuple[int, int]:
    """The largest grid of whole-tile blocks, as counts of cores (columns, rows); `max_grid` is the last core (x, y)."""
    height, width = folded_2d(shape)
    tile_rows = -(-height // TILE_HEIGHT)
    tile_columns = -(-width // TILE_WIDTH)
    sides = (tile_columns, max_grid[0] + 1), (tile_rows, max_grid[1] + 1)
    columns, rows = (computed(largest_divisor, tiles, most) for tiles, most in sides)
    return columns, rows


def get_maximal_block_sharding_grid(shape: Iterable[int], core_grid: tuple[int, int]) -> list[int]:
    """The last core ``[x, y]`` of the largest grid of whole-tile blocks within the last core `core_grid`.

    Raises:
        GridError: An argument is no shape, or no core.
    """
    last = core_coord(core_grid)
    columns, rows = maximal_block_sharding_grid(whole_numbers(shape, "a shape"), (last.x, last.y))
    return [columns - 1, rows - 1]


def maximal_block_sharding_config(shape: Iterable[int], max_grid: tuple[int, int]) -> MemoryConfig | None:
    """Block sharding over the maximal grid; None if shards would not be whole tiles."""
    height, width = folded_2d(shape)
    if not height or not width or height % TILE_HEIGHT or width % TILE_WIDTH:
        return None
    columns, rows = maximal_block_sharding_grid((height, width), max_grid)
    return create_sharded_memory_config((height, width), CoreGrid(x=columns, y=rows), ShardStrategy.BLOCK)


def sharded_over(
    shape: Iterable[int], strategy: ShardStrategy, cores: CoreRangeSet, buffer_type: BufferType
) -> MemoryConfig:
    """A config that cuts `shape` into shards of whole tiles over `cores`, without unused cores.

    It is ttnn's ``TensorSpec(...).block_sharded(cores)``, ``height_sharded`` and ``width_sharded``.
    """
    height, width = folded_2d(shape)
    size = cores.bounding_box().grid_size()
    rows, columns = _parts_of(strategy, (size.y, size.x), cores.num_cores())
    shard = (
        max(TILE_HEIGHT, round_up(-(-height // rows), TILE_HEIGHT)),
        max(TILE_WIDTH, round_up(-(-width // columns), TILE_WIDTH)),
    )
    used = max(1, -(-height // shard[0])), max(1, -(-width // shard[1]))
    layout = TensorMemoryLayout[f"{strategy.name}_SHARDED"]
    return MemoryConfig(layout, buffer_type, ShardSpec(_used_cores(strategy, cores, used), shard))


def _used_cores(strategy: ShardStrategy, cores: CoreRangeSet, used: tuple[int, int]) -> CoreRangeSet:
    if strategy is ShardStrategy.BLOCK:
        start = cores.bounding_box().start
        return CoreRangeSet(CoreRange(start, (start.x + used[1] - 1, start.y + used[0] - 1)))
    kept = cores.cores()[: math.prod(used)]
    if len(kept) == cores.num_cores():
        return cores
    return CoreRangeSet(CoreRange(core, core) for core in kept)


# --- Reading configs ------------------------------------------------------------------------------------------------


def check_sharding(shape: tuple[int, ...], config: MemoryConfig, *, tiled: bool) -> None:
    """Checks that the shards of a config hold a tensor of the stored extents `shape`.

    Raises:
        GridError: No shard spec, shards of partial tiles, or more shards than cores (a TT_FATAL in ttnn).
    """
    if not config.is_sharded():
        return
    if config.is_nd_sharded():
        assert config.nd_shard_spec is not None  # the constructor requires it
        _check_nd(shape, config.nd_shard_spec, tiled=tiled)
        return
    spec = config.shard_spec
    if spec is None:
        raise GridError(
            f"a {config.memory_layout} memory config has no shard spec",
            help="make it with `ttnn.create_sharded_memory_config`",
        )
    _check_whole_tiles(spec.shape, tiled=tiled)
    height, width = folded_2d(shape)
    down, across = -(-height // spec.shape[0]), -(-width // spec.shape[1])
    size = spec.grid.bounding_box().grid_size()
    block = (size.y, size.x) if spec.orientation is ShardOrientation.ROW_MAJOR else (size.x, size.y)
    fits = {
        TensorMemoryLayout.HEIGHT_SHARDED: spec.shape[1] == width and down <= spec.grid.num_cores(),
        TensorMemoryLayout.WIDTH_SHARDED: spec.shape[0] == height and across <= spec.grid.num_cores(),
        TensorMemoryLayout.BLOCK_SHARDED: down <= block[0] and across <= block[1],
    }[config.memory_layout]
    if not fits:
        raise GridError(
            f"{config.memory_layout.name} shards of {spec.shape[0]}x{spec.shape[1]} on {spec.grid.num_cores()} cores "
            f"(x={size.x}, y={size.y}) do not hold a tensor of {height}x{width}",
            help="make the config for this shape with `ttnn.create_sharded_memory_config`",
        )


def _check_nd(shape: tuple[int, ...], spec: NdShardSpec, *, tiled: bool) -> None:
    if len(spec.shard_shape) > max(2, len(shape)):
        raise GridError(f"an ND shard of {list(spec.shard_shape)} has more dimensions than its tensor, {list(shape)}")
    _check_whole_tiles((1, 1, *spec.shard_shape)[-2:], tiled=tiled)


def _check_whole_tiles(shard: tuple[int, ...], *, tiled: bool) -> None:
    if tiled and (shard[0] % TILE_HEIGHT or shard[1] % TILE_WIDTH):
        raise GridError(
            f"a shard of {shard[0]}x{shard[1]} is not made of whole {TILE_HEIGHT}x{TILE_WIDTH} tiles",
            help="choose a grid that leaves whole tiles on each core, or `ttnn.ROW_MAJOR_LAYOUT`",
        )


def shard_cores(shape: tuple[int, ...], config: MemoryConfig) -> tuple[CoreCoord, ...]:
    """The core of every shard of a tensor of the stored extents `shape`, shards in row-major order.

    Args:
        shape: Stored extents.
        config: A sharded config that fits them.
    """
    if config.is_nd_sharded():
        assert config.nd_shard_spec is not None
        counts = nd_shard_counts(shape, config.nd_shard_spec)
        cores = _dealing_order(config.nd_shard_spec.grid, config.nd_shard_spec.orientation)
        return tuple(cores[k % len(cores)] for k in range(math.prod(counts)))
    spec = config.shard_spec
    assert spec is not None
    height, width = folded_2d(shape)
    down, across = -(-height // spec.shape[0]), -(-width // spec.shape[1])
    if config.memory_layout is not TensorMemoryLayout.BLOCK_SHARDED:
        return _dealing_order(spec.grid, spec.orientation)[: down * across]
    start = spec.grid.bounding_box().start
    row_major = spec.orientation is ShardOrientation.ROW_MAJOR
    return tuple(
        CoreCoord(start.x + (j if row_major else i), start.y + (i if row_major else j))
        for i, j in product(range(down), range(across))
    )


def have_equal_layout(
    first_shape: tuple[int, ...], first: MemoryConfig, second_shape: tuple[int, ...], second: MemoryConfig
) -> bool:
    """Whether two sharded tensors have equal shards on equal cores; the kinds of sharding may differ.

    Args:
        first_shape: Stored extents of the first tensor.
        first: Its config, which fits them.
        second_shape: Stored extents of the second tensor.
        second: Its config.
    """
    return first == second or _placement(first_shape, first) == _placement(second_shape, second)


def _placement(shape: tuple[int, ...], config: MemoryConfig) -> tuple[object, ...]:
    """The layout of shards in memory: rows and columns of the tensor and of a shard, and the core of each shard."""
    shard = config.shard_spec.shape if config.shard_spec else config.shard_shape
    return config.buffer_type, folded_2d(shape), shard, shard_cores(shape, config)


def _dealing_order(grid: CoreRangeSet, orientation: ShardOrientation) -> tuple[CoreCoord, ...]:
    cores = grid.cores()
    if orientation is ShardOrientation.ROW_MAJOR:
        return cores
    return tuple(sorted(cores, key=lambda core: (core.x, core.y)))


def nd_shard_counts(shape: tuple[int, ...], spec: NdShardSpec) -> tuple[int, ...]:
    """Shards along each dimension; leading dimensions beyond the shard's rank fold into its first."""
    extents = folded_to(shape, len(spec.shard_shape))
    return tuple(-(-extent // part) for extent, part in zip(extents, spec.shard_shape, strict=True))


def folded_to(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """`shape` with its leading dimensions folded to `rank` dimensions."""
    padded = (1,) * (rank - len(shape)) + shape
    return (math.prod(padded[: len(padded) - rank + 1]), *padded[len(padded) - rank + 1 :])


def legacy_shard_spec(shape: tuple[int, ...], spec: NdShardSpec) -> ShardSpec | None:
    """The two-dimensional spec with the layout of the ND `spec`; None if there is none.

    The shard's rows must be contiguous in the folded tensor, every shard must have a core of its own, and blocks must
    be assigned to cores by rows of the grid.
    """
    extents = folded_to(shape, len(spec.shard_shape))
    if len(extents) < 2 or not _rows_are_contiguous(extents[:-1], spec.shard_shape[:-1]):
        return None
    height, width = folded_2d(extents)
    shard = folded_2d(spec.shard_shape)
    down, across = -(-height // shard[0]), -(-width // shard[1])
    if down * across > spec.grid.num_cores():
        return None
    is_block = down > 1 and across > 1
    if is_block and across != spec.grid.bounding_box().grid_size().x:
        return None
    return ShardSpec(spec.grid, shard, spec.orientation)


def _rows_are_contiguous(extents: tuple[int, ...], parts: tuple[int, ...]) -> bool:
    """Whether a block of `parts` is contiguous in the folded `extents`: at most one dimension is cut.

    Dimensions inside it are whole, and dimensions outside it have one index.
    """
    cut = next((index for index, part in enumerate(parts) if part != 1), len(parts) - 1)
    inner_whole = all(part == extent for part, extent in zip(parts[cut + 1 :], extents[cut + 1 :], strict=True))
    return inner_whole and (cut == 0 or extents[cut] % parts[cut] == 0)
