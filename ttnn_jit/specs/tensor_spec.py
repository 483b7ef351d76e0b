"""The description of a tensor without its data: shape, element type, layout, memory config.

Names and arithmetic are those of the `ttnn` host API.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from ttnn_jit.diagnostics.errors import ArgumentError, LayoutError, ShapeError
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import replace
from ttnn_jit.process.memoized import KEYS, keys_as_expressions
from ttnn_jit.specs.checks import check_kind
from ttnn_jit.specs.cores.cores import CoreCoord, CoreGrid, CoreRange, CoreRangeSet
from ttnn_jit.specs.cores.memory_config import (
    DRAM_MEMORY_CONFIG,
    HOST_MEMORY_CONFIG,
    BufferType,
    MemoryConfig,
    NdShardSpec,
    ShardOrientation,
    ShardSpec,
    ShardStrategy,
    TensorMemoryLayout,
)
from ttnn_jit.specs.cores.sharding import (
    check_sharding,
    dense_strides,
    have_equal_layout,
    legacy_shard_spec,
    round_up,
    sharded_over,
)
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.extents.extent import is_symbolic
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

if TYPE_CHECKING:
    from ttnn_jit.specs.tile import Tile

__all__ = [
    "DRAM_MEMORY_CONFIG",
    "HOST_MEMORY_CONFIG",
    "BufferType",
    "CoreCoord",
    "CoreGrid",
    "CoreRange",
    "CoreRangeSet",
    "DataType",
    "Layout",
    "MathFidelity",
    "MemoryConfig",
    "NdShardSpec",
    "Shape",
    "ShardOrientation",
    "ShardSpec",
    "ShardStrategy",
    "TensorMemoryLayout",
    "TensorSpec",
    "checked",
]


MAX_EXTENT = 2**32 - 1
"""The largest extent: the shapes of ttnn, and of fills in the IR, are 32-bit numbers."""

MAX_BYTES = 2**62
"""The largest size of a tensor: up to it, sizes and offsets, rounded up or not, are 64-bit numbers."""


class Layout(enum.Enum):
    """The order of elements in memory: by rows, or in tiles of 32x32. Each member has two names."""

    ROW_MAJOR = 0
    TILE = 1
    RowMajor = 0
    Tile = 1

    __hash__ = object.__hash__  # members are singletons, and Enum hashes their names in Python


class MathFidelity(enum.Enum):
    """The number of phases of the matrix engine (specs/product_precision.py)."""

    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4


class Shape(tuple[int, ...]):
    """The logical shape of a tensor, a tuple whose repr is ``Shape([32, 64])``.

    Raises:
        ArgumentError: There are several arguments, such as a logical and a padded shape.
    """

    __slots__ = ()

    def __new__(cls, *extents: Iterable[int]) -> Shape:
        """The shape of a list or a tuple of extents."""
        if len(extents) > 1:
            raise ArgumentError(
                f"a Shape is made of its extents in one list or tuple, got {len(extents)} arguments",
                help="write `ttnn.Shape([32, 64])`; `shape.with_tile_padding()` is what is stored in tiles",
            )
        return tuple.__new__(cls, *extents)

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __repr__(self) -> str:
        return f"Shape([{', '.join(map(str, self))}])"

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self)

    def to_rank(self, rank: int) -> Shape:
        """The shape with extents of 1 added or removed in front.

        Raises:
            ShapeError: An extent to remove is not 1.
        """
        if len(self) <= rank:
            return Shape((1,) * (rank - len(self)) + tuple(self))
        if math.prod(self[: len(self) - rank]) != 1:  # type: ignore[arg-type]  # a slice of a Shape is one
            raise ShapeError(f"{self} has no form of rank {rank}: an extent in front is not 1")
        return Shape(tuple(self)[len(self) - rank :])

    def with_tile_padding(self) -> Shape:
        """The stored extents in tile layout: the last two are rounded up to whole tiles."""
        return Shape(_padded_shape(tuple(self), Layout.TILE))

    def __getitem__(self, index: int | slice) -> int | Shape:  # type: ignore[override]  # a slice of a Shape is a Shape
        item = tuple.__getitem__(self, index)
        return Shape(item) if isinstance(item, tuple) else item


class TensorSpec:
    """Everything about a tensor but its data. Interned: equal specs are one object, compared by identity.

    Args:
        shape: Logical extents; rank 0 and extents of 0 are allowed.
        dtype: Element type.
        layout: ROW_MAJOR or TILE.
        memory_config: The memory config; `buffer_type` alone means interleaved in that memory.
        strides: Element strides of a ROW_MAJOR tensor that is not dense; None means dense.

    Raises:
        ArgumentError: Strides on a tiled tensor, or of the wrong rank; a field of a wrong type; two memories.
        ShapeError: Extents that are no ints, negative, or beyond `MAX_EXTENT` or `MAX_BYTES`.
        LayoutError: Block floats in row-major layout.
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
        try:
            shape = Shape(shape)
        except TypeError:
            raise ShapeError(f"a shape is a tuple of whole numbers, got {shape!r}") from None
        symbolic = False
        if not _INT.issuperset(map(type, shape)):
            shape, symbolic = _whole(shape), is_symbolic(shape)
        if memory_config is None:
            memory_config = MemoryConfig(buffer_type=BufferType.DRAM if buffer_type is None else buffer_type)
        elif buffer_type is not None:
            raise ArgumentError("a tensor spec takes `memory_config` or `buffer_type`, not both")
        elif not isinstance(memory_config, MemoryConfig):
            check_kind(memory_config, MemoryConfig, "`memory_config`")
        elif memory_config.is_nd_sharded() and memory_config.shard_spec is None:
            memory_config = _with_legacy_spec(shape, layout, memory_config)
        if strides is not None and strides == dense_strides(shape):
            strides = None
        key = (shape, dtype, layout, memory_config, strides)
        symbolic = symbolic or _are_symbolic(strides, memory_config)
        if (found := _of_trace(key) if symbolic else cls._interned.get(key)) is not None:
            return found
        check_kind(dtype, DataType, "`dtype`")
        check_kind(layout, Layout, "`layout`")
        _check_tiles(dtype, layout)
        _check_size(shape, dtype, layout)
        if strides is not None and (layout is Layout.TILE or len(strides) != len(shape)):
            raise ArgumentError(f"strides {strides} do not describe a {layout} tensor of shape {shape}")
        memory_config = memory_config.frozen()
        spec = super().__new__(SymbolicTensorSpec if symbolic else cls)
        spec.shape, spec.dtype, spec.layout = shape, dtype, layout
        spec.memory_config, spec.strides = memory_config, strides
        key = (shape, dtype, layout, memory_config, strides)
        return _kept_in_trace(key, spec) if symbolic else cls._interned.setdefault(key, spec)

    def with_(
        self,
        *,
        shape: Iterable[int] | None = None,
        dtype: DataType | None = None,
        layout: Layout | None = None,
        memory_config: MemoryConfig | None = None,
    ) -> TensorSpec:
        """The dense spec with the given fields replaced."""
        same_elements = (shape is None or shape is self.shape) and (dtype is None or dtype is self.dtype)
        if same_elements and layout is None and memory_config is None and self.strides is None:
            return self
        return TensorSpec(
            self.shape if shape is None else shape,
            self.dtype if dtype is None else dtype,
            self.layout if layout is None else layout,
            self.memory_config if memory_config is None else memory_config,
        )

    def block_sharded(self, cores: CoreRangeSet | CoreRange) -> TensorSpec:
        """This spec, block sharded over `cores` in whole tiles."""
        return self._sharded(ShardStrategy.BLOCK, cores)

    def height_sharded(self, cores: CoreRangeSet | CoreRange) -> TensorSpec:
        """This spec, height sharded over `cores` in whole tiles."""
        return self._sharded(ShardStrategy.HEIGHT, cores)

    def width_sharded(self, cores: CoreRangeSet | CoreRange) -> TensorSpec:
        """This spec, width sharded over `cores` in whole tiles."""
        return self._sharded(ShardStrategy.WIDTH, cores)

    def sharded(self, shard_shape: Iterable[int], cores: CoreRangeSet | CoreRange) -> TensorSpec:
        """This spec, ND sharded: every dimension is cut, and shards are distributed over `cores` round robin."""
        nd = NdShardSpec(shard_shape, cores if isinstance(cores, CoreRangeSet) else CoreRangeSet(cores))
        return self.with_(memory_config=MemoryConfig(buffer_type=self.memory_config.buffer_type, nd_shard_spec=nd))

    def _sharded(self, strategy: ShardStrategy, cores: CoreRangeSet | CoreRange) -> TensorSpec:
        ranges = cores if isinstance(cores, CoreRangeSet) else CoreRangeSet(cores)
        config = sharded_over(self.padded_shape, strategy, ranges, self.memory_config.buffer_type)
        return self.with_(memory_config=config)

    @property
    def tile(self) -> Tile:
        """The shape of tiles, of a row-major tensor too (ttnn.TensorSpec.tile)."""
        from ttnn_jit.specs.tile import Tile

        return Tile()

    @property
    def interleaved(self) -> TensorSpec:
        """This spec, interleaved, and in DRAM if on a device: for results that do not inherit a memory config."""
        on_host = self.memory_config.buffer_type is BufferType.SYSTEM_MEMORY
        return self.with_(memory_config=None if on_host else DRAM_MEMORY_CONFIG)

    def has_layout_of(self, other: TensorSpec) -> bool:
        """Whether two sharded tensors have equal shards on equal cores; the kinds of sharding may differ."""
        return have_equal_layout(self.padded_shape, self.memory_config, other.padded_shape, other.memory_config)

    @cached_property
    def padded_shape(self) -> tuple[int, ...]:
        """The stored extents: in TILE layout the last two are rounded up to whole tiles."""
        return _padded_shape(self.shape, self.layout)

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
        return self.dtype.nbytes(math.prod(self.padded_shape))

    @property
    def nbytes_of_elements(self) -> int:
        """Bytes of the logical elements alone; of block floats, of the tiles that hold them."""
        return self.nbytes if self.dtype.is_block_float else self.volume * self.dtype.itemsize

    @cached_property
    def items(self) -> int:
        """The number of items of a dense buffer: elements, or tiles of block floats."""
        return self.nbytes // self.dtype.itemsize

    @cached_property
    def span(self) -> tuple[int, int]:
        """The lowest and the highest offset of a logical element from the first one, counted in items."""
        if self.dtype.is_block_float:
            return 0, max(self.items - 1, 0)
        moves = [max(extent - 1, 0) * stride for extent, stride in zip(self.shape, self.element_strides, strict=True)]
        return sum(move for move in moves if move < 0), sum(move for move in moves if move > 0)

    @cached_property
    def volume(self) -> int:
        """Number of logical elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        config = self.memory_config
        memory = f"{config.buffer_type.name.lower()}, {config.memory_layout.name.lower()}"
        if config.is_sharded():
            memory += f" {config.nd_shard_spec if config.is_nd_sharded() else config.shard_spec}"
        strides = f", strides={self.strides}" if self.strides is not None else ""
        return f"TensorSpec({list(self.shape)}, {self.dtype.mlir}, {self.layout.name}, {memory}{strides})"

    def __reduce__(self) -> tuple[object, ...]:
        made = partial(TensorSpec, strides=self.strides)
        return made, (tuple(self.shape), self.dtype, self.layout, self.memory_config)


class SymbolicTensorSpec(TensorSpec):
    """A spec with an `Extent`: compared by its fields, so that the trace records what the comparison depends on."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (
            (self.dtype, self.layout, self.memory_config) == (other.dtype, other.layout, other.memory_config)
            and len(self.shape) == len(other.shape)
            and tuple(self.shape) == tuple(other.shape)
            and self.strides == other.strides
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        if KEYS.as_expressions:
            KEYS.have_extents = True
            return self._hash_of_expressions
        shape, strides = map(int, self.shape), self.strides and tuple(map(int, self.strides))
        return hash(TensorSpec(shape, self.dtype, self.layout, self.memory_config, strides=strides))

    @cached_property
    def _hash_of_expressions(self) -> int:
        return hash((self.shape, self.dtype, self.layout, self.memory_config, self.strides))


