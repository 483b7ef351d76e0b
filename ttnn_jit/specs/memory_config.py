"""Where tensors lie: cores, shard specs and memory configs, as ttnn names them."""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError, GridError, LayoutError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    from ttnn_jit.specs.shard_distribution import ShardDistributionStrategy

MOST_COORDINATE = 255
"""Of a core: sets of cores are listed, so that a range without end would be a list without end."""


class TensorMemoryLayout(enum.Enum):
    """How a tensor is spread over banks or cores; the numbers are ttnn's."""

    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4
    ND_SHARDED = 5


class BufferType(enum.Enum):
    """The memory that holds a tensor; the numbers are ttnn's. SystemMemory is another spelling."""

    DRAM = 0
    L1 = 1
    SYSTEM_MEMORY = 2
    SystemMemory = 2
    L1_SMALL = 3
    TRACE = 4


class ShardOrientation(enum.Enum):
    """The order in which shards are dealt to cores."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


class ShardStrategy(enum.Enum):
    """The strategies of `create_sharded_memory_config`."""

    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


_MOST_LISTED = 12
"""Members of an enumeration that an error lists."""


def check_kind(value: object, kind: type, what: str) -> None:
    """Refuse a `value` that is no `kind`, named `what` in the text.

    Raises:
        ArgumentError: It is something else.
    """
    if not isinstance(value, kind):
        members = [str(member) for member in kind][:_MOST_LISTED] if issubclass(kind, enum.Enum) else []
        simple = isinstance(value, (str, int, float, enum.Enum, type(None)))
        raise ArgumentError(
            f"{what} must be a ttnn.{kind.__name__}, got " + (repr(value) if simple else f"a {type_name(value)}"),
            help=f"it takes {', '.join(f'ttnn.{member}' for member in members)}" if members else None,
        )


def whole_numbers(values: Iterable[object], what: str) -> tuple[int, ...]:
    """`values`, named `what` in the text, as ints; numpy's are whole numbers too.

    Raises:
        GridError: They are no whole numbers.
    """
    if not isinstance(values, Iterable):
        raise GridError(f"{what} is a tuple of whole numbers, got {values!r}")
    given = list(values)
    try:
        return tuple(map(operator.index, given))  # type: ignore[arg-type]  # what has no index raises
    except TypeError:
        raise GridError(f"{what} is of whole numbers, got {given}") from None


def check_whole_number(value: object, what: str) -> None:
    """Refuse a `value` that is no int, named `what` in the text.

    Raises:
        ArgumentError: It is something else.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentError(f"{what} must be a whole number, got {value!r}")


@functools.total_ordering
@dataclass(frozen=True)
class CoreCoord:
    """A core: x is the column, y the row, which is compared last."""

    x: int
    y: int

    def __lt__(self, other: object) -> bool:
        return (self.x, self.y) < (other.x, other.y) if isinstance(other, CoreCoord) else NotImplemented

    def __str__(self) -> str:
        return f"(x={self.x}, y={self.y})"


@dataclass(frozen=True)
class CoreGrid:
    """A count of cores: x columns by y rows. Keyword only, as in ttnn."""

    def __init__(self, *, x: int, y: int) -> None:
        x, y = whole_numbers((x, y), "a core grid")
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
        object.__setattr__(self, "start", core_coord(start))
        object.__setattr__(self, "end", core_coord(end))
        if self.end.x < self.start.x or self.end.y < self.start.y:
            raise GridError(f"a core range ends before it starts: {self.start} to {self.end}")

    def grid_size(self) -> CoreCoord:
        """Columns and rows of the range."""
        return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)

    def contains(self, other: CoreCoord | CoreRange | CoreRangeSet) -> bool:
        """Whether a core, or every core of a range or set, is in this range."""
        return CoreRangeSet(self).contains(other)

    def __repr__(self) -> str:
        return f"CoreRange({self.start} to {self.end})"


