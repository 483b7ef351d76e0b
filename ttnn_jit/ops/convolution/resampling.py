"""Resampling of images: upsampling by whole factors, and sampling at the points of a grid.

Tensors have the dimensions batch, height, width and channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.families.routine import Routine, RoutineLoops
from ttnn_jit.ops.language.host_call import HostCall
from ttnn_jit.ops.language.parameter import DIMENSION, FLAG, NAME, TENSOR, Parameter
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Dim, times, total
from ttnn_jit.specs.dtypes import FLOATS, HALVES
from ttnn_jit.specs.tensor_spec import TensorSpec

Shape = Sequence[int]
MODES = ("nearest", "bilinear")


def check_images(shape: Shape) -> None:
    """Refuses shapes that are not those of images."""
    if len(shape) != 4:
        raise ShapeError(f"the input has shape {list(shape)}: batch, height, width and channels are expected")


def check_mode(mode: str | None) -> None:
    """Refuses an unknown mode."""
    if mode not in MODES:
        raise ShapeError(f"there is no mode {mode!r}", help=f"give {' or '.join(map(repr, MODES))}")


def _check(shape: Shape, height: int, width: int, mode: str | None) -> None:
    check_images(shape)
    if min(height, width) < 1:
        raise ShapeError(f"the factors are {height} and {width}: they are at least 1")
    check_mode(mode)


def _upsample(ops: Ops, x: Any, height: int, width: int, mode: str) -> Any:
    for axis, factor in ((1, height), (2, width)):
        if factor > 1:
            x = ops.repeat_interleave(x, factor, axis) if mode == MODES[0] else _interpolate(ops, x, axis, factor)
    return x


def _interpolate(ops: Ops, x: Any, axis: int, factor: int) -> Any:
    """Linear interpolation along a dimension to `factor` times its extent; the outermost elements are repeated."""
    extent = x.shape[axis]
    previous = ops.concat([ops.sliced(x, axis, 0, 1), ops.sliced(x, axis, 0, extent - 1)], axis) if extent > 1 else x
    following = (
        ops.concat([ops.sliced(x, axis, 1, extent), ops.sliced(x, axis, extent - 1, extent)], axis) if extent > 1 else x
    )
    with_phase = (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :])
    phases = []
    for phase in range(factor):
        offset = (phase + 0.5) / factor - 0.5
        phases.append(ops.reshape(_blend(ops, x, following if offset > 0 else previous, abs(offset)), with_phase))
    return ops.reshape(ops.concat(phases, axis + 1), (*x.shape[:axis], extent * factor, *x.shape[axis + 1 :]))


def _blend(ops: Ops, x: Any, other: Any, offset: float) -> Any:
    if offset == 0:
        return x * 1.0
    return ops.mac(other, offset, x * (1.0 - offset))


def interpolated_in_torch(torch: Any, x: Any, height: float | str, width: float | str, mode: str) -> Any:
    """`upsample` by any factors, in torch."""
    corners = {} if mode == MODES[0] else {"align_corners": False}
    factors = float(height), float(width)
    resized = torch.nn.functional.interpolate(x.permute(0, 3, 1, 2), scale_factor=factors, mode=mode, **corners)
    return resized.permute(0, 2, 3, 1)


UPSAMPLE = Composite(
    name="upsample",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("scale_height", DIMENSION),
        Parameter("scale_width", DIMENSION),
        Parameter("mode", NAME),
    ),
    summary="Images upsampled by whole factors, with the nearest elements or bilinear interpolation.",
    decompose=_upsample,
    canonicalize=_check,
    result=lambda x, height, width, _: x.interleaved.with_(
        shape=(x.shape[0], x.shape[1] * height, x.shape[2] * width, x.shape[3])
    ),
    golden=interpolated_in_torch,
    aten="upsample_nearest2d",
    host_call=HostCall(
        lambda given: {
            "input_tensor": given["input_tensor"],
            "scale_factor": [given["scale_height"], given["scale_width"]],
            "mode": given["mode"],
        }
    ),
)

# --- Sampling ---------------------------------------------------------------------------------------------------------


def _sample_loop(load: Any, store: Any) -> Any:  # noqa: C901 - one loop for numba
    from numpy import rint  # rounds half to even

    def loop(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        x, xh, xw, xc, grid, gs, result, rc, height, width, channels, _pair, align_corners, nearest
    ):
        # -1 and 1 are the outermost elements, or their outer edges.
        across, down = load(grid[0]), load(grid[gs])
        if align_corners:
            across, down = (across + 1.0) * 0.5 * (width - 1), (down + 1.0) * 0.5 * (height - 1)
        else:
            across, down = ((across + 1.0) * width - 1.0) * 0.5, ((down + 1.0) * height - 1.0) * 0.5
        if nearest:
            across, down = rint(across), rint(down)
        # A point that is NaN, or has no element as a neighbour, gives zeros.
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


def _check_grid(x: Shape, grid: Shape, numbers: int) -> None:
    if len(x) != 4 or len(grid) != 4 or x[0] != grid[0] or grid[3] % numbers or not grid[3]:
        raise ShapeError(
            f"an input of shape {list(x)} is not sampled by a grid of shape {list(grid)}",
            help=f"the input has batch, height, width, channels; the grid batch, rows, columns, {numbers} for a point",
        )
    if min(x[1:3]) < 1:
        raise ShapeError(f"an input of shape {list(x)} has no elements")


def _check_sample(x: Shape, grid: Shape, _align: bool, _batched: bool, mode: str | None) -> None:
    check_mode(mode)
    _check_grid(x, grid, 2)


def _check_precomputed(x: Shape, grid: Shape, _batched: bool, mode: str) -> None:
    check_mode(mode)
    _check_grid(x, grid, PRECOMPUTED[mode])


def _sample_loops(x: Shape, grid: Shape, batched: bool, numbers: int = 2) -> RoutineLoops:
    """The loops over the points of a grid; `numbers` per point. A point reads the whole image."""
    batch, rows, columns, points = grid[0], grid[1], grid[2], grid[3] // numbers
    extents = (batch, rows, columns, points, x[1], x[2], x[3], numbers)
    image = Access(extents, (Dim(0), Dim(4), Dim(5), Dim(6)))
    read = Access(extents, (Dim(0), Dim(1), Dim(2), total((times(Dim(3), numbers), Dim(7)))))
    column = Dim(2) if batched else total((times(Dim(2), points), Dim(3)))
    channel = total((times(Dim(3), x[3]), Dim(6))) if batched else Dim(6)
    return RoutineLoops(extents, 4, (image, read, Access(extents, (Dim(0), Dim(1), column, channel))))


def _sample_result(x: TensorSpec, grid: TensorSpec, batched: bool, numbers: int = 2) -> tuple[TensorSpec, ...]:
    (batch, rows, columns, last), channels = tuple(grid.shape), tuple(x.shape)[3]
    points = last // numbers
    shape = (batch, rows, columns, channels * points) if batched else (batch, rows, columns * points, channels)
    return (x.interleaved.with_(shape=shape),)


def _sample_golden(torch: Any, x: Any, grid: Any, align_corners: bool, batched: bool, mode: str) -> Any:
    batch, rows, columns, pairs = grid.shape[0], grid.shape[1], grid.shape[2], grid.shape[3] // 2
    points = grid.reshape(batch, rows, columns * pairs, 2)
    y = torch.nn.functional.grid_sample(x.permute(0, 3, 1, 2), points, mode=mode, align_corners=align_corners)
    y = y.permute(0, 2, 3, 1)
    return y.reshape(batch, rows, columns, -1) if batched else y


GRID_SAMPLE = Routine(
    name="grid_sample",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("grid", TENSOR),
        Parameter("align_corners", FLAG),
        Parameter("batch_output_channels", FLAG),
        Parameter("mode", NAME),
    ),
    summary="Images sampled at points from -1 to 1, bilinearly or by the nearest element; outside of them are zeros.",
    loop=_sample_loop,
    loops=lambda x, grid, _align, batched, _mode: _sample_loops(x, grid, batched),
    canonicalize=_check_sample,
    result=lambda x, grid, _align, batched, _mode: _sample_result(x, grid, batched),
    operand_dtypes=(FLOATS, FLOATS),
    same_dtype=(0, 1),
    constants=lambda align, _batched, mode: (int(align), int(mode == MODES[0])),
    golden=_sample_golden,
    aten="grid_sampler_2d",
)

PRECOMPUTED = {"nearest": 2, "bilinear": 6}
"""Numbers per point of a precomputed grid, by mode. The first two are the row and column of an element, as the bits of
int16. In mode bilinear that is the element above and to the left of the point, and the weights of the four elements
around the point follow, row by row."""


def _precomputed_loop(load: Any, store: Any) -> Any:
    from numpy import int64  # what numba counts with

    def loop(x, xh, xw, xc, grid, gs, result, rc, height, width, channels, numbers):  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        top, left = int64(grid[0]), int64(grid[gs])
        top, left = top - ((top >> 15) << 16), left - ((left >> 15) << 16)
        for c in range(channels):
            total_ = 0.0
            for corner in range(4 if numbers > 2 else 1):
                y, z = top + (corner >> 1), left + (corner & 1)
                if 0 <= y < height and 0 <= z < width:
                    weight = load(grid[(2 + corner) * gs]) if numbers > 2 else 1.0
                    total_ += weight * load(x[y * xh + z * xw + c * xc])
            result[c * rc] = store(total_)

    return loop


def _precomputed_golden(torch: Any, x: Any, grid: Any, batched: bool, mode: str) -> Any:
    count = PRECOMPUTED[mode]
    batch, rows, columns, points = grid.shape[0], grid.shape[1], grid.shape[2], grid.shape[3] // count
    numbers = grid.reshape(batch, rows, columns * points, count)
    corner = numbers[..., :2].contiguous().view(torch.int16).long()
    padded = torch.nn.functional.pad(x, (0, 0, 1, 1, 1, 1))
    images = torch.arange(batch)[:, None, None]
    found: Any = 0
    for k in range(max(1, count - 2)):
        y = (corner[..., 0] + k // 2 + 1).clamp(0, x.shape[1] + 1)
        z = (corner[..., 1] + k % 2 + 1).clamp(0, x.shape[2] + 1)
        found = found + (numbers[..., 2 + k : 3 + k] if count > 2 else 1.0) * padded[images, y, z]
    return found.reshape(batch, rows, columns, -1) if batched else found


GRID_SAMPLE_PRECOMPUTED = Routine(
    name="grid_sample_precomputed",
    parameters=(
        Parameter("input_tensor", TENSOR),
        Parameter("grid", TENSOR),
        Parameter("batch_output_channels", FLAG),
        Parameter("mode", NAME),
    ),
    summary="Images sampled at a precomputed grid of element indices, with the weights of four elements if bilinear.",
    source="ttnn.grid_sample",
    loop=_precomputed_loop,
    loops=lambda x, grid, batched, mode: _sample_loops(x, grid, batched, PRECOMPUTED[mode]),
    canonicalize=_check_precomputed,
    result=lambda x, grid, batched, mode: _sample_result(x, grid, batched, PRECOMPUTED[mode]),
    operand_dtypes=(HALVES, HALVES),
    golden=_precomputed_golden,
)

OPERATIONS = (UPSAMPLE, GRID_SAMPLE, GRID_SAMPLE_PRECOMPUTED)