def _are_symbolic(strides: tuple[int, ...] | None, config: MemoryConfig) -> bool:
    """Whether a stride, or an extent of a shard, is an extent of a trace."""
    return (strides is not None or config.is_sharded()) and is_symbolic((*(strides or ()), *config.shard_shape))


def _of_trace(key: tuple[object, ...]) -> TensorSpec | None:
    """The spec with extents that this thread's trace has of these fields; None if there is none."""
    if KEYS.memos is None:
        return None
    with keys_as_expressions():
        found: TensorSpec | None = KEYS.memos.setdefault(TensorSpec, {}).get(key)
    return found


def _kept_in_trace(key: tuple[object, ...], spec: TensorSpec) -> TensorSpec:
    if KEYS.memos is not None:
        with keys_as_expressions():
            KEYS.memos[TensorSpec][key] = spec
    return spec


_INT = frozenset({int})


def _whole(shape: Shape) -> Shape:
    """`shape` with extents of type int, or of a trace: bools and floats equal ints, and would be interned as these.

    Raises:
        ShapeError: An extent is no whole number.
    """
    if is_symbolic(shape):
        return shape
    if not all(hasattr(extent, "__index__") and not isinstance(extent, bool) for extent in shape):
        raise _no_extents(shape)
    return Shape(map(operator.index, shape))


