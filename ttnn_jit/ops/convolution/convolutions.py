"""Convolutions: products of the windows of a tensor with weights, lowered to a contraction (im2col).

The functions of the host API are in ttnn_jit/ttnn/functions/convolution_calls.py. Tensors are channels last: [batch,
spatial dimensions, channels], or with all but the channels flattened, as ttnn's results are. Weights have torch's
shape, [outputs, inputs per group, kernel], or are prepared: a matrix of [taps x inputs per group, outputs].

Every element of the result is one chain of a contraction (ops/families/contraction.py), in the order kernel row, kernel
column, channel; no pair of bfloat16 spans two taps. Padding is zeros that are multiplied: they change a sum only where
a weight is infinite or NaN. In a depthwise convolution the chain consists of `multiply_add` operations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise.activation_text import activated, activated_in_torch, check_activation
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.activation_names import activation_value
from ttnn_jit.ops.language.host_call import HostCall, flat, renamed, same_on_both_sides
from ttnn_jit.ops.language.parameter import (
    CONVOLUTION_PRECISION,
    ELEMENT_TYPE,
    EXTENT_ARRAY,
    LAYOUT,
    NAME,
    OPTIONAL_TENSOR,
    PAIRS,
    SIGNLESS,
    TENSOR,
    Parameter,
)
from ttnn_jit.ops.movement.windows import WINDOWS, Windows, padded, result_spec, taps_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.configs.conv_configs import Conv2dConfig, Conv3dConfig
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Shape = Sequence[int]


@dataclass(frozen=True)
class Convolution:
    """The sizes of a convolution.

    Attributes:
        batch: The extent of the batch dimension.
        inputs: Channels of the input.
        outputs: Channels of the result.
        extents: The spatial extents of the input.
        windows: The windows along the spatial dimensions.
        groups: Channel groups that are convolved independently.
    """

    batch: int
    inputs: int
    outputs: int
    extents: tuple[int, ...]
    windows: Windows
    groups: int

    @property
    def counts(self) -> tuple[int, ...]:
        """The spatial extents of the result."""
        return self.windows.count(self.extents)

    @property
    def rows(self) -> int:
        """Elements of the result for one channel."""
        return self.batch * math.prod(self.counts)

    @property
    def taps(self) -> int:
        """Elements of a window."""
        return math.prod(self.windows.kernel)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of the input, channels last."""
        return (self.batch, *self.extents, self.inputs)

    @property
    def weights(self) -> tuple[int, ...]:
        """The shape of torch's weights."""
        return (self.outputs, self.inputs // self.groups, *self.windows.kernel)

    @property
    def matrix(self) -> tuple[int, int]:
        """The shape of prepared weights."""
        return self.taps * (self.inputs // self.groups), self.outputs

    @property
    def is_depthwise(self) -> bool:
        """Whether every output channel depends on the input channel of its index alone."""
        return self.groups == self.inputs == self.outputs > 1

    def check(self) -> None:
        """Refuse invalid sizes.

        Raises:
            ShapeError: The text names the size.
        """
        sizes = {"in_channels": self.inputs, "out_channels": self.outputs, "batch_size": self.batch}
        for name, size in {**sizes, "groups": self.groups}.items():
            if size < 1:
                raise ShapeError(f"`{name}` is {size}: it is at least 1")
        for name in ("in_channels", "out_channels"):
            if sizes[name] % self.groups:
                raise ShapeError(f"`{name}` is {sizes[name]}, which {self.groups} groups do not divide")
        _ = self.counts

    def check_operands(self, x: Shape, weight: Shape, bias: Shape | None) -> None:
        """Refuse tensors whose shapes do not fit the sizes.

        Raises:
            ShapeError: The text names the tensor.
        """
        positions = self.batch * math.prod(self.extents)
        if not x or math.prod(x[:-1]) != positions or x[-1] < self.inputs:
            sizes = "x".join(map(str, (self.batch, *self.extents)))
            raise ShapeError(
                f"the input has shape {list(x)}, and its sizes are {sizes} positions of {self.inputs} channels",
                help="channels are the last dimension: permute a tensor of torch's by (0, 2, 3, 1)",
            )
        if tuple(weight) != self.weights and not self.are_prepared(weight):
            raise ShapeError(
                f"the weights have shape {list(weight)}, and {list(self.weights)} is expected",
                help=f"prepared weights have shape {[1, 1, *self.matrix]}",
            )
        if bias is not None and math.prod(bias) != self.outputs:
            raise ShapeError(f"the bias has shape {list(bias)}, and {[1, 1, 1, self.outputs]} is expected")

    def are_prepared(self, weight: Shape) -> bool:
        """Whether weights of that shape are prepared."""
        return tuple(weight[-2:]) == self.matrix and math.prod(weight[:-2]) == 1


def _weight_matrix(ops: Ops, weight: Any, sizes: Convolution) -> Any:
    """The weights as a matrix, [taps x inputs per group, outputs]."""
    if not sizes.are_prepared(weight.shape):
        rank = len(weight.shape)
        weight = ops.permute(weight, (*range(2, rank), 1, 0))
    return ops.reshaped(weight, sizes.matrix)


def _im2col(ops: Ops, x: Any, weight: Any, sizes: Convolution) -> tuple[Any, Any]:
    """The windows of `x` as a matrix, [windows, taps x channels], and the matrix of weights with the same padding."""
    matrix, windows = _weight_matrix(ops, weight, sizes), sizes.windows
    own = sizes.inputs // sizes.groups
    # No pair of bfloat16 may span two taps: an odd number of channels is padded by one.
    odd = own % 2 and sizes.taps > 1 and all(each.spec.dtype.unpacked.is_upper_half for each in (x, weight))
    if odd:
        by_tap = ops.pad(ops.reshaped(matrix, (sizes.taps, own, sizes.outputs)), ((0, 0), (0, 1), (0, 0)), 0.0)
        matrix = ops.reshape(by_tap, (sizes.taps * (own + 1), sizes.outputs))
        if sizes.groups > 1:
            by_group = ops.reshape(x, (*x.shape[:-1], sizes.groups, own))
            by_group = ops.pad(by_group, ((0, 0),) * (len(x.shape)) + ((0, 1),), 0.0)
            x = ops.reshape(by_group, (*x.shape[:-1], sizes.groups * (own + 1)))
    x = padded(ops, x, windows, sizes.counts, 0.0, channels=int(bool(odd and sizes.groups == 1)))
    if windows.are_single_elements:
        return ops.reshaped(x, (1, 1, sizes.rows, x.shape[-1])), matrix
    found = ops.call(WINDOWS, [x], windows.kernel, windows.stride, windows.dilation)
    return ops.reshape(found, (1, 1, sizes.rows, sizes.taps * x.shape[-1])), matrix


def _product(ops: Ops, x: Any, weight: Any, sizes: Convolution, precision: str | None) -> Any:
    found, matrix = _im2col(ops, x, weight, sizes)
    if sizes.groups == 1:
        return ops.matmul(found, matrix, False, False, precision)
    groups, own = sizes.groups, found.shape[-1] // sizes.taps // sizes.groups
    by_group = ops.permute(ops.reshape(found, (sizes.rows, sizes.taps, groups, own)), (2, 0, 1, 3))
    left = ops.reshape(by_group, (groups, sizes.rows, sizes.taps * own))
    right = ops.permute(ops.reshape(matrix, (matrix.shape[0], groups, sizes.outputs // groups)), (1, 0, 2))
    product = ops.matmul(left, right, False, False, precision)
    return ops.reshape(ops.permute(product, (1, 0, 2)), (1, 1, sizes.rows, sizes.outputs))


def _depthwise(ops: Ops, x: Any, weight: Any, sizes: Convolution) -> Any:
    matrix, counts = _weight_matrix(ops, weight, sizes), sizes.counts
    taps = [padded(ops, x, sizes.windows, counts, 0.0)]
    for axis, _ in enumerate(counts, start=1):
        taps = [part for each in taps for part in taps_of(ops, each, sizes.windows, counts, axis)]
    total = None
    for index, tap in enumerate(taps):
        row = ops.reshape(ops.sliced(matrix, 0, index, index + 1), (sizes.outputs,))
        total = tap * row if total is None else ops.mac(tap, row, total)
    return total


def unflattened(ops: Ops, x: Any, sizes: Convolution) -> Any:
    """The input as [batch, spatial dimensions, channels]."""
    channels = x.shape[-1]
    x = ops.reshaped(x, (sizes.batch, *sizes.extents, channels))
    return x if channels == sizes.inputs else ops.slice(x, [0] * len(x.shape), (*x.shape[:-1], sizes.inputs))


def convolved(ops: Ops, x: Any, weight: Any, bias: Any, sizes: Convolution, *result: Any) -> Any:
    """The convolution with its bias and activation; `result` are the attributes of `RESULT`. Callers reshape it."""
    activation, dtype, _layout, precision = result
    is_product = not sizes.is_depthwise
    total = _product(ops, x, weight, sizes, precision) if is_product else _depthwise(ops, x, weight, sizes)
    if bias is not None:
        total = total + ops.reshaped(bias, (sizes.outputs,))
    return ops.rounded(activated(ops, total, activation), dtype)


def _in_torch(torch: Any, x: Any, weight: Any, bias: Any, sizes: Convolution, activation: str | None) -> Any:
    """The convolution by torch's functions, with channels last."""
    rank = len(sizes.extents)
    x = x.reshape(sizes.batch, *sizes.extents, x.shape[-1])[..., : sizes.inputs].movedim(-1, 1)
    padding = [each for pair in reversed(sizes.windows.padding) for each in pair]
    if sizes.are_prepared(weight.shape):
        weight = weight.reshape(*sizes.windows.kernel, -1, sizes.outputs).movedim(-1, 0).movedim(-1, 1)
    total = getattr(torch.nn.functional, f"conv{rank}d")(
        torch.nn.functional.pad(x, padding),
        weight,
        None if bias is None else bias.reshape(-1),
        sizes.windows.stride,
        0,
        sizes.windows.dilation,
        sizes.groups,
    )
    return activated_in_torch(torch, total, activation).movedim(1, -1)


# --- The operations ---------------------------------------------------------------------------------------------------

OPERANDS = (
    Parameter("input_tensor", TENSOR),
    Parameter("weight_tensor", TENSOR),
    Parameter("bias_tensor", OPTIONAL_TENSOR),
)
RESULT = (
    Parameter("activation", NAME),
    Parameter("dtype", ELEMENT_TYPE),
    Parameter("layout", LAYOUT),
    Parameter("compute_kernel_config", CONVOLUTION_PRECISION, ir_name="compute_config"),
)
_WINDOWS = (
    Parameter("kernel_size", EXTENT_ARRAY),
    Parameter("stride", EXTENT_ARRAY),
    Parameter("padding", PAIRS),
    Parameter("dilation", EXTENT_ARRAY),
    Parameter("groups", SIGNLESS),
)
_CHANNELS = tuple(Parameter(name, SIGNLESS) for name in ("in_channels", "out_channels", "batch_size"))
SIZES_2D = (*_CHANNELS, Parameter("input_height", SIGNLESS), Parameter("input_width", SIGNLESS), *_WINDOWS)


def sizes_2d(*attributes: Any) -> Convolution:
    """The sizes in the first attributes of a `conv2d`."""
    inputs, outputs, batch, height, width, *windows, groups = attributes[: len(SIZES_2D)]
    return Convolution(batch, inputs, outputs, (height, width), Windows(*windows), groups)


def attributes_2d(sizes: Convolution) -> tuple[Any, ...]:
    """The first attributes of a `conv2d` of these sizes."""
    return (sizes.inputs, sizes.outputs, sizes.batch, *sizes.extents, *_window_attributes(sizes))


def _window_attributes(sizes: Convolution) -> tuple[Any, ...]:
    windows = sizes.windows
    return windows.kernel, windows.stride, windows.padding, windows.dilation, sizes.groups


def flattened(x: TensorSpec, rows: int, columns: int, dtype: DataType, layout: Layout) -> TensorSpec:
    """The spec of a result in ttnn's form: all positions in one dimension."""
    return result_spec(x, (1, 1, rows, columns), dtype, layout)


def _check_all(sizes: Convolution, x: Shape, weight: Shape, bias: Shape | None, activation: str | None) -> None:
    sizes.check()
    sizes.check_operands(x, weight, bias)
    check_activation(activation)


def _check_2d(x: Shape, weight: Shape, bias: Shape | None, *attributes: Any) -> None:
    *numbers, activation, _dtype, _layout, _precision = attributes
    _check_all(sizes_2d(*numbers), x, weight, bias, activation)


def _result(x: TensorSpec, _weight: TensorSpec, _bias: TensorSpec | None, *attributes: Any) -> TensorSpec:
    *numbers, _activation, dtype, layout, _precision = attributes
    sizes = sizes_2d(*numbers)
    return flattened(x, sizes.rows, sizes.outputs, dtype, layout)


def _conv2d(ops: Ops, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
    sizes = sizes_2d(*attributes)
    total = convolved(ops, unflattened(ops, x, sizes), weight, bias, sizes, *attributes[len(SIZES_2D) :])
    return ops.reshaped(total, (1, 1, sizes.rows, sizes.outputs))


def _conv2d_golden(torch: Any, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
    sizes, activation = sizes_2d(*attributes), attributes[len(SIZES_2D)]
    return _in_torch(torch, x, weight, bias, sizes, activation).reshape(1, 1, sizes.rows, sizes.outputs)


def keywords_2d(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call of ttnn's function."""
    found = renamed(given, {"compute_kernel_config": "compute_config"}) | {"padding": flat(given["padding"])}
    activation, layout = found.pop("activation"), found.pop("layout")
    config = Conv2dConfig(activation=activation_value(activation), output_layout=layout)
    return found | {"conv_config": None if config == Conv2dConfig() else config}


CONV2D = Composite(
    name="conv2d",
    parameters=(*OPERANDS, *SIZES_2D, *RESULT),
    summary="Convolution: products of windows and weights, plus `bias`, then `activation`; one row for each window.",
    decompose=_conv2d,
    canonicalize=_check_2d,
    result=_result,
    golden=_conv2d_golden,
    aten="convolution",
    host_call=HostCall(keywords_2d, takes_device=True),
)

# --- Three dimensions -------------------------------------------------------------------------------------------------

_SIZES_3D = (*_CHANNELS, Parameter("input_extents", EXTENT_ARRAY), *_WINDOWS)


def sizes_3d(*attributes: Any) -> Convolution:
    """The sizes in the first attributes of a `conv3d`."""
    inputs, outputs, batch, extents, *windows, groups = attributes[: len(_SIZES_3D)]
    return Convolution(batch, inputs, outputs, extents, Windows(*windows), groups)


def attributes_3d(sizes: Convolution) -> tuple[Any, ...]:
    """The first attributes of a `conv3d` of these sizes."""
    return (sizes.inputs, sizes.outputs, sizes.batch, sizes.extents, *_window_attributes(sizes))


def _check_3d(x: Shape, weight: Shape, bias: Shape | None, *attributes: Any) -> None:
    _check_all(sizes_3d(*attributes), x, weight, bias, attributes[9])


def _result_3d(x: TensorSpec, _weight: TensorSpec, _bias: TensorSpec | None, *attributes: Any) -> TensorSpec:
    sizes, (dtype, layout) = sizes_3d(*attributes), attributes[10:12]
    return result_spec(x, (sizes.batch, *sizes.counts, sizes.outputs), dtype, layout)


def _conv3d(ops: Ops, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
    sizes = sizes_3d(*attributes)
    total = convolved(ops, unflattened(ops, x, sizes), weight, bias, sizes, *attributes[9:])
    return ops.reshaped(total, (sizes.batch, *sizes.counts, sizes.outputs))


def _keywords_3d(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call of ttnn's function, which infers the other sizes."""
    sizes = {name: given[name] for name in ("kernel_size", "stride", "dilation", "groups")}
    operands = {each.name: given[each.name] for each in OPERANDS}
    return {
        **operands,
        "output_channels": given["out_channels"],
        **sizes,
        "padding": same_on_both_sides(given["padding"]),
        "dtype": given["dtype"],
        "config": None if given["layout"] is Layout.ROW_MAJOR else Conv3dConfig(output_layout=given["layout"]),
        "compute_kernel_config": given["compute_kernel_config"],
    }


CONV3D = Composite(
    name="conv3d",
    parameters=(
        *OPERANDS,
        *_SIZES_3D,
        *RESULT,
    ),
    summary="Convolution in three dimensions; the result has batch, depth, height, width and channels.",
    source="ttnn.experimental.conv3d",
    decompose=_conv3d,
    canonicalize=_check_3d,
    result=_result_3d,
    golden=lambda torch, x, w, bias, *rest: _in_torch(torch, x, w, bias, sizes_3d(*rest), rest[9]),
    aten="convolution",
    host_call=HostCall(_keywords_3d, takes_device=True),
)

OPERATIONS = (CONV2D, CONV3D)
