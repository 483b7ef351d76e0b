"""Distances of two torch tensors: correlation, and units in the last place."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.specs.dtypes import dtypes_in_torch

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.dtypes import DataType

OVERFLOW = 2.0**128
"""The value of an infinity in a distance: the first power of two that no element type holds."""
_SMALLEST_NORMAL = 2.0**-126
ORDINARY = 2.0**500
"""Smaller magnitudes, of which none is near the largest of its type, have distances and squares without exceptions."""
_MANTISSA_BITS = sys.float_info.mant_dig - 1
_EXPONENT = 0x7FF << _MANTISSA_BITS
"""The bits of the exponent of a float64."""
_BLOCK_WIDTH = 16
"""Elements of a row of block floats that share an exponent."""


def correlation(expected: torch.Tensor, actual: torch.Tensor) -> float:
    """Pearson's correlation of two tensors of one shape by ttnn's rules (`ttnn.pearson_correlation_coefficient`)."""
    import torch

    actual = actual.to(expected.dtype)
    all_nan = [bool(tensor.isnan().all()) for tensor in (expected, actual)]
    if any(all_nan):
        return float(all(all_nan))
    all_zero = [not bool(tensor.any()) for tensor in (expected, actual)]
    if any(all_zero) and not all(all_zero):
        return 0.0
    a, b = (torch.nan_to_num(t.double().flatten(), nan=0.0, posinf=0.0, neginf=0.0) for t in (expected, actual))
    if torch.equal(a, b):
        return 1.0
    return _centred_correlation(a - a.mean(), b - b.mean())


def _centred_correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    """The correlation of two centred vectors; 1.0 where one is constant."""
    # Vectors are normalized first, so that nothing overflows.
    lengths = [float(vector.norm()) for vector in (a, b)]
    if 0.0 in lengths:
        return 1.0
    return min(1.0, float((a / lengths[0]).dot(b / lengths[1])))


def index_of_largest(values: torch.Tensor) -> tuple[int, ...]:
    """The index of the first largest element. `torch.unravel_index` imports sympy: a second of each process."""
    return place_in(tuple(values.shape), int(values.argmax()))


def place_in(shape: tuple[int, ...], place: int) -> tuple[int, ...]:
    """The index of the element of a tensor that has this place in row-major order."""
    index = []
    for extent in reversed(shape):
        place, along = divmod(place, extent)
        index.append(along)
    return tuple(reversed(index))


def elements_at(x: torch.Tensor, places: torch.Tensor | None) -> torch.Tensor:
    """The elements at these places in row-major order; None: `x` itself."""
    return x if places is None else x.reshape(-1)[places]


class CorrelationSums:
    """Sums over parts of two tensors in float64, of which their `correlation` follows.

    Moments of two parts are joined by their means, so that nothing cancels. Elements beyond 2^500 are no numbers here.
    """

    def __init__(self) -> None:
        self._count = 0
        self._means = [0.0, 0.0]
        self._squares = [0.0, 0.0]
        self._product = 0.0
        self._all_nan, self._any, self._is_equal = [True, True], [False, False], True

    def add(self, expected: torch.Tensor, actual: torch.Tensor, *, is_ordinary: bool = False) -> None:
        """Take in a part of each tensor; `is_ordinary`: all magnitudes are known to be below 2^500."""
        import torch

        pair = expected, actual
        nan = [
            not is_ordinary and known and bool(x.isnan().all()) for known, x in zip(self._all_nan, pair, strict=True)
        ]
        self._all_nan = nan
        self._any = [known or bool(x.any()) for known, x in zip(self._any, pair, strict=True)]
        if is_ordinary:
            a, b = pair
        else:
            a, b = (torch.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0).clamp(-ORDINARY, ORDINARY) for x in pair)
        self._is_equal = self._is_equal and torch.equal(a, b)
        means, count = [float(a.mean()), float(b.mean())], a.numel()
        squares, product = _centred_sums(a, b, means)
        off = [mean - known for mean, known in zip(means, self._means, strict=True)]
        weight = self._count * count / (self._count + count)
        for index, square in enumerate(squares):
            self._squares[index] += square + off[index] ** 2 * weight
            self._means[index] += off[index] * count / (self._count + count)
        self._product += product + off[0] * off[1] * weight
        self._count += count

    @property
    def correlation(self) -> float:
        """As `correlation` of the whole tensors."""
        if any(self._all_nan):
            return float(all(self._all_nan))
        if any(self._any) and not all(self._any):
            return 0.0
        if self._is_equal or 0.0 in self._squares:
            return 1.0
        return min(1.0, self._product / (math.sqrt(self._squares[0]) * math.sqrt(self._squares[1])))


_CANCELLED = 2.0**-20
"""The share of a sum of squares that is left of it, about the mean, from which on the difference has enough digits."""


def _centred_sums(a: torch.Tensor, b: torch.Tensor, means: Sequence[float]) -> tuple[tuple[float, float], float]:
    """The sums of squares of two vectors about their means, and of their products.

    They are differences of sums about 0, which take no other vector, unless these cancel.
    """
    count = a.numel()
    sums = float(a.dot(a)), float(b.dot(b))
    squares = sums[0] - count * means[0] ** 2, sums[1] - count * means[1] ** 2
    if squares[0] > _CANCELLED * sums[0] and squares[1] > _CANCELLED * sums[1]:
        return squares, (sums[0] if a is b else float(a.dot(b))) - count * means[0] * means[1]
    a, b = a - means[0], b - means[1]
    return (float(a.dot(a)), float(b.dot(b))), float(a.dot(b))


def unit_in_last_place(
    reference: torch.Tensor, mantissa_bits: int, smallest_normal: float = _SMALLEST_NORMAL
) -> torch.Tensor:
    """Per element of a float64 tensor, the spacing of numbers with `mantissa_bits`, by default of float32's range."""
    import torch

    if smallest_normal * 2.0**-mantissa_bits >= sys.float_info.min:  # the unit has bits of its exponent alone
        bits = reference.abs().clamp_(min=smallest_normal).view(torch.int64)
        return (bits & _EXPONENT).sub_(mantissa_bits << _MANTISSA_BITS).view(torch.float64)
    _, exponent = torch.frexp(reference.abs().clamp(min=smallest_normal))  # frexp(0) has the exponent 0
    return torch.ldexp(torch.ones_like(reference), exponent - 1 - mantissa_bits)


