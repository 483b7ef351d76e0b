"""Space-to-depth folds: blocks of positions become channels, and a strided convolution one with stride 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import MacroOperation, Ops, Value
from ttnn_jit.ops.families.movement import OPERAND
from ttnn_jit.ops.language.parameter import CHOICE, CONFIG, DIMENSION, EXTENTS, IGNORED, Parameter
from ttnn_jit.ops.movement.data_movement import PERMUTE, RESHAPE
from ttnn_jit.ops.movement.padding import PAD, Padding

_PADDED = (
    Parameter("padding", EXTENTS, ()),
    *(Parameter(name, DIMENSION, 0) for name in ("pad_c", "pad_h", "pad_w")),
    Parameter("grid_size", IGNORED),
    Parameter("override_memory_config", CONFIG),
)
_STRIDES = (Parameter("stride_h", DIMENSION), Parameter("stride_w", DIMENSION))


def _padding_of(padding: Sequence[int], channels: int, pad_rows: int, pad_columns: int) -> Padding:
    """The padding of images, rows, columns and channels, from either of ttnn's two forms of arguments."""
    if padding and any((channels, pad_rows, pad_columns)):
        raise ShapeError("`padding` and `pad_c`, `pad_h`, `pad_w` are two forms of one argument", help="give one")
    if len(padding) not in {0, 2, 4, 6}:
        raise ShapeError(f"`padding` must have 2, 4 or 6 numbers, got {list(padding)}")
    if len(padding) == 2:
        padding = [each for each in padding for _ in range(2)]
    pairs = (*padding, 0, 0) if padding else (pad_rows, pad_rows, pad_columns, pad_columns, 0, channels)
    top, bottom, left, right, front, back = pairs[:6]
    return (0, 0), (top, bottom), (left, right), (front, back)


def _space_to_depth(ops: Ops, x: Value, strides: Sequence[int], padding: Padding) -> Value:
    """`x` is images x rows x columns x channels."""
    if any(map(any, padding)):
        x = ops.call(PAD, [x], padding, 0.0)
    down, across = strides
    images, rows, columns, channels = x.shape
    if min(down, across) < 1 or rows % down or columns % across:
        raise ShapeError(
            f"images of {rows} x {columns} have no blocks of {down} x {across}",
            help="the strides must divide the padded rows and columns",
        )
    blocks = ops.call(RESHAPE, [x], (images, rows // down, down, columns // across, across, channels))
    permuted = ops.call(PERMUTE, [blocks], (0, 1, 3, 2, 4, 5))
    return ops.call(RESHAPE, [permuted], (images, rows // down, columns // across, down * across * channels))


def _check_rank(x: Value, dimensions: str) -> Value:
    if len(x.shape) != 4:
        raise ShapeError(f"a tensor of shape {list(x.shape)} is not {dimensions}")
    return x


def _fold(ops: Ops, x: Value, down: int, across: int, *padding: Any) -> Value:
    return _space_to_depth(
        ops, _check_rank(x, "images x rows x columns x channels"), (down, across), _padding_of(*padding)
    )


def _fold_transposed(ops: Ops, x: Value, down: int, across: int, *padding: Any) -> Value:
    channels_last = ops.call(PERMUTE, [_check_rank(x, "images x channels x rows x columns")], (0, 2, 3, 1))
    return _space_to_depth(ops, channels_last, (down, across), _padding_of(*padding))


def _golden(torch: Any, x: Any, down: int, across: int, *padding: Any) -> Any:
    _, (top, bottom), (left, right), (front, back) = _padding_of(*padding)
    x = torch.nn.functional.pad(x, (left, right, top, bottom, front, back))
    images, _, rows, columns = x.shape
    blocks = x.unfold(2, down, down).unfold(3, across, across)  # images, channels, rows, columns, and those of a block
    return blocks.permute(0, 2, 3, 4, 5, 1).reshape(images, rows // down, columns // across, -1)


FOLD = MacroOperation(
    name="fold",
    parameters=(OPERAND, *_STRIDES, Parameter("use_transpose_as_fold", CHOICE, default=False), *_PADDED),
    summary="Images whose blocks of `stride_h` rows and `stride_w` columns become the channels of one position.",
    decompose=_fold,
    golden=lambda torch, x, *numbers: _golden(torch, x.permute(0, 3, 1, 2), *numbers),
    examples=(
        (((2, 4, 6, 3),), (2, 3, (), 0, 0, 0)),
        (((1, 3, 5, 32),), (1, 1, (), 0, 0, 0)),
        (((1, 3, 5, 2),), (2, 2, (1, 0, 0, 1), 0, 0, 0)),
    ),
)
FOLD_TRANSPOSED = MacroOperation(
    name="fold",
    ttnn_name="fold_transposed",
    parameters=(OPERAND, *_STRIDES, Parameter("use_transpose_as_fold", CHOICE, default=True), *_PADDED),
    summary="The same for images in channels-first order; the result is channels-last.",
    decompose=_fold_transposed,
    golden=_golden,
    examples=(
        (((2, 3, 4, 6),), (2, 3, (), 0, 0, 0)),
        (((1, 3, 8, 6),), (2, 2, (), 1, 3, 2)),
        (((1, 2, 3, 6),), (1, 3, (1, 2, 0, 3, 0, 1), 0, 0, 0)),
        (((1, 2, 2, 4),), (2, 2, (1, 2), 0, 0, 0)),
    ),
)

OPERATIONS = (FOLD, FOLD_TRANSPOSED)
