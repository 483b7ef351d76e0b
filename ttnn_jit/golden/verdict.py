"""Whether a result is right: a function of the result, of what it should be, and of what may lie between them.

An operation is judged element by element, a chain of operations by the root mean square of the differences, for errors
add up there and a comparison may fall out the other way. NaN and infinities stand where the golden, rounded to the
result's type, has them. Correlation is reported and decides nothing: of a constant it says nothing, and x correlates
with 1000 x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ttnn_jit.golden.distances import (
    BEYOND,
    as_integers,
    close_by_torch,
    correlation,
    unit_in_last_place,
    unit_of_block,
)
from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.dtypes import DataType

_EXACTLY_HALF = 1.0 + 2.0**-20
"""A golden in float64 is rounded itself: half a unit is so much."""
_SMALLEST = 2.0**-126
"""Below it chips, and products of bfloat16 everywhere, have zeros."""


class Stored(NamedTuple):
    """How results are stored.

    Attributes:
        dtype: Their element type.
        flushes: By a chip: of 16 bits and fewer a NaN may be an infinity, and what is denormal is zero.
    """

    dtype: DataType
    flushes: bool = False


@dataclass(frozen=True)
class Tolerance:
    """What may lie between a result and its golden.

    An element may be off by the sum of all of these.

    Attributes:
        max_ulp: Units in the last place of the result's type at the golden; of block floats, of the block.
        atol: A number.
        relative: Times the golden's magnitude, and that of all its elements (root mean square).
        noise: Gives, per element, how far the golden moves if its operands do by as much as they may; infinite where
            float32 gives no number. It is asked where the rest does not suffice.
        of_all: It is the root mean square of all elements that is judged, and not each by itself.
    """

    max_ulp: float = 0.5
    atol: float = 0.0
    relative: float = 0.0
    noise: Callable[[], torch.Tensor] | None = None
    of_all: bool = False


@dataclass(frozen=True)
class Verdict:
    """A result beside its golden.

    Attributes:
        matches: Whether it is right.
        reason: What is wrong; empty if nothing is.
        pcc: The correlation.
        max_ulp: The largest distance, in units in the last place of the result's type.
        differing_nans: How many elements are NaN in one of the two alone.
        first_nan: The index of the first of them; None if there is none.
        allclose: `torch.allclose` by the tolerances of `torch.testing`; None of block floats.
    """

    matches: bool
    reason: str
    pcc: float
    max_ulp: float
    differing_nans: int = 0
    first_nan: tuple[int, ...] | None = None
    allclose: bool | None = None


def relative_of_pcc(pcc: float) -> float:
    """The relative root mean square of differences that have no effect on a correlation but to make it `pcc`.

    Where two tensors have one mean and one variance, it is the square root of 2 (1 - pcc). -1 asks for nothing.
    """
    return math.inf if pcc <= -1.0 else math.sqrt(2.0 * max(0.0, 1.0 - pcc))


def judge(got: torch.Tensor, golden: torch.Tensor, stored: Stored, tolerance: Tolerance) -> Verdict:
    """The verdict on `got` beside `golden`, tensors of one shape: the result, and float64 or integers."""
    if stored.dtype.is_integer:
        return _of_integers(got, as_integers(golden, stored.dtype), tolerance)
    result = got.double()
    pair = _Pair.of(result, _as_made(golden.double(), result, stored), stored)
    differing = (pair.result.isnan() != pair.exact.isnan()).nonzero()
    first = tuple(differing[0].tolist()) if len(differing) else None
    reason = _reason(pair, stored, tolerance)
    return Verdict(
        matches=not reason,
        reason=reason,
        pcc=correlation(pair.exact, pair.result),
        max_ulp=float(pair.ulp.max()) if got.numel() else 0.0,
        differing_nans=len(differing),
        first_nan=first,
        allclose=None if stored.dtype.is_block_float else close_by_torch(pair.result, pair.exact, stored.dtype),
    )


class _Pair(NamedTuple):
    """A result and its golden, in float64.

    Attributes:
        result: What was got.
        exact: What is right, infinite where the type overflows.
        distance: Between them; 0 where one is NaN, infinite where only an infinity is right.
        unit: In the last place.
    """

    result: torch.Tensor
    exact: torch.Tensor
    distance: torch.Tensor
    unit: torch.Tensor

    @property
    def ulp(self) -> torch.Tensor:
        """The distance in units."""
        import torch

        return torch.where(self.distance > 0, self.distance / self.unit, 0.0)

    def where(self, judged: torch.Tensor) -> _Pair:
        """The pair with nothing to judge elsewhere."""
        result, exact, distance = (each.masked_fill(~judged, 0.0) for each in self[:3])
        return _Pair(result, exact, distance, self.unit)

    def beyond(self, allowed: torch.Tensor) -> torch.Tensor:
        """Where the distance is larger."""
        return self.distance.isinf() | (self.distance > 0) & ~(self.distance <= _EXACTLY_HALF * allowed)

    @staticmethod
    def of(result: torch.Tensor, golden: torch.Tensor, stored: Stored) -> _Pair:
        """Of a result, and of a golden that may be larger than the type holds."""
        import torch

        dtype, largest = stored.dtype, stored.dtype.traits.largest
        if dtype.is_block_float:
            overflows = golden.abs() >= BEYOND  # in float32, before it is packed
            exact = torch.where(overflows, golden.sign() * math.inf, golden.clamp(-largest, largest))
            unit = torch.maximum(*(unit_of_block(each, dtype.traits.magnitude_bits) for each in (result, exact)))
            judged = _blocks_of_numbers(exact)
        else:
            last = unit_in_last_place(golden.new_tensor(largest), dtype.mantissa_bits)
            exact = torch.where(golden.abs() >= largest + last / 2, golden.sign() * math.inf, golden)
            unit = torch.where(golden.isfinite(), unit_in_last_place(golden, dtype.mantissa_bits), last)
            judged = torch.ones_like(exact, dtype=torch.bool)
        # An infinity that only rounding makes is the number behind the largest.
        distance = (result.clamp(-BEYOND, BEYOND) - (exact if dtype.is_block_float else golden)).abs()
        alike = (result == exact) | result.isnan() | exact.isnan() | ~judged
        return _Pair(result, exact, torch.where(alike, 0.0, distance), unit)


def _reason(pair: _Pair, stored: Stored, tolerance: Tolerance) -> str:
    """What is wrong; empty if nothing is."""
    least = _SMALLEST if stored.flushes or stored.dtype.is_block_float else 0.0
    plain = replace(tolerance, noise=None)
    decide = _of_all if tolerance.of_all else _of_each
    reason = _nan_mismatch(pair) or decide(pair, plain, least, 0.0)
    if not reason or tolerance.noise is None:
        return reason
    noise = tolerance.noise()
    pair = pair.where(noise.isfinite())
    return _nan_mismatch(pair) or decide(pair, plain, least, noise.nan_to_num(posinf=0.0))


def _of_integers(got: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> Verdict:
    import torch

    result = got.to(torch.int64)
    distance = (result - golden).abs().double()
    reason = ""
    if not torch.equal(result, golden):
        first = tuple((result != golden).nonzero()[0].tolist())
        count = int((result != golden).sum())
        off = float(root_mean_square(distance) / root_mean_square(golden.double()).clamp(min=1.0))
        if not tolerance.of_all or off > tolerance.relative:
            reason = (
                f"{count} of {got.numel()} integers differ, the first at {list(first)}: {int(result[first])}, and "
                f"{int(golden[first])} is right"
            )
            reason += f"; off by {off:.3g} of all, and {tolerance.relative:.3g} is allowed" if tolerance.of_all else ""
    largest = float(distance.max()) if distance.numel() else 0.0
    pcc = correlation(golden.double(), result.double())
    return Verdict(not reason, reason, pcc, largest, allclose=torch.equal(result, golden))


def _as_made(golden: torch.Tensor, result: torch.Tensor, stored: Stored) -> torch.Tensor:
    """The golden; infinite where a chip has an infinity for its NaN, as it stores those that it computes."""
    if stored.flushes and not stored.dtype.is_compute_type:
        return golden.masked_fill(golden.isnan() & (result == math.inf), math.inf)
    return golden


def _blocks_of_numbers(exact: torch.Tensor) -> torch.Tensor:
    """Where a block holds numbers alone: an infinity or a NaN erases those beside it."""
    import torch

    return unit_of_block(torch.zeros_like(exact).masked_fill_(~exact.isfinite(), BEYOND), 8) < 1.0


def _nan_mismatch(pair: _Pair) -> str:
    """Which elements are NaN in one of the two alone, as a reason."""
    differing = (pair.result.isnan() != pair.exact.isnan()).nonzero()
    if not len(differing):
        return ""
    first = tuple(differing[0].tolist())
    names, values = ("result", "golden"), (pair.result, pair.exact)
    side = int(not values[0][first].isnan())
    return (
        f"{len(differing)} of {pair.result.numel()} elements are NaN in the {names[side]} alone, the first at "
        f"{list(first)}, where the {names[1 - side]} is {values[1 - side][first].item():.6g}"
    )


def _of_each(pair: _Pair, tolerance: Tolerance, least: float, noise: torch.Tensor | float) -> str:
    allowed = tolerance.max_ulp * pair.unit + tolerance.atol + least + noise
    if tolerance.relative:
        allowed = allowed + tolerance.relative * (pair.exact.abs() + root_mean_square(pair.exact))
    outside = pair.beyond(allowed)
    if not bool(outside.any()):
        return ""
    worst = _index_of_largest(
        (pair.distance / allowed).nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(~outside, 0.0)
    )
    return (
        f"{int(outside.sum())} of {outside.numel()} elements are off, the worst at {list(worst)}: "
        f"{_told(pair, worst)}, {float(pair.ulp[worst]):.6g} ulp, where {float((allowed / pair.unit)[worst]):.6g} are "
        "allowed"
    )


def _of_all(pair: _Pair, tolerance: Tolerance, least: float, noise: torch.Tensor | float) -> str:
    outside = pair.beyond(tolerance.max_ulp * pair.unit + tolerance.atol + least)
    size, off = (float(root_mean_square(each)) for each in (pair.exact, pair.distance * outside))
    allowed = tolerance.relative * size + (float(root_mean_square(noise)) if not isinstance(noise, float) else 0.0)
    infinite = bool(pair.distance.isinf().any())
    if off <= allowed and not infinite:
        return ""
    worst = _index_of_largest(pair.distance)
    return (
        f"it is off by {math.inf if infinite else off:.6g} (root mean square) beside elements of {size:.6g}, where "
        f"{allowed:.6g} is allowed; the worst at {list(worst)}: {_told(pair, worst)}"
    )


def _told(pair: _Pair, index: tuple[int, ...]) -> str:
    return f"{pair.result[index].item():.9g}, and {pair.exact[index].item():.9g} is right"


def _index_of_largest(of: torch.Tensor) -> tuple[int, ...]:
    import torch

    return tuple(int(index) for index in torch.unravel_index(of.argmax(), of.shape))


def root_mean_square(values: torch.Tensor) -> torch.Tensor:
    """Of the finite ones; without overflow."""
    import torch

    finite = torch.where(values.isfinite(), values, 0.0).abs()
    largest = finite.amax().clamp(min=1e-300) if finite.numel() else finite.new_tensor(1.0)
    return largest * (finite / largest).square().mean().sqrt() if finite.numel() else finite.new_tensor(0.0)
