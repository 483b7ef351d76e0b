"""Pools of texts, and images that are scaled up: channels last."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.convolution.pool_indices import MAX_POOL2D_INDICES
from ttnn_jit.ops.convolution.pools import AVG_POOL2D, GLOBAL_AVG_POOL2D, MAX_POOL2D, pool_of
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, DenseNumbers, TextCall, TextOps, text
from ttnn_jit.ops.movement.windows import padded
from ttnn_jit.ops.texts.window_texts import image, padding_of, per_dimension
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType, Layout


def _sizes_of_ttnn(call: TextCall) -> tuple[Any, ...]:
    padding = padding_of(call.padding, 2)  # top, left, bottom, right, which tt-mlir's runtime reorders for ttnn
    image = (call.batch_size, call.input_height, call.input_width, call.channels)
    return (*image, call.kernel_size, call.stride, padding, call.dilation, call.ceil_mode)


def _pool_sizes(call: TextCall) -> tuple[Any, ...]:
    batch, height, width, channels = image(call.input, call.flattened_compat_info)
    kernel, stride, dilation = (per_dimension(each, 2) for each in (call.kernel, call.stride, call.dilation))
    return batch, height, width, channels, kernel, stride, padding_of(call.padding, 2), dilation, call.ceil_mode


def _needs_taps(call: TextCall, sizes: tuple[Any, ...]) -> bool:
    """Whether a pool of ttnn does not take it: integers, or padding of more than half a window."""
    *_, kernel, _stride, padding, dilation, _ceil = sizes
    spans = [(taps - 1) * by + 1 for taps, by in zip(kernel, dilation, strict=True)]
    beyond = any(2 * max(pair) > span for pair, span in zip(padding, spans, strict=True))
    return beyond or call.input.spec.dtype.is_integer


def _by_taps(ops: Ops, call: TextCall, sizes: tuple[Any, ...], method: str) -> Value:
    batch, height, width, channels, kernel, stride, padding, dilation, ceil = sizes
    if ceil and method == "Average":
        raise ShapeError("ceil_mode is true, beside means of integers or padding of more than half a window")
    counts = _counts(sizes)
    if ceil:  # what windows cover beyond the padding
        padding = [
            (low, max(high, (count - 1) * step + (taps - 1) * by + 1 - extent - low))
            for (low, high), count, step, taps, by, extent in zip(
                padding, counts, stride, kernel, dilation, (height, width), strict=True
            )
        ]
    x = ops.reshaped(call.input, (batch, height, width, channels))
    given = {
        "pooling_method": method,
        "window_dimensions": (1, *kernel, 1),
        "window_strides": (1, *stride, 1),
        "window_dilations": (1, *dilation, 1),
        "base_dilations": (),
        "padding": (0, 0, *padding[0], *padding[1], 0, 0),
    }
    whole = call.result.with_(shape=(batch, *counts, channels))
    found = _one_reduced(ops, TextCall(given, [whole]), x)
    return ops.reshaped(found, call.result.shape)


def _mean_inside(ops: TextOps, call: TextCall, sizes: tuple[Any, ...]) -> Value:
    """The sum of every window over the number of its taps inside of the image."""
    _, *extents, _, kernel, stride, padding, dilation, _ = sizes
    inside = [
        [sum(0 <= at * step + tap * by - low < extent for tap in range(taps)) for at in range(count)]
        for count, extent, taps, step, (low, _), by in zip(
            _counts(sizes), extents, kernel, stride, padding, dilation, strict=True
        )
    ]
    shape = (1, *map(len, inside), 1)
    numbers = tuple(float(rows * columns) for rows, columns in itertools.product(*inside))
    taps = ops.constant(DenseNumbers(shape, numbers), call.result.with_(shape=shape, dtype=COMPUTE_TYPE))
    x = TextCall({**vars(call), "input": ops.rounded(call.input, COMPUTE_TYPE)}, call.results)
    sums = ops.reshaped(_by_taps(ops, x, sizes, "Sum"), (sizes[0], *shape[1:3], sizes[3]))
    return ops.reshaped(sums / taps, call.result.shape)


def _max_in_torch(torch: Any, call: TextCall, sizes: tuple[Any, ...]) -> Any:
    """The largest element of every window."""
    batch, height, width, channels, kernel, stride, padding, dilation, _ = sizes
    lowest = -math.inf if call.input.is_floating_point() else torch.iinfo(call.input.dtype).min
    x = call.input.reshape(batch, height, width, channels).movedim(-1, 1)
    spans = [(taps - 1) * by + 1 for taps, by in zip(kernel, dilation, strict=True)]
    (top, bottom), (left, right) = padding
    wide = (left, right + stride[1] + spans[1], top, bottom + stride[0] + spans[0])
    x = torch.nn.functional.pad(x, wide, value=lowest)
    for axis, span in enumerate(spans, start=2):
        x = x.unfold(axis, span, stride[axis - 2])[..., :: dilation[axis - 2]]
    down, across = _counts(sizes)
    return call.in_result_shape(x.amax((-1, -2))[:, :, :down, :across].movedim(1, -1))


def _pool(
    declared: Any,
    extra: Callable[[TextCall], tuple[Any, ...]] = lambda _: (),
    sizes_of: Callable[[TextCall], tuple[Any, ...]] = _pool_sizes,
) -> tuple[Any, Any]:
    def write(ops: TextOps, call: TextCall) -> Value:
        if _needs_taps(call, sizes_of(call)):
            if vars(call).get("count_include_pad", True):
                return _by_taps(ops, call, sizes_of(call), "Max" if declared is MAX_POOL2D else "Average")
            if not call.input.spec.dtype.is_integer:
                return _mean_inside(ops, call, sizes_of(call))
        attributes = (*sizes_of(call), *extra(call), call.input.spec.dtype, Layout.TILE)
        return ops.reshaped(ops.call(declared, [call.input], *attributes), call.result.shape)

    def golden(torch: Any, call: TextCall) -> Any:
        return _max_in_torch(torch, call, sizes_of(call))

    return write, golden


def _mean_of_windows(torch: Any, call: TextCall, sizes: tuple[Any, ...]) -> Any:
    """The mean of windows of any dilation: the sum of each, and how many elements it counts."""
    batch, height, width, channels, kernel, stride, padding, dilation, _ = sizes
    x = call.input.reshape(batch, height, width, channels).movedim(-1, 1)
    counted = torch.ones_like(x)
    flat = [each for pair in reversed(padding) for each in pair]
    x = torch.nn.functional.pad(x, flat)
    counted = torch.nn.functional.pad(counted, flat, value=float(call.count_include_pad))
    spans = [(taps - 1) * by + 1 for taps, by in zip(kernel, dilation, strict=True)]
    beyond = [0, stride[1] + spans[1], 0, stride[0] + spans[0]]  # more than a window of `ceil_mode` needs
    x, counted = (torch.nn.functional.pad(each, beyond) for each in (x, counted))
    for axis, span in enumerate(spans, start=2):
        x, counted = (each.unfold(axis, span, stride[axis - 2])[..., :: dilation[axis - 2]] for each in (x, counted))
    mean = x.sum((-1, -2)) / counted.sum((-1, -2))
    down, across = _counts(sizes)
    return call.in_result_shape(mean[:, :, :down, :across].movedim(1, -1))


def _counts(sizes: tuple[Any, ...]) -> list[int]:
    """The number of windows down and across."""
    _, *extents, _, kernel, stride, padding, dilation, ceil = sizes
    found = []
    for extent, taps, step, (low, high), by in zip(extents, kernel, stride, padding, dilation, strict=True):
        rest = extent + low + high - (taps - 1) * by - 1
        count = (-(-rest // step) if ceil else rest // step) + 1
        found.append(count - (ceil and (count - 1) * step >= extent + low))
    return found


_POOL: dict[str, Any] = {
    "kernel": REQUIRED,
    "stride": REQUIRED,
    "dilation": 1,
    "padding": 0,
    "ceil_mode": False,
    "channel_last": True,
    "flattened_compat_info": None,
}
MAX_POOL = text("ttir.max_pool2d", "input", *_pool(MAX_POOL2D), **_POOL)
AVG_POOL = text(
    "ttir.avg_pool2d",
    "input",
    _pool(AVG_POOL2D, lambda call: (call.count_include_pad, 0))[0],
    lambda torch, call: _mean_of_windows(torch, call, _pool_sizes(call)),
    count_include_pad=True,
    **_POOL,
)
_POOL_OF_TTNN: dict[str, Any] = {
    **dict.fromkeys(("batch_size", "input_height", "input_width", "channels", "kernel_size", "stride"), REQUIRED),
    "padding": REQUIRED,
    "dilation": REQUIRED,
    "ceil_mode": False,
}
MAX_POOL_OF_TTNN = text("ttnn.max_pool2d", "input", *_pool(MAX_POOL2D, sizes_of=_sizes_of_ttnn), **_POOL_OF_TTNN)
AVG_POOL_OF_TTNN = text(
    "ttnn.avg_pool2d",
    "input",
    _pool(AVG_POOL2D, lambda call: (call.count_include_pad, 0), _sizes_of_ttnn)[0],
    lambda torch, call: _mean_of_windows(torch, call, _sizes_of_ttnn(call)),
    count_include_pad=True,
    **_POOL_OF_TTNN,
)


_NO_INDEX = 2**31 - 1
"""The index of a tap outside of the image."""


def _indices_of_integers(ops: TextOps, found: Value, call: TextCall, sizes: tuple[Any, ...]) -> Value:
    """Where the first largest integer of every window is: the least index of the taps that are as large."""
    batch, height, width, channels, kernel, stride, padding, dilation, _ = sizes
    (top, _), (left, _) = padding
    down, across = _counts(sizes)
    least = found.spec.dtype.values[0]
    covered = [
        (count - 1) * step + (taps - 1) * by + 1
        for count, step, taps, by in zip((down, across), stride, kernel, dilation, strict=True)
    ]
    x = ops.reshaped(call.input, (batch, height, width, channels))
    ends = (max(0, covered[0] - height - top), max(0, covered[1] - width - left))
    x = ops.pad(x, ((0, 0), (top, ends[0]), (left, ends[1]), (0, 0)), least)
    best = None
    for row, column in itertools.product(*map(range, kernel)):
        begins = (0, row * dilation[0], column * dilation[1], 0)
        limits = (batch, begins[1] + (down - 1) * stride[0] + 1, begins[2] + (across - 1) * stride[1] + 1, channels)
        part = ops.slice(x, begins, limits, (1, *stride, 1))
        places = [
            (i * stride[0] + begins[1] - top, j * stride[1] + begins[2] - left)
            for i, j in itertools.product(range(down), range(across))
        ]
        numbers = [y * width + z if 0 <= y < height and 0 <= z < width else _NO_INDEX for y, z in places]
        shape = (1, down, across, 1)
        index = ops.constant(DenseNumbers(shape, tuple(numbers)), found.spec.with_(shape=shape, dtype=DataType.INT32))
        wide = ops.expand(index, found.shape)
        own = ops.where(ops.eq(part, found), wide, ops.filled(_NO_INDEX, wide.spec))
        best = own if best is None else ops.minimum(best, own)
    assert best is not None, "a window has taps"
    return best


def _pool_with_indices(sizes_of: Callable[[TextCall], tuple[Any, ...]]) -> tuple[Any, Any]:
    def write(ops: TextOps, call: TextCall) -> list[Value]:
        sizes = sizes_of(call)
        if call.input.spec.dtype.is_integer:
            counts = (sizes[0], *_counts(sizes), sizes[3])
            found = ops.reshaped(_by_taps(ops, call, sizes, "Max"), counts)
            both = (found, _indices_of_integers(ops, found, call, sizes))
            return [ops.reshaped(each, spec.shape) for each, spec in zip(both, call.results, strict=True)]
        x = ops.reshaped(call.input, sizes[:4])
        found = ops.call(MAX_POOL2D, [x], *sizes, x.spec.dtype, Layout.TILE)
        pool = pool_of(*sizes)
        images = padded(ops, pool.unflattened(ops, x), pool.windows, pool.counts, 0.0)
        index = ops.call(MAX_POOL2D_INDICES, [images], *sizes)
        return [ops.reshaped(each, spec.shape) for each, spec in zip((found, index), call.results, strict=True)]

    def golden(torch: Any, call: TextCall) -> list[Any]:
        batch, height, width, channels, kernel, stride, padding, dilation, ceil = sizes_of(call)
        x = call.input.reshape(batch, height, width, channels).movedim(-1, 1).double()  # integers are exact
        (top, bottom), (left, right) = padding
        wide = torch.nn.functional.pad(x, (left, right, top, bottom), value=-math.inf)
        found, index = torch.nn.functional.max_pool2d(wide, kernel, stride, 0, dilation, ceil, return_indices=True)
        across = width + left + right
        index = (index // across - top) * width + index % across - left
        results = (found.to(call.input.dtype), index)
        return [call.in_result_shape(each.movedim(1, -1), number) for number, each in enumerate(results)]

    return write, golden


MAX_POOLS_WITH_INDICES = (
    text("ttir.max_pool2d_with_indices", "input output*", *_pool_with_indices(_pool_sizes), **_POOL),
    text("ttnn.max_pool2d_with_indices", "input", *_pool_with_indices(_sizes_of_ttnn), **_POOL_OF_TTNN),
)
GLOBAL_AVG_POOL = text(
    "ttir.global_avg_pool2d ttnn.global_avg_pool2d",
    "input",
    lambda ops, call: ops.reshaped(ops.call(GLOBAL_AVG_POOL2D, [call.input], call.input.spec.dtype), call.result.shape),
    lambda torch, call: call.in_result_shape(torch.mean(call.input, (1, 2), True)),
)


def _reduced_windows(ops: Ops, call: TextCall) -> list[Value]:
    """Windows along any dimensions, tap by tap.

    Raises:
        ShapeError: The result of the text has another number of windows than the operand.
    """
    for x in call.inputs:
        counts = _windows_of(call, x.shape)
        if counts != tuple(call.result.shape):
            raise ShapeError(f"it results in {list(counts)}, and the text says {list(call.result.shape)}")
    return [_one_reduced(ops, call, x) for x in call.inputs]


def _windows_of(call: TextCall, shape: Sequence[int]) -> tuple[int, ...]:
    """The number of windows along every dimension of an operand."""
    rank = len(shape)
    given = (call.window_dimensions, call.window_strides or 1, call.window_dilations or 1)
    kernel, strides, dilation = (per_dimension(each, rank) for each in given)
    padding = padding_of(call.padding or 0, rank, by_dimension=True)
    return tuple(
        (extent + low + high - (taps - 1) * by - 1) // step + 1
        for extent, (low, high), taps, by, step in zip(shape, padding, kernel, dilation, strides, strict=True)
    )


_COMBINED = {"Max": ("maximum", -math.inf), "Sum": ("add", 0.0), "Average": ("add", 0.0)}


def _one_reduced(ops: Ops, call: TextCall, x: Value) -> Value:
    combine, identity = _COMBINED[call.pooling_method]
    if x.spec.dtype.is_integer and identity:
        identity = x.spec.dtype.values[0]
    rank = len(x.shape)
    kernel = per_dimension(call.window_dimensions, rank)
    strides, dilation = per_dimension(call.window_strides or 1, rank), per_dimension(call.window_dilations or 1, rank)
    if any(each != 1 for each in call.base_dilations or ()):
        raise ShapeError(f"base_dilations are {list(call.base_dilations)}, and 1 is executed")
    padding = padding_of(call.padding or 0, rank, by_dimension=True)
    padded = ops.pad(x, padding, identity) if any(map(any, padding)) else x
    counts = call.result.shape
    total = None
    for tap in itertools.product(*map(range, kernel)):
        begins = [at * by for at, by in zip(tap, dilation, strict=True)]
        ends = [begin + (n - 1) * step + 1 for begin, n, step in zip(begins, counts, strides, strict=True)]
        part = ops.slice(padded, tuple(begins), tuple(ends), strides)
        total = part if total is None else getattr(ops, combine)(total, part)
    assert total is not None, "a window has taps"
    return total * (1.0 / math.prod(kernel)) if call.pooling_method == "Average" else total


def _reduced_windows_in_torch(torch: Any, call: TextCall) -> list[Any]:
    found = []
    for x in call.inputs:
        rank = x.dim()
        kernel = per_dimension(call.window_dimensions, rank)
        strides, dilation = (
            per_dimension(call.window_strides or 1, rank),
            per_dimension(call.window_dilations or 1, rank),
        )
        padding = padding_of(call.padding or 0, rank, by_dimension=True)
        _, identity = _COMBINED[call.pooling_method]
        windows = torch.nn.functional.pad(x, [each for pair in reversed(padding) for each in pair], value=identity)
        for axis in range(rank):
            span = (kernel[axis] - 1) * dilation[axis] + 1
            windows = windows.unfold(axis, span, strides[axis])[..., :: dilation[axis]]
        axes = tuple(range(rank, 2 * rank))
        reduced = windows.amax(axes) if call.pooling_method == "Max" else windows.sum(axes)
        found.append(reduced / math.prod(kernel) if call.pooling_method == "Average" else reduced)
    return found


POOLING = text(
    "ttir.pooling",
    "inputs*",
    _reduced_windows,
    _reduced_windows_in_torch,
    pooling_method=REQUIRED,
    window_dimensions=REQUIRED,
    window_strides=None,
    base_dilations=None,
    window_dilations=None,
    padding=None,
    in_float32=True,
)


def _upsample(ops: Ops, call: TextCall) -> Value:
    if not call.channel_last:
        raise ShapeError("channel_last is false, and images have their channels last here")
    height, width = per_dimension(call.scale_factor, 2)
    if call.mode == "nearest":
        return ops.repeat_interleave(ops.repeat_interleave(call.input, height, 1), width, 2)
    from ttnn_jit.ops.convolution.resampling import UPSAMPLE

    return ops.call(UPSAMPLE, [call.input], height, width, call.mode)


def _upsample_in_torch(torch: Any, call: TextCall) -> Any:
    scale = tuple(map(float, per_dimension(call.scale_factor, 2)))
    options = {} if call.mode == "nearest" else {"align_corners": False}
    x = call.input.movedim(-1, 1)
    return torch.nn.functional.interpolate(x, scale_factor=scale, mode=call.mode, **options).movedim(1, -1)


UPSAMPLE2D = text(
    "ttir.upsample2d ttnn.upsample",
    "input",
    _upsample,
    _upsample_in_torch,
    scale_factor=REQUIRED,
    mode="nearest",
    channel_last=True,
)

TEXTS = (
    MAX_POOL_OF_TTNN,
    AVG_POOL_OF_TTNN,
    *MAX_POOLS_WITH_INDICES,
    MAX_POOL,
    AVG_POOL,
    GLOBAL_AVG_POOL,
    POOLING,
    UPSAMPLE2D,
)
