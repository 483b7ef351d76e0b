"""Transposed convolutions: convolutions of the dilated input (zeros between its elements) with mirrored weights.

Weights have torch's shape, [inputs, outputs per group, kernel], or are prepared like those of `conv2d`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.convolution.convolutions import (
    OPERANDS,
    RESULT,
    SIZES_2D,
    Convolution,
    convolved,
    flattened,
    keywords_2d,
    sizes_2d,
    unflattened,
)
from ttnn_jit.ops.elementwise.activation_text import activated_in_torch, check_activation
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.host_call import HostCall
from ttnn_jit.ops.language.parameter import EXTENT_ARRAY, FLAG, Parameter
from ttnn_jit.ops.movement.windows import Windows
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec

Shape = Sequence[int]


@dataclass(frozen=True)
class TransposedConvolution:
    """The sizes of a transposed convolution.

    Attributes:
        sizes: Batch, channels and extents of the input and the result, with the windows of the convolution whose
            gradient this is.
        output_padding: Rows and columns that are added at the end of the result.
    """

    sizes: Convolution
    output_padding: tuple[int, ...]

    @property
    def dilated_extents(self) -> tuple[int, ...]:
        """The extents of the dilated input, with `stride - 1` zeros between its elements."""
        return tuple(
            (own - 1) * step + 1 for own, step in zip(self.sizes.extents, self.sizes.windows.stride, strict=True)
        )

    @property
    def input_padding(self) -> tuple[tuple[int, int], ...]:
        """The padding of the dilated input, (before, after) per dimension; a number below 0 crops it."""
        spans = (span - 1 for span in self.sizes.windows.spans)
        parts = zip(spans, self.sizes.windows.padding, self.output_padding, strict=True)
        return tuple((span - before, span - after + extra) for span, (before, after), extra in parts)

    @property
    def convolution(self) -> Convolution:
        """The equivalent convolution of the dilated, cropped and padded input."""
        cut = (min(0, before) + min(0, after) for before, after in self.input_padding)
        extents = tuple(own + less for own, less in zip(self.dilated_extents, cut, strict=True))
        pairs = tuple((max(0, before), max(0, after)) for before, after in self.input_padding)
        windows = Windows(self.sizes.windows.kernel, (1,) * len(pairs), pairs, self.sizes.windows.dilation)
        return replace(self.sizes, extents=extents, windows=windows)

    @property
    def weights(self) -> tuple[int, ...]:
        """The shape of torch's weights."""
        return (self.sizes.inputs, self.sizes.outputs // self.sizes.groups, *self.sizes.windows.kernel)

    def check(self) -> None:
        """Refuse invalid sizes.

        Raises:
            ShapeError: The text names the size.
        """
        if len(self.output_padding) != len(self.sizes.extents):
            raise ShapeError(
                f"the output padding is {list(self.output_padding)}: {len(self.sizes.extents)} numbers are expected"
            )
        largest = map(max, self.sizes.windows.stride, self.sizes.windows.dilation)
        if any(not 0 <= extra < most for extra, most in zip(self.output_padding, largest, strict=True)):
            raise ShapeError(
                f"the output padding is {list(self.output_padding)}: it must be below the stride or the dilation"
            )
        if min(self.convolution.extents) < 1:
            raise ShapeError(f"the padding {[list(pair) for pair in self.sizes.windows.padding]} leaves no result")
        self.convolution.check()

    def check_operands(self, x: Shape, weight: Shape, bias: Shape | None) -> None:
        """Refuse tensors whose shapes do not fit the sizes.

        Raises:
            ShapeError: The text names the tensor.
        """
        if tuple(weight) != self.weights and not self.sizes.are_prepared(weight):
            raise ShapeError(
                f"the weights have shape {list(weight)}, and {list(self.weights)} is expected",
                help=f"prepared weights have shape {[1, 1, *self.sizes.matrix]}",
            )
        self.sizes.check_operands(x, self.sizes.matrix, bias)


def transposed_matrix(ops: Ops, weight: Any, sizes: Convolution, mirror: bool) -> Any:
    """The matrix of weights of the equivalent convolution; `mirror` reverses the order of the taps."""
    if sizes.are_prepared(weight.shape):
        return ops.reshaped(weight, sizes.matrix)
    kernel, groups = sizes.windows.kernel, sizes.groups
    weight = ops.reshape(weight, (groups, sizes.inputs // groups, sizes.outputs // groups, *kernel))
    weight = ops.flip(weight, (3, 4)) if mirror else weight
    return ops.reshape(ops.permute(weight, (3, 4, 1, 0, 2)), sizes.matrix)


def _dilated_input(ops: Ops, x: Any, transposed: TransposedConvolution) -> Any:
    """The input with zeros between its elements, cropped where the padding is below 0."""
    for axis, step in enumerate(transposed.sizes.windows.stride, start=1):
        if step > 1:
            expanded = ops.reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
            padding = ((0, 0),) * (axis + 1) + ((0, step - 1),) + ((0, 0),) * (len(x.shape) - axis - 1)
            x = ops.reshape(
                ops.pad(expanded, padding, 0.0), (*x.shape[:axis], x.shape[axis] * step, *x.shape[axis + 1 :])
            )
    bounds = [
        (max(0, -before), own + min(0, after))
        for own, (before, after) in zip(transposed.dilated_extents, transposed.input_padding, strict=True)
    ]
    begins, ends = (0, *(first for first, _ in bounds), 0), (x.shape[0], *(last for _, last in bounds), x.shape[-1])
    return x if ends == x.shape and not any(begins) else ops.slice(x, begins, ends)


_PADDING = len(SIZES_2D)
"""The index of `output_padding` among the attributes; `mirror_kernel` and the attributes of the result follow."""


def transposed_2d(*attributes: Any) -> TransposedConvolution:
    """The sizes in the first attributes of a `conv_transpose2d`."""
    return TransposedConvolution(sizes_2d(*attributes), attributes[_PADDING])


def _check_transposed(x: Shape, weight: Shape, bias: Shape | None, *attributes: Any) -> None:
    transposed = transposed_2d(*attributes)
    transposed.check()
    transposed.check_operands(x, weight, bias)
    check_activation(attributes[_PADDING + 2])


def _result_transposed(x: TensorSpec, _weight: TensorSpec, _bias: TensorSpec | None, *attributes: Any) -> TensorSpec:
    sizes = transposed_2d(*attributes).convolution
    return flattened(x, sizes.rows, sizes.outputs, *attributes[_PADDING + 3 : _PADDING + 5])


def _conv_transpose2d(ops: Ops, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
    transposed, mirror = transposed_2d(*attributes), attributes[_PADDING + 1]
    matrix = transposed_matrix(ops, weight, transposed.sizes, mirror)
    x = _dilated_input(ops, unflattened(ops, x, transposed.sizes), transposed)
    sizes = transposed.convolution
    total = convolved(ops, x, matrix, bias, sizes, *attributes[_PADDING + 2 :])
    return ops.reshaped(total, (1, 1, sizes.rows, sizes.outputs))


def _transposed_golden(torch: Any, x: Any, weight: Any, bias: Any, *attributes: Any) -> Any:
    transposed, (mirror, activation) = transposed_2d(*attributes), attributes[_PADDING + 1 : _PADDING + 3]
    sizes, windows = transposed.sizes, transposed.sizes.windows
    x = x.reshape(sizes.batch, *sizes.extents, x.shape[-1])[..., : sizes.inputs].permute(0, 3, 1, 2)
    whole = torch.nn.functional.conv_transpose2d(
        x,
        weight if mirror else weight.flip(2, 3),
        None,
        windows.stride,
        0,
        transposed.output_padding,
        sizes.groups,
        windows.dilation,
    )
    (top, bottom), (left, right) = windows.padding
    total = whole[:, :, top : whole.shape[2] - bottom, left : whole.shape[3] - right]
    total = total if bias is None else total + bias.reshape(1, -1, 1, 1)
    return activated_in_torch(torch, total, activation).permute(0, 2, 3, 1).reshape(1, 1, -1, sizes.outputs)


CONV_TRANSPOSE2D = Composite(
    name="conv_transpose2d",
    parameters=(
        *OPERANDS,
        *SIZES_2D,
        Parameter("output_padding", EXTENT_ARRAY),
        Parameter("mirror_kernel", FLAG),
        *RESULT,
    ),
    summary="The gradient of `conv2d` with respect to its input, plus `bias`, then `activation`.",
    decompose=_conv_transpose2d,
    canonicalize=_check_transposed,
    result=_result_transposed,
    golden=_transposed_golden,
    aten="convolution",
    host_call=HostCall(keywords_2d, takes_device=True),
)

OPERATIONS = (CONV_TRANSPOSE2D,)