def core_coord(value: CoreCoord | tuple[int, int]) -> CoreCoord:
    """The core that `value` names.

    Raises:
        GridError: It names none.
    """
    pair = whole_numbers((value.x, value.y) if isinstance(value, CoreCoord) else value, "a core")
    if len(pair) != 2:
        raise GridError(f"a core has a column and a row, got {list(pair)}")
    core = CoreCoord(*pair)
    if min(pair) < 0 or max(pair) > MOST_COORDINATE:
        raise GridError(f"a core has coordinates of 0 to {MOST_COORDINATE}, got {core}")
    return core


class CoreRangeSet:
    """A set of core ranges, compared as a set; one without cores says that there are none."""

    def __init__(self, core_ranges: Iterable[CoreRange] | CoreRange = ()) -> None:
        if not isinstance(core_ranges, CoreRange | Iterable):
            raise ArgumentError(f"core ranges must be a list or set of ttnn.CoreRange, got {type_name(core_ranges)}")
        self._ranges = frozenset((core_ranges,) if isinstance(core_ranges, CoreRange) else core_ranges)
        for core_range in self._ranges:
            check_kind(core_range, CoreRange, "a core range")
        if len(self.cores()) != self.num_cores():
            raise GridError(f"core ranges overlap: {self.ranges()}")

    def ranges(self) -> list[CoreRange]:
        """The ranges, in order of their start."""
        return sorted(self._ranges, key=lambda r: (r.start.y, r.start.x))

    def num_cores(self) -> int:
        """Cores in all ranges."""
        return sum(r.grid_size().x * r.grid_size().y for r in self._ranges)

    def cores(self) -> tuple[CoreCoord, ...]:
        """Every core, row by row."""
        found = {
            CoreCoord(x, y)
            for r in self._ranges
            for y in range(r.start.y, r.end.y + 1)
            for x in range(r.start.x, r.end.x + 1)
        }
        return tuple(sorted(found, key=lambda core: (core.y, core.x)))

    def size(self) -> int:
        """Ranges in the set."""
        return len(self._ranges)

    def empty(self) -> bool:
        """Whether there are no cores."""
        return not self._ranges

    def contains(self, other: CoreCoord | CoreRange | CoreRangeSet) -> bool:
        """Whether a core, or every core of a range or set, is in this set."""
        return _cores_of(other) <= set(self.cores())

    def subtract(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores that `other` has not."""
        return _of_cores(set(self.cores()) - _cores_of(other))

    def merge(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores of both, in as few ranges as rows of them make."""
        return _of_cores(set(self.cores()) | _cores_of(other))

    def bounding_box(self) -> CoreRange:
        """The smallest range that holds every range.

        Raises:
            GridError: There are no cores.
        """
        require_cores(self)
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


def _cores_of(cores: CoreCoord | CoreRange | CoreRangeSet) -> set[CoreCoord]:
    if isinstance(cores, (CoreCoord, tuple)):
        return {core_coord(cores)}
    found = CoreRangeSet(cores) if isinstance(cores, CoreRange) else cores
    check_kind(found, CoreRangeSet, "the cores")
    return set(found.cores())


def _of_cores(cores: Iterable[CoreCoord]) -> CoreRangeSet:
    """Cores as rectangles: runs along the rows, and equal runs in rows below each other as one."""
    runs: list[CoreRange] = []
    for core in sorted(cores, key=lambda core: (core.y, core.x)):
        if runs and runs[-1].end == CoreCoord(core.x - 1, core.y):
            runs[-1] = CoreRange(runs[-1].start, core)
        else:
            runs.append(CoreRange(core, core))
    blocks: dict[tuple[int, int, int], CoreRange] = {}
    for run in runs:  # by its columns and its row: the block above that it continues
        above = blocks.pop((run.start.x, run.end.x, run.start.y - 1), run)
        blocks[run.start.x, run.end.x, run.end.y] = CoreRange(above.start, run.end)
    return CoreRangeSet(blocks.values())


def require_cores(grid: object) -> None:
    """Refuse a `grid` that is no set of cores, or has none.

    Raises:
        ArgumentError, GridError: It is something else, or has no cores.
    """
    check_kind(grid, CoreRangeSet, "the grid of a shard spec")
    if isinstance(grid, CoreRangeSet) and not grid.ranges():
        raise GridError("a core range set needs at least one range here")


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
        extents = whole_numbers(shard_shape, "a shard")
        if len(extents) != 2 or min(extents) < 1:
            raise GridError(f"a shard has a height and a width of at least 1, got {list(extents)}")
        require_cores(grid)
        check_kind(shard_orientation, ShardOrientation, "the orientation of a shard spec")
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "shape", extents)
        object.__setattr__(self, "orientation", shard_orientation)

    def num_cores(self) -> int:
        """Cores in the grid."""
        return self.grid.num_cores()

    def __repr__(self) -> str:
        return f"ShardSpec({self.grid}, {list(self.shape)}, {self.orientation})"


