"""Convolutions of the host API, composed of the operations of ttnn_jit/ops/convolution/convolutions.py.

Weights have torch's shape, on the host or on a device, or are prepared: a matrix of shape
(1, 1, taps * inputs, outputs). A call with `return_weights_and_bias` returns prepared weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.convolution.convolutions import CONV2D, Convolution, attributes_2d
from ttnn_jit.ops.convolution.transposed_convolutions import CONV_TRANSPOSE2D, TransposedConvolution
from ttnn_jit.ops.language.activation_names import activation_text
from ttnn_jit.specs.configs.conv_configs import Conv2dSliceConfig, PaddingMode, SliceType
from ttnn_jit.specs.configs.conv_shards import ConvolutionShards
from ttnn_jit.specs.tensor_spec import BufferType, Layout, MemoryConfig
from ttnn_jit.ttnn.calling.eager_functions import reshape
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.shared_parameters import takes
from ttnn_jit.ttnn.functions.convolution_arguments import (
    Conv1dArguments,
    Conv2dArguments,
    ConvolutionCallArguments,
    ConvTranspose2dArguments,
)
from ttnn_jit.ttnn.functions.prepared_weights import Operands, in_tiles, prepared, prepared_bias, prepared_transposed
from ttnn_jit.ttnn.functions.window_arguments import check_sizes, per_dimension, replicated, result_dtype

_CONV2D = TtnnOperation(CONV2D.name, (CONV2D,))
_CONV_TRANSPOSE2D = TtnnOperation(CONV_TRANSPOSE2D.name, (CONV_TRANSPOSE2D,))


@host_function(observed=False)
def get_conv_output_dim(input: int, window: int, stride: int = 1, pad: int = 0, dilation: int = 1) -> int:  # noqa: A002 - ttnn's name
    """The extent of a convolution's result along a dimension of extent `input` (ttnn.get_conv_output_dim)."""
    return (input + 2 * pad - dilation * (window - 1) - 1) // stride + 1


# --- Computation ------------------------------------------------------------------------------------------------------


def _operands(arguments: ConvolutionCallArguments) -> Operands:
    return Operands(arguments.input_tensor, arguments.weight_tensor, arguments.bias_tensor)


def _convolution(
    arguments: Conv2dArguments | Conv1dArguments, tensors: Operands, sizes: Convolution
) -> tuple[Any, Operands]:
    """The result, and its operands."""
    config = arguments.config
    check_sizes(arguments.function, sizes, *tensors.shapes)
    tensors = tensors.moved_to(arguments.device, arguments.function)
    tensors = _prepared(arguments, tensors, sizes, lambda weight: prepared(weight, sizes))
    x = tensors.input
    if config.padding_mode is PaddingMode.Replicate:
        x, sizes = _replicated(x, sizes)
    attributes = (*attributes_2d(sizes), *_result_attributes(arguments, x))
    memory_config = _memory_config(arguments, x, sizes, arguments.slice_config)
    value = _result_of(arguments, _CONV2D, replace(tensors, input=x), attributes, memory_config)
    if (
        config.deallocate_activation
        and arguments.input_tensor is tensors.input
        and tensors.input.memory_config().is_l1()
    ):
        arguments.ops.free(tensors.input)  # an input in DRAM is kept
    return value, tensors


def _prepared(
    arguments: ConvolutionCallArguments, tensors: Operands, sizes: Convolution, prepare: Callable[[Any], Any]
) -> Operands:
    """The operands; prepared weights and bias if the call returns them or asks for another weights' dtype."""
    weight, bias, dtype = tensors.weight, tensors.bias, arguments.config.weights_dtype
    if not arguments.return_weights_and_bias and dtype in {None, weight.dtype}:
        return tensors
    if not sizes.are_prepared(weight.shape):
        weight = in_tiles(prepare(weight), dtype)
    return Operands(tensors.input, weight, bias if bias is None else prepared_bias(bias, sizes.outputs, dtype))


def _replicated(x: Any, sizes: Convolution) -> tuple[Any, Convolution]:
    """`x` padded by replication of its edges, and the sizes of a convolution without padding."""
    x, windows = replicated(reshape(x, (sizes.batch, *sizes.extents, x.shape[-1])), sizes.windows)
    return x, replace(sizes, extents=tuple(x.shape[1:-1]), windows=windows)


def _result_attributes(arguments: ConvolutionCallArguments, x: Any) -> tuple[Any, ...]:
    config = arguments.config
    activation = None if config.activation in {None, ""} else activation_text(config.activation)
    return (
        activation,
        result_dtype(config.dtype if arguments.dtype is None else arguments.dtype, x),
        config.output_layout,
    )


