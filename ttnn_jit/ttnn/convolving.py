"""Convolutions of the host API, over the operations of ttnn_jit/ops/convolutions.py.

Weights come as torch has them, on the host or on a device, or prepared: a matrix of taps and input channels by output
channels, (1, 1, taps * inputs, outputs), which is also what a call gives back that is asked for its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.activation_names import activation_text
from ttnn_jit.ops.convolutions import CONV2D, Convolution, numbers_2d
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.ops.transposed_convolutions import CONV_TRANSPOSE2D, Transposed
from ttnn_jit.ops.windows import Windows
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.compute_config import DeviceComputeKernelConfig
from ttnn_jit.specs.conv_configs import Conv2dConfig, Conv2dSliceConfig, PaddingMode, SliceType
from ttnn_jit.specs.conv_shards import ConvolutionShards, check_shard_layout
from ttnn_jit.specs.tensor_spec import BufferType, DataType, Layout, MemoryConfig
from ttnn_jit.ttnn.eager_functions import reshape
from ttnn_jit.ttnn.eager_operation import TtnnOperation
from ttnn_jit.ttnn.host_function import host_function
from ttnn_jit.ttnn.prepared_weights import (
    Operands,
    in_tiles,
    prepared,
    prepared_bias,
    prepared_transposed,
)
from ttnn_jit.ttnn.window_arguments import check_sizes, per_dimension, refusals_of, replicated, result_dtype, windows_of

_CONV2D = TtnnOperation(CONV2D.name, (CONV2D,))
_CONV_TRANSPOSE2D = TtnnOperation(CONV_TRANSPOSE2D.name, (CONV_TRANSPOSE2D,))


@host_function(observed=False)
def get_conv_output_dim(input: int, window: int, stride: int = 1, pad: int = 0, dilation: int = 1) -> int:  # noqa: A002 - ttnn's name
    """The extent of a convolution's result along a dimension of extent `input` (ttnn.get_conv_output_dim)."""
    return (input + 2 * pad - dilation * (window - 1) - 1) // stride + 1


# --- Arguments --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Wanted:
    """What the caller wants of the result, and of what else is returned.

    Attributes:
        ops: Who carries the call out.
        dtype: Of the result; None: the input's.
        memory_config: Where it lies; None: in L1 in shards as the config says, or as the input does, else in DRAM.
        compute_config: How exactly a chip multiplies.
        extents: The result's, where they are asked for.
        with_weights: Whether prepared weights are asked for.
        is_sliced: Whether the convolution is cut along DRAM, where the result is put together.
    """

    ops: HostOps[Tensor]
    dtype: DataType | None
    memory_config: MemoryConfig | None
    compute_config: DeviceComputeKernelConfig | None
    extents: Any
    with_weights: bool
    is_sliced: bool

    def result(self, value: Any, tensors: Operands) -> Any:
        """The result, and what else is asked for in a tuple with it."""
        extents = () if self.extents is None else (self.extents,)
        weights = ((tensors.weight, tensors.bias),) if self.with_weights else ()
        return (value, *extents, *weights) if extents or weights else value


def _checked_config(config: Conv2dConfig | None) -> Conv2dConfig:
    """A copy of the config of a call, which does not change."""
    if config is None:
        return Conv2dConfig()
    config = config.kept()
    check_shard_layout(config)
    return config


def _activation(config: Conv2dConfig) -> str | None:
    if config.activation in {None, ""}:
        return None
    return activation_text(config.activation)


def _replicated(x: Any, sizes: Convolution) -> tuple[Any, Convolution]:
    """`x` with its edges repeated around it, and the sizes of a convolution that adds no zeros."""
    x, windows = replicated(reshape(x, (sizes.batch, *sizes.extents, x.shape[-1])), sizes.windows)
    return x, replace(sizes, extents=tuple(x.shape[1:-1]), windows=windows)


def _is_sliced(slices: Conv2dSliceConfig | None) -> bool:
    return slices is not None and slices.slice_type is not SliceType.L1_FULL


# --- Calls ------------------------------------------------------------------------------------------------------------


def _convolved(
    name: str, sizes: Convolution, given: Operands, device: Device | None, config: Conv2dConfig | None, wanted: _Wanted
) -> Any:
    config = _checked_config(config)
    check_sizes(name, sizes, *given.shapes)
    tensors = given.there(device, name)
    if wanted.with_weights or config.weights_dtype not in {None, tensors.weight.dtype}:
        tensors = _with_prepared(tensors, sizes, config, lambda weight: prepared(weight, sizes))
    x = tensors.input
    if config.padding_mode is PaddingMode.Replicate:
        x, sizes = _replicated(x, sizes)
    attributes = (*numbers_2d(sizes), *_of_result(x, config, wanted))
    value = _placed(_CONV2D, replace(tensors, input=x), attributes, _place(x, sizes, config, wanted), wanted)
    if config.deallocate_activation and given.input is tensors.input and tensors.input.memory_config().is_l1():
        wanted.ops.free(tensors.input)  # what lies in DRAM stays
    return wanted.result(value, tensors)