def unit_of_block(values: torch.Tensor, magnitude_bits: int) -> torch.Tensor:
    """Per element of a float64 tensor, the value of its last bit as a block float: 16 in a row share an exponent."""
    import torch

    rows = values.abs().nan_to_num(nan=OVERFLOW, posinf=OVERFLOW)
    width = rows.shape[-1] if rows.dim() else 1
    padded = torch.nn.functional.pad(rows.reshape(-1, width), (0, -width % _BLOCK_WIDTH))
    largest = padded.reshape(len(padded), -1, _BLOCK_WIDTH).amax(-1).repeat_interleave(_BLOCK_WIDTH, -1)[:, :width]
    return unit_in_last_place(largest, magnitude_bits - 1).reshape(values.shape)


def ulp_distance(got: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """Per element, the distance in units in the last place of `got`'s type at `reference` (`testing.ulp_distance`).

    Raises:
        ValueError: The type of `got` is no element type of ttnn's tensors.
    """
    import torch

    dtype = dtypes_in_torch().get(got.dtype)
    if dtype is None:
        raise ValueError(f"ulp are counted in element types of ttnn's tensors, got {got.dtype}")
    reference = reference.double()
    if dtype.is_integer:
        return (got.double() - reference).abs().nan_to_num(nan=torch.inf)
    # Double rounding, float64 -> float32 -> bfloat16, gives infinity only where direct rounding does.
    rounded, wide = reference.to(got.dtype), got.double()
    same = (got == rounded) & rounded.isinf() | got.isnan() & rounded.isnan() | (wide == reference)
    unit = unit_in_last_place(reference, dtype.mantissa_bits, dtype.smallest_normal)
    distance = ((wide - reference).abs() / unit).nan_to_num(nan=torch.inf, posinf=torch.inf)
    return torch.where(same, torch.zeros_like(distance), distance)


def as_integers(values: torch.Tensor, dtype: DataType) -> torch.Tensor:
    """`values` converted to the integer type `dtype`, in int64: the low bits of integers, the nearest to floats."""
    import torch

    numbers = dtype.values
    if values.is_floating_point():
        return values.nan_to_num(0.0).clamp(numbers[0], numbers[-1]).to(torch.int64)
    if dtype.compute.is_wide:
        return values.to(torch.int64)
    return (values.to(torch.int64) - numbers.start) % len(numbers) + numbers.start


def is_close_by_torch(result: torch.Tensor, golden: torch.Tensor, dtype: DataType) -> bool:
    """`torch.allclose` in float64 by the tolerances of `torch.testing` for `dtype`, with NaN close to NaN."""
    import torch

    rtol, atol = tolerances_of_torch(dtype)
    return torch.allclose(result, golden, rtol=rtol, atol=atol, equal_nan=True)


def tolerances_of_torch(dtype: DataType) -> tuple[float, float]:
    """The relative and the absolute tolerance of `torch.testing` for `dtype`."""
    return {23: 1.3e-6, 52: 1e-7, 10: 1e-3}.get(dtype.mantissa_bits, 1.6e-2), 1e-5


def root_mean_square(values: torch.Tensor) -> torch.Tensor:
    """The root mean square of the finite elements, without overflow."""
    import torch

    length: torch.Tensor = values.norm()
    if 1.0 / ORDINARY < float(length) < ORDINARY:  # NaN and infinities are not below
        return length / math.sqrt(values.numel())
    finite = torch.where(values.isfinite(), values, 0.0).abs()
    largest = finite.amax().clamp(min=1e-300) if finite.numel() else finite.new_tensor(1.0)
    return largest * (finite / largest).square().mean().sqrt() if finite.numel() else finite.new_tensor(0.0)
