"""The rules of the ttnn.jit document for tensors inside a jitted function on a chip target."""

from __future__ import annotations

from ttnn_jit.diagnostics.errors import ArgumentError, GridError, LayoutError, ShapeError
from ttnn_jit.specs.cores.memory_config import TensorMemoryLayout
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc
from ttnn_jit.specs.tensor_spec import BufferType, Layout, MemoryConfig, ShardOrientation, TensorSpec


def check_target_rules(name: str, spec: TensorSpec, target: SystemDesc) -> None:
    """Checks a tensor by the rules of the ttnn.jit document for jitted functions on a chip target.

    Raises:
        LayoutError: Row-major, interleaved L1, sharded DRAM or column-major shards.
        ShapeError: Extents that are not whole tiles (an extent of 1 is a broadcast and exempt).
    """
    if not target.tile_aligned_only:
        return
    # Torch and numpy tensors have no ttnn layout: they are treated as the tiles to which they would be converted.
    if spec.memory_config.buffer_type is not BufferType.SYSTEM_MEMORY:
        if spec.layout is not Layout.TILE:
            raise LayoutError(
                f"Only Layout.Tile tensors are supported. Found layout: {spec.layout}",
                help=f"`{name}`: pass `layout=ttnn.TILE_LAYOUT` to `ttnn.from_torch`",
            )
        check_config_rules(name, spec.memory_config, target)
    for extent, tile in zip(reversed(spec.shape), (TILE_WIDTH, TILE_HEIGHT), strict=False):
        if extent % tile and extent != 1:
            raise ShapeError(
                f"`{name}` has shape {spec.shape}, which is not made of whole {TILE_HEIGHT}x{TILE_WIDTH} tiles; "
                f"target {target.name} does not pad inside a jitted function",
                help="pad the tensor, or use a device opened with `target='cpu'`",
            )


def keeps_target_rules(spec: TensorSpec, target: SystemDesc) -> bool:
    """Whether a tensor obeys the rules of the target inside a jitted function."""
    try:
        check_target_rules("", spec, target)
    except ArgumentError:
        return False
    return True


def is_of_whole_tiles(spec: TensorSpec) -> bool:
    """Whether a tensor is tiled and fills its tiles."""
    return spec.layout is Layout.TILE and tuple(spec.shape) == tuple(spec.padded_shape)


def is_reducible(spec: TensorSpec) -> bool:
    """Whether a chip's kernels reduce such a tensor: it is height, width or block sharded in L1."""
    config = spec.memory_config
    return config.is_sharded() and not config.is_nd_sharded() and config.is_l1()


def is_reducible_since_2026(spec: TensorSpec) -> bool:
    """Whether tt-mlir's kernels reduce it only since August 2026: it is interleaved in DRAM or ND sharded."""
    config = spec.memory_config
    return config.is_nd_sharded() or config == MemoryConfig()


def is_multipliable(spec: TensorSpec) -> bool:
    """Whether a chip's kernels multiply such a tensor: it is block sharded in L1 or interleaved in DRAM."""
    config = spec.memory_config
    return config == MemoryConfig() or (is_reducible(spec) and config.memory_layout is TensorMemoryLayout.BLOCK_SHARDED)


def check_config_rules(name: str, config: MemoryConfig, target: SystemDesc) -> None:
    """Checks the memory config of an argument or a result by the rules of the ttnn.jit document for chip targets.

    Raises:
        LayoutError: Interleaved L1, sharded DRAM or column-major shards.
    """
    if not target.tile_aligned_only:
        return
    if config.is_sharded() and config.buffer_type is BufferType.DRAM:
        raise LayoutError("Sharded DRAM tensors are not supported.", help=f"`{name}`: shard it in L1")
    if not config.is_sharded() and config.is_l1():
        raise LayoutError(
            "Interleaved L1 tensors are not supported.",
            help=f"`{name}`: use `ttnn.DRAM_MEMORY_CONFIG` or `ttnn.create_sharded_memory_config`",
        )
    if config.orientation is ShardOrientation.COL_MAJOR:
        raise LayoutError("Column major sharding is not supported.", help=f"`{name}`: use `ShardOrientation.ROW_MAJOR`")


def check_max_grid(max_grid: tuple[int, int] | None, target: SystemDesc) -> None:
    """Checks that the last core is one of the target.

    Raises:
        GridError: It is outside the grid.
    """
    rows, columns = target.grid
    if max_grid is not None and (max_grid[0] >= columns or max_grid[1] >= rows):
        raise GridError(
            f"max_grid is {max_grid}, and the last core of {target.name} is {(columns - 1, rows - 1)}",
            help="it is the last core (x, y) that may be used",
        )
