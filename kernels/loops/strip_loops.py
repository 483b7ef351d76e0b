"""An elementwise loop over streams with block floats, which unpacks and packs them strip by strip.

A strip is a few adjacent tiles. Its inputs are unpacked to stack memory, the loop runs over its rows, and its outputs
are packed from there. So no separate launch moves a whole tensor through memory.

Bound: the bytes of the packed streams; in a cache, the instructions of kernels/block_floats/packing_loops.py.
"""

from __future__ import annotations

from ttnn_jit.kernels.llvm.instructions import Operand
from ttnn_jit.kernels.llvm.kernel_function import KernelFunction, NestedCall
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import I8, array
from ttnn_jit.kernels.llvm.values import i64
from ttnn_jit.kernels.loops.repackings import Repackings
from ttnn_jit.kernels.loops.staged_loops import StageCall
from ttnn_jit.nest.limits import TILES
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH

_WIDTH = TILES * TILE_WIDTH


@dataclass(frozen=True)
class StripLoops:
    """A kernel (kernels/llvm/kernel_function.py) over strips of tiles.

    Loops 0 and 1 are the columns and rows of a tile, loop 2 the tiles of a row of tiles, loop 3 the rows of tiles.

    Attributes:
        name: Symbol of the kernel.
        streams: The kernel's streams. The scratch buffers of unpacked strips are numbered after them, in order.
        scratches: The streams in these buffers.
        loop: The loop over a strip, of rank 1.
        repackings: The packing or unpacking function (`PackingLoops`), by stream of block floats.
        module: Receives the declarations.
    """

    name: str
    streams: tuple[Stream, ...]
    scratches: tuple[Stream, ...]
    loop: StageCall
    repackings: dict[int, str]
    module: ModuleText

    def text(self) -> str:
        """The text of the function."""
        units = [array(stream.dtype.stride_bytes, I8) for stream in self.streams]
        b = KernelFunction(self.name, self.module, units, 3)
        repackings = Repackings(b, self.streams, self.scratches, self.repackings, _WIDTH, _WIDTH, 0)
        loop = NestedCall(b, self.loop.function, len(self.loop.operands), self._params(b))
        bases, inner, tiles, rows = b.streams(), *(b.extent(loop) for loop in (0, 2, 3))
        strides = [(b.stride(k, 2, "along"), b.stride(k, 3, "down")) for k, _ in enumerate(bases)]
        with (
            b.when(b.compare("ne", inner, 0), "some"),
            b.count("row", rows) as row,
            b.loop("strip", ("first", i64(0))) as strip,
        ):
            (first,) = strip.values
            left = b.sub(tiles, first, "left")
            is_last = b.compare("sle", left, TILES, "is.last")
            count = b.select(is_last, left, TILES, "count")
            moved = [b.add(b.mul(row.index, down), b.mul(first, along)) for along, down in strides]
            addresses = [b.element(*each, "at") for each in zip(bases, units, moved, strict=True)]
            repackings.set_tiles(count)
            repackings.unpack(addresses)
            loop.set_param(0, b.mul(count, TILE_WIDTH, "columns"))
            loop.run(*([*addresses, *repackings.kept.values()][k] for k in self.loop.operands))
            repackings.pack(addresses)
            strip.again_unless(is_last, b.add(first, TILES))
        return b.build()

    def _params(self, b: KernelFunction) -> list[Operand]:
        """The params of the loop over a strip; the number of columns is set later."""
        params: list[Operand] = [0, TILE_HEIGHT]
        for k in self.loop.operands:
            if k >= len(self.streams):
                params += [1, _WIDTH]
            elif self.streams[k].access is InnerAccess.SCALAR:
                params += [0, 0]
            else:
                params += [1, b.stride(k, 1, "down")]
        return params