def _memory_config(
    arguments: ConvolutionCallArguments, x: Any, sizes: Convolution, slices: Conv2dSliceConfig | None
) -> MemoryConfig | None:
    """The sharded L1 config of the result; None for DRAM slices, an explicit config, and inputs in host memory."""
    lies = x.memory_config()
    is_sliced = slices is not None and slices.slice_type is not SliceType.L1_FULL
    if is_sliced or arguments.memory_config is not None or lies.buffer_type is BufferType.SYSTEM_MEMORY:
        return None
    is_product = sizes.windows.are_single_elements and sizes.groups == 1 and not any(map(any, sizes.windows.padding))
    tiled = arguments.config.output_layout is Layout.TILE
    cores = x.device().compute_with_storage_grid_size()
    return ConvolutionShards(sizes.rows, sizes.outputs, is_product, tiled, (cores.y, cores.x)).config(
        arguments.config, lies
    )


def _result_of(
    arguments: ConvolutionCallArguments,
    operation: TtnnOperation,
    tensors: Operands,
    attributes: Sequence[Any],
    memory_config: MemoryConfig | None,
) -> Any:
    """The result of `operation`, in `memory_config` if that is given."""
    operands = tensors.input, tensors.weight, tensors.bias, *attributes, arguments.compute_config
    if memory_config is None:
        return operation(*operands, memory_config=arguments.memory_config)
    return arguments.ops.with_memory_config(operation, operands, memory_config)


def _with_requested_results(arguments: ConvolutionCallArguments, value: Any, tensors: Operands, extents: Any) -> Any:
    """The result, or a tuple of it and the further results that the call requests."""
    others = [extents] * arguments.return_output_dim + [
        (tensors.weight, tensors.bias)
    ] * arguments.return_weights_and_bias
    return (value, *others) if others else value


# --- Calls ------------------------------------------------------------------------------------------------------------


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True)
@takes(Conv2dArguments)
def conv2d(arguments: Conv2dArguments) -> Any:
    """The convolution of a tensor with weights, plus a bias (ttnn.conv2d).

    Returns:
        (1, 1, batch * height * width, outputs), TILE; a tuple of it and further results, if they are requested.

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: The sizes are inconsistent, or do not fit the tensors.
        L1CapacityError: The shards of the result do not fit in L1.
    """
    sizes = arguments.sizes
    return _with_requested_results(arguments, *_convolution(arguments, _operands(arguments), sizes), sizes.counts)


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True)
@takes(Conv1dArguments)
def conv1d(arguments: Conv1dArguments) -> Any:
    """`conv2d` of images of one row (ttnn.conv1d).

    Returns:
        (1, 1, batch * length, outputs), TILE; a tuple of it and further results, if they are requested.

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: The sizes are inconsistent, or do not fit the tensors.
    """
    sizes = arguments.sizes
    tensors = _operands(arguments).moved_to(arguments.device, arguments.function)
    if len(tensors.weight.shape) == 3:
        *channels, taps = tensors.weight.shape
        tensors = replace(tensors, weight=reshape(tensors.weight, (*channels, 1, taps)))
    return _with_requested_results(arguments, *_convolution(arguments, tensors, sizes), sizes.counts[1])


@host_function(in_programs=True, over_meshes=True, accepts_foreign=True)
@takes(ConvTranspose2dArguments)
def conv_transpose2d(arguments: ConvTranspose2dArguments) -> Any:
    """The gradient of `conv2d` with respect to its input, plus a bias (ttnn.conv_transpose2d).

    The input has the sizes of the result of that `conv2d`.

    Returns:
        (1, 1, batch * height * width, outputs), TILE; a tuple of it and further results, if they are requested.

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: The sizes are inconsistent, or do not fit the tensors.
    """
    name, mirror = arguments.function, arguments.mirror_kernel
    if arguments.config.padding_mode is not PaddingMode.Zeros:
        raise ArgumentError(f"{name} pads with zeros, got {arguments.config.padding_mode}")
    more = per_dimension(arguments.output_padding, f"`output_padding` of {name}", 2)
    sizes, tensors = arguments.sizes, _operands(arguments)
    transposed = TransposedConvolution(sizes, more)
    check_sizes(name, transposed, *tensors.shapes)
    tensors = tensors.moved_to(arguments.device, name)
    tensors = _prepared(
        arguments, tensors, sizes, lambda weight: prepared_transposed(arguments.ops, weight, transposed, mirror=mirror)
    )
    attributes = (*attributes_2d(sizes), more, mirror, *_result_attributes(arguments, tensors.input))
    memory_config = _memory_config(arguments, tensors.input, transposed.convolution, arguments.dram_slice_config)
    value = _result_of(arguments, _CONV_TRANSPOSE2D, tensors, attributes, memory_config)
    return _with_requested_results(arguments, value, tensors, transposed.convolution.counts)
