"""Convolutions of the host API, over the operations of ttnn_jit/ops/convolution/convolutions.py.

Weights come as torch has them, on the host or on a device, or prepared: a matrix of taps and input channels by output
channels, (1, 1, taps * inputs, outputs), which is also what a call gives back that is asked for its weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.convolution.convolutions import CONV2D, Convolution, numbers_2d
from ttnn_jit.ops.convolution.transposed_convolutions import CONV_TRANSPOSE2D, Transposed
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
    ConvolvingArguments,
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


# --- What is computed -------------------------------------------------------------------------------------------------


def _operands(given: ConvolvingArguments) -> Operands:
    return Operands(given.input_tensor, given.weight_tensor, given.bias_tensor)


def _convolved(given: Conv2dArguments | Conv1dArguments, tensors: Operands, sizes: Convolution) -> tuple[Any, Operands]:
    """The result, and the operands that it was made of."""
    config = given.config
    check_sizes(given.function, sizes, *tensors.shapes)
    tensors = tensors.there(given.device, given.function)
    tensors = _prepared(given, tensors, sizes, lambda weight: prepared(weight, sizes))
    x = tensors.input
    if config.padding_mode is PaddingMode.Replicate:
        x, sizes = _replicated(x, sizes)
    attributes = (*numbers_2d(sizes), *_of_result(given, x))
    memory_config = _memory_config(given, x, sizes, given.slice_config)
    value = _requested(given, _CONV2D, replace(tensors, input=x), attributes, memory_config)
    if config.deallocate_activation and given.input_tensor is tensors.input and tensors.input.memory_config().is_l1():
        given.ops.free(tensors.input)  # what lies in DRAM stays
    return value, tensors


def _prepared(
    given: ConvolvingArguments, tensors: Operands, sizes: Convolution, prepare: Callable[[Any], Any]
) -> Operands:
    """The operands; where they are asked for, or of another type, weights as a matrix and the bias as a row."""
    weight, bias, dtype = tensors.weight, tensors.bias, given.config.weights_dtype
    if not given.return_weights_and_bias and dtype in {None, weight.dtype}:
        return tensors
    if not sizes.are_prepared(weight.shape):
        weight = in_tiles(prepare(weight), dtype)
    return Operands(tensors.input, weight, bias if bias is None else prepared_bias(bias, sizes.outputs, dtype))


def _replicated(x: Any, sizes: Convolution) -> tuple[Any, Convolution]:
    """`x` with its edges repeated around it, and the sizes of a convolution that adds no zeros."""
    x, windows = replicated(reshape(x, (sizes.batch, *sizes.extents, x.shape[-1])), sizes.windows)
    return x, replace(sizes, extents=tuple(x.shape[1:-1]), windows=windows)


def _of_result(given: ConvolvingArguments, x: Any) -> tuple[Any, ...]:
    config = given.config
    activation = None if config.activation in {None, ""} else activation_text(config.activation)
    return activation, result_dtype(config.dtype if given.dtype is None else given.dtype, x), config.output_layout


def _memory_config(
    given: ConvolvingArguments, x: Any, sizes: Convolution, slices: Conv2dSliceConfig | None
) -> MemoryConfig | None:
    """Where the result lies in L1; None: in DRAM, as slices along it do, where the call says, or on torch's side."""
    lies = x.memory_config()
    is_sliced = slices is not None and slices.slice_type is not SliceType.L1_FULL
    if is_sliced or given.memory_config is not None or lies.buffer_type is BufferType.SYSTEM_MEMORY:
        return None
    is_product = sizes.windows.are_single_elements and sizes.groups == 1 and not any(map(any, sizes.windows.padding))
    tiled = given.config.output_layout is Layout.TILE
    cores = x.device().compute_with_storage_grid_size()
    return ConvolutionShards(sizes.rows, sizes.outputs, is_product, tiled, (cores.y, cores.x)).config(
        given.config, lies
    )


def _requested(
    given: ConvolvingArguments,
    operation: TtnnOperation,
    tensors: Operands,
    attributes: Sequence[Any],
    memory_config: MemoryConfig | None,
) -> Any:
    """The result of `operation`, in `memory_config` where that is given."""
    operands = tensors.input, tensors.weight, tensors.bias, *attributes, given.compute_config
    if memory_config is None:
        return operation(*operands, memory_config=given.memory_config)
    return given.ops.with_memory_config(operation, operands, memory_config)


def _with_others(given: ConvolvingArguments, value: Any, tensors: Operands, extents: Any) -> Any:
    """The result, and in a tuple with it what else is asked for."""
    others = [extents] * given.return_output_dim + [(tensors.weight, tensors.bias)] * given.return_weights_and_bias
    return (value, *others) if others else value


# --- Calls ------------------------------------------------------------------------------------------------------------


@host_function(in_programs=True, over_meshes=True, on_copies=True)
@takes(Conv2dArguments)
def conv2d(given: Conv2dArguments) -> Any:
    """The products of windows of a tensor and weights, added up, plus a bias (ttnn.conv2d).

    Returns:
        (1, 1, batch * height * width, outputs), TILE; a tuple of it and what else was asked for.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or tensors that do not fit them.
        L1CapacityError: The shards of the result do not fit in L1.
    """
    sizes = given.sizes
    return _with_others(given, *_convolved(given, _operands(given), sizes), sizes.counts)


@host_function(in_programs=True, over_meshes=True, on_copies=True)
@takes(Conv1dArguments)
def conv1d(given: Conv1dArguments) -> Any:
    """`conv2d` of images of one row (ttnn.conv1d).

    Returns:
        (1, 1, batch * length, outputs), TILE; a tuple of it and what else was asked for.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or tensors that do not fit them.
    """
    sizes = given.sizes
    tensors = _operands(given).there(given.device, given.function)
    if len(tensors.weight.shape) == 3:
        *channels, taps = tensors.weight.shape
        tensors = replace(tensors, weight=reshape(tensors.weight, (*channels, 1, taps)))
    return _with_others(given, *_convolved(given, tensors, sizes), sizes.counts[1])


@host_function(in_programs=True, over_meshes=True, on_copies=True)
@takes(ConvTranspose2dArguments)
def conv_transpose2d(given: ConvTranspose2dArguments) -> Any:
    """The gradient of `conv2d` with respect to its input, plus a bias (ttnn.conv_transpose2d).

    Sizes are seen from the result of the `conv2d`.

    Returns:
        (1, 1, batch * height * width, outputs), TILE; a tuple of it and what else was asked for.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or tensors that do not fit them.
    """
    name, mirror = given.function, given.mirror_kernel
    if given.config.padding_mode is not PaddingMode.Zeros:
        raise ArgumentError(f"{name} pads with zeros, got {given.config.padding_mode}")
    more = per_dimension(given.output_padding, f"`output_padding` of {name}", 2)
    sizes, tensors = given.sizes, _operands(given)
    transposed = Transposed(sizes, more)
    check_sizes(name, transposed, *tensors.shapes)
    tensors = tensors.there(given.device, name)
    tensors = _prepared(
        given, tensors, sizes, lambda weight: prepared_transposed(given.ops, weight, transposed, mirror=mirror)
    )
    attributes = (*numbers_2d(sizes), more, mirror, *_of_result(given, tensors.input))
    memory_config = _memory_config(given, tensors.input, transposed.convolution, given.dram_slice_config)
    value = _requested(given, _CONV_TRANSPOSE2D, tensors, attributes, memory_config)
    return _with_others(given, value, tensors, transposed.convolution.counts)
