"""Windows of convolutions and pools: the elements under a kernel at each of its positions (im2col).

A tensor has a batch, spatial dimensions, and channels last. The windows are not materialized: the index of an element
is affine in the indices of window and tap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.families.decomposition import Ops
from ttnn_jit.ops.families.movement import CanonicalCall, Extents
from ttnn_jit.ops.language.parameter import EXTENTS, Parameter
from ttnn_jit.ops.movement.data_movement import movement
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.access.access import Access
from ttnn_jit.specs.access.index_expressions import Dim, times, total
from ttnn_jit.specs.cores.memory_config import BufferType
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

Pair = tuple[int, int]


def _check_positive(name: str, values: Sequence[int]) -> None:
    if min(values) < 1:
        raise ShapeError(f"{name} is {list(values)}: the numbers must be at least 1")


@dataclass(frozen=True)
class Windows:
    """The windows along the spatial dimensions of a tensor.

    Attributes:
        kernel: The number of taps of a window, per dimension.
        stride: The distance between windows.
        padding: Elements before and after the tensor.
        dilation: The distance between taps.

    Raises:
        ShapeError: A number is below 1, or a padding below 0.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[Pair, ...]
    dilation: tuple[int, ...]

    def __post_init__(self) -> None:
        rank = len(self.kernel)
        for what, numbers in (("stride", self.stride), ("dilation", self.dilation), ("padding", self.padding)):
            if not rank or len(numbers) != rank:
                raise ShapeError(f"the {what} has {len(numbers)} dimensions, and the kernel {rank}")
        for what, values in (("the kernel", self.kernel), ("the stride", self.stride), ("the dilation", self.dilation)):
            _check_positive(what, values)
        if min(map(min, self.padding)) < 0:
            raise ShapeError(f"the padding is {[list(pair) for pair in self.padding]}: it must not be below 0")

    @property
    def spans(self) -> tuple[int, ...]:
        """The extents of a window: the elements from its first tap to its last one."""
        return tuple(step * (taps - 1) + 1 for taps, step in zip(self.kernel, self.dilation, strict=True))

    def padded(self, extents: Sequence[int]) -> tuple[int, ...]:
        """The extents of a padded tensor."""
        return tuple(before + own + after for own, (before, after) in zip(extents, self.padding, strict=True))

    def count(self, extents: Sequence[int], *, ceil: bool = False) -> tuple[int, ...]:
        """The number of windows of a tensor of these extents; with `ceil` the last one may exceed the padded tensor.

        Raises:
            ShapeError: There is no window, since a window is larger than the padded tensor.
        """
        if len(extents) != len(self.kernel):
            raise ShapeError(f"the kernel has {len(self.kernel)} dimensions, and the images {len(extents)}")
        padded = self.padded(extents)
        dimensions = zip(padded, self.spans, self.stride, strict=True)
        counts = tuple((extent - span + (step - 1 if ceil else 0)) // step + 1 for extent, span, step in dimensions)
        if ceil:
            begins = zip(counts, self.stride, extents, self.padding, strict=True)
            counts = tuple(count - ((count - 1) * step >= own + before) for count, step, own, (before, _) in begins)
        if min(counts) < 1:
            raise ShapeError(
                f"a window of {_by(self.spans)} elements is larger than the padded tensor, {_by(padded)}",
                help="the window is dilation * (kernel - 1) + 1 elements wide",
            )
        return counts

    def covered_extents(self, counts: Sequence[int]) -> tuple[int, ...]:
        """The extents that `counts` windows cover."""
        parts = zip(counts, self.stride, self.spans, strict=True)
        return tuple((count - 1) * step + span for count, step, span in parts)

    @property
    def are_single_elements(self) -> bool:
        """Whether every window is one element, with the index of the window."""
        return math.prod(self.kernel) == math.prod(self.stride) == 1


def _by(extents: Sequence[int]) -> str:
    return "x".join(map(str, extents))


def _canonical_windows(shape: Extents, kernel: Extents, stride: Extents, dilation: Extents) -> CanonicalCall:
    if not len(shape) - 2 == len(kernel) == len(stride) == len(dilation) >= 1:
        raise ShapeError(f"a tensor of shape {list(shape)} has no windows of {_by(kernel)}")
    Windows(kernel, stride, ((0, 0),) * len(kernel), dilation).count(shape[1:-1])
    return WINDOWS, (kernel, stride, dilation)


def _windows(shape: Extents, kernel: Extents, stride: Extents, dilation: Extents) -> Access:
    rank = len(kernel)
    counts = Windows(kernel, stride, ((0, 0),) * rank, dilation).count(shape[1:-1])
    dims = zip(range(1, rank + 1), stride, dilation, strict=True)
    taps = (total((times(Dim(dim), step), times(Dim(dim + rank), tap_step))) for dim, step, tap_step in dims)
    return Access((shape[0], *counts, *kernel, shape[-1]), (Dim(0), *taps, Dim(2 * rank + 1)))


def _golden(_: Any, x: Any, kernel: Extents, stride: Extents, dilation: Extents) -> Any:
    for dim, (taps, step, tap_step) in enumerate(zip(kernel, stride, dilation, strict=True), start=1):
        x = x.unfold(dim, tap_step * (taps - 1) + 1, step)[..., ::tap_step]
    rank = len(kernel)
    return x.permute(*range(rank + 1), *range(rank + 2, 2 * rank + 2), rank + 1)


WINDOWS = movement(
    "windows",
    Parameter("kernel_size", EXTENTS),
    Parameter("stride", EXTENTS),
    Parameter("dilation", EXTENTS),
    summary="The elements of every window, by tap: batch, positions of windows, taps, channels.",
    canonicalize=_canonical_windows,
    access=_windows,
    golden=_golden,
    examples=(
        ((2, 7, 6, 5), ((3, 2), (1, 2), (1, 2))),
        ((1, 9, 33), ((3,), (2,), (1,))),
        ((2, 4, 5, 6, 3), ((2, 2, 3), (1, 1, 2), (2, 1, 1))),
    ),
)

OPERATIONS = (WINDOWS,)


def result_spec(x: TensorSpec, shape: Sequence[int], dtype: DataType, layout: Layout) -> TensorSpec:
    """The spec of a result: interleaved DRAM; if `x` is a tensor of torch or numpy, on the host in its layout."""
    found = x.interleaved
    on_host = found.memory_config.buffer_type is BufferType.SYSTEM_MEMORY
    return found.with_(shape=shape, dtype=dtype, layout=found.layout if on_host else layout)


def padded(ops: Ops, x: Any, windows: Windows, counts: Sequence[int], number: float, channels: int = 0) -> Any:
    """`x` padded with `number` to the extents that `counts` windows cover, and by `channels` channels."""
    ends = zip(windows.covered_extents(counts), x.shape[1:-1], windows.padding, strict=True)
    spatial = ((before, max(covered - own - before, 0)) for covered, own, (before, _) in ends)
    padding = ((0, 0), *spatial, (0, channels))
    return ops.pad(x, padding, number) if any(map(any, padding)) else x


def taps_of(ops: Ops, x: Any, windows: Windows, counts: Sequence[int], axis: int) -> list[Any]:
    """Per tap, the tensor of its elements in all windows along one spatial dimension of a padded tensor."""
    dim = axis - 1
    step, dilation, count = windows.stride[dim], windows.dilation[dim], counts[dim]
    found = []
    for tap in range(windows.kernel[dim]):
        begins, ends, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
        begins[axis], ends[axis], steps[axis] = tap * dilation, tap * dilation + (count - 1) * step + 1, step
        found.append(ops.slice(x, begins, ends, steps))
    return found
