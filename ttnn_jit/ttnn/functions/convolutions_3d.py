"""`conv3d` of the host API, composed of the operation of ttnn_jit/ops/convolution/convolutions.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops.convolution.convolutions import CONV3D, Convolution, attributes_3d
from ttnn_jit.ops.movement.windows import Windows
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.configs.compute_config import DeviceComputeKernelConfig
from ttnn_jit.specs.configs.conv_configs import Conv3dConfig
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling.eager_functions import permute, reshape
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.functions.prepared_weights import Operands, in_tiles, on_device
from ttnn_jit.ttnn.functions.window_arguments import check_sizes, replicated, result_dtype, windows_of

_CONV3D = function_of(CONV3D)


def _input_channels(weight: Sequence[int], windows: Windows, groups: int) -> int:
    """The number of input channels of weights."""
    if len(weight) == 5:
        return weight[1] * groups
    taps = windows.kernel[0] * windows.kernel[1] * windows.kernel[2]
    if len(weight) < 2 or weight[-2] % taps:
        raise ShapeError(f"conv3d: weights of shape {list(weight)} are none of {taps} taps")
    return weight[-2] // taps * groups


@host_function(name="experimental.conv3d", in_programs=True, over_meshes=True, accepts_foreign=True)
def conv3d(  # noqa: PLR0913 - the arguments are ttnn's
    input_tensor: Tensor,
    weight_tensor: Tensor,
    bias_tensor: Tensor | None = None,
    *,
    device: Device | None = None,
    config: Conv3dConfig | None = None,
    dtype: DataType | None = None,
    output_channels: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = (1, 1, 1),
    padding: int | Sequence[int] = (0, 0, 0),
    dilation: int | Sequence[int] = (1, 1, 1),
    groups: int = 1,
    padding_mode: str = "zeros",
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: DeviceComputeKernelConfig | None = None,
) -> Tensor:
    """The three-dimensional convolution (ttnn.experimental.conv3d).

    Args:
        input_tensor: [batch, depth, height, width, channels]; channels beyond those of the weights are ignored.
        weight_tensor: [outputs, inputs of a group, depth, height, width], or prepared: [taps * inputs, outputs].
        bias_tensor: One number for each output channel.
        device: Device for tensors that are on the host.
        config: The layout of the result; ROW_MAJOR when omitted.
        dtype: Element type of the result; the input's when omitted.
        output_channels: Channels of the result.
        kernel_size: Depth, height and width of a window.
        stride: Distance between windows along depth, height and width.
        padding: Padding along depth, height and width.
        dilation: Distance between the taps of a window.
        groups: Number of independent groups of channels.
        padding_mode: "zeros", or "replicate" to repeat the edges.
        memory_config: Memory config of the result.
        compute_kernel_config: Precision on a chip, as for `conv2d`.

    Returns:
        [batch, depth, height, width, outputs].

    Raises:
        ArgumentError: An argument has the wrong type.
        DTypeError: The dtype of the result is not a float type.
        ShapeError: The sizes are inconsistent, or do not fit the tensors.
    """
    if padding_mode not in {"zeros", "replicate"}:
        raise ArgumentError(f"`padding_mode` of conv3d is 'zeros' or 'replicate', got {padding_mode!r}")
    tensors = Operands(input_tensor, weight_tensor, bias_tensor).moved_to(device, "conv3d")
    if len(tensors.input.shape) != 5:
        raise ShapeError(
            f"conv3d: the input has shape {list(tensors.input.shape)}, expected [batch, depth, height, width, channels]"
        )
    windows = windows_of("conv3d", 3, kernel_size, stride, padding, dilation)
    if padding_mode == "replicate":
        x, windows = replicated(tensors.input, windows)
        tensors = replace(tensors, input=x)
    x = tensors.input
    inputs = _input_channels(tuple(tensors.weight.shape), windows, groups)
    sizes = Convolution(x.shape[0], inputs, output_channels, tuple(x.shape[1:4]), windows, groups)
    check_sizes("conv3d", sizes, *tensors.shapes)
    layout = Layout.ROW_MAJOR if config is None else config.output_layout
    attributes = (*attributes_3d(sizes), None, result_dtype(dtype, x), layout, compute_kernel_config)
    return _CONV3D(x, tensors.weight, tensors.bias, *attributes, memory_config=memory_config)


@host_function(
    name="experimental.prepare_conv3d_weights",
    over_meshes=True,
    chip_only="C_in_block alignment",
    without_effect={"the shape of the weights determines it": "groups"},
)
def prepare_conv3d_weights(
    weight_tensor: Tensor,
    groups: int = 1,
    C_in_block: int = 0,  # noqa: N803 - ttnn's name of a choice of a chip's
    alignment: int = 32,
    device: Device | None = None,
) -> Tensor:
    """The weights of a `conv3d` as a matrix on `device` (ttnn.experimental.prepare_conv3d_weights).

    Returns:
        [depth * height * width * inputs of a group, outputs], TILE.

    Raises:
        ShapeError: The weights do not have rank 5.
    """
    weight = on_device(weight_tensor, device, "`weight_tensor` of prepare_conv3d_weights")
    if len(weight.shape) != 5:
        raise ShapeError(f"prepare_conv3d_weights: the weights have shape {list(weight.shape)}, expected rank 5")
    outputs, *rest = weight.shape
    return in_tiles(reshape(permute(weight, (2, 3, 4, 1, 0)), (math.prod(rest), outputs)), None)