@dataclass(frozen=True)
class NdShardSpec:
    """The cores of a tensor that is cut in every dimension; shards are dealt to the cores round robin."""

    shard_shape: tuple[int, ...]
    grid: CoreRangeSet
    orientation: ShardOrientation

    def __init__(
        self,
        shard_shape: Iterable[int],
        grid: CoreRangeSet,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
        shard_distribution_strategy: ShardDistributionStrategy | None = None,
    ) -> None:
        require_cores(grid)
        check_kind(orientation, ShardOrientation, "the orientation of a shard spec")
        if shard_distribution_strategy is not None:
            from ttnn_jit.specs.shard_distribution import require_in_turn

            require_in_turn(shard_distribution_strategy)
        extents = whole_numbers(shard_shape, "a shard")
        if not extents or min(extents) < 1:
            raise GridError(f"an ND shard needs extents of at least 1, got {list(extents)}")
        object.__setattr__(self, "shard_shape", extents)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "orientation", orientation)

    @property
    def shard_distribution_strategy(self) -> ShardDistributionStrategy:
        """How shards are dealt to the cores."""
        from ttnn_jit.specs.shard_distribution import ShardDistributionStrategy

        return ShardDistributionStrategy.ROUND_ROBIN_1D

    def __repr__(self) -> str:
        return f"NdShardSpec({list(self.shard_shape)}, {self.grid}, {self.orientation})"


