"""Transposed convolutions: convolutions of the input with zeros between its elements, by mirrored weights.

Weights are those of torch, inputs x outputs of a group x kernel, or prepared as those of `conv2d` are.
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
    sizes_2d,
    unflattened,
)
from ttnn_jit.ops.elementwise.activation_text import activated_in_torch, check_activation
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.language.parameter import EXTENT_ARRAY, FLAG, Parameter
from ttnn_jit.ops.movement.windows import Windows
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec

Shape = Sequence[int]


@dataclass(frozen=True)
class Transposed:
    """The sizes of a transposed convolution.

    Attributes:
        sizes: Those of the convolution whose gradient it is, seen from its result: what is the input here.
        more: Rows and columns of the result behind those that windows reach.
    """

    sizes: Convolution
    more: tuple[int, ...]

    @property
    def stuffed(self) -> tuple[int, ...]:
        """The extents of the input with `stride - 1` zeros between its elements."""
        return tuple(
            (own - 1) * step + 1 for own, step in zip(self.sizes.extents, self.sizes.windows.stride, strict=True)
        )

    @property
    def around(self) -> tuple[tuple[int, int], ...]:
        """The zeros around that; below 0, what is cut off."""
        spans = (span - 1 for span in self.sizes.windows.spans)
        parts = zip(spans, self.sizes.windows.padding, self.more, strict=True)
        return tuple((span - before, span - after + more) for span, (before, after), more in parts)

    @property
    def convolution(self) -> Convolution:
        """The convolution of what is left of the stuffed input, with zeros around it, that it is."""
        cut = (min(0, before) + min(0, after) for before, after in self.around)
        extents = tuple(own + less for own, less in zip(self.stuffed, cut, strict=True))
        pairs = tuple((max(0, before), max(0, after)) for before, after in self.around)
        windows = Windows(self.sizes.windows.kernel, (1,) * len(pairs), pairs, self.sizes.windows.dilation)
        return replace(self.sizes, extents=extents, windows=windows)

    @property
    def weights(self) -> tuple[int, ...]:
        """The shape of weights as torch has them."""
        return (self.sizes.inputs, self.sizes.outputs // self.sizes.groups, *self.sizes.windows.kernel)

    def check(self) -> None:
        """Refuse sizes that are none.

        Raises:
            ShapeError: The text says which.
        """
        if len(self.more) != len(self.sizes.extents):
            raise ShapeError(f"the output padding is {list(self.more)}: {len(self.sizes.extents)} numbers are wanted")
        largest = map(max, self.sizes.windows.stride, self.sizes.windows.dilation)
        if any(not 0 <= more < most for more, most in zip(self.more, largest, strict=True)):
            raise ShapeError(f"the output padding is {list(self.more)}: it is below the stride or the dilation")
        if min(self.convolution.extents) < 1:
            raise ShapeError(f"the padding {[list(pair) for pair in self.sizes.windows.padding]} leaves no result")
        self.convolution.check()

    def check_operands(self, x: Shape, weight: Shape, bias: Shape | None) -> None:
        """Refuse tensors of other sizes.

        Raises:
            ShapeError: The text says which.
        """
        if tuple(weight) != self.weights and not self.sizes.are_prepared(weight):
            raise ShapeError(
                f"the weights have shape {list(weight)}, and {list(self.weights)} is wanted",
                help=f"or prepared ones, {[1, 1, *self.sizes.matrix]}",
            )
        self.sizes.check_operands(x, self.sizes.matrix, bias)


def transposed_matrix(ops: Ops, weight: Any, sizes: Convolution, mirror: bool) -> Any:
    """Weights of a transposed convolution by tap, from the last to the first if they are to be mirrored."""
    if sizes.are_prepared(weight.shape):
        return ops.reshaped(weight, sizes.matrix)
    kernel, groups = sizes.windows.kernel, sizes.groups
    weight = ops.reshape(weight, (groups, sizes.inputs // groups, sizes.outputs // groups, *kernel))
    weight = ops.flip(weight, (3, 4)) if mirror else weight
    return ops.reshape(ops.permute(weight, (3, 4, 1, 0, 2)), sizes.matrix)


def _stuffed(ops: Ops, x: Any, transposed: Transposed) -> Any:
    """The input with zeros between its elements, cut where less is wanted."""
    for axis, step in enumerate(transposed.sizes.windows.stride, start=1):
        if step > 1:
            apart = ops.reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
            pairs = ((0, 0),) * (axis + 1) + ((0, step - 1),) + ((0, 0),) * (len(x.shape) - axis - 1)
            x = ops.reshape(ops.pad(apart, pairs, 0.0), (*x.shape[:axis], x.shape[axis] * step, *x.shape[axis + 1 :]))
    cuts = [
        (max(0, -before), own + min(0, after))
        for own, (before, after) in zip(transposed.stuffed, transposed.around, strict=True)
    ]
    begins, ends = (0, *(first for first, _ in cuts), 0), (x.shape[0], *(last for _, last in cuts), x.shape[-1])
    return x if ends == x.shape and not any(begins) else ops.slice(x, begins, ends)


_PADDING = len(SIZES_2D)
"""The index of the output padding among the attributes: the mirror follows, and then those of the result."""


def transposed_2d(*attributes: Any) -> Transposed:
    """The sizes that the first attributes of a `conv_transpose2d` say."""
    return Transposed(sizes_2d(*attributes), attributes[_PADDING])


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
    x = _stuffed(ops, unflattened(ops, x, transposed.sizes), transposed)
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
        transposed.more,
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
)

OPERATIONS = (CONV_TRANSPOSE2D,)
