"""Configs of convolutions: how a chip distributes them over its cores and memory.

The activation, the element type of weights and the padding mode affect values. The layout and the sharding of the
result (conv_shards.py) are obeyed. All other fields are only checked.
"""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar

from ttnn_jit.specs.configs.hardware_config import (
    HardwareConfig,
    Rule,
    core_set,
    count,
    flag,
    grid,
    hardware_config,
    one_of,
    optional,
    whole,
)
from ttnn_jit.specs.configs.unary_op_type import UnaryWithParam, activation
from ttnn_jit.specs.cores.cores import CoreCoord, CoreRangeSet
from ttnn_jit.specs.cores.memory_config import TensorMemoryLayout
from ttnn_jit.specs.tensor_spec import DataType, Layout

Flag = Annotated[bool, flag]
FlagOrNone = Annotated[bool | None, optional(flag)]
Whole = Annotated[int, whole]
Count = Annotated[int, count]
DTypeOrNone = Annotated[DataType | None, optional(one_of(DataType))]


class PaddingMode(enum.Enum):
    """The values of padding."""

    Zeros = 0
    Replicate = 1


@hardware_config
class Conv2dConfig(HardwareConfig):
    """How a convolution runs on a chip (ttnn.Conv2dConfig).

    Attributes:
        weights_dtype: Element type to which weights and bias are rounded when they are prepared; None keeps theirs.
        activation: A unary operation, applied before the result is rounded.
        deallocate_activation: Free the input's buffer if it is in L1.
        shard_layout: Sharding of the result by height, width or block; None: that of the input, if it is sharded.
        core_grid: The cores of the result, with `override_sharding_config`.
        transpose_shards: Whether the columns of a block sharded grid walk rows of the result.
        reshard_if_not_optimal: Choose the result's sharding anew if the input is sharded.
        act_block_h_override: A shard's rows are a multiple of it.
        output_layout: Layout of the result.
        padding_mode: Values of the input's padding.
        dtype: Element type of the result if the call gives none; this and later fields are of earlier versions of ttnn.
    """

    weights_dtype: DTypeOrNone = None
    activation: Annotated[UnaryWithParam | str | None, Rule(activation)] = None
    deallocate_activation: Flag = False
    reallocate_halo_output: Flag = True
    config_tensors_in_dram: Flag = False
    act_block_h_override: Whole = 0
    act_block_w_div: Count = 1
    reshard_if_not_optimal: Flag = False
    override_sharding_config: Flag = False
    shard_layout: Annotated[TensorMemoryLayout | None, optional(one_of(TensorMemoryLayout))] = None
    core_grid: Annotated[CoreRangeSet | None, optional(core_set)] = None
    transpose_shards: Flag = False
    output_layout: Annotated[Layout, one_of(Layout)] = Layout.TILE
    enable_act_double_buffer: Flag = False
    enable_weights_double_buffer: Flag = False
    full_inner_dim: Flag = False
    enable_kernel_stride_folding: FlagOrNone = None
    enable_activation_reuse: Flag = False
    force_split_reader: FlagOrNone = None
    override_output_sharding_config: Flag = False
    padding_mode: Annotated[PaddingMode, one_of(PaddingMode)] = PaddingMode.Zeros
    dtype: DTypeOrNone = None
    enable_split_reader: Flag = False
    enable_subblock_padding: Flag = False
    preprocess_weights_on_device: Flag = False
    always_preprocess_weights: Flag = False
    input_channels_alignment: Count = 32
    in_place: Flag = False


Conv1dConfig = Conv2dConfig
"""ttnn's other name of it."""


class SliceType(enum.Enum):
    """The dimension along which a convolution is cut that does not fit in L1."""

    DRAM_HEIGHT = 0
    DRAM_WIDTH = 1
    L1_FULL = 2


@hardware_config
class Conv2dSliceConfig(HardwareConfig):
    """The number of parts into which a convolution is cut, and the dimension (ttnn.Conv2dSliceConfig)."""

    SliceTypeEnum: ClassVar[type[SliceType]] = SliceType

    slice_type: Annotated[SliceType, one_of(SliceType)] = SliceType.L1_FULL
    num_slices: Whole = 0


Conv2dDRAMSliceHeight, Conv2dDRAMSliceWidth, Conv2dL1Full = SliceType
Conv2dL1FullSliceConfig = Conv2dSliceConfig(slice_type=SliceType.L1_FULL)
Op2DDRAMSliceHeight, Op2DDRAMSliceWidth, Op2DL1Full = SliceType
Op2DSliceConfig, Op2DL1FullSliceConfig = Conv2dSliceConfig, Conv2dL1FullSliceConfig


@hardware_config
class Conv3dConfig(HardwareConfig):
    """Blocks of `experimental.conv3d`, and the layout of its result (ttnn.Conv3dConfig)."""

    weights_dtype: DTypeOrNone = None
    output_layout: Annotated[Layout, one_of(Layout)] = Layout.ROW_MAJOR
    T_out_block: Whole = 1
    W_out_block: Whole = 1
    H_out_block: Whole = 1
    C_out_block: Whole = 0
    C_in_block: Whole = 0
    compute_with_storage_grid_size: Annotated[CoreCoord, grid] = CoreCoord(1, 1)
