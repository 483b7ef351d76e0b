"""Program configs: how a chip distributes an operation over its cores and memory.

They are checked for plausibility. Only the activation of a config affects values.
"""

from __future__ import annotations

from typing import Annotated, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.configs.hardware_config import (
    HardwareConfig,
    Rule,
    check_divides,
    core_set,
    count,
    flag,
    grid,
    hardware_config,
    optional,
    tile_multiple,
)
from ttnn_jit.specs.configs.unary_op_type import UnaryWithParam, activation
from ttnn_jit.specs.cores.cores import CoreCoord, CoreRangeSet

Grid = Annotated[CoreCoord, grid]
Count = Annotated[int, count]
CountOrNone = Annotated[int | None, optional(count)]
Flag = Annotated[bool, flag]
FlagOrNone = Annotated[bool | None, optional(flag)]
Tiles = Annotated[int, tile_multiple]
Cores = Annotated[CoreRangeSet | None, optional(core_set)]
Activation = Annotated[UnaryWithParam | str | None, Rule(activation)]

MAX_DST_TILES = 16
"""The largest capacity of DST in tiles: with 16-bit elements and `dst_full_sync_en`."""


class ProgramConfig(HardwareConfig):
    """The base of configs that operations take as `program_config`."""


def _check_subblocks(config: Any, height: str, width: str) -> None:
    check_divides(config, "out_subblock_h", height)
    check_divides(config, "out_subblock_w", width)
    rows, columns = config.out_subblock_h, config.out_subblock_w
    if rows * columns > MAX_DST_TILES:
        raise ArgumentError(
            f"{type(config).__name__}: a subblock of {rows}x{columns} tiles has {rows * columns}, and DST holds "
            f"{MAX_DST_TILES} at most"
        )


class MatmulProgramConfig(ProgramConfig):
    """The base of program configs of matmul and linear."""


class _BlockedMatmulProgramConfig(MatmulProgramConfig):
    """A matmul whose cores compute their part of the result block by block; the default is a single block."""

    def __post_init__(self) -> None:
        for block, whole_of_core in _BLOCKS:
            if getattr(self, block) is None:
                setattr(self, block, getattr(self, whole_of_core))

    def check(self) -> None:
        """Blocks must divide a core's part of the result, and subblocks a block."""
        for block, whole_of_core in _BLOCKS:
            if getattr(self, block) is None:
                raise ArgumentError(f"{type(self).__name__}: `{block}` is None", help="a block is a number of tiles")
            check_divides(self, block, whole_of_core)
        _check_subblocks(self, "out_block_h", "out_block_w")


_BLOCKS = (("out_block_h", "per_core_M"), ("out_block_w", "per_core_N"))


@hardware_config
class MatmulMultiCoreReuseProgramConfig(MatmulProgramConfig):
    """A matmul whose cores each compute blocks of their own; extents are counted in tiles."""

    compute_with_storage_grid_size: Grid
    in0_block_w: Count
    out_subblock_h: Count
    out_subblock_w: Count
    per_core_M: Count  # noqa: N815 - ttnn's name
    per_core_N: Count  # noqa: N815
    allowed_worker_cores: Cores = None

    def check(self) -> None:
        """Subblocks must divide a core's part of the result."""
        _check_subblocks(self, "per_core_M", "per_core_N")


@hardware_config
class MatmulMultiCoreReuseMultiCastProgramConfig(_BlockedMatmulProgramConfig):
    """A matmul over a grid of cores, whose rows and columns share their operands; extents are counted in tiles."""

    compute_with_storage_grid_size: Grid
    in0_block_w: Count
    out_subblock_h: Count
    out_subblock_w: Count
    out_block_h: CountOrNone = None
    out_block_w: CountOrNone = None
    per_core_M: Count  # noqa: N815
    per_core_N: Count  # noqa: N815
    transpose_mcast: Flag
    fused_activation: Activation = None
    fuse_batch: Flag = True
    allowed_worker_cores: Cores = None


