"""Prepared weights of convolutions: a matrix in tiles, computed once instead of at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.convolution.convolutions import Convolution
from ttnn_jit.ops.convolution.transposed_convolutions import TransposedConvolution, transposed_matrix
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout
from ttnn_jit.ttnn.calling.eager_functions import permute, reshape
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.shared_parameters import takes
from ttnn_jit.ttnn.functions.convolution_arguments import (
    PrepareConvBiasArguments,
    PrepareConvTransposeWeightsArguments,
    PrepareConvWeightsArguments,
    PreparingWeightsArguments,
)
from ttnn_jit.ttnn.functions.window_arguments import check_sizes
from ttnn_jit.ttnn.tensors.transfers import to_device, to_layout, typecast

_NO_EFFECT = "does not affect the prepared tensor"
_UNUSED = "input_memory_config input_layout input_dtype output_dtype compute_config"


def on_device(tensor: Tensor, device: Device | None, what: str) -> Tensor:
    """`tensor`, or a copy on `device` if it is on the host; in a program the program's tensor.

    Raises:
        ArgumentError: The tensor is on the host, and no device is given.
    """
    if tensor.device() is not None:
        return tensor
    if device is None:
        raise ArgumentError(f"{what} is on the host, and no `device` is given")
    return to_device(tensor, device)


@dataclass(frozen=True)
class Operands:
    """The operands of a convolution."""

    input: Any
    weight: Any
    bias: Any

    def moved_to(self, device: Device | None, name: str) -> Operands:
        """The operands, with copies on `device` of those on the host."""
        bias = self.bias if self.bias is None else on_device(self.bias, device, f"`bias_tensor` of {name}")
        return Operands(
            on_device(self.input, device, f"`input_tensor` of {name}"),
            on_device(self.weight, device, f"`weight_tensor` of {name}"),
            bias,
        )

    @property
    def shapes(self) -> tuple[Any, ...]:
        """The shapes of the operands; None for a missing bias."""
        return tuple(None if each is None else tuple(each.shape) for each in (self.input, self.weight, self.bias))


def prepared(weight: Any, sizes: Convolution) -> Tensor:
    """Weights of torch's shape as a matrix of rank 4."""
    rank = len(weight.shape)
    return reshape(permute(weight, (*range(2, rank), 1, 0)), (1, 1, *sizes.matrix))


def prepared_transposed(ops: HostOps[Tensor], weight: Any, transposed: TransposedConvolution, *, mirror: bool) -> Any:
    """Weights of a transposed convolution as a matrix of rank 4."""
    matrix = transposed_matrix(ops, weight, transposed.sizes, mirror)
    return reshape(matrix, (1, 1, *transposed.sizes.matrix))


def prepared_bias(bias: Any, outputs: int, dtype: DataType | None) -> Tensor:
    """A bias as a row of rank 4 in tiles, in `dtype` if that is given."""
    shape = (1, 1, 1, outputs)
    return in_tiles(bias if tuple(bias.shape) == shape else reshape(bias, shape), dtype)


def in_tiles(tensor: Any, dtype: DataType | None) -> Tensor:
    """`tensor` in tiles, in `dtype` if that is given."""
    if tensor.layout is not Layout.TILE:
        tensor = to_layout(tensor, Layout.TILE)
    return tensor if dtype in {None, tensor.dtype} else typecast(tensor, dtype)


@host_function(over_meshes=True, without_effect={_NO_EFFECT: f"{_UNUSED} has_bias slice_config"})
@takes(PrepareConvWeightsArguments)
def prepare_conv_weights(arguments: PrepareConvWeightsArguments) -> Tensor:
    """The weights of a `conv2d` as a matrix on `device`, in the config's `weights_dtype` (ttnn.prepare_conv_weights).

    The arguments are those of the `conv2d`; arguments that do not affect the matrix are checked.

    Returns:
        (1, 1, taps * input channels of a group, output channels), TILE; prepared weights are returned unchanged.

    Raises:
        ArgumentError: An argument has the wrong type, or the format is not "OIHW".
        ShapeError: The sizes are inconsistent, or do not fit the weights.
    """
    _check_format(arguments, "OIHW")
    sizes = arguments.sizes
    return _matrix(arguments, sizes, lambda weight: prepared(weight, sizes))


def _check_format(arguments: PreparingWeightsArguments, only: str) -> None:
    if arguments.weights_format != only:
        raise ArgumentError(f'`weights_format` of {arguments.function} is "{only}", got {arguments.weights_format!r}')


def _matrix(
    arguments: PreparingWeightsArguments, sizes: Convolution | TransposedConvolution, prepare: Callable[[Any], Any]
) -> Tensor:
    own = sizes.sizes if isinstance(sizes, TransposedConvolution) else sizes
    check_sizes(arguments.function, sizes, own.input_shape, tuple(arguments.weight_tensor.shape), None)
    weight = on_device(arguments.weight_tensor, arguments.device, f"`weight_tensor` of {arguments.function}")
    return weight if own.are_prepared(weight.shape) else in_tiles(prepare(weight), arguments.weights_dtype)


@host_function(over_meshes=True, without_effect={_NO_EFFECT: f"{_UNUSED} slice_config"})
@takes(PrepareConvBiasArguments)
def prepare_conv_bias(arguments: PrepareConvBiasArguments) -> Tensor:
    """The bias of a `conv2d` as a row on `device`, in the config's `weights_dtype` (ttnn.prepare_conv_bias).

    The arguments are those of the `conv2d`; arguments that do not affect the row are checked.

    Returns:
        (1, 1, 1, output channels), TILE.

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: The sizes are inconsistent, or do not fit the bias.
    """
    sizes = arguments.sizes
    check_sizes(arguments.function, sizes, sizes.input_shape, sizes.weights, tuple(arguments.bias_tensor.shape))
    bias = on_device(arguments.bias_tensor, arguments.device, f"`bias_tensor` of {arguments.function}")
    return prepared_bias(bias, sizes.outputs, arguments.weights_dtype)


@host_function(over_meshes=True, without_effect={_NO_EFFECT: f"{_UNUSED} has_bias dram_slice_config"})
@takes(PrepareConvTransposeWeightsArguments)
def prepare_conv_transpose2d_weights(arguments: PrepareConvTransposeWeightsArguments) -> Tensor:
    """The weights of a `conv_transpose2d` as a matrix on `device` (ttnn.prepare_conv_transpose2d_weights).

    The arguments are those of the `conv_transpose2d`; arguments that do not affect the matrix are checked.

    Returns:
        (1, 1, taps * input channels of a group, output channels), TILE; prepared weights are returned unchanged.

    Raises:
        ArgumentError: An argument has the wrong type, or the format is not "IOHW".
        ShapeError: The sizes are inconsistent, or do not fit the weights.
    """
    _check_format(arguments, "IOHW")
    transposed = TransposedConvolution(arguments.sizes, (0, 0))
    mirror = arguments.mirror_kernel
    return _matrix(
        arguments, transposed, lambda weight: prepared_transposed(arguments.ops, weight, transposed, mirror=mirror)
    )


prepare_conv_transpose2d_bias = prepare_conv_bias
"""ttnn's name for transposed convolutions, whose bias is prepared in the same way."""
