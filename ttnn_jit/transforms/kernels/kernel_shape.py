"""The shape of an unfused kernel, from its operands and result: grid, maps, buffers."""

from __future__ import annotations

from ttnn_jit.dialects.builders import tile_memref
from ttnn_jit.dialects.d2m import cb_type
from ttnn_jit.dialects.layout import layout_attribute
from ttnn_jit.dialects.ttcore import GridAttr, grid_attr
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.specs.tiles import tiles_of_core
from ttnn_jit.transforms.kernels.iteration_space import IterationSpace, TileAccess, core_grid, iteration_space
from ttnn_jit.transforms.kernels.kernel_ops import KernelShape, OperandLoops, index_map


@memoized
def kernel_shape(
    inputs: tuple[TensorSpec, ...], output: TensorSpec, last_core: tuple[int, int], *, fold: bool = True
) -> KernelShape:
    """The shape of an elementwise kernel.

    Args:
        inputs: The operands' specs.
        output: The result's spec.
        last_core: Coordinate (x, y) of the last core of an interleaved tensor's grid.
        fold: Whether leading dimensions may fold into the rows.
    """
    space = elementwise_space(inputs, output, fold=fold)
    rank = len(space.tiles)
    # The result comes first: it determines how the work is distributed over cores.
    configs = ((spec, spec.memory_config) for spec in (output, *inputs))
    sharded = next((spec for spec, config in configs if config.is_sharded() and not config.is_nd_sharded()), None)
    if sharded is not None and rank == 2:
        grid = layout_attribute(sharded).grid
    else:
        grid = grid_attr(*core_grid(tuple(output.shape), rank, last_core))
    accesses = (*space.operands, TileAccess(space.tiles, (True,) * rank))
    specs = (*inputs, output)
    return KernelShape(
        grid,
        tuple(index_map(_follows(access), rank) for access in accesses),
        tuple(
            cb_type(tile_memref(_shard(access, grid), spec.dtype, "l1"))
            for access, spec in zip(accesses, specs, strict=True)
        ),
        broadcasts=tuple(access.broadcast for access in space.operands),
    )


@memoized
def elementwise_space(inputs: tuple[TensorSpec, ...], output: TensorSpec, *, fold: bool = True) -> IterationSpace:
    """The iteration space of a kernel that reads `inputs` and writes `output`."""
    return iteration_space(tuple(tuple(spec.shape) for spec in inputs), tuple(output.shape), fold=fold)


def _follows(access: TileAccess) -> OperandLoops:
    return tuple(dim if follows else None for dim, follows in enumerate(access.varies))


def _shard(access: TileAccess, grid: GridAttr) -> tuple[int, ...]:
    """One core's shard in tiles; a broadcast dimension is whole on every core."""
    return tuple(
        tiles_of_core(tiles, cores) if follows else tiles
        for tiles, cores, follows in zip(access.tiles, grid.data, access.varies, strict=True)
    )
