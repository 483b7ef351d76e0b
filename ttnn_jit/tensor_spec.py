"""What a tensor is, without its data: element type, layout, memory config, shard arithmetic.

Names and arithmetic are those of the `ttnn` host API (ttnn_api.md, sections 1.4, 1.5 and 2).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from ttnn_jit.errors import ArgumentError, GridError
from ttnn_jit.target import TILE_HEIGHT, TILE_WIDTH


class DataType(enum.Enum):
    """Element types; the numbers are ttnn's."""

    BFLOAT16 = 0
    FLOAT32 = 1

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return _ITEM_BYTES[self]

    @property
    def mlir(self) -> str:
        """The MLIR spelling of the element type, ``bf16`` or ``f32``."""
        return _MLIR_NAMES[self]


_ITEM_BYTES = {DataType.BFLOAT16: 2, DataType.FLOAT32: 4}
_MLIR_NAMES = {DataType.BFLOAT16: "bf16", DataType.FLOAT32: "f32"}


class Layout(enum.Enum):
    """How the elements of the last two dimensions lie: by rows, or in tiles of 32x32."""

    ROW_MAJOR = 0
    TILE = 1


class TensorMemoryLayout(enum.Enum):
    """How a tensor is spread over banks or cores; the numbers are ttnn's."""

    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4


class BufferType(enum.Enum):
    """The memory that holds a tensor; the numbers are ttnn's."""

    DRAM = 0
    L1 = 1
    SYSTEM_MEMORY = 2


class ShardOrientation(enum.Enum):
    """The order in which shards are dealt to cores."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


class ShardStrategy(enum.Enum):
    """The strategies of `create_sharded_memory_config`."""

    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


class MathFidelity(enum.Enum):
    """How many passes the matrix engine makes; printed and part of the key, without effect on CPU arithmetic."""

    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4


@dataclass(frozen=True, order=True)
class CoreCoord:
    """A core: x is the column, y the row."""

    x: int
    y: int


@dataclass(frozen=True)
class CoreGrid:
    """A count of cores: x columns by y rows. Keyword only, as in ttnn."""

    def __init__(self, *, x: int, y: int) -> None:
        if x < 1 or y < 1:
            raise GridError(f"a core grid needs at least one core, got x={x}, y={y}")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    x: int
    y: int

    @property
    def num_cores(self) -> int:
        """Cores in the grid."""
        return self.x * self.y


@dataclass(frozen=True)
class CoreRange:
    """The rectangle of cores from `start` to `end`, both inclusive."""

    start: CoreCoord
    end: CoreCoord

    def __init__(self, start: CoreCoord | tuple[int, int], end: CoreCoord | tuple[int, int]) -> None:
        object.__setattr__(self, "start", _core(start))
        object.__setattr__(self, "end", _core(end))
        if self.end.x < self.start.x or self.end.y < self.start.y:
            raise GridError(f"a core range ends before it starts: {self.start} to {self.end}")

    def grid_size(self) -> CoreCoord:
        """Columns and rows of the range."""
        return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)


def _core(value: CoreCoord | tuple[int, int]) -> CoreCoord:
    return value if isinstance(value, CoreCoord) else CoreCoord(*value)


class CoreRangeSet:
    """A set of core ranges, compared as a set."""

    def __init__(self, ranges: Iterable[CoreRange]) -> None:
        self._ranges = frozenset(ranges)
        if not self._ranges:
            raise GridError("a core range set needs at least one range")

    def ranges(self) -> list[CoreRange]:
        """The ranges, in order of their start."""
        return sorted(self._ranges, key=lambda r: (r.start.y, r.start.x))

    def num_cores(self) -> int:
        """Cores in all ranges."""
        return sum(r.grid_size().x * r.grid_size().y for r in self._ranges)

    def bounding_box(self) -> CoreRange:
        """The smallest range that holds every range."""
        return CoreRange(
            (min(r.start.x for r in self._ranges), min(r.start.y for r in self._ranges)),
            (max(r.end.x for r in self._ranges), max(r.end.y for r in self._ranges)),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreRangeSet) and self._ranges == other._ranges

    def __hash__(self) -> int:
        return hash(self._ranges)

    def __repr__(self) -> str:
        return f"CoreRangeSet({self.ranges()})"


@dataclass(frozen=True)
class ShardSpec:
    """The cores of a sharded tensor and the shard, in elements (height, width), that each holds."""

    grid: CoreRangeSet
    shape: tuple[int, int]
    orientation: ShardOrientation

    def __init__(
        self,
        grid: CoreRangeSet,
        shard_shape: Iterable[int],
        shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
    ) -> None:
        height, width = shard_shape
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "shape", (int(height), int(width)))
        object.__setattr__(self, "orientation", shard_orientation)


@dataclass(frozen=True)
class MemoryConfig:
    """Where a tensor lies: memory layout, buffer type and, when sharded, the shard spec."""

    memory_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED
    buffer_type: BufferType = BufferType.DRAM
    shard_spec: ShardSpec | None = None

    def is_sharded(self) -> bool:
        """Whether the tensor is split into shards, one per core."""
        return self.memory_layout is not TensorMemoryLayout.INTERLEAVED


DRAM_MEMORY_CONFIG = MemoryConfig()
L1_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.L1)
HOST_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.SYSTEM_MEMORY)


class Shape(tuple[int, ...]):
    """The logical shape of a tensor; a tuple that reads as ``Shape([32, 64])``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Shape([{', '.join(map(str, self))}])"

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self)

    def __getitem__(self, index: int | slice) -> int | Shape:  # type: ignore[override]  # a slice of a Shape is a Shape
        item = tuple.__getitem__(self, index)
        return Shape(item) if isinstance(item, tuple) else item

    def __iter__(self) -> Iterator[int]:
        return tuple.__iter__(self)


