"""Upsampling of images by factors that are not whole numbers, with the nearest elements or bilinear interpolation."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.convolution.resampling import MODES, check_images, check_mode, interpolated_in_torch
from ttnn_jit.ops.families.routine import Routine, RoutineLoops
from ttnn_jit.ops.language.parameter import NAME, TENSOR, Parameter
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Dim
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import TensorSpec

Shape = Sequence[int]


def _resized(extent: int, factor: str) -> int:
    return math.floor(extent * float(factor))


def _loop(load: Any, store: Any) -> Any:
    """Multiplies an index of the result by the inverse of the factor, as torch does.

    As in torch, the inverse is exactly 1 for an extent that stays, and exactly 0.5 for one that doubles in mode
    nearest.
    """
    from numpy import float32  # what numba rounds to

    def loop(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        x, xh, xw, xc, result, rh, rw, rc, height, width, rows, columns, channels, down, across, nearest
    ):
        if rows == height:
            down = 1.0
        elif rows == 2 * height and nearest:
            down = 0.5
        if columns == width:
            across = 1.0
        elif columns == 2 * width and nearest:
            across = 0.5
        for i in range(rows):
            at = float32(i * down) if nearest else max((i + 0.5) * down - 0.5, 0.0)
            top = min(int(at), height - 1)
            low, bottom = min(at - top, 1.0), min(top + 1, height - 1)
            for j in range(columns):
                at = float32(j * across) if nearest else max((j + 0.5) * across - 0.5, 0.0)
                left = min(int(at), width - 1)
                far, right = min(at - left, 1.0), min(left + 1, width - 1)
                for c in range(channels):
                    to = i * rh + j * rw + c * rc
                    if nearest:
                        result[to] = x[top * xh + left * xw + c * xc]
                        continue
                    above = load(x[top * xh + left * xw + c * xc]) * (1.0 - far)
                    above += load(x[top * xh + right * xw + c * xc]) * far
                    below = load(x[bottom * xh + left * xw + c * xc]) * (1.0 - far)
                    below += load(x[bottom * xh + right * xw + c * xc]) * far
                    result[to] = store(above * (1.0 - low) + below * low)

    return loop


def _inverse(factor: str, mode: str) -> float:
    """The inverse of a factor; in mode nearest rounded to float32, as in torch."""
    inverse = 1.0 / float(factor)
    return float(struct.unpack("f", struct.pack("f", inverse))[0]) if mode == MODES[0] else inverse


def _constants(height: str, width: str, mode: str) -> tuple[float, float, int]:
    return _inverse(height, mode), _inverse(width, mode), int(mode == MODES[0])


def _check(shape: Shape, height: str, width: str, mode: str) -> None:
    check_images(shape)
    check_mode(mode)
    for extent, factor in zip(shape[1:3], (height, width), strict=True):
        if not (0 < float(factor) < math.inf and _resized(extent, factor) > 0):
            raise ShapeError(f"a factor of {factor} leaves nothing of {extent} elements", help="it is above 0")


def _resized_shape(shape: Shape, height: str, width: str) -> tuple[int, ...]:
    return shape[0], _resized(shape[1], height), _resized(shape[2], width), shape[3]


def _loops(shape: Shape, height: str, width: str, _: str) -> RoutineLoops:
    batch, rows, columns, channels = _resized_shape(shape, height, width)
    extents = (batch, shape[1], shape[2], rows, columns, channels)
    image, made = (Access(extents, tuple(map(Dim, dims))) for dims in ((0, 1, 2, 5), (0, 3, 4, 5)))
    return RoutineLoops(extents, 5, (image, made))


def _result(x: TensorSpec, height: str, width: str, _: str) -> tuple[TensorSpec, ...]:
    return (x.interleaved.with_(shape=_resized_shape(tuple(x.shape), height, width)),)


RESCALE = Routine(
    name="upsample_by_fractions",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("scale_height", NAME),
        Parameter("scale_width", NAME),
        Parameter("mode", NAME),
    ),
    summary="Images upsampled by decimal factors, with the nearest elements or bilinear interpolation.",
    source="ttnn.upsample",
    loop=_loop,
    loops=_loops,
    canonicalize=_check,
    result=_result,
    operand_dtypes=(FLOATS,),
    constants=_constants,
    golden=interpolated_in_torch,
)

OPERATIONS = (RESCALE,)
