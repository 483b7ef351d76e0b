"""Pooling: the largest element, or the mean, of every window of a tensor.

The functions of the host API are in ttnn_jit/ttnn/functions/pooling.py. Tensors are channels last, as in
ttnn_jit/ops/convolution/convolutions.py. The columns of a window are reduced before its rows, each in the order of a
reduction (ops/families/reduction.py).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Composite, Ops
from ttnn_jit.ops.families.reduction import CHAINS
from ttnn_jit.ops.language.host_call import HostCall, flat, renamed
from ttnn_jit.ops.language.parameter import (
    DIMENSION,
    ELEMENT_TYPE,
    EXTENT_ARRAY,
    FLAG,
    LAYOUT,
    PAIRS,
    TENSOR,
    Parameter,
)
from ttnn_jit.ops.movement.windows import WINDOWS, Windows, padded, result_spec, taps_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, DataType
from ttnn_jit.specs.tensor_spec import Layout, TensorSpec

MAX_TAPS_OVERLAPPING = 12
"""Overlapping windows of at most so many taps are reduced in one loop over all taps, which reads the tensor once.
Larger ones are reduced by columns, then by rows: windows that overlap share the reduced columns, which are stored
(benchmarks/kernels/convolution.py)."""
MAX_TAPS_DISJOINT = 25
"""The same limit for windows that do not overlap, which share nothing; addresses of more taps would spill registers."""

Shape = Sequence[int]
Reduce = Callable[[Any, int], Any]


@dataclass(frozen=True)
class Pool:
    """The sizes of a pool.

    Attributes:
        batch: The extent of the batch dimension.
        extents: Height and width of the input.
        channels: Channels of the input.
        windows: The windows along height and width.
        ceil: Whether a window that begins inside may extend beyond the padding (`ceil_mode`).
    """

    batch: int
    extents: tuple[int, ...]
    channels: int
    windows: Windows
    ceil: bool

    @property
    def counts(self) -> tuple[int, ...]:
        """Height and width of the result."""
        return self.windows.count(self.extents, ceil=self.ceil)

    @property
    def rows(self) -> int:
        """Elements of the result for one channel."""
        return self.batch * math.prod(self.counts)

    def check(self, shape: Shape | None = None) -> None:
        """Refuse invalid sizes, and a tensor whose shape does not fit them.

        Raises:
            ShapeError: The text names the size, or the shape.
        """
        for name, size in (("batch_size", self.batch), ("channels", self.channels)):
            if size < 1:
                raise ShapeError(f"`{name}` is {size}: it is at least 1")
        if any(2 * max(pair) > span for pair, span in zip(self.windows.padding, self.windows.spans, strict=True)):
            raise ShapeError(
                f"the padding {[list(pair) for pair in self.windows.padding]} is more than half of a window of "
                f"{list(self.windows.spans)}"
            )
        _ = self.counts
        positions = self.batch * math.prod(self.extents)
        if shape is not None and (not shape or shape[-1] != self.channels or math.prod(shape[:-1]) != positions):
            sizes = "x".join(map(str, (self.batch, *self.extents)))
            raise ShapeError(
                f"the input has shape {list(shape)}, and its sizes are {sizes} positions of {self.channels} channels",
                help="channels are the last dimension: permute a tensor of torch's by (0, 2, 3, 1)",
            )

    def unflattened(self, ops: Ops, x: Any) -> Any:
        """The input as [batch, height, width, channels]."""
        return ops.reshaped(x, (self.batch, *self.extents, self.channels))

    def element_counts(self, *, with_padding: bool) -> tuple[tuple[int, ...], ...]:
        """Per dimension, the number of elements of each window; elements beyond the padding do not count."""
        windows, counted = self.windows, []
        for dim, (own, (before, after)) in enumerate(zip(self.extents, windows.padding, strict=True)):
            inside = range(-before, own + after) if with_padding else range(own)
            firsts = range(-before, -before + self.counts[dim] * windows.stride[dim], windows.stride[dim])
            taps = range(0, windows.kernel[dim] * windows.dilation[dim], windows.dilation[dim])
            counted.append(tuple(sum(first + tap in inside for tap in taps) for first in firsts))
        return tuple(counted)


def _combined(combine: Callable[[Any, Any], Any], taps: Sequence[Any]) -> Any:
    """At most `CHAINS` taps combined to one, in the order in which a reduction combines its chains."""
    found, half = list(taps), CHAINS // 2
    while half:
        pairs = itertools.zip_longest(found[:half], found[half:])
        found = [one if other is None else combine(one, other) for one, other in pairs]
        half //= 2
    return found[0]


def _pooled(ops: Ops, x: Any, pool: Pool, combine: Callable[[Any, Any], Any], reduce: Reduce) -> Any:
    """The reduction of every window of a padded tensor: columns first, then rows."""
    windows, counts = pool.windows, pool.counts
    overlap = any(span > step for span, step in zip(windows.spans, windows.stride, strict=True))
    if math.prod(windows.kernel) <= (MAX_TAPS_OVERLAPPING if overlap else MAX_TAPS_DISJOINT):
        rows = taps_of(ops, x, windows, counts, 1)
        return _combined(combine, [_combined(combine, taps_of(ops, row, windows, counts, 2)) for row in rows])
    for axis in (2, 1):
        taps = windows.kernel[axis - 1]
        if taps <= CHAINS:
            x = _combined(combine, taps_of(ops, x, windows, counts, axis))
            continue
        alone = [
            tuple(each if dim == axis - 1 else 1 for dim, each in enumerate(own))
            for own in (windows.kernel, windows.stride, windows.dilation)
        ]
        found = ops.call(WINDOWS, [x], *alone)
        x = reduce(ops.reshape(found, (*found.shape[:3], taps, found.shape[-1])), 3)
    return x


# --- The operations ---------------------------------------------------------------------------------------------------

_NUMBERS = tuple(Parameter(name, DIMENSION) for name in ("batch_size", "input_height", "input_width", "channels"))
SIZES = (
    Parameter("input_tensor", TENSOR),
    *_NUMBERS,
    Parameter("kernel_size", EXTENT_ARRAY),
    Parameter("stride", EXTENT_ARRAY),
    Parameter("padding", PAIRS),
    Parameter("dilation", EXTENT_ARRAY),
    Parameter("ceil_mode", FLAG),
)
_RESULT = (Parameter("dtype", ELEMENT_TYPE), Parameter("layout", LAYOUT))


def pool_of(*attributes: Any) -> Pool:
    """The sizes in the first attributes of a pooling operation."""
    batch, height, width, channels, *windows, ceil = attributes[: len(SIZES) - 1]
    return Pool(batch, (height, width), channels, Windows(*windows), ceil)


def attributes_of(pool: Pool) -> tuple[Any, ...]:
    """The first attributes of a pooling operation of these sizes."""
    windows = pool.windows
    taps = (windows.kernel, windows.stride, windows.padding, windows.dilation)
    return (pool.batch, *pool.extents, pool.channels, *taps, pool.ceil)


def _check(x: Shape, *attributes: Any) -> None:
    pool_of(*attributes).check(x)


def _result(x: TensorSpec, *attributes: Any) -> TensorSpec:
    pool = pool_of(*attributes)
    dtype, layout = attributes[-2:]
    return result_spec(x, (1, 1, pool.rows, pool.channels), dtype, layout)


def _max_pool2d(ops: Ops, x: Any, *attributes: Any) -> Any:
    pool = pool_of(*attributes)
    x = padded(ops, pool.unflattened(ops, x), pool.windows, pool.counts, -math.inf)
    found = _pooled(ops, x, pool, ops.maximum, ops.max)
    return ops.reshape(ops.rounded(found, attributes[-2]), (1, 1, pool.rows, pool.channels))


def _in_torch(torch: Any, x: Any, pool: Pool, number: float) -> Any:
    """Padded images with the channels before height and width."""
    x = x.reshape(pool.batch, *pool.extents, pool.channels).permute(0, 3, 1, 2)
    (top, bottom), (left, right) = pool.windows.padding
    return torch.nn.functional.pad(x, (left, right, top, bottom), value=number)


def _padded_for_windows(torch: Any, x: Any, pool: Pool, number: float) -> Any:
    """Padded images, extended by `number` to the extents that the windows cover."""
    extents = zip(pool.windows.covered_extents(pool.counts), x.shape[2:], strict=True)
    down, across = (max(0, wanted - own) for wanted, own in extents)
    return torch.nn.functional.pad(x, (0, across, 0, down), value=number)


def rows_of(y: Any) -> Any:
    """Images with the channels before height and width, as one row for each position."""
    return y.permute(0, 2, 3, 1).reshape(1, 1, -1, y.shape[1])


def _max_pool2d_golden(torch: Any, x: Any, *attributes: Any) -> Any:
    pool = pool_of(*attributes)
    x = _padded_for_windows(torch, _in_torch(torch, x, pool, -math.inf), pool, -math.inf)
    windows = pool.windows
    y = torch.nn.functional.max_pool2d(x, windows.kernel, windows.stride, 0, windows.dilation)
    return rows_of(y[:, :, : pool.counts[0], : pool.counts[1]])


def keywords_of_pool(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call of ttnn's function; its results are in rows by default."""
    names = {"input_height": "input_h", "input_width": "input_w", "layout": "output_layout"}
    found = renamed(given, names)
    if "padding" in found:
        found["padding"] = flat(found["padding"])
    return found | {"output_layout": None if given["layout"] is Layout.ROW_MAJOR else given["layout"]}


