"""The indices of the largest elements of windows, which `max_pool2d` returns with `return_indices`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from math import inf
from math import isnan as is_nan
from typing import Any

from ttnn_jit.ops.convolution.pools import SIZES, keywords_of_pool, pool_of, rows_of
from ttnn_jit.ops.families.routine import Routine, RoutineLoops
from ttnn_jit.ops.language.host_call import HostCall
from ttnn_jit.ops.selection.routines import index_dtype
from ttnn_jit.specs.access.index_expressions import Dim, times, total
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

Shape = Sequence[int]


def _index_loop(load: Any, _store: Any) -> Any:
    def loop(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 - as numba calls it
        x, xh, xw, xc, xkh, xkw, result, rh, rw, rc, height, width, channels, rows, columns,
        above, left, down, across, row_apart, column_apart, image_height, image_width,
    ):  # fmt: skip
        for i in range(height):
            for j in range(width):
                for c in range(channels):
                    first = i * xh + j * xw + c * xc
                    # torch's index where no tap lies inside, or all are -infinity; of NaNs torch takes the last.
                    y, z = i * down - above, j * across - left
                    y += row_apart * max(0, -(y // row_apart))
                    z += column_apart * max(0, -(z // column_apart))
                    best, largest = y * image_width + z, -inf
                    for a in range(rows):
                        y = i * down + a * row_apart - above
                        if y < 0 or y >= image_height:
                            continue
                        for b in range(columns):
                            z = j * across + b * column_apart - left
                            if z < 0 or z >= image_width:
                                continue
                            value = load(x[first + a * xkh + b * xkw])
                            if value > largest or is_nan(value):
                                largest = value
                                best = y * image_width + z
                    result[i * rh + j * rw + c * rc] = best

    return loop


def _index_loops(_: Shape, *attributes: Any) -> RoutineLoops:
    pool = pool_of(*attributes)
    (height, width), windows = pool.counts, pool.windows
    extents = (pool.batch, height, width, pool.channels, *windows.kernel)
    steps = zip((1, 2), windows.stride, (4, 5), windows.dilation, strict=True)
    taps = (total((times(Dim(dim), step), times(Dim(tap), dilation))) for dim, step, tap, dilation in steps)
    row = total((times(Dim(0), height * width), times(Dim(1), width), Dim(2)))
    zero = total(())
    return RoutineLoops.over(extents, 5, (Dim(0), *taps, Dim(3)), (zero, zero, row, Dim(3)))


def _index_constants(*attributes: Any) -> tuple[int, ...]:
    pool = pool_of(*attributes)
    windows = pool.windows
    return (windows.padding[0][0], windows.padding[1][0], *windows.stride, *windows.dilation, *pool.extents)


def _index_result(x: TensorSpec, *attributes: Any) -> tuple[TensorSpec, ...]:
    pool = pool_of(*attributes)
    dtype = index_dtype(math.prod(pool.extents))
    return (x.interleaved.with_(shape=(1, 1, pool.rows, pool.channels), dtype=dtype, layout=Layout.ROW_MAJOR),)


def _index_golden(torch: Any, x: Any, *attributes: Any) -> Any:
    pool = pool_of(*attributes)
    windows, (height, width) = pool.windows, pool.extents
    (top, _), (left, _) = windows.padding
    images = x.permute(0, 3, 1, 2)[:, :, top : top + height, left : left + width]
    # torch pads both ends alike: what the windows cover beyond the images is added.
    down, across = (
        max(0, reach - own - before)
        for reach, own, before in zip(windows.covered_extents(pool.counts), pool.extents, (top, left), strict=True)
    )
    images = torch.nn.functional.pad(images, (0, across, 0, down), value=-inf)
    _, found = torch.nn.functional.max_pool2d(
        images, windows.kernel, windows.stride, (top, left), windows.dilation, return_indices=True
    )
    found = found[:, :, : pool.counts[0], : pool.counts[1]]
    return rows_of(found // (width + across) * width + found % (width + across))


def _keywords(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call of ttnn's function, which takes an image without padding, as rows."""
    batch, height, width, channels = (given[each.name] for each in SIZES[1:5])
    (top, _), (left, _) = given["padding"]
    source = given["input_tensor"]
    image = f"ttnn.slice({source}, [0, {top}, {left}, 0], [{batch}, {top + height}, {left + width}, {channels}])"
    rows = f"ttnn.reshape({image}, (1, 1, {batch * height * width}, {channels}))"
    whole = {**given, "input_tensor": type(source)(rows), "layout": Layout.ROW_MAJOR}
    return {**keywords_of_pool(whole), "return_indices": True}


MAX_POOL2D_INDICES = Routine(
    name="max_pool2d_indices",
    parameters=SIZES,
    summary="The index of the largest element of every window of a padded tensor, in the image without padding.",
    source="ttnn.max_pool2d",
    loop=_index_loop,
    loops=_index_loops,
    result=_index_result,
    operand_dtypes=(FLOATS,),
    constants=_index_constants,
    golden=_index_golden,
    host_call=HostCall(_keywords, result=1),
)

OPERATIONS = (MAX_POOL2D_INDICES,)