def _check_tiles(dtype: DataType, layout: Layout) -> None:
    if dtype.is_block_float and layout is not Layout.TILE:
        raise LayoutError(
            f"{dtype.name} is packed tile by tile, and a tensor in rows has no tiles",
            help="give it `layout=ttnn.TILE_LAYOUT`, or another element type, such as `ttnn.bfloat16`",
        )


def _check_size(shape: Shape, dtype: DataType, layout: Layout) -> None:
    for extent in shape:
        if extent < 0:
            raise _no_extents(shape)
    for extent in shape:
        if extent > MAX_EXTENT:
            raise ShapeError(
                f"an extent of {shape} is beyond {MAX_EXTENT:,}: those of ttnn have 32 bits",
                help="give the tensor more dimensions",
            )
    if dtype.nbytes(math.prod(_padded_shape(shape, layout))) > MAX_BYTES:
        raise ShapeError(f"a tensor of {shape} has more than {MAX_BYTES:,} bytes, which no memory has")


def _no_extents(shape: Shape) -> ShapeError:
    return ShapeError(f"the extents of a tensor are ints of at least 0, got {list(shape)}")


def checked(spec: TensorSpec) -> TensorSpec:
    """Returns `spec` if its shards hold the tensor.

    Raises:
        GridError: They do not: see `ttnn_jit.specs.cores.sharding.check_sharding`.
    """
    check_sharding(spec.padded_shape, spec.memory_config, tiled=spec.layout is Layout.TILE)
    return spec


def _padded_shape(shape: tuple[int, ...], layout: Layout) -> tuple[int, ...]:
    if layout is Layout.ROW_MAJOR:
        return tuple(shape)
    *batch, height, width = (1,) * (2 - len(shape)) + tuple(shape)
    return (*batch, round_up(height, TILE_HEIGHT), round_up(width, TILE_WIDTH))


def _with_legacy_spec(shape: Shape, layout: Layout, config: MemoryConfig) -> MemoryConfig:
    """An ND config with the equivalent two-dimensional shard spec, if there is one."""
    assert config.nd_shard_spec is not None
    legacy = legacy_shard_spec(_padded_shape(shape, layout), config.nd_shard_spec)
    return config if legacy is None else replace(config, shard_spec=legacy)