def _with_prepared(
    tensors: Operands, sizes: Convolution, config: Conv2dConfig, prepare: Callable[[Any], Any]
) -> Operands:
    weight, bias = tensors.weight, tensors.bias
    if not sizes.are_prepared(weight.shape):
        weight = in_tiles(prepare(weight), config.weights_dtype)
    if bias is not None:
        bias = prepared_bias(bias, sizes.outputs, config.weights_dtype)
    return Operands(tensors.input, weight, bias)


def _of_result(x: Any, config: Conv2dConfig, wanted: _Wanted) -> tuple[Any, ...]:
    dtype = config.dtype if wanted.dtype is None else wanted.dtype
    return _activation(config), result_dtype(dtype, x), config.output_layout


def _place(x: Any, sizes: Convolution, config: Conv2dConfig, wanted: _Wanted) -> MemoryConfig | None:
    """Where the result lies in L1; None: in DRAM, as slices along it do, where the call says, or on torch's side."""
    lies = x.memory_config()
    if wanted.is_sliced or wanted.memory_config is not None or lies.buffer_type is BufferType.SYSTEM_MEMORY:
        return None
    is_product = sizes.windows.are_single_elements and sizes.groups == 1 and not any(map(any, sizes.windows.padding))
    tiled = config.output_layout is Layout.TILE
    cores = x.device().compute_with_storage_grid_size()
    return ConvolutionShards(sizes.rows, sizes.outputs, is_product, tiled, (cores.y, cores.x)).config(config, lies)


def _placed(
    operation: TtnnOperation, tensors: Operands, attributes: Sequence[Any], place: MemoryConfig | None, wanted: _Wanted
) -> Any:
    """The result of `operation`, in `place` where that is given."""
    given = (tensors.input, tensors.weight, tensors.bias, *attributes, wanted.compute_config)
    if place is None:
        return operation(*given, memory_config=wanted.memory_config)
    return wanted.ops.requested(operation, given, place)


@host_function(in_programs=True, over_meshes=True, on_copies=True)
def conv2d(  # noqa: PLR0913 - the arguments are ttnn's
    _ops: HostOps[Tensor],
    *,
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: Device | None = None,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = (1, 1),
    padding: int | str | Sequence[int] = (0, 0),
    dilation: int | Sequence[int] = (1, 1),
    groups: int = 1,
    dtype: DataType | None = None,
    bias_tensor: Tensor | None = None,
    conv_config: Conv2dConfig | None = None,
    compute_config: DeviceComputeKernelConfig | None = None,
    memory_config: MemoryConfig | None = None,
    slice_config: Conv2dSliceConfig | None = None,
    return_output_dim: bool = False,
    return_weights_and_bias: bool = False,
) -> Any:
    """The products of windows of a tensor and weights, added up, plus a bias (ttnn.conv2d).

    Args:
        input_tensor: Batch x height x width x channels, or with all but the channels in one dimension.
        weight_tensor: Outputs x inputs of a group x height x width, or prepared.
        device: Where tensors on the host go.
        in_channels: Of the input, which may have more: those are left out.
        out_channels: Of the result.
        batch_size: Images.
        input_height: Of an image.
        input_width: Of an image.
        kernel_size: Height and width of a window.
        stride: From one window to the next.
        padding: Zeros around: height and width; or top, bottom, left and right; or "same".
        dilation: From one tap of a window to the next.
        groups: Parts of the channels that do not meet; 0 as 1.
        dtype: Of the result; the input's when omitted.
        bias_tensor: One number for each output channel.
        conv_config: An activation, the element type of weights, the layout of the result, how it is sharded.
        compute_config: How exactly a chip multiplies; depthwise convolutions, and those without one, do in float32.
        memory_config: Where the result lies. When omitted it is sharded in L1 as `conv_config` says, or as the input,
            else in DRAM.
        slice_config: With slices along DRAM the result lies there.
        return_output_dim: Give height and width of the result too.
        return_weights_and_bias: Give prepared weights and bias too.

    Returns:
        (1, 1, batch * height * width, outputs), TILE; a tuple of it and what else was asked for.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or tensors that do not fit them.
        L1CapacityError: The shards of the result do not fit in L1.
    """
    windows = windows_of("conv2d", 2, kernel_size, stride, padding, dilation)
    sizes = Convolution(batch_size, in_channels, out_channels, (input_height, input_width), windows, groups or 1)
    extents = _counts("conv2d", sizes) if return_output_dim else None
    tensors = Operands(input_tensor, weight_tensor, bias_tensor)
    sliced = _is_sliced(slice_config)
    wanted = _Wanted(_ops, dtype, memory_config, compute_config, extents, return_weights_and_bias, sliced)
    return _convolved("conv2d", sizes, tensors, device, conv_config, wanted)


def _counts(name: str, sizes: Convolution) -> tuple[int, ...]:
    with refusals_of(name):
        return sizes.counts