MAX_POOL2D = Composite(
    name="max_pool2d",
    parameters=(*SIZES, *_RESULT),
    summary="The largest element of every window, NaN where an element is; one row for each window.",
    decompose=_max_pool2d,
    canonicalize=_check,
    result=_result,
    golden=_max_pool2d_golden,
    aten="max_pool2d",
    host_call=HostCall(keywords_of_pool),
)


def _avg_pool2d(ops: Ops, x: Any, *attributes: Any) -> Any:
    pool, (with_padding, divisor) = pool_of(*attributes), attributes[-4:-2]
    x = padded(ops, pool.unflattened(ops, x), pool.windows, pool.counts, 0.0)
    found = _pooled(ops, x, pool, ops.add, ops.sum)
    found = divided(ops, found, ((divisor,), (1,)) if divisor else pool.element_counts(with_padding=with_padding))
    return ops.reshape(ops.rounded(found, attributes[-2]), (1, 1, pool.rows, pool.channels))


def divided(ops: Ops, x: Any, counts: Sequence[Sequence[int]]) -> Any:
    """`x` divided by the product of a number for each row and one for each column."""
    if all(len(set(each)) == 1 for each in counts):
        return x / float(math.prod(each[0] for each in counts))
    rows = _column_of(ops, x, counts[0], (1, 1))
    columns = ops.reshaped(_column_of(ops, x, counts[1], (1, 1)), (1, 1, len(counts[1]), 1))
    return x / (rows * columns)


