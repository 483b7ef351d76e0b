"""A result beside its golden, element by element: distances, units in the last place, and what exceeds a bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ttnn_jit.golden.distances import ORDINARY, OVERFLOW, unit_in_last_place, unit_of_block
from ttnn_jit.golden.verdict import ResultFormat

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.dtypes import DataType

_HALF_ULP_SLACK = 1.0 + 2.0**-20
"""The factor of a bound that allows for the rounding of the float64 golden itself."""
SMALLEST_NORMAL = 2.0**-126
"""Smaller magnitudes are flushed to zero by chips, and by products of bfloat16 on every target."""


class ElementComparison(NamedTuple):
    """A result and its golden, in float64.

    Attributes:
        result: The result.
        exact: The golden, infinite where the result's type overflows.
        distance: Their distance; 0 where one is NaN, infinite where only an infinity is right.
        unit: The unit in the last place.
        is_ordinary: Whether all elements are known to be finite, and none is near the largest number of the type.
    """

    result: torch.Tensor
    exact: torch.Tensor
    distance: torch.Tensor
    unit: torch.Tensor
    is_ordinary: bool = False

    @property
    def ulp(self) -> torch.Tensor:
        """The distance in units."""
        return self.distance / self.unit

    @property
    def differing_nans(self) -> torch.Tensor:
        """The places of the elements that are NaN in one of the two alone."""
        if self.is_ordinary:
            return self.distance.new_empty((0, self.distance.dim()), dtype=self.distance.int().dtype)
        return (self.result.isnan() != self.exact.isnan()).nonzero()

    def where(self, judged: torch.Tensor) -> ElementComparison:
        """The comparison of the elements of `judged` alone; the others become equal."""
        result, exact, distance = (each.masked_fill(~judged, 0.0) for each in self[:3])
        return ElementComparison(result, exact, distance, self.unit)

    def exceeds(self, allowed: torch.Tensor) -> torch.Tensor:
        """Where the distance is larger than `allowed`."""
        if self.is_ordinary:
            return self.distance > allowed * _HALF_ULP_SLACK
        return self.distance.isinf() | (self.distance > 0) & ~(self.distance <= _HALF_ULP_SLACK * allowed)

    @staticmethod
    def of(got: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat) -> ElementComparison:
        """The comparison of a result with its golden."""
        result = got.double()
        return ElementComparison.compare(
            result, _with_flushed_nan(golden.double(), result, result_format), result_format
        )

    @staticmethod
    def compare(result: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat) -> ElementComparison:
        """The comparison of a result with a golden, which may exceed the range of the type."""
        import torch

        dtype, largest = result_format.dtype, result_format.dtype.traits.largest
        if not dtype.is_block_float and are_below(min(largest / 2, ORDINARY), golden, result):
            unit = unit_in_last_place(golden, dtype.mantissa_bits, dtype.smallest_normal)
            return ElementComparison(result, golden, (result - golden).abs_(), unit, is_ordinary=True)
        if dtype.is_block_float:
            overflows = golden.abs() >= OVERFLOW  # float32 overflows before the value is packed
            exact = torch.where(overflows, golden.sign() * math.inf, golden.clamp(-largest, largest))
            unit = torch.maximum(*(unit_of_block(each, dtype.traits.magnitude_bits) for each in (result, exact)))
            judged = _is_in_finite_block(exact)
        else:
            form = dtype.mantissa_bits, dtype.smallest_normal
            last = unit_in_last_place(golden.new_tensor(largest), *form)
            exact = overflowed(golden, dtype)
            unit = torch.where(golden.isfinite(), unit_in_last_place(golden, *form), last)
            judged = torch.ones_like(exact, dtype=torch.bool)
        # An infinity that results from rounding counts as the number after the largest finite one.
        beyond = OVERFLOW if dtype.is_block_float else 2.0 * (largest / 2 + float(last) / 2)
        distance = (result.clamp(-beyond, beyond) - (exact if dtype.is_block_float else golden)).abs()
        excluded = (result == exact) | result.isnan() | exact.isnan() | ~judged
        return ElementComparison(result, exact, torch.where(excluded, 0.0, distance), unit)


def are_below(limit: float, *tensors: torch.Tensor) -> bool:
    """Whether all magnitudes are below a limit; NaN is not, and neither is an empty tensor."""
    ends = [float(end) for each in tensors if each.numel() for end in each.aminmax()]
    return len(ends) == 2 * len(tensors) and all(-limit < end < limit for end in ends)


def overflowed(golden: torch.Tensor, dtype: DataType) -> torch.Tensor:
    """The golden, infinite where it is beyond the range of a scalar type."""
    import torch

    largest = dtype.traits.largest
    last = unit_in_last_place(golden.new_tensor(largest), dtype.mantissa_bits, dtype.smallest_normal)
    return torch.where(golden.abs() >= largest + last / 2, golden.sign() * math.inf, golden)


def _with_flushed_nan(golden: torch.Tensor, result: torch.Tensor, result_format: ResultFormat) -> torch.Tensor:
    """The golden, with infinity for NaN where a chip stores its NaN as infinity."""
    if result_format.flushes and not result_format.dtype.is_compute_type:
        return golden.masked_fill(golden.isnan() & (result == math.inf), math.inf)
    return golden


def _is_in_finite_block(exact: torch.Tensor) -> torch.Tensor:
    """Where the block of an element is finite: an infinity or a NaN erases the other elements of its block."""
    import torch

    return unit_of_block(torch.zeros_like(exact).masked_fill_(~exact.isfinite(), OVERFLOW), 8) < 1.0


def excess(pair: ElementComparison, allowed: torch.Tensor, at: tuple[int, ...]) -> str:
    """A distance and the allowed one, in units."""
    units = float((allowed / pair.unit)[at])
    return f"{described(pair, at)}, {float(pair.ulp[at]):.6g} ulp, where {units:.6g} are allowed"


def described(pair: ElementComparison, index: tuple[int, ...]) -> str:
    """An element of a result, and what is right."""
    return f"{pair.result[index].item():.9g}, and {pair.exact[index].item():.9g} is right"
