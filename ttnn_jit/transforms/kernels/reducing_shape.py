"""The shape of a kernel with a reduction loop, from the loops of each operand: grid, maps, iterator types, buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ttnn_jit.dialects.builders import tile_memref
from ttnn_jit.dialects.d2m import CBType, cb_type
from ttnn_jit.dialects.layout import layout_attribute
from ttnn_jit.dialects.ttcore import GridAttr, grid_attr
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.target import TILE_WIDTH
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.specs.tiles import tiles_of_core
from ttnn_jit.transforms.kernels.iteration_space import core_grid, padded, tiles_of
from ttnn_jit.transforms.kernels.kernel_ops import IteratorTypes, KernelShape, OperandLoops, index_map


@dataclass(frozen=True, slots=True)
class LoopOperand:
    """An operand: its spec, and the loops of its dimensions, with leading dimensions of extent 1 up to rank 2."""

    spec: TensorSpec
    follows: OperandLoops

    @property
    def extents(self) -> tuple[int, ...]:
        """Extents in elements."""
        return padded(self.spec.shape, len(self.follows))

    def loop_extents(self, extents: Sequence[int]) -> dict[int, int]:
        """Loop -> the extent, of `extents`, of the dimension that it indexes."""
        return {loop: extent for loop, extent in zip(self.follows, extents, strict=True) if loop is not None}


@memoized
def reducing_shape(operands: tuple[LoopOperand, ...], kinds: IteratorTypes, last_core: tuple[int, int]) -> KernelShape:
    """The shape of a kernel with these operands, inputs first and one output.

    Args:
        operands: Each operand with its loops.
        kinds: Iterator types of the loops.
        last_core: Coordinate (x, y) of the last core of an interleaved tensor's grid.
    """
    *_, output = operands
    tiles: dict[int, int] = {}
    for operand in operands:
        tiles |= operand.loop_extents(tiles_of(operand.extents))
    grid = _grid(operands, last_core)
    cores = output.loop_extents(grid.data)
    maps = tuple(index_map(operand.follows, len(kinds)) for operand in operands)
    return KernelShape(grid, maps, tuple(_buffer(operand, tiles, cores) for operand in operands), kinds)


def _grid(operands: tuple[LoopOperand, ...], last_core: tuple[int, int]) -> GridAttr:
    """The cores of sharded operands along the output's loops; without sharded operands, as many as fit."""
    follows, output = operands[-1].follows, operands[-1].extents
    # A reduced dimension counts as one tile.
    extents = (TILE_WIDTH if loop is None else extent for loop, extent in zip(follows, output, strict=True))
    most = core_grid(tuple(extents), len(follows), last_core)
    cores: dict[int, int] = {}
    for operand in reversed(operands):
        config = operand.spec.memory_config
        if config.is_sharded() and not config.is_nd_sharded() and len(operand.follows) == len(follows) == 2:
            cores |= operand.loop_extents(layout_attribute(operand.spec).grid.data)
    along = zip(follows, most, strict=True)
    return grid_attr(*(most_cores if loop is None else cores.get(loop, most_cores) for loop, most_cores in along))


def _buffer(operand: LoopOperand, tiles: Mapping[int, int], cores: Mapping[int, int]) -> CBType:
    """One core's shard: whole along loops that are not distributed."""
    extents = (1 if loop is None else tiles_of_core(tiles[loop], cores.get(loop, 1)) for loop in operand.follows)
    return cb_type(tile_memref(tuple(extents), operand.spec.dtype, "l1"))