def _column_of(ops: Ops, x: Any, values: Sequence[int], trailing: tuple[int, ...]) -> Any:
    """A tensor that has these numbers along the second of four dimensions."""
    spec = x.spec.with_(dtype=COMPUTE_TYPE, memory_config=x.spec.memory_config.unsharded)
    runs = [
        ops.filled(float(value), spec.with_(shape=(1, len(list(run)), *trailing)))
        for value, run in itertools.groupby(values)
    ]
    return runs[0] if len(runs) == 1 else ops.concat(runs, 1)


def _avg_pool2d_golden(torch: Any, x: Any, *attributes: Any) -> Any:
    pool, (with_padding, divisor) = pool_of(*attributes), attributes[-4:-2]
    element_counts = _in_torch(torch, torch.ones_like(x), pool, float(with_padding))
    sums, counts = (_sums(torch, each, pool) for each in (_in_torch(torch, x, pool, 0.0), element_counts))
    return rows_of(sums / (divisor or counts))


def _sums(torch: Any, x: Any, pool: Pool) -> Any:
    """The sum of every window, of any dilation, which torch's `avg_pool2d` does not take."""
    x, windows = _padded_for_windows(torch, x, pool, 0.0), pool.windows
    for axis, span in enumerate(windows.spans, start=2):
        x = x.unfold(axis, span, windows.stride[axis - 2])[..., :: windows.dilation[axis - 2]]
    return x.sum((-1, -2))[:, :, : pool.counts[0], : pool.counts[1]]


