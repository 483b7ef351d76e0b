"""Unpacking of block floats before a loop over a strip of tiles, and packing after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ttnn_jit.kernels.llvm.builder import Builder
from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.kernel_function import NestedCall
from ttnn_jit.kernels.llvm.types import type_of
from ttnn_jit.kernels.llvm.values import Value
from ttnn_jit.nest.streams import Stream
from ttnn_jit.specs.dtypes import STRIDES_OF_A_TILE
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


class Repackings:
    """Stack memory for unpacked strips of block floats, and the calls that unpack and pack them.

    Attributes:
        kept: Address of the unpacked strip, by stream of block floats.
    """

    def __init__(
        self,
        b: Builder,
        streams: Sequence[Stream],
        scratches: Sequence[Stream],
        functions: Mapping[int, str],
        columns: int,
        pitch: Operand,
        tiles: Operand,
    ) -> None:
        """Allocate the memory, in the entry block of a function.

        Args:
            b: The builder of the function.
            streams: The kernel's streams.
            scratches: The unpacked streams, in the order of the streams of block floats.
            functions: The packing or unpacking function (`PackingLoops`), by stream of block floats.
            columns: The most columns of a strip.
            pitch: Stride between rows of a strip, in elements.
            tiles: Tiles of a strip.
        """
        self._streams = streams
        packed, dense = (0, 0, STRIDES_OF_A_TILE, 0), (1, pitch, TILE_WIDTH, 0)
        self.kept: dict[int, Value] = {}
        self._calls: dict[int, NestedCall] = {}
        for (k, function), scratch in zip(functions.items(), scratches, strict=True):
            self.kept[k] = b.alloca(type_of(scratch.dtype.traits.llvm), TILE_HEIGHT * columns, 64, f"kept{k}")
            strides = (*dense, *packed) if streams[k].written else (*packed, *dense)
            params = TILE_WIDTH, TILE_HEIGHT, tiles, 1, *strides
            self._calls[k] = NestedCall(b, function, 2, params, hint=f".pair{k}")

    def set_tiles(self, tiles: Value) -> None:
        """Set the number of tiles of a strip for the following calls."""
        for call in self._calls.values():
            call.set_param(2, tiles)

    def unpack(self, addresses: Sequence[Value]) -> None:
        """Unpack the inputs at `addresses`."""
        for k, call in self._calls.items():
            if not self._streams[k].written:
                call.run(addresses[k], self.kept[k])

    def pack(self, addresses: Sequence[Value]) -> None:
        """Pack the outputs at `addresses`."""
        for k, call in self._calls.items():
            if self._streams[k].written:
                call.run(self.kept[k], addresses[k])
