"""ttnn's shard specs and memory configs."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from ttnn_jit.diagnostics.errors import GridError, LayoutError
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind, whole_numbers
from ttnn_jit.specs.cores.cores import CoreRangeSet, require_cores
from ttnn_jit.specs.mutable_values import MutableValue

if TYPE_CHECKING:
    from ttnn_jit.specs.cores.shard_distribution import ShardDistributionStrategy, ShardMode


class TensorMemoryLayout(enum.Enum):
    """How a tensor is distributed over banks or cores; the numbers are ttnn's."""

    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4
    ND_SHARDED = 5

    __hash__ = object.__hash__  # members are singletons, and Enum hashes their names in Python


class BufferType(enum.Enum):
    """The memory that holds a tensor; the numbers are ttnn's. SystemMemory is a second name."""

    DRAM = 0
    L1 = 1
    SYSTEM_MEMORY = 2
    SystemMemory = 2
    L1_SMALL = 3
    TRACE = 4

    __hash__ = object.__hash__  # members are singletons, and Enum hashes their names in Python


class ShardOrientation(enum.Enum):
    """The order in which shards are assigned to cores."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


class ShardStrategy(enum.Enum):
    """The strategies of `create_sharded_memory_config`."""

    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


class _Spec(MutableValue):
    """The base of shard specs: mutable fields, whose values are checked when they are assigned."""

    _conversions: ClassVar[Mapping[str, Callable[[Any], Any]]]
    """Field -> the conversion of an assigned value; it raises for an invalid one."""
    _values: ClassVar[attrgetter[tuple[Any, ...]]]
    grid: CoreRangeSet

    def num_cores(self) -> int:
        """Cores in the grid."""
        return self.grid.num_cores()

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self._conversions:
            raise AttributeError(f"a {type(self).__name__} has no attribute {name!r} that is assigned", name=name)
        self._assign(name, self._conversions[name](value))

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self._values(self) == self._values(other))

    def __hash__(self) -> int:
        return hash(self._values(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._values(self)


def _height_and_width(value: Any) -> tuple[int, ...]:
    extents = whole_numbers(value, "a shard")
    if len(extents) != 2 or any(extent < 1 for extent in extents):
        raise GridError(f"a shard has a height and a width of at least 1, got {list(extents)}")
    return extents


def _extents(value: Any) -> tuple[int, ...]:
    extents = whole_numbers(value, "a shard")
    if not extents or any(extent < 1 for extent in extents):
        raise GridError(f"an ND shard needs extents of at least 1, got {list(extents)}")
    return extents


def _orientation(value: Any) -> ShardOrientation:
    return check_kind(value, ShardOrientation, "the orientation of a shard spec")


class ShardSpec(_Spec):
    """The cores of a sharded tensor, and the extents (height, width) of a core's shard in elements.

    The fields `grid`, `shape` and `orientation` are mutable.
    """

    _conversions = {"grid": require_cores, "shape": _height_and_width, "orientation": _orientation}  # noqa: RUF012 - of the base
    _values = attrgetter(*_conversions)

    shape: tuple[int, int]
    orientation: ShardOrientation

    def __init__(
        self,
        grid: CoreRangeSet,
        shard_shape: Iterable[int],
        shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
        shard_mode: ShardMode | None = None,
    ) -> None:
        fields = {"shape": shard_shape, "grid": grid, "orientation": shard_orientation}
        if shard_mode is not None:
            from ttnn_jit.specs.cores.shard_distribution import require_physical

            require_physical(shard_mode)
        for name, value in fields.items():
            setattr(self, name, value)

    @property
    def mode(self) -> ShardMode:
        """Always PHYSICAL: the shard's shape includes padding."""
        from ttnn_jit.specs.cores.shard_distribution import ShardMode

        return ShardMode.PHYSICAL

    def __repr__(self) -> str:
        return f"ShardSpec({self.grid}, {list(self.shape)}, {self.orientation})"


class NdShardSpec(_Spec):
    """The cores and the shard's shape of an ND sharded tensor; shards are assigned to cores round robin.

    The fields `shard_shape`, `grid` and `orientation` are mutable.
    """

    _conversions = {"shard_shape": _extents, "grid": require_cores, "orientation": _orientation}  # noqa: RUF012 - of the base
    _values = attrgetter(*_conversions)

    shard_shape: tuple[int, ...]
    orientation: ShardOrientation

    def __init__(
        self,
        shard_shape: Iterable[int],
        grid: CoreRangeSet,
        orientation: ShardOrientation = ShardOrientation.ROW_MAJOR,
        shard_distribution_strategy: ShardDistributionStrategy | None = None,
    ) -> None:
        fields = {"grid": grid, "orientation": orientation, "shard_shape": shard_shape}
        if shard_distribution_strategy is not None:
            from ttnn_jit.specs.cores.shard_distribution import require_round_robin

            require_round_robin(shard_distribution_strategy)
        for name, value in fields.items():
            setattr(self, name, value)

    @property
    def shard_distribution_strategy(self) -> ShardDistributionStrategy:
        """How shards are assigned to cores."""
        from ttnn_jit.specs.cores.shard_distribution import ShardDistributionStrategy

        return ShardDistributionStrategy.ROUND_ROBIN_1D

    def __repr__(self) -> str:
        return f"NdShardSpec({list(self.shard_shape)}, {self.grid}, {self.orientation})"