@host_function(in_programs=True, over_meshes=True, on_copies=True)
def conv1d(  # noqa: PLR0913 - the arguments are ttnn's
    _ops: HostOps[Tensor],
    *,
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: Device | None = None,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_length: int,
    kernel_size: int,
    stride: int = 1,
    padding: int | str | Sequence[int] = 0,
    dilation: int = 1,
    groups: int = 1,
    dtype: DataType | None = None,
    bias_tensor: Tensor | None = None,
    conv_config: Conv2dConfig | None = None,
    compute_config: DeviceComputeKernelConfig | None = None,
    memory_config: MemoryConfig | None = None,
    slice_config: Conv2dSliceConfig | None = None,
    return_output_dim: bool = False,
    return_weights_and_bias: bool = False,
) -> Any:
    """`conv2d` of images of one row (ttnn.conv1d); the arguments are those of that, but for these.

    `input_tensor` is batch x length x channels, or all but the channels in one dimension; `weight_tensor` is outputs x
    inputs of a group x length, or prepared. `padding` is a number, two of them, or "same"; `return_output_dim` gives
    the length of the result.

    Returns:
        (1, 1, batch * length, outputs), TILE; a tuple of it and what else was asked for.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or tensors that do not fit them.
    """
    row = windows_of("conv1d", 1, kernel_size, stride, padding, dilation)
    windows = Windows((1, *row.kernel), (1, *row.stride), ((0, 0), *row.padding), (1, *row.dilation))
    sizes = Convolution(batch_size, in_channels, out_channels, (1, input_length), windows, groups or 1)
    extents = _counts("conv1d", sizes)[1] if return_output_dim else None
    tensors = Operands(input_tensor, weight_tensor, bias_tensor).there(device, "conv1d")
    if len(weight_tensor.shape) == 3:
        *channels, taps = tensors.weight.shape
        tensors = replace(tensors, weight=reshape(tensors.weight, (*channels, 1, taps)))
    sliced = _is_sliced(slice_config)
    wanted = _Wanted(_ops, dtype, memory_config, compute_config, extents, return_weights_and_bias, sliced)
    return _convolved("conv1d", sizes, tensors, device, conv_config, wanted)


@host_function(in_programs=True, over_meshes=True, on_copies=True)
def conv_transpose2d(  # noqa: PLR0913 - the arguments are ttnn's
    _ops: HostOps[Tensor],
    *,
    input_tensor: Tensor,
    weight_tensor: Tensor,
    device: Device | None = None,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = (1, 1),
    padding: int | Sequence[int] = (0, 0),
    output_padding: int | Sequence[int] = (0, 0),
    dilation: int | Sequence[int] = (1, 1),
    groups: int = 1,
    dtype: DataType | None = None,
    bias_tensor: Tensor | None = None,
    conv_config: Conv2dConfig | None = None,
    compute_config: DeviceComputeKernelConfig | None = None,
    memory_config: MemoryConfig | None = None,
    dram_slice_config: Conv2dSliceConfig | None = None,
    mirror_kernel: bool = True,
    return_output_dim: bool = False,
    return_weights_and_bias: bool = False,
) -> Any:
    """The gradient of `conv2d` with respect to its input, plus a bias (ttnn.conv_transpose2d).

    The arguments are those of `conv2d`, with sizes seen from the result of that, but for these. `weight_tensor` is
    inputs x outputs of a group x height x width, or prepared. `output_padding` counts rows and columns of the result
    behind those that windows reach. With `mirror_kernel` weights are torch's, and not mirrored already.

    Returns:
        (1, 1, batch * height * width, outputs), TILE; a tuple of it and what else was asked for.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or tensors that do not fit them.
    """
    name = "conv_transpose2d"
    config = _checked_config(conv_config)
    if config.padding_mode is not PaddingMode.Zeros:
        raise ArgumentError(f"{name} pads with zeros, got {config.padding_mode}")
    more = per_dimension(output_padding, f"`output_padding` of {name}", 2)
    windows = windows_of(name, 2, kernel_size, stride, padding, dilation)
    sizes = Convolution(batch_size, in_channels, out_channels, (input_height, input_width), windows, groups or 1)
    transposed, tensors = Transposed(sizes, more), Operands(input_tensor, weight_tensor, bias_tensor)
    check_sizes(name, transposed, *tensors.shapes)
    extents = transposed.convolution.counts if return_output_dim else None
    wanted = _Wanted(
        _ops, dtype, memory_config, compute_config, extents, return_weights_and_bias, _is_sliced(dram_slice_config)
    )
    return _transposed(transposed, tensors.there(device, name), config, wanted, mirror=mirror_kernel)


def _transposed(
    transposed: Transposed, tensors: Operands, config: Conv2dConfig, wanted: _Wanted, *, mirror: bool
) -> Any:
    if wanted.with_weights or config.weights_dtype not in {None, tensors.weight.dtype}:
        tensors = _with_prepared(
            tensors,
            transposed.sizes,
            config,
            lambda weight: prepared_transposed(wanted.ops, weight, transposed, mirror=mirror),
        )
    attributes = (*numbers_2d(transposed.sizes), transposed.more, mirror, *_of_result(tensors.input, config, wanted))
    place = _place(tensors.input, transposed.convolution, config, wanted)
    value = _placed(_CONV_TRANSPOSE2D, tensors, attributes, place, wanted)
    return wanted.result(value, tensors)
