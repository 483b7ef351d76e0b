"""Images of another size: repeated or interpolated between their elements, or sampled where a grid says.

Tensors have a batch, height, width and channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.composite import Composite
from ttnn_jit.ops.parameter import DIMENSION, FLAG, NAME, TENSOR, Parameter
from ttnn_jit.ops.reduction import interleaved
from ttnn_jit.ops.routine import Routine, RoutineLoops
from ttnn_jit.specs.access import Access, Dim, times, total
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import TensorSpec

Shape = Sequence[int]
MODES = ("nearest", "bilinear")


def _spelled(shape: Shape, height: int, width: int, mode: str | None) -> tuple[Any, ...]:
    if len(shape) != 4:
        raise ShapeError(f"the input has shape {list(shape)}: batch, height, width and channels are wanted")
    if min(height, width) < 1:
        raise ShapeError(f"the factors are {height} and {width}: they are at least 1")
    if mode not in MODES:
        raise ShapeError(f"there is no mode {mode!r}", help=f"give {' or '.join(map(repr, MODES))}")
    return height, width, mode


def _upsample(ttnn: Any, x: Any, height: int, width: int, mode: str) -> Any:
    for axis, factor in ((1, height), (2, width)):
        if factor > 1:
            x = ttnn.repeat_interleave(x, factor, axis) if mode == MODES[0] else _interpolated(ttnn, x, axis, factor)
    return x


def _part(ttnn: Any, x: Any, axis: int, begin: int, end: int) -> Any:
    begins, ends = [0] * len(x.shape), list(x.shape)
    begins[axis], ends[axis] = begin, end
    return ttnn.slice(x, begins, ends)


def _interpolated(ttnn: Any, x: Any, axis: int, factor: int) -> Any:
    """`factor` elements for each along a dimension, between it and its neighbours; there are none beyond the ends."""
    extent = x.shape[axis]
    before = ttnn.concat([_part(ttnn, x, axis, 0, 1), _part(ttnn, x, axis, 0, extent - 1)], axis) if extent > 1 else x
    behind = (
        ttnn.concat([_part(ttnn, x, axis, 1, extent), _part(ttnn, x, axis, extent - 1, extent)], axis)
        if extent > 1
        else x
    )
    apart = (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :])
    phases = []
    for phase in range(factor):
        place = (phase + 0.5) / factor - 0.5
        phases.append(ttnn.reshape(_between(ttnn, x, behind if place > 0 else before, abs(place)), apart))
    return ttnn.reshape(ttnn.concat(phases, axis + 1), (*x.shape[:axis], extent * factor, *x.shape[axis + 1 :]))


def _between(ttnn: Any, x: Any, other: Any, place: float) -> Any:
    if place == 0:
        return ttnn.multiply(x, 1.0)
    return ttnn.mac(other, place, ttnn.multiply(x, 1.0 - place))


def _upsample_golden(torch: Any, x: Any, height: int, width: int, mode: str) -> Any:
    images = x.permute(0, 3, 1, 2)
    corners = {} if mode == MODES[0] else {"align_corners": False}
    return torch.nn.functional.interpolate(images, scale_factor=(height, width), mode=mode, **corners).permute(
        0, 2, 3, 1
    )


UPSAMPLE = Composite(
    name="upsample",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("scale_height", DIMENSION),
        Parameter("scale_width", DIMENSION),
        Parameter("mode", NAME),
    ),
    summary="Images some times as high and as wide: repeated elements, or interpolated ones.",
    source="ttnn.upsample",
    decompose=_upsample,
    spelled=_spelled,
    result=lambda x, height, width, _: interleaved(x).with_(
        shape=(x.shape[0], x.shape[1] * height, x.shape[2] * width, x.shape[3])
    ),
    golden=_upsample_golden,
    aten="upsample_nearest2d",
    examples=(),
)

# --- Sampling ---------------------------------------------------------------------------------------------------------


def _sample_loop(load: Any, store: Any) -> Any:
    def loop(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        x, xh, xw, xc, grid, gs, result, rc, height, width, channels, _pair, align_corners
    ):
        # From -1 and 1 to the outermost elements, or to their outer edges.
        across, down = load(grid[0]), load(grid[gs])
        if align_corners:
            across, down = (across + 1.0) * 0.5 * (width - 1), (down + 1.0) * 0.5 * (height - 1)
        else:
            across, down = ((across + 1.0) * width - 1.0) * 0.5, ((down + 1.0) * height - 1.0) * 0.5
        # A place that is not beside an element, or is NaN, has none of them.
        inside = across > -1.0 and across < width and down > -1.0 and down < height
        if not inside:
            for c in range(channels):
                result[c * rc] = store(0.0)
            return
        left, top = int(across + 1.0) - 1, int(down + 1.0) - 1
        right, low = across - left, down - top
        for c in range(channels):
            total_ = 0.0
            for a in range(2):
                y = top + a
                if y < 0 or y >= height:
                    continue
                for b in range(2):
                    z = left + b
                    if z < 0 or z >= width:
                        continue
                    weight = (low if a else 1.0 - low) * (right if b else 1.0 - right)
                    total_ += weight * load(x[y * xh + z * xw + c * xc])
            result[c * rc] = store(total_)

    return loop


def _spelled_sample(x: Shape, grid: Shape, align_corners: bool, batched: bool) -> tuple[Any, ...]:
    if len(x) != 4 or len(grid) != 4 or x[0] != grid[0] or grid[3] % 2 or not grid[3]:
        raise ShapeError(
            f"an input of shape {list(x)} is not sampled by a grid of shape {list(grid)}",
            help="the input has batch, height, width, channels; the grid batch, height, width, pairs of x and y",
        )
    if min(x[1:3]) < 1:
        raise ShapeError(f"an input of shape {list(x)} has no elements")
    return align_corners, batched


def _sample_loops(x: Shape, grid: Shape, _align: bool, batched: bool) -> RoutineLoops:
    batch, rows, columns, pairs = grid[0], grid[1], grid[2], grid[3] // 2
    extents = (batch, rows, columns, pairs, x[1], x[2], x[3], 2)
    image = Access(extents, (Dim(0), Dim(4), Dim(5), Dim(6)))
    places = Access(extents, (Dim(0), Dim(1), Dim(2), total((times(Dim(3), 2), Dim(7)))))
    column = Dim(2) if batched else total((times(Dim(2), pairs), Dim(3)))
    channel = total((times(Dim(3), x[3]), Dim(6))) if batched else Dim(6)
    return RoutineLoops(extents, 4, (image, places, Access(extents, (Dim(0), Dim(1), column, channel))))


def _sample_result(x: TensorSpec, grid: TensorSpec, _align: bool, batched: bool) -> tuple[TensorSpec, ...]:
    (batch, rows, columns, numbers), channels = tuple(grid.shape), tuple(x.shape)[3]
    pairs = numbers // 2
    shape = (batch, rows, columns, channels * pairs) if batched else (batch, rows, columns * pairs, channels)
    return (interleaved(x).with_(shape=shape),)


def _sample_golden(torch: Any, x: Any, grid: Any, align_corners: bool, batched: bool) -> Any:
    batch, rows, columns, pairs = grid.shape[0], grid.shape[1], grid.shape[2], grid.shape[3] // 2
    places = grid.reshape(batch, rows, columns * pairs, 2)
    y = torch.nn.functional.grid_sample(x.permute(0, 3, 1, 2), places, align_corners=align_corners)
    y = y.permute(0, 2, 3, 1)
    return y.reshape(batch, rows, columns, -1) if batched else y


GRID_SAMPLE = Routine(
    name="grid_sample",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("grid", TENSOR),
        Parameter("align_corners", FLAG),
        Parameter("batch_output_channels", FLAG),
    ),
    summary="Images at the places of a grid, from -1 to 1, interpolated between four elements; zeros are around them.",
    source="ttnn.grid_sample",
    loop=_sample_loop,
    loops=_sample_loops,
    spelled=_spelled_sample,
    result=_sample_result,
    operand_dtypes=(FLOATS, FLOATS),
    same_dtype=(0, 1),
    constants=lambda align, _: (int(align),),
    golden=_sample_golden,
    aten="grid_sampler_2d",
    examples=(),
)

OPERATIONS = (UPSAMPLE, GRID_SAMPLE)