def _keywords_of_mean(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call of ttnn's function, which has no dilation."""
    if set(given["dilation"]) != {1}:
        raise ShapeError("its call in ttnn takes no dilation")
    found = keywords_of_pool(given)
    del found["dilation"]
    return found | {"divisor_override": given["divisor_override"] or None}


AVG_POOL2D = Composite(
    name="avg_pool2d",
    parameters=(*SIZES, Parameter("count_include_pad", FLAG), Parameter("divisor_override", DIMENSION), *_RESULT),
    summary="The mean of every window, or its sum by `divisor_override`, unless that is 0; one row for each window.",
    decompose=_avg_pool2d,
    canonicalize=_check,
    result=_result,
    golden=_avg_pool2d_golden,
    aten="avg_pool2d",
    host_call=HostCall(_keywords_of_mean),
)

# --- Adaptive pooling -------------------------------------------------------------------------------------------------


def adaptive_windows(extent: int, count: int) -> tuple[range, ...]:
    """The `count` windows of adaptive pooling along a dimension."""
    return tuple(range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count))


_ADAPTIVE = tuple(
    Parameter(name, DIMENSION)
    for name in ("batch_size", "input_height", "input_width", "channels", "output_height", "output_width")
)


def _adaptive_sizes(attributes: Sequence[Any]) -> tuple[int, tuple[int, int], int, tuple[int, int]]:
    batch, height, width, channels, *counts = attributes[:6]
    return batch, (height, width), channels, (counts[0], counts[1])


def _check_adaptive(x: Shape, *attributes: Any) -> None:
    batch, extents, channels, counts = _adaptive_sizes(attributes)
    if min(batch, *extents, channels, *counts) < 1:
        raise ShapeError(f"{list(counts)} results of {list(extents)} positions: all are at least 1")
    whole = Windows((1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1))
    Pool(batch, extents, channels, whole, ceil=False).check(x)


def _result_adaptive(x: TensorSpec, *attributes: Any) -> TensorSpec:
    batch, _, channels, counts = _adaptive_sizes(attributes)
    dtype, layout = attributes[-2:]
    return result_spec(x, (1, 1, batch * math.prod(counts), channels), dtype, layout)


def _adaptive_pooled(ops: Ops, x: Any, attributes: Sequence[Any], reduce: Reduce) -> Any:
    batch, extents, channels, counts = _adaptive_sizes(attributes)
    x = ops.reshaped(x, (batch, *extents, channels))
    for axis in (2, 1):
        parts = adaptive_windows(extents[axis - 1], counts[axis - 1])
        if len({len(part) for part in parts}) == 1 and extents[axis - 1] % counts[axis - 1] == 0:
            split = ops.reshape(x, (*x.shape[:axis], len(parts), len(parts[0]), *x.shape[axis + 1 :]))
            x = reduce(split, axis + 1)
            continue
        x = ops.concat([_reduced_part(ops, x, axis, part, reduce) for part in parts], axis)
    return x


