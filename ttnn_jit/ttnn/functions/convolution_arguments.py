"""The arguments of convolutions and of the functions that prepare their weights: dataclasses with shared fields."""

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
from ttnn_jit.ttnn.calling.shared_parameters import ArgumentsWithOps
from ttnn_jit.ttnn.functions.window_arguments import windows_of


@dataclass(frozen=True, kw_only=True)
class ConvolutionArguments(ArgumentsWithOps):
    """Arguments of every convolution.

    Attributes:
        in_channels: Channels of the input; further channels of the input tensor are ignored.
        out_channels: Channels of the result.
        batch_size: Number of images.
        kernel_size: Height and width of a window.
        stride: Distance between windows along height and width.
        padding: Padding of zeros: height and width; or top, bottom, left and right; or "same".
        dilation: Distance between the taps of a window.
        groups: Number of independent groups of channels; 0 means 1.
        conv_config: Activation, dtype of weights, and layout and sharding of the result.
        compute_config: Precision on a chip; depthwise convolutions, and calls without it, multiply in float32.
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
    """The function's name in errors."""

    @property
    def extents(self) -> tuple[int, int]:
        """Height and width of an image."""
        raise NotImplementedError

    @property
    def windows(self) -> Windows:
        """The windows along height and width."""
        return windows_of(self.function, 2, self.kernel_size, self.stride, self.padding, self.dilation)

    @property
    def sizes(self) -> Convolution:
        """The sizes of the convolution.

        Raises:
            ArgumentError, ShapeError: As for `windows_of`.
        """
        channels = self.in_channels, self.out_channels
        return Convolution(self.batch_size, *channels, self.extents, self.windows, self.groups or 1)


@dataclass(frozen=True, kw_only=True)
class ImageArguments(ConvolutionArguments):
    """Arguments of convolutions of images.

    Attributes:
        input_height: Height of an image.
        input_width: Width of an image.
    """

    input_height: int
    input_width: int

    @property
    def extents(self) -> tuple[int, int]:
        """Height and width of an image."""
        return self.input_height, self.input_width


@dataclass(frozen=True, kw_only=True)
class ForwardArguments(ConvolutionArguments):
    """Arguments of convolutions that are not transposed.

    Attributes:
        slice_config: Slices; with slices in DRAM the result is in DRAM.
    """

    slice_config: Conv2dSliceConfig | None = None


@dataclass(frozen=True, kw_only=True)
class TransposedArguments(ImageArguments):
    """Arguments of transposed convolutions; the input is the result of the `conv2d` whose gradient they compute.

    Attributes:
        dram_slice_config: Slices; with slices in DRAM the result is in DRAM.
        mirror_kernel: Whether weights are torch's, and must be mirrored.
    """

    dram_slice_config: Conv2dSliceConfig | None = None
    mirror_kernel: bool = True


# --- Convolutions -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ConvolutionCallArguments(ConvolutionArguments):
    """Arguments of the functions that compute a convolution.

    Attributes:
        input_tensor: [batch, height, width, channels], or with all dimensions but the channels merged.
        weight_tensor: [outputs, inputs of a group, height, width], or prepared.
        device: Device for tensors that are on the host.
        dtype: Element type of the result; the input's when omitted.
        bias_tensor: One number for each output channel.
        memory_config: Memory config of the result. When omitted the result is sharded in L1 as `conv_config` sets, or
            like the input, else in DRAM.
        return_output_dim: Return height and width of the result too.
        return_weights_and_bias: Return prepared weights and bias too.
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
        """An immutable copy of the config.

        Raises:
            ArgumentError: The config has a shard layout that no convolution supports.
        """
        if self.conv_config is None:
            return Conv2dConfig()
        config = self.conv_config.kept()
        check_shard_layout(config)
        return config


@dataclass(frozen=True, kw_only=True)
class Conv2dArguments(ConvolutionCallArguments, ImageArguments, ForwardArguments):
    """Arguments of `conv2d`."""

    function = "conv2d"


@dataclass(frozen=True, kw_only=True)
class Conv1dArguments(ConvolutionCallArguments, ForwardArguments):
    """Arguments of `conv1d`, a `conv2d` of images of one row.

    Attributes:
        input_tensor: [batch, length, channels], or with all dimensions but the channels merged.
        weight_tensor: [outputs, inputs of a group, length], or prepared.
        batch_size: Number of rows.
        input_length: Length of a row.
        kernel_size: Length of a window.
        padding: Padding of zeros: one number, or left and right, or "same".
        return_output_dim: Return the length of the result too.
    """

    input_length: int
    kernel_size: int
    stride: int = 1
    padding: int | str | Sequence[int] = 0
    dilation: int = 1

    function = "conv1d"

    @property
    def extents(self) -> tuple[int, int]:
        """Height and width of an image of one row."""
        return 1, self.input_length

    @property
    def windows(self) -> Windows:
        """The windows along both dimensions of an image of one row."""
        row = windows_of(self.function, 1, self.kernel_size, self.stride, self.padding, self.dilation)
        return Windows((1, *row.kernel), (1, *row.stride), ((0, 0), *row.padding), (1, *row.dilation))


@dataclass(frozen=True, kw_only=True)
class ConvTranspose2dArguments(ConvolutionCallArguments, TransposedArguments):
    """Arguments of `conv_transpose2d`.

    Attributes:
        weight_tensor: [inputs, outputs of a group, height, width], or prepared.
        padding: Padding of zeros: height and width; or top, bottom, left and right.
        output_padding: Additional rows and columns at the end of the result.
    """

    padding: int | Sequence[int] = (0, 0)
    output_padding: int | Sequence[int] = (0, 0)

    function = "conv_transpose2d"


# --- Preparing weights ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PreparingArguments(ImageArguments):
    """Arguments of the functions that prepare weights or a bias; most do not affect the result.

    Attributes:
        device: Device of the result.
    """

    input_memory_config: MemoryConfig
    input_layout: Layout
    device: Device
    input_dtype: DataType | None = None
    output_dtype: DataType | None = None

    @property
    def weights_dtype(self) -> DataType | None:
        """The dtype of the result; None for that of the operand."""
        return None if self.conv_config is None else self.conv_config.weights_dtype


@dataclass(frozen=True, kw_only=True)
class PreparingWeightsArguments(PreparingArguments):
    """Arguments of the functions that prepare weights.

    Attributes:
        weight_tensor: Weights of torch's shape, or prepared ones.
        weights_format: The order of the dimensions of torch's weights.
    """

    weight_tensor: Tensor
    weights_format: str
    has_bias: bool = True


@dataclass(frozen=True, kw_only=True)
class PrepareConvWeightsArguments(PreparingWeightsArguments, ForwardArguments):
    """Arguments of `prepare_conv_weights`."""

    function = "prepare_conv_weights"


@dataclass(frozen=True, kw_only=True)
class PrepareConvTransposeWeightsArguments(PreparingWeightsArguments, TransposedArguments):
    """Arguments of `prepare_conv_transpose2d_weights`."""

    function = "prepare_conv_transpose2d_weights"


@dataclass(frozen=True, kw_only=True)
class PrepareConvBiasArguments(PreparingArguments, ForwardArguments):
    """Arguments of `prepare_conv_bias`.

    Attributes:
        bias_tensor: One number for each output channel.
    """

    bias_tensor: Tensor

    function = "prepare_conv_bias"