@dataclass(frozen=True, eq=False)
class MemoryConfig:
    """Where a tensor lies: memory layout, buffer type and, when sharded, the shard spec.

    A config made from an `nd_shard_spec` alone is ND_SHARDED. Two configs are equal if layout, buffer type and the
    spec that the layout goes by are: the ND one for ND_SHARDED, else the two-dimensional one.

    Raises:
        ArgumentError: A field of another kind.
        GridError: A spec that the memory layout does not go by.
    """

    memory_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED
    buffer_type: BufferType = BufferType.DRAM
    shard_spec: ShardSpec | None = None
    nd_shard_spec: NdShardSpec | None = None

    def __post_init__(self) -> None:
        check_kind(self.memory_layout, TensorMemoryLayout, "`memory_layout`")
        check_kind(self.buffer_type, BufferType, "`buffer_type`")
        if self.shard_spec is not None:
            check_kind(self.shard_spec, ShardSpec, "`shard_spec`")
        if self.nd_shard_spec is not None:
            check_kind(self.nd_shard_spec, NdShardSpec, "`nd_shard_spec`")
        if self.nd_shard_spec is not None and self.shard_spec is None and not self.is_sharded():
            object.__setattr__(self, "memory_layout", TensorMemoryLayout.ND_SHARDED)
        self._check_specs()

    def _check_specs(self) -> None:
        if self.shard_spec is not None and not self.is_sharded():
            raise GridError(
                "an INTERLEAVED memory config has no shards, and `shard_spec` describes some",
                help="leave it out, or write the memory layout that it is of, such as "
                "`ttnn.TensorMemoryLayout.BLOCK_SHARDED`",
            )
        if self.nd_shard_spec is not None and not self.is_nd_sharded():
            raise GridError(
                f"`nd_shard_spec` cuts a tensor in every dimension, and the memory layout is {self.memory_layout.name}",
                help="leave `memory_layout` out, or give a `shard_spec`",
            )
        if self.nd_shard_spec is None and self.is_nd_sharded():
            raise GridError("an ND_SHARDED memory config needs an `nd_shard_spec`")

    def is_sharded(self) -> bool:
        """Whether the tensor is split into shards, one per core."""
        return self.memory_layout is not TensorMemoryLayout.INTERLEAVED

    @property
    def names_no_cores(self) -> bool:
        """Whether it says in which way a tensor is cut, and not into what."""
        return self.is_sharded() and not self.shard_shape

    @property
    def unsharded(self) -> MemoryConfig:
        """Where a tensor lies that was made of one here by moving its elements: in DRAM, interleaved, for shards."""
        return MemoryConfig() if self.is_sharded() else self

    def is_l1(self) -> bool:
        """Whether the tensor lies in the memory of the cores."""
        return self.buffer_type in {BufferType.L1, BufferType.L1_SMALL}

    def is_nd_sharded(self) -> bool:
        """Whether it is the ND spec that says how the tensor is cut."""
        return self.memory_layout is TensorMemoryLayout.ND_SHARDED

    @property
    def orientation(self) -> ShardOrientation | None:
        """The order in which shards are dealt to cores, if there are any."""
        return self._spec.orientation if self._spec else None

    @property
    def shard_shape(self) -> tuple[int, ...]:
        """The extents of one shard; none if it is not sharded."""
        if self.is_nd_sharded() and self.nd_shard_spec is not None:
            return self.nd_shard_spec.shard_shape
        return self.shard_spec.shape if self.shard_spec else ()

    @property
    def _spec(self) -> ShardSpec | NdShardSpec | None:
        return self.nd_shard_spec if self.is_nd_sharded() else self.shard_spec

    def __repr__(self) -> str:
        spec = f", {self._spec}" if self._spec else ""
        return f"MemoryConfig({self.memory_layout}, {self.buffer_type}{spec})"

    @cached_property
    def _identity(self) -> tuple[object, ...]:
        return self.memory_layout, self.buffer_type, self._spec

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, MemoryConfig) and self._identity == other._identity)

    def __hash__(self) -> int:
        return hash(self._identity)


DRAM_MEMORY_CONFIG = MemoryConfig()
L1_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.L1)
L1_BLOCK_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.BLOCK_SHARDED, BufferType.L1)
L1_HEIGHT_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.HEIGHT_SHARDED, BufferType.L1)
L1_WIDTH_SHARDED_MEMORY_CONFIG = MemoryConfig(TensorMemoryLayout.WIDTH_SHARDED, BufferType.L1)
HOST_MEMORY_CONFIG = MemoryConfig(buffer_type=BufferType.SYSTEM_MEMORY)

_OFF_LIMITS = {BufferType.SYSTEM_MEMORY: "memory of the host", BufferType.TRACE: "memory of captured traces"}


def check_memory_of_device(config: MemoryConfig) -> None:
    """Refuse a memory config that no tensor on a device can have.

    Raises:
        LayoutError: Its memory is not for them (a TT_THROW of ttnn's allocator).
    """
    if config.buffer_type in _OFF_LIMITS:
        raise LayoutError(
            f"a tensor on a device cannot lie in {config.buffer_type}: that is {_OFF_LIMITS[config.buffer_type]}",
            help="leave `memory_config` out, or choose `ttnn.DRAM_MEMORY_CONFIG`",
        )