def _reduced_part(ops: Ops, x: Any, axis: int, part: range, reduce: Reduce) -> Any:
    found = reduce(ops.sliced(x, axis, part.start, part.stop), axis)
    return ops.reshape(found, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))


def _adaptive_avg_pool2d(ops: Ops, x: Any, *attributes: Any) -> Any:
    batch, extents, channels, counts = _adaptive_sizes(attributes)
    found = _adaptive_pooled(ops, x, attributes, ops.sum)
    sizes = tuple(tuple(map(len, adaptive_windows(*each))) for each in zip(extents, counts, strict=True))
    found = ops.rounded(divided(ops, found, sizes), attributes[-2])
    return ops.reshape(found, (1, 1, batch * math.prod(counts), channels))


def _adaptive_max_pool2d(ops: Ops, x: Any, *attributes: Any) -> Any:
    batch, _, channels, counts = _adaptive_sizes(attributes)
    return ops.reshape(_adaptive_pooled(ops, x, attributes, ops.max), (1, 1, batch * math.prod(counts), channels))


def _adaptive_golden(function: str) -> Callable[..., Any]:
    def golden(torch: Any, x: Any, *attributes: Any) -> Any:
        batch, extents, channels, counts = _adaptive_sizes(attributes)
        images = x.reshape(batch, *extents, channels).permute(0, 3, 1, 2)
        return rows_of(getattr(torch.nn.functional, function)(images, counts))

    return golden


def _adaptive_keywords(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a call of ttnn's function."""
    found = keywords_of_pool(given)
    return found | {"output_size": [found.pop("output_height"), found.pop("output_width")]}


def _adaptive_pool(name: str, decompose: Callable[..., Any], summary: str) -> Composite:
    return Composite(
        name=name,
        parameters=(Parameter("input_tensor", TENSOR), *_ADAPTIVE, *_RESULT),
        summary=summary,
        decompose=decompose,
        canonicalize=_check_adaptive,
        result=_result_adaptive,
        golden=_adaptive_golden(name),
        aten=name,
        host_call=HostCall(_adaptive_keywords),
    )


ADAPTIVE_AVG_POOL2D = _adaptive_pool(
    "adaptive_avg_pool2d",
    _adaptive_avg_pool2d,
    "The mean of every window; the windows divide an image into `output_height` by `output_width` parts.",
)
ADAPTIVE_MAX_POOL2D = _adaptive_pool(
    "adaptive_max_pool2d",
    _adaptive_max_pool2d,
    "The largest element of every window; the windows divide an image into `output_height` by `output_width` parts.",
)

# --- Global pooling ---------------------------------------------------------------------------------------------------


def _check_global(shape: Shape, *_: Any) -> None:
    if len(shape) != 4 or math.prod(shape[1:3]) == 0:
        raise ShapeError(f"the input has shape {list(shape)}: batch, height, width and channels are expected")


def _result_global(x: TensorSpec, dtype: DataType) -> TensorSpec:
    batch, _, _, channels = tuple(x.shape)
    return x.interleaved.with_(shape=(batch, 1, 1, channels), dtype=dtype)


GLOBAL_AVG_POOL2D = Composite(
    name="global_avg_pool2d",
    parameters=(Parameter("input_tensor", TENSOR), Parameter("dtype", ELEMENT_TYPE)),
    summary="The mean of every channel of an image.",
    decompose=lambda ops, x, _: ops.mean(x, (1, 2), True),
    canonicalize=_check_global,
    result=_result_global,
    golden=lambda torch, x, _: torch.mean(x, (1, 2), True),
    host_call=HostCall(),
)

OPERATIONS = (MAX_POOL2D, AVG_POOL2D, ADAPTIVE_AVG_POOL2D, ADAPTIVE_MAX_POOL2D, GLOBAL_AVG_POOL2D)