@hardware_config
class MatmulMultiCoreReuseMultiCast1DProgramConfig(_BlockedMatmulProgramConfig):
    """A matmul over a line of cores that share one operand; extents are counted in tiles."""

    compute_with_storage_grid_size: Grid
    in0_block_w: Count
    out_block_h: CountOrNone = None
    out_block_w: CountOrNone = None
    out_subblock_h: Count
    out_subblock_w: Count
    per_core_M: Count  # noqa: N815
    per_core_N: Count  # noqa: N815
    fuse_batch: Flag
    fused_activation: Activation = None
    mcast_in0: Flag
    gather_in0: Flag = False
    hop_cores: Cores = None
    num_global_cb_receivers: Count = 1
    untilize_out: Flag = False
    allowed_worker_cores: Cores = None


@hardware_config
class MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(MatmulProgramConfig):
    """A matmul that streams weights sharded over the banks of DRAM; extents are counted in tiles."""

    in0_block_w: Count
    per_core_M: Count  # noqa: N815
    per_core_N: Count  # noqa: N815
    fused_activation: Activation = None


@hardware_config
class MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig(MatmulProgramConfig):
    """A batched matmul that streams weights sharded over the banks of DRAM; extents are counted in tiles."""

    in0_block_w: Count
    per_core_M: Count  # noqa: N815
    per_core_N: Count  # noqa: N815
    fused_activation: Activation = None


@hardware_config
class MinimalMatmulConfig(ProgramConfig):
    """Blocks of `experimental.minimal_matmul`, counted in tiles."""

    M_block_size: Count
    K_block_size: Count
    N_block_size: Count
    subblock_h: Count
    subblock_w: Count
    compute_with_storage_grid_size: Grid

    def check(self) -> None:
        """Subblocks must divide a block."""
        check_divides(self, "subblock_h", "M_block_size")
        check_divides(self, "subblock_w", "N_block_size")


class SoftmaxProgramConfig(ProgramConfig):
    """The base of program configs of softmax."""


@hardware_config
class SoftmaxDefaultProgramConfig(SoftmaxProgramConfig):
    """The operation chooses."""


@hardware_config
class SoftmaxShardedMultiCoreProgramConfig(SoftmaxProgramConfig):
    """A softmax of a sharded tensor; extents are counted in tiles."""

    compute_with_storage_grid_size: Grid
    subblock_w: Count
    block_h: Count
    block_w: Count

    def check(self) -> None:
        """Subblocks must divide a block."""
        check_divides(self, "subblock_w", "block_w")


class LayerNormProgramConfig(ProgramConfig):
    """The base of program configs of norms."""


@hardware_config
class LayerNormDefaultProgramConfig(LayerNormProgramConfig):
    """The operation chooses the distribution; the flags choose kernels."""

    legacy_reduction: Flag = False
    legacy_rsqrt: Flag = False
    use_welford: Flag = False


@hardware_config
class LayerNormShardedMultiCoreProgramConfig(LayerNormProgramConfig):
    """A norm of a sharded tensor; extents are counted in tiles."""

    compute_with_storage_grid_size: Grid
    subblock_w: Count
    block_h: Count
    block_w: Count
    inplace: Flag
    legacy_reduction: Flag = False
    legacy_rsqrt: Flag = False
    use_welford: Flag = False

    def check(self) -> None:
        """Subblocks must divide a block."""
        check_divides(self, "subblock_w", "block_w")


@hardware_config
class SDPAProgramConfig(ProgramConfig):
    """Scaled dot-product attention in chunks of queries and keys, counted in elements; 0 lets the operation choose."""

    compute_with_storage_grid_size: Grid
    sub_core_grids: Cores = None
    q_chunk_size: Tiles = 0
    k_chunk_size: Tiles = 0
    exp_approx_mode: FlagOrNone = None
    max_cores_per_head_batch: Count = 16
