"""Weights of convolutions as a matrix, in tiles: what a call makes of them, made once."""

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

_DECIDES_NOTHING = "decides nothing of what is prepared"
_UNREAD = "input_memory_config input_layout input_dtype output_dtype compute_config"


def on_device(tensor: Tensor, device: Device | None, what: str) -> Tensor:
    """`tensor`, or a copy on `device` where it is on the host; in a program it is what the program has.

    Raises:
        ArgumentError: There is no device.
    """
    if tensor.device() is not None:
        return tensor
    if device is None:
        raise ArgumentError(f"{what} is on the host, and no `device` is given")
    return to_device(tensor, device)


@dataclass(frozen=True)
class Operands:
    """What a convolution computes with."""

    input: Any
    weight: Any
    bias: Any

    def there(self, device: Device | None, name: str) -> Operands:
        """They, on `device` where they are on the host."""
        bias = self.bias if self.bias is None else on_device(self.bias, device, f"`bias_tensor` of {name}")
        return Operands(
            on_device(self.input, device, f"`input_tensor` of {name}"),
            on_device(self.weight, device, f"`weight_tensor` of {name}"),
            bias,
        )

    @property
    def shapes(self) -> tuple[Any, ...]:
        """Their shapes; None of a bias that is not given."""
        return tuple(None if each is None else tuple(each.shape) for each in (self.input, self.weight, self.bias))


def prepared(weight: Any, sizes: Convolution) -> Tensor:
    """Weights of torch's as a matrix, in four dimensions."""
    rank = len(weight.shape)
    return reshape(permute(weight, (*range(2, rank), 1, 0)), (1, 1, *sizes.matrix))


def prepared_transposed(ops: HostOps[Tensor], weight: Any, transposed: TransposedConvolution, *, mirror: bool) -> Any:
    """The same of a transposed convolution."""
    matrix = transposed_matrix(ops, weight, transposed.sizes, mirror)
    return reshape(matrix, (1, 1, *transposed.sizes.matrix))


def prepared_bias(bias: Any, outputs: int, dtype: DataType | None) -> Tensor:
    """A bias as a row, in four dimensions and in tiles, in `dtype` if that is given."""
    shape = (1, 1, 1, outputs)
    return in_tiles(bias if tuple(bias.shape) == shape else reshape(bias, shape), dtype)


def in_tiles(tensor: Any, dtype: DataType | None) -> Tensor:
    """`tensor` in tiles, in `dtype` if that is given."""
    if tensor.layout is not Layout.TILE:
        tensor = to_layout(tensor, Layout.TILE)
    return tensor if dtype in {None, tensor.dtype} else typecast(tensor, dtype)


@host_function(over_meshes=True, without_effect={_DECIDES_NOTHING: f"{_UNREAD} has_bias slice_config"})
@takes(PrepareConvWeightsArguments)
def prepare_conv_weights(given: PrepareConvWeightsArguments) -> Tensor:
    """The weights of a `conv2d` as a matrix on `device`, in the config's `weights_dtype` (ttnn.prepare_conv_weights).

    The arguments are those of the `conv2d`; what does not decide the matrix is checked.

    Returns:
        (1, 1, taps * input channels of a group, output channels), TILE; weights that are prepared, themselves.

    Raises:
        ArgumentError: An argument is of another kind, or the format is not "OIHW".
        ShapeError: Sizes that do not fit each other, or weights that do not fit them.
    """
    _check_format(given, "OIHW")
    sizes = given.sizes
    return _matrix(given, sizes, lambda weight: prepared(weight, sizes))


def _check_format(given: PreparingWeightsArguments, only: str) -> None:
    if given.weights_format != only:
        raise ArgumentError(f'`weights_format` of {given.function} is "{only}", got {given.weights_format!r}')


def _matrix(
    given: PreparingWeightsArguments, sizes: Convolution | TransposedConvolution, prepare: Callable[[Any], Any]
) -> Tensor:
    own = sizes.sizes if isinstance(sizes, TransposedConvolution) else sizes
    check_sizes(given.function, sizes, own.input_shape, tuple(given.weight_tensor.shape), None)
    weight = on_device(given.weight_tensor, given.device, f"`weight_tensor` of {given.function}")
    return weight if own.are_prepared(weight.shape) else in_tiles(prepare(weight), given.weights_dtype)


@host_function(over_meshes=True, without_effect={_DECIDES_NOTHING: f"{_UNREAD} slice_config"})
@takes(PrepareConvBiasArguments)
def prepare_conv_bias(given: PrepareConvBiasArguments) -> Tensor:
    """The bias of a `conv2d` as a row on `device`, in the config's `weights_dtype` (ttnn.prepare_conv_bias).

    The arguments are those of the `conv2d`; what does not decide the row is checked.

    Returns:
        (1, 1, 1, output channels), TILE.

    Raises:
        ArgumentError: An argument is of another kind.
        ShapeError: Sizes that do not fit each other, or a bias that does not fit them.
    """
    sizes = given.sizes
    check_sizes(given.function, sizes, sizes.input_shape, sizes.weights, tuple(given.bias_tensor.shape))
    bias = on_device(given.bias_tensor, given.device, f"`bias_tensor` of {given.function}")
    return prepared_bias(bias, sizes.outputs, given.weights_dtype)


@host_function(over_meshes=True, without_effect={_DECIDES_NOTHING: f"{_UNREAD} has_bias dram_slice_config"})
@takes(PrepareConvTransposeWeightsArguments)
def prepare_conv_transpose2d_weights(given: PrepareConvTransposeWeightsArguments) -> Tensor:
    """The weights of a `conv_transpose2d` as a matrix on `device` (ttnn.prepare_conv_transpose2d_weights).

    The arguments are those of the `conv_transpose2d`; what does not decide the matrix is checked.

    Returns:
        (1, 1, taps * input channels of a group, output channels), TILE; weights that are prepared, themselves.

    Raises:
        ArgumentError: An argument is of another kind, or the format is not "IOHW".
        ShapeError: Sizes that do not fit each other, or weights that do not fit them.
    """
    _check_format(given, "IOHW")
    transposed = TransposedConvolution(given.sizes, (0, 0))
    mirror = given.mirror_kernel
    return _matrix(given, transposed, lambda weight: prepared_transposed(given.ops, weight, transposed, mirror=mirror))


prepare_conv_transpose2d_bias = prepare_conv_bias
"""ttnn's other name of it: a bias does not depend on the direction."""
