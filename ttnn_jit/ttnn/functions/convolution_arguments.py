"""The arguments of convolutions, and of what prepares weights for them: dataclasses that share their fields."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.ops.convolution.convolutions import Convolution
from ttnn_jit.ops.movement.windows import Windows
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.compute_config import DeviceComputeKernelConfig
from ttnn_jit.specs.configs.conv_configs import Conv2dConfig, Conv2dSliceConfig
from ttnn_jit.specs.configs.conv_shards import check_shard_layout
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling.shared_parameters import OverOps
from ttnn_jit.ttnn.functions.window_arguments import windows_of


@dataclass(frozen=True, kw_only=True)
class ConvolutionArguments(OverOps):
    """What every call says of a convolution.

    Attributes:
        in_channels: Of the input, which may have more: those are left out.
        out_channels: Of the result.
        batch_size: Images.
        kernel_size: Height and width of a window.
        stride: From one window to the next.
        padding: Zeros around: height and width; or top, bottom, left and right; or "same".
        dilation: From one tap of a window to the next.
        groups: Parts of the channels that do not meet; 0 as 1.
        conv_config: An activation, the element type of weights, the layout of the result, how it is sharded.
        compute_config: How exactly a chip multiplies; depthwise convolutions, and those without one, do in float32.
    """

    in_channels: int
    out_channels: int
    batch_size: int
    kernel_size: int | Sequence[int]
    stride: int | Sequence[int] = (1, 1)
    padding: int | str | Sequence[int] = (0, 0)
    dilation: int | Sequence[int] = (1, 1)
    groups: int = 1
    conv_config: Conv2dConfig | None = None
    compute_config: DeviceComputeKernelConfig | None = None

    function = ""
    """What errors call it."""

    @property
    def extents(self) -> tuple[int, int]:
        """Height and width of an image."""
        raise NotImplementedError

    @property
    def windows(self) -> Windows:
        """Along height and width."""
        return windows_of(self.function, 2, self.kernel_size, self.stride, self.padding, self.dilation)

    @property
    def sizes(self) -> Convolution:
        """The sizes that all this is.

        Raises:
            ArgumentError, ShapeError: As `windows_of` does.
        """
        channels = self.in_channels, self.out_channels
        return Convolution(self.batch_size, *channels, self.extents, self.windows, self.groups or 1)


@dataclass(frozen=True, kw_only=True)
class ImageArguments(ConvolutionArguments):
    """Of images.

    Attributes:
        input_height: Of an image.
        input_width: Of an image.
    """

    input_height: int
    input_width: int

    @property
    def extents(self) -> tuple[int, int]:
        """Height and width of an image."""
        return self.input_height, self.input_width


@dataclass(frozen=True, kw_only=True)
class ForwardArguments(ConvolutionArguments):
    """Of what is no transposed convolution.

    Attributes:
        slice_config: With slices along DRAM the result lies there.
    """

    slice_config: Conv2dSliceConfig | None = None


@dataclass(frozen=True, kw_only=True)
class TransposedArguments(ImageArguments):
    """Of transposed convolutions; sizes are seen from the result of the `conv2d` whose gradient it is.

    Attributes:
        dram_slice_config: With slices along DRAM the result lies there.
        mirror_kernel: Whether weights are torch's, and not mirrored already.
    """

    dram_slice_config: Conv2dSliceConfig | None = None
    mirror_kernel: bool = True


# --- Convolutions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ConvolvingArguments(ConvolutionArguments):
    """Of a call that convolves.

    Attributes:
        input_tensor: Batch x height x width x channels, or with all but the channels in one dimension.
        weight_tensor: Outputs x inputs of a group x height x width, or prepared.
        device: Where tensors on the host go.
        dtype: Of the result; the input's when omitted.
        bias_tensor: One number for each output channel.
        memory_config: Where the result lies. When omitted it is sharded in L1 as `conv_config` says, or as the input,
            else in DRAM.
        return_output_dim: Give height and width of the result too.
        return_weights_and_bias: Give prepared weights and bias too.
    """

    input_tensor: Tensor
    weight_tensor: Tensor
    device: Device | None = None
    dtype: DataType | None = None
    bias_tensor: Tensor | None = None
    memory_config: MemoryConfig | None = None
    return_output_dim: bool = False
    return_weights_and_bias: bool = False

    @cached_property
    def config(self) -> Conv2dConfig:
        """A copy of the config, which does not change.

        Raises:
            ArgumentError: It shards in a way that no convolution does.
        """
        if self.conv_config is None:
            return Conv2dConfig()
        config = self.conv_config.frozen()
        check_shard_layout(config)
        return config


@dataclass(frozen=True, kw_only=True)
class Conv2dArguments(ConvolvingArguments, ImageArguments, ForwardArguments):
    """Of `conv2d`."""

    function = "conv2d"


@dataclass(frozen=True, kw_only=True)
class Conv1dArguments(ConvolvingArguments, ForwardArguments):
    """Of `conv1d`, a `conv2d` of images of one row.

    Attributes:
        input_tensor: Batch x length x channels, or with all but the channels in one dimension.
        weight_tensor: Outputs x inputs of a group x length, or prepared.
        batch_size: Rows.
        input_length: Of a row.
        kernel_size: The length of a window.
        padding: Zeros around: a number, two of them, or "same".
        return_output_dim: Give the length of the result too.
    """

    input_length: int
    kernel_size: int
    stride: int = 1
    padding: int | str | Sequence[int] = 0
    dilation: int = 1

    function = "conv1d"

    @property
    def extents(self) -> tuple[int, int]:
        """Of an image of one row."""
        return 1, self.input_length

    @property
    def windows(self) -> Windows:
        """Along both dimensions of it."""
        row = windows_of(self.function, 1, self.kernel_size, self.stride, self.padding, self.dilation)
        return Windows((1, *row.kernel), (1, *row.stride), ((0, 0), *row.padding), (1, *row.dilation))


@dataclass(frozen=True, kw_only=True)
class ConvTranspose2dArguments(ConvolvingArguments, TransposedArguments):
    """Of `conv_transpose2d`.

    Attributes:
        weight_tensor: Inputs x outputs of a group x height x width, or prepared.
        padding: Zeros around: height and width; or top, bottom, left and right.
        output_padding: Rows and columns of the result behind those that windows reach.
    """

    padding: int | Sequence[int] = (0, 0)
    output_padding: int | Sequence[int] = (0, 0)

    function = "conv_transpose2d"


# --- Preparing weights ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PreparingArguments(ImageArguments):
    """Of a call that prepares weights or a bias, of which most decide nothing.

    Attributes:
        device: Where what is prepared lies.
    """

    input_memory_config: MemoryConfig
    input_layout: Layout
    device: Device
    input_dtype: DataType | None = None
    output_dtype: DataType | None = None

    @property
    def weights_dtype(self) -> DataType | None:
        """Of what is prepared; None: its own."""
        return None if self.conv_config is None else self.conv_config.weights_dtype


@dataclass(frozen=True, kw_only=True)
class PreparingWeightsArguments(PreparingArguments):
    """Of a call that prepares weights.

    Attributes:
        weight_tensor: As torch has it, or prepared.
        weights_format: The order of the dimensions that torch's have.
    """

    weight_tensor: Tensor
    weights_format: str
    has_bias: bool = True


@dataclass(frozen=True, kw_only=True)
class PrepareConvWeightsArguments(PreparingWeightsArguments, ForwardArguments):
    """Of `prepare_conv_weights`."""

    function = "prepare_conv_weights"


@dataclass(frozen=True, kw_only=True)
class PrepareConvTransposeWeightsArguments(PreparingWeightsArguments, TransposedArguments):
    """Of `prepare_conv_transpose2d_weights`."""

    function = "prepare_conv_transpose2d_weights"


@dataclass(frozen=True, kw_only=True)
class PrepareConvBiasArguments(PreparingArguments, ForwardArguments):
    """Of `prepare_conv_bias`.

    Attributes:
        bias_tensor: One number for each output channel.
    """

    bias_tensor: Tensor

    function = "prepare_conv_bias"
