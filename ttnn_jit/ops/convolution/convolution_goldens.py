"""Convolutions in torch, for goldens: torch's own, and for large ones in float64 Winograd's of fewer products.

Torch unfolds an image of float64 into the matrix of its windows. Winograd's algorithm F(4x4, 3x3) (Lavin and Gray, Fast
Algorithms for Convolutional Neural Networks, 2016) computes 16 results of one channel by 36 products where windows take
144. In float64 its error is below 2^-46 of the largest input times the largest sum of magnitudes of weights, which
`_PRECISE` compares with the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ttnn_jit.ops.families.element_goldens import GoldenOfElements, sums_of_products
from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass

Pairs = Sequence[tuple[int, int]]

_MAX_COLUMNS = 2**26
"""Elements of the matrix of all windows, into which torch unfolds an image of float64, at a time."""
_LARGE = 2**32
"""Products from which on Winograd's algorithm pays: about a fifth of a second of torch's."""
_TILES = 2**8
"""Tiles that are transformed at a time: 75 MB of float64 for 512 channels."""
_PRECISE = 2.0**20
"""The largest input times weights, over the root mean square of the results, up to which Winograd's are used: 2^-46 of
it is 2^-26 of the results, a 64th of what any float32 result is allowed."""

# Lavin and Gray, section 4.3: of the input, of the kernel, and of the result.
_INPUT = (
    (4, 0, -5, 0, 1, 0),
    (0, -4, -4, 1, 1, 0),
    (0, 4, -4, -1, 1, 0),
    (0, -2, -1, 2, 1, 0),
    (0, 2, -1, -2, 1, 0),
    (0, 4, 0, -5, 0, 1),
)
_KERNEL = (
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)
_RESULT = (
    (1, 1, 1, 1, 1, 0),
    (0, 1, -1, 2, -2, 0),
    (0, 1, 1, 4, 4, 0),
    (0, 1, -1, 8, -8, 1),
)
_OUT, _IN = len(_RESULT), len(_INPUT)
"""The extents of a tile of results, and of the inputs that it reads."""


@dataclass(frozen=True)
class Windowing:
    """How windows lie on an image [batch, channels, spatial...].

    Attributes:
        taps: The extents of a window.
        strides: Distances of windows.
        padding: Zeros before and after each dimension, below 0 where elements are cut off.
        spread: Distances of the image's elements; zeros are between them.
        dilation: Distances of taps.
        groups: Channel groups.
    """

    taps: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    spread: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1

    @cached_property
    def spans(self) -> tuple[int, ...]:
        """The extents of the elements between the first tap and the last."""
        return tuple((taps - 1) * by + 1 for taps, by in zip(self.taps, self.dilation, strict=True))

    def counts(self, extents: Sequence[int]) -> tuple[int, ...]:
        """The number of windows along each dimension of an image of these extents."""
        padded = (
            (size - 1) * by + 1 + low + high
            for size, by, (low, high) in zip(extents, self.spread, self.padding, strict=True)
        )
        return tuple(
            (size - span) // step + 1 for size, span, step in zip(padded, self.spans, self.strides, strict=True)
        )


def convolution_in_torch(torch: Any, x: Any, weight: Any, bias: Any, windowing: Windowing) -> Any:
    """The convolution of an image, channels first, by weights [outputs, inputs per group, taps...]."""
    if _pays(x, weight, windowing):
        found = _by_winograd(torch, x, weight, windowing)
        if found is not None:
            return found if bias is None else found.add_(bias.reshape(-1, 1, 1))
    return _by_rows(torch, x, weight, bias, windowing)


def _by_rows(torch: Any, x: Any, weight: Any, bias: Any, windowing: Windowing) -> Any:
    """Torch's convolution, some rows of the result after another."""
    if any(step != 1 for step in windowing.spread):
        x, windowing = _spread(x, windowing)
    rank = len(windowing.taps)
    function = getattr(torch.nn.functional, f"conv{rank}d")
    options = (bias, windowing.strides, 0, windowing.dilation, windowing.groups)
    counts = windowing.counts(x.shape[2:])
    in_row = len(x) * weight[0].numel() * windowing.groups * math.prod(counts[1:])
    rows = max(1, _MAX_COLUMNS // max(1, in_row))
    parts = [
        function(_rows_of(torch, x, windowing, begin, min(begin + rows, counts[0])), weight, *options)
        for begin in range(0, counts[0], rows)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 2)


def _rows_of(torch: Any, x: Any, windowing: Windowing, begin: int, end: int) -> Any:
    """The padded rows of an image, not spread, that the rows `begin` to `end` of the result read."""
    (low, _), *others = windowing.padding
    first = begin * windowing.strides[0] - low
    last = (end - 1) * windowing.strides[0] + windowing.spans[0] - low
    rows = x[:, :, min(max(0, first), x.shape[2]) : max(0, last)]
    missing = last - first - rows.shape[2]
    before = min(max(0, -first), missing)
    widths = [(before, missing - before), *others]
    return torch.nn.functional.pad(rows, [each for pair in reversed(widths) for each in pair])


def _spread(x: Any, windowing: Windowing) -> tuple[Any, Windowing]:
    """The image with zeros between its elements."""
    shape = tuple((extent - 1) * by + 1 for extent, by in zip(x.shape[2:], windowing.spread, strict=True))
    wide = x.new_zeros((*x.shape[:2], *shape))
    wide[(slice(None), slice(None), *(slice(None, None, by) for by in windowing.spread))] = x
    return wide, replace(windowing, spread=(1,) * len(shape))


# --- Winograd ---------------------------------------------------------------------------------------------------------


def _pays(x: Any, weight: Any, windowing: Windowing) -> bool:
    ones = (1, 1)
    usual = windowing.taps == (3, 3) and windowing.groups == 1
    usual &= windowing.strides == windowing.dilation == windowing.spread == ones
    products = len(x) * math.prod(windowing.counts(x.shape[2:])) * weight.numel() if usual else 0
    return products >= _LARGE and str(x.dtype) == "torch.float64"


def _by_winograd(torch: Any, x: Any, weight: Any, windowing: Windowing) -> Any:
    """The convolution; None if it would not be precise: of infinities, NaN, or magnitudes that differ much."""
    largest = float(x.abs().amax()) * float(weight.abs().flatten(1).sum(1).amax())
    if not largest < math.inf:
        return None
    pair = [x.new_tensor(each) for each in (_INPUT, _RESULT)]
    of_input, of_result = (torch.kron(each, each) for each in pair)
    kernel = x.new_tensor(_KERNEL)
    outputs, channels = weight.shape[:2]
    kernels = (torch.kron(kernel, kernel) @ weight.reshape(outputs * channels, -1).T).reshape(-1, outputs, channels)
    rows, columns = windowing.counts(x.shape[2:])
    found = x.new_empty((len(x), outputs, rows, columns))
    across = -(-columns // _OUT)
    for index, begin in product(range(len(x)), range(0, rows, _OUT * max(1, _TILES // across))):
        end = min(begin + _OUT * max(1, _TILES // across), rows)
        block = _rows_of(torch, x[index : index + 1], windowing, begin, end)
        tiles = -(-(end - begin) // _OUT), across
        wanted = [count * _OUT + _IN - _OUT for count in tiles]
        block = torch.nn.functional.pad(block, (0, wanted[1] - block.shape[3], 0, wanted[0] - block.shape[2]))
        taps = torch.nn.functional.unfold(block, _IN, stride=_OUT).reshape(channels, _IN**2, -1)
        given = torch.matmul(of_input, taps).transpose(0, 1)
        made = of_result @ torch.bmm(kernels, given).reshape(_IN**2, -1)
        made = made.reshape(_OUT, _OUT, outputs, *tiles).permute(2, 3, 0, 4, 1)
        made = made.reshape(outputs, tiles[0] * _OUT, tiles[1] * _OUT)
        found[index, :, begin:end] = made[:, : end - begin, :columns]
    size = float(found.reshape(-1).norm()) / math.sqrt(found.numel())
    return found if largest <= _PRECISE * size else None


# --- Single elements --------------------------------------------------------------------------------------------------


def elements_in_torch(
    torch: Any, x: Any, weight: Any, bias: Any, windowing: Windowing, index: Sequence[Any]
) -> GoldenOfElements:
    """Elements of a convolution of an image, channels first: the sums of products of windows and weights, and a bias.

    Args:
        torch: The module.
        x: The image.
        weight: The weights.
        bias: That of each output; None.
        windowing: How windows lie.
        index: The place of each element: its batch, its output, and its place along each spatial dimension.
    """
    batch, output, *places = index
    x = x.movedim(1, -1)
    own = weight.shape[1]
    group = output // (len(weight) // windowing.groups)
    channels = group[:, None] * own + torch.arange(own)
    inside = torch.ones((), dtype=torch.bool)
    at = []
    sizes = windowing.taps
    for axis, place in enumerate(places):
        shape = [-1 if each == axis else 1 for each in range(len(sizes))]
        taps = (torch.arange(sizes[axis]) * windowing.dilation[axis]).reshape(shape)
        where = (place * windowing.strides[axis] - windowing.padding[axis][0]).reshape(-1, *[1] * len(sizes)) + taps
        by, extent = windowing.spread[axis], x.shape[axis + 1]
        inside = inside & (where >= 0) & (where <= (extent - 1) * by) & (where % by == 0)
        at.append((where // by).clamp(0, extent - 1))
    beside = (slice(None), *[None] * len(sizes))
    windows = x[(batch[(*beside, None)], *(each[..., None] for each in at), channels[beside])]
    left = torch.where(inside[..., None], windows, torch.zeros((), dtype=windows.dtype))
    right = weight[output].movedim(1, -1)
    return sums_of_products(left.flatten(1), right.flatten(1), None if bias is None else bias.reshape(-1)[output])
