"""The sharding of a convolution's result over cores, as ttnn derives it from a `Conv2dConfig`.

Rows (batch x height x width) and channels are counted in tiles. It uses as many cores as possible such that none is
empty when tiles are distributed evenly. The cores of a sharded input are kept unless another sharding is requested;
channels are distributed anew over the columns of its grid.
"""

from __future__ import annotations

from collections.abc import Callable

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.configs.conv_configs import Conv2dConfig
from ttnn_jit.specs.cores.core_sets import num_cores_to_corerangeset
from ttnn_jit.specs.cores.cores import CoreCoord, CoreRange, CoreRangeSet
from ttnn_jit.specs.cores.memory_config import BufferType, MemoryConfig, ShardOrientation, ShardSpec, TensorMemoryLayout
from ttnn_jit.specs.cores.sharding import round_up
from ttnn_jit.specs.extents.divisors import largest_divisor
from ttnn_jit.specs.extents.extent import computed
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

_HEIGHT, _WIDTH, _BLOCK = (
    TensorMemoryLayout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED,
)

_SPREADS = {_HEIGHT, _WIDTH, _BLOCK}


def check_shard_layout(conv_config: Conv2dConfig) -> None:
    """Checks that a `shard_layout` is one of convolutions.

    Raises:
        ArgumentError: It is none of height, width and block.
    """
    if conv_config.shard_layout is not None and conv_config.shard_layout not in _SPREADS:
        raise ArgumentError(
            f"a convolution is sharded by height, width or block, got `shard_layout` {conv_config.shard_layout.name}",
            help="leave it out for a result in DRAM",
        )


def max_parts(count: int, most: int, multiple: int = 1) -> int:
    """The largest number of parts, at most `most`, such that an even split of `count` items leaves no part empty.

    Args:
        count: The number of items, at least 1; the last part may have fewer than the others.
        most: The limit, at least 1.
        multiple: The size of a part is a multiple of it.
    """
    return next(parts for parts in range(most, 0, -1) if _leaves_none_empty(count, parts, multiple))


def _leaves_none_empty(count: int, parts: int, multiple: int) -> bool:
    padded = round_up(count, parts * multiple)
    return parts == 1 or padded - count < padded // parts


@dataclass(frozen=True)
class ConvolutionShards:
    """The parameters from which the sharding of a convolution's result follows.

    Attributes:
        rows: Batch x height x width of the result.
        channels: Channels of the result.
        is_product: Whether it is a matrix product: windows of one element, stride 1, one group.
        tiled: Whether the result is in tile layout.
        grid: Rows and columns of cores of the device.
    """

    rows: int
    channels: int
    is_product: bool
    tiled: bool
    grid: tuple[int, int]

    def config(self, conv_config: Conv2dConfig, given: MemoryConfig) -> MemoryConfig | None:
        """The result's sharded memory config in L1; None if it is not sharded.

        Args:
            conv_config: The call's config.
            given: The input's memory config.

        Raises:
            ArgumentError: The layout is none of height, width and block.
        """
        keeps = given.memory_layout in _SPREADS and not conv_config.reshard_if_not_optimal
        kept = given.shard_spec if keeps else None
        layout = given.memory_layout if kept else conv_config.shard_layout
        if layout is None:
            return None
        check_shard_layout(conv_config)
        cores = conv_config.core_grid if conv_config.override_sharding_config else kept and kept.grid
        is_column_major = conv_config.transpose_shards and layout is _BLOCK
        own = ShardOrientation.COL_MAJOR if is_column_major else ShardOrientation.ROW_MAJOR
        orientation = kept.orientation if kept else own
        spread: Callable[..., tuple[CoreRangeSet, tuple[int, int]]] = {
            _HEIGHT: self._by_height,
            _WIDTH: self._by_width,
            _BLOCK: self._by_block,
        }[layout]
        grid, shard = spread(cores, conv_config, orientation)
        return MemoryConfig(layout, BufferType.L1, ShardSpec(grid, shard, orientation))

    @property
    def _row_tiles(self) -> int:
        return -(-self.rows // TILE_HEIGHT)

    @property
    def _channel_tiles(self) -> int:
        return -(-self.channels // TILE_WIDTH)

    @property
    def _all_cores(self) -> int:
        return self.grid[0] * self.grid[1]

    def _cores(self, count: int) -> CoreRangeSet:
        rows, columns = self.grid
        return num_cores_to_corerangeset(count, (columns, rows), row_wise=True)

    def _by_height(
        self, chosen: CoreRangeSet | None, conv_config: Conv2dConfig, _: ShardOrientation
    ) -> tuple[CoreRangeSet, tuple[int, int]]:
        cores = chosen or self._cores(max_parts(self._row_tiles, self._all_cores, _block_tiles(conv_config)))
        width = self._channel_tiles * TILE_WIDTH if self.tiled else self.channels
        return cores, (self._shard_rows(cores.num_cores()), width)

    def _by_width(
        self, chosen: CoreRangeSet | None, _conv_config: Conv2dConfig, _: ShardOrientation
    ) -> tuple[CoreRangeSet, tuple[int, int]]:
        cores = chosen or self._cores(max_parts(self._channel_tiles, self._all_cores))
        height = self._row_tiles * TILE_HEIGHT if self.tiled else self.rows
        return cores, (height, -(-self._channel_tiles // cores.num_cores()) * TILE_WIDTH)

    def _by_block(
        self, chosen: CoreRangeSet | None, conv_config: Conv2dConfig, orientation: ShardOrientation
    ) -> tuple[CoreRangeSet, tuple[int, int]]:
        rows, columns = self.grid
        size = CoreCoord(columns, rows) if chosen is None else chosen.bounding_box().grid_size()
        is_column_major = orientation is ShardOrientation.COL_MAJOR
        most_down, most_across = (size.x, size.y) if is_column_major else (size.y, size.x)
        down = most_down if chosen else max_parts(self._row_tiles, most_down, _block_tiles(conv_config))
        across = self._parts_across(most_across, is_chosen=chosen is not None)
        width, height = (down, across) if is_column_major else (across, down)
        start = CoreCoord(0, 0) if chosen is None else chosen.bounding_box().start
        cores = CoreRangeSet(CoreRange(start, CoreCoord(start.x + width - 1, start.y + height - 1)))
        return cores, (self._shard_rows(down), -(-self._channel_tiles // across) * TILE_WIDTH)

    def _parts_across(self, most: int, *, is_chosen: bool) -> int:
        if not self.is_product:
            return max_parts(self._channel_tiles, most)
        return most if is_chosen else computed(largest_divisor, self._channel_tiles, most)

    def _shard_rows(self, parts: int) -> int:
        return round_up(self.rows, parts * TILE_HEIGHT) // parts


def _block_tiles(conv_config: Conv2dConfig) -> int:
    return max(1, conv_config.act_block_h_override // TILE_HEIGHT)
