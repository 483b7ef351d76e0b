"""A loop that runs a kernel over rows for each row of tiles, with block floats among its streams.

The inputs of a row of tiles are unpacked to stack memory, the kernel runs over its rows, and the outputs are packed
from there. So the kernel sees plain elements, and no separate launch moves a whole tensor through memory.

Bound: the bytes of the packed streams, or the instructions of kernels/block_floats/packing_loops.py and of the kernel.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction, NestedCall
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I8, array
from ttnn_jit.kernels.loops.repackings import Repackings
from ttnn_jit.nest.limits import MOST_COLUMNS
from ttnn_jit.nest.streams import Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH


@dataclass(frozen=True)
class RowStrips:
    """A kernel (kernels/llvm/kernel_function.py) over rows of tiles.

    Loop 0 iterates over columns and loop 1 over up to 32 rows; strides of block floats along outer loops are whole
    tiles.

    Attributes:
        name: Symbol of the kernel.
        streams: The kernel's streams.
        scratches: The unpacked streams, in the order of the streams of block floats.
        rank: Loops around the innermost one, at least 1.
        rows: Symbol of the kernel over rows, of rank 1, over the unpacked streams.
        repackings: The packing or unpacking function (`PackingLoops`), by stream of block floats.
        module: Receives the declarations.
    """

    name: str
    streams: tuple[Stream, ...]
    scratches: tuple[Stream, ...]
    rank: int
    rows: str
    repackings: dict[int, str]
    module: ModuleText

    def text(self) -> str:
        """The text of the function."""
        units = [array(stream.dtype.stride_bytes, I8) for stream in self.streams]
        b = KernelFunction(self.name, self.module, units, self.rank)
        columns = b.umin(b.extent(0), MOST_COLUMNS, "columns")
        tiles = b.unsigned_div(b.add(columns, TILE_WIDTH - 1), TILE_WIDTH, "tiles")
        pitch = b.mul(tiles, TILE_WIDTH, "pitch")
        repackings = Repackings(b, self.streams, self.scratches, self.repackings, MOST_COLUMNS, pitch, tiles)
        params: list[Operand] = [columns, b.umin(b.extent(1), TILE_HEIGHT, "rows")]
        for k, _ in enumerate(self.streams):
            params += (1, pitch) if k in self.repackings else (b.stride(k, 0), b.stride(k, 1))
        rows = NestedCall(b, self.rows, len(self.streams), params)
        with b.when(b.compare("ne", columns, 0), "some"), b.outer_loops(b.streams(), innermost=2) as addresses:
            repackings.unpack(addresses)
            rows.run(*(repackings.kept.get(k, each) for k, each in enumerate(addresses)))
            repackings.pack(addresses)
        return b.build()