class TensorSpec:
    """Everything about a tensor but its data. Interned: equal specs are one object, compared by identity.

    Args:
        shape: Logical extents; rank 0 and extents of 0 are allowed.
        dtype: Element type.
        layout: ROW_MAJOR or TILE.
        memory_config: Where the tensor lies; `buffer_type` alone means interleaved there.
        strides: Element strides of a ROW_MAJOR tensor that is not dense; None means dense.

    Raises:
        ArgumentError: Strides on a tiled tensor, or of the wrong rank.
    """

    __slots__ = ("__dict__", "dtype", "layout", "memory_config", "shape", "strides")
    _interned: ClassVar[dict[tuple[object, ...], TensorSpec]] = {}

    shape: Shape
    dtype: DataType
    layout: Layout
    memory_config: MemoryConfig
    strides: tuple[int, ...] | None

    def __new__(
        cls,
        shape: Iterable[int],
        dtype: DataType,
        layout: Layout = Layout.ROW_MAJOR,
        memory_config: MemoryConfig | None = None,
        *,
        buffer_type: BufferType | None = None,
        strides: tuple[int, ...] | None = None,
    ) -> TensorSpec:
        """The one spec with these fields."""
        shape = Shape(shape)
        if memory_config is None:
            memory_config = MemoryConfig(buffer_type=buffer_type or BufferType.DRAM)
        if strides is not None and strides == dense_strides(shape):
            strides = None
        key = (shape, dtype, layout, memory_config, strides)
        found = cls._interned.get(key)
        if found is not None:
            return found
        if strides is not None and (layout is Layout.TILE or len(strides) != len(shape)):
            raise ArgumentError(f"strides {strides} do not describe a {layout} tensor of shape {shape}")
        spec = super().__new__(cls)
        spec.shape, spec.dtype, spec.layout = shape, dtype, layout
        spec.memory_config, spec.strides = memory_config, strides
        return cls._interned.setdefault(key, spec)

    def with_(
        self,
        *,
        shape: Iterable[int] | None = None,
        dtype: DataType | None = None,
        memory_config: MemoryConfig | None = None,
    ) -> TensorSpec:
        """The dense spec that differs from this one in the fields given."""
        return TensorSpec(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.layout,
            self.memory_config if memory_config is None else memory_config,
        )

    @cached_property
    def padded_shape(self) -> tuple[int, ...]:
        """Extents as stored: the last two rounded up to whole tiles under TILE layout."""
        if self.layout is Layout.ROW_MAJOR:
            return tuple(self.shape)
        *batch, height, width = (1,) * (2 - len(self.shape)) + tuple(self.shape)
        return (*batch, round_up(height, TILE_HEIGHT), round_up(width, TILE_WIDTH))

    @cached_property
    def element_strides(self) -> tuple[int, ...]:
        """Element strides of the logical dimensions in the stored buffer."""
        if self.strides is not None:
            return self.strides
        strides = dense_strides(self.padded_shape)
        return strides[len(strides) - len(self.shape) :]

    @cached_property
    def nbytes(self) -> int:
        """Bytes of a dense buffer that stores the tensor, padding included."""
        return math.prod(self.padded_shape) * self.dtype.itemsize

    @cached_property
    def volume(self) -> int:
        """Number of logical elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        config = self.memory_config
        place = f"{config.buffer_type.name.lower()}, {config.memory_layout.name.lower()}"
        if config.shard_spec:
            place += f" {config.shard_spec}"
        strides = f", strides={self.strides}" if self.strides is not None else ""
        return f"TensorSpec({list(self.shape)}, {self.dtype.mlir}, {self.layout.name}, {place}{strides})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (tuple(self.shape), self.dtype, self.layout, self.memory_config, self.strides))


def _rebuild(
    shape: tuple[int, ...],
    dtype: DataType,
    layout: Layout,
    memory_config: MemoryConfig,
    strides: tuple[int, ...] | None,
) -> TensorSpec:
    return TensorSpec(shape, dtype, layout, memory_config, strides=strides)


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple


def dense_strides(shape: Iterable[int]) -> tuple[int, ...]:
    """Row-major element strides of a dense buffer of that shape."""
    strides: list[int] = []
    step = 1
    for extent in reversed(tuple(shape)):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def folded_2d(shape: Iterable[int]) -> tuple[int, int]:
    """(H, W): all leading dimensions folded into the rows, as sharding and tiling see a tensor."""
    extents = (1, 1, *shape)
    return math.prod(extents[:-1]), extents[-1]


def create_sharded_memory_config(
    shape: Iterable[int],
    core_grid: CoreGrid,
    strategy: ShardStrategy,
    orientation: ShardOrientation | None = None,
) -> MemoryConfig:
    """An L1 memory config that splits `shape` evenly over `core_grid` (ttnn.create_sharded_memory_config).

    Args:
        shape: Logical extents; leading dimensions fold into the rows.
        core_grid: x columns by y rows of cores.
        strategy: HEIGHT splits rows over all cores, WIDTH columns, BLOCK rows over y and columns over x.
        orientation: Order of shards over the cores; None means row-major.

    Raises:
        GridError: The grid does not divide the tensor.
    """
    orientation = orientation or ShardOrientation.ROW_MAJOR
    height, width = folded_2d(shape)
    columns, rows = core_grid.x, core_grid.y
    if orientation is ShardOrientation.COL_MAJOR:
        columns, rows = rows, columns
    parts = {
        ShardStrategy.BLOCK: (rows, columns),
        ShardStrategy.HEIGHT: (core_grid.num_cores, 1),
        ShardStrategy.WIDTH: (1, core_grid.num_cores),
    }[strategy]
    if height % parts[0] or width % parts[1]:
        raise GridError(
            f"Invalid sharding core_grid: {strategy.name} sharding of {height}x{width} elements over "
            f"x={core_grid.x}, y={core_grid.y}",
            help=f"rows must divide by {parts[0]} and columns by {parts[1]}",
        )
    grid = CoreRangeSet([CoreRange((0, 0), (core_grid.x - 1, core_grid.y - 1))])
    return MemoryConfig(
        TensorMemoryLayout[f"{strategy.name}_SHARDED"],
        BufferType.L1,
        ShardSpec(grid, (height // parts[0], width // parts[1]), orientation),
    )


def largest_divisor(value: int, bound: int) -> int:
    """The largest divisor of `value` that is not above `bound` (at least 1)."""
    return next((d for d in range(min(value, bound), 0, -1) if value % d == 0), 1)


def maximal_block_sharding_grid(shape: Iterable[int], max_grid: tuple[int, int]) -> tuple[int, int]:
    """The largest grid (columns, rows) of whole-tile blocks; `max_grid` is the last core coordinate (x, y).

    ttnn_api.md, section 2.3; the return value counts cores.
    """
    height, width = folded_2d(shape)
    tile_rows = -(-height // TILE_HEIGHT)
    tile_columns = -(-width // TILE_WIDTH)
    return largest_divisor(tile_columns, max_grid[0] + 1), largest_divisor(tile_rows, max_grid[1] + 1)
