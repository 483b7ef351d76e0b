"""What loops over strips of tiles do beside a loop: they unpack block floats before it, and pack them behind it."""

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
    """Memory on the stack for strips of block floats, and the calls that take these there and back.

    Attributes:
        kept: By stream of block floats, where its strip is.
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
        """Allocates the memory, in a function's first block.

        Args:
            b: Of the function.
            streams: The kernel's.
            scratches: What is kept of those of block floats, in their order.
            functions: By stream of block floats, what unpacks it, or packs it (`PackingLoops`).
            columns: Of a strip, at most.
            pitch: Elements from one row that is kept to the next.
            tiles: Beside each other.
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
        """How many are beside each other in the calls that follow."""
        for call in self._calls.values():
            call.set_param(2, tiles)

    def unpack(self, at: Sequence[Value]) -> None:
        """What is read, of streams that are `at` these addresses."""
        for k, call in self._calls.items():
            if not self._streams[k].written:
                call.run(at[k], self.kept[k])

    def pack(self, at: Sequence[Value]) -> None:
        """What is written."""
        for k, call in self._calls.items():
            if self._streams[k].written:
                call.run(self.kept[k], at[k])
