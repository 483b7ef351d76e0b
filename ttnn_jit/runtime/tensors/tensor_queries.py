"""What a tensor tells of itself without its elements: all of it follows from its spec."""

from __future__ import annotations

import math

from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, Shape, TensorSpec
from ttnn_jit.specs.tile import Tile


class TensorQueries:
    """The questions that tensors answer by their spec, in the words of several versions of ttnn.

    Attributes:
        spec: What it is.
    """

    __slots__ = ()

    spec: TensorSpec

    @property
    def shape(self) -> Shape:
        """Logical extents."""
        return self.spec.shape

    @property
    def padded_shape(self) -> Shape:
        """Extents as stored."""
        return Shape(self.spec.padded_shape)

    @property
    def dtype(self) -> DataType:
        """Element type."""
        return self.spec.dtype

    @property
    def layout(self) -> Layout:
        """ROW_MAJOR or TILE."""
        return self.spec.layout

    @property
    def tile(self) -> Tile:
        """The shape of its tiles."""
        return Tile()

    def memory_config(self) -> MemoryConfig:
        """Where the tensor lies; a config of the caller's own, whose spec may be assigned."""
        return self.spec.memory_config.with_mutable_specs()

    def is_sharded(self) -> bool:
        """Whether the tensor is split into shards, one per core."""
        return self.spec.memory_config.is_sharded()

    def volume(self) -> int:
        """Number of logical elements."""
        return self.spec.volume

    logical_volume = volume

    def physical_volume(self) -> int:
        """Number of stored elements, padding included."""
        return math.prod(self.spec.padded_shape)

    def element_size(self) -> int:
        """Bytes of an element, whole ones; 1 of block floats."""
        return self.spec.dtype.element_bytes

    def get_tile(self) -> Tile:
        """The shape of its tiles."""
        return self.tile

    def get_dtype(self) -> DataType:
        """Element type."""
        return self.spec.dtype

    def get_layout(self) -> Layout:
        """ROW_MAJOR or TILE."""
        return self.spec.layout