@dataclass(frozen=True, eq=False)
class MemoryConfig(MutableValue):
    """The memory of a tensor: memory layout, buffer type and, if sharded, the shard spec.

    A config copies the spec that it is given; the copy is mutable: ``config.shard_spec.shape = ...``. A config of an
    `nd_shard_spec` alone is ND_SHARDED, and so is ``MemoryConfig(buffer_type, nd_shard_spec)``. Two configs are equal
    if their layouts, their buffer types and the specs that their layout uses are equal: the ND spec for ND_SHARDED,
    none for INTERLEAVED, else the two-dimensional spec.

    Raises:
        ArgumentError: A field of a wrong type.
        GridError: A spec that the memory layout does not use.
    """

    memory_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED
    buffer_type: BufferType = BufferType.DRAM
    shard_spec: ShardSpec | None = None
    nd_shard_spec: NdShardSpec | None = None

    def __post_init__(self) -> None:
        given: tuple[Any, Any] = self.memory_layout, self.buffer_type
        if isinstance(given[0], BufferType) and isinstance(given[1], NdShardSpec):
            # ttnn's second form of the call: a buffer type, then the ND spec
            names = ("memory_layout", "buffer_type", "nd_shard_spec")
            for name, value in zip(names, (TensorMemoryLayout.ND_SHARDED, *given), strict=True):
                object.__setattr__(self, name, value)
        check_kind(self.memory_layout, TensorMemoryLayout, "`memory_layout`")
        check_kind(self.buffer_type, BufferType, "`buffer_type`")
        kinds: tuple[tuple[str, type[_Spec]], ...] = ("shard_spec", ShardSpec), ("nd_shard_spec", NdShardSpec)
        for name, kind in kinds:
            if (spec := getattr(self, name)) is not None and not check_kind(spec, kind, f"`{name}`").is_frozen:
                object.__setattr__(self, name, spec.mutable_copy())
        if self.nd_shard_spec is not None and self.shard_spec is None and not self.is_sharded():
            object.__setattr__(self, "memory_layout", TensorMemoryLayout.ND_SHARDED)
        self._check_specs()

    def _check_specs(self) -> None:
        if self.nd_shard_spec is not None and not self.is_nd_sharded():
            raise GridError(
                f"`nd_shard_spec` cuts a tensor in every dimension, and the memory layout is {self.memory_layout.name}",
                help="leave `memory_layout` out, or give a `shard_spec`",
            )
        if self.nd_shard_spec is None and self.is_nd_sharded():
            raise GridError("an ND_SHARDED memory config needs an `nd_shard_spec`")

    def mutable_copy(self) -> MemoryConfig:
        """A mutable copy, with a copy of its spec."""
        spec, nd_spec = self.shard_spec, self.nd_shard_spec
        return MemoryConfig(
            self.memory_layout, self.buffer_type, spec and spec.mutable_copy(), nd_spec and nd_spec.mutable_copy()
        )

    def frozen(self) -> MemoryConfig:
        """A copy with frozen specs; the config itself if its specs are frozen or it has none.

        The spec of an INTERLEAVED config, which ttnn ignores, is left out.
        """
        spec, nd_spec = (self.shard_spec, self.nd_shard_spec) if self.is_sharded() else (None, None)
        if (spec is None or spec.is_frozen) and (nd_spec is None or nd_spec.is_frozen) and spec is self.shard_spec:
            return self
        return MemoryConfig(self.memory_layout, self.buffer_type, spec and spec.frozen(), nd_spec and nd_spec.frozen())

    @property
    def is_frozen(self) -> bool:
        """Whether its specs are frozen."""
        return self.frozen() is self

    def with_mutable_specs(self) -> MemoryConfig:
        """A config with mutable copies of the specs; the config itself if it has none."""
        return self.mutable_copy() if self.shard_spec or self.nd_shard_spec else self

    def is_sharded(self) -> bool:
        """Whether the tensor is sharded."""
        return self.memory_layout is not TensorMemoryLayout.INTERLEAVED

    @property
    def lacks_shard_spec(self) -> bool:
        """Whether it is sharded, without a shard spec."""
        return self.is_sharded() and not self.shard_shape

    @property
    def unsharded(self) -> MemoryConfig:
        """The config of a movement's result: interleaved in DRAM if this one is sharded, else this one."""
        return MemoryConfig() if self.is_sharded() else self

    def is_l1(self) -> bool:
        """Whether the tensor is in L1."""
        return self.buffer_type in {BufferType.L1, BufferType.L1_SMALL}

    def is_nd_sharded(self) -> bool:
        """Whether the ND spec describes the sharding."""
        return self.memory_layout is TensorMemoryLayout.ND_SHARDED

    @property
    def orientation(self) -> ShardOrientation | None:
        """The order in which shards are assigned to cores; None if it is not sharded."""
        return self._spec.orientation if self._spec else None

    @property
    def shard_shape(self) -> tuple[int, ...]:
        """The extents of a shard; () if it is not sharded."""
        if self.memory_layout is TensorMemoryLayout.INTERLEAVED:
            return ()
        if self.is_nd_sharded() and self.nd_shard_spec is not None:
            return self.nd_shard_spec.shard_shape
        return self._spec.shape if isinstance(self._spec, ShardSpec) else ()

    @property
    def _spec(self) -> ShardSpec | NdShardSpec | None:
        if self.is_nd_sharded():
            return self.nd_shard_spec
        return self.shard_spec if self.is_sharded() else None

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
    """Checks that tensors on a device can have a memory config.

    Raises:
        LayoutError: Its memory has no tensors of devices (a TT_THROW of ttnn's allocator).
    """
    if config.buffer_type in _OFF_LIMITS:
        raise LayoutError(
            f"a tensor on a device cannot lie in {config.buffer_type}: that is {_OFF_LIMITS[config.buffer_type]}",
            help="leave `memory_config` out, or choose `ttnn.DRAM_MEMORY_CONFIG`",
        )
