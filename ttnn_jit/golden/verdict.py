"""The verdict on a result: a function of the result, its golden, and a tolerance.

A result of one operation is judged element by element. A result of a chain of operations is judged by the root mean
square of the differences: errors add up along the chain, and a comparison in it may have the other outcome. A result
must have NaN and infinities where the golden, rounded to the result's type, has them. The correlation is reported and
decides nothing: it is undefined for a constant, and x correlates with 1000 x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ttnn_jit.golden.distances import (
    OVERFLOW,
    CorrelationSums,
    as_integers,
    correlation,
    index_of_largest,
    is_close_by_torch,
    place_in,
    unit_in_last_place,
    unit_of_block,
)
from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.dtypes import DataType

_HALF_ULP_SLACK = 1.0 + 2.0**-20
"""The factor of a bound that allows for the rounding of the float64 golden itself."""
_LARGE = 2**22
"""Elements from which on a result is judged part by part: each takes some hundred bytes meanwhile."""
_PART = 2**16
"""Elements of a part: half a megabyte of float64."""
_PLACES = 2**9
"""Elements whose noise is computed at a time."""
_FEW = 2.0**-8
"""Elements, of all, up to which their noise alone is computed: a sum of products alone takes some hundred times as long
as one in a product of matrices."""
_SMALL = 2.0**-400
"""A magnitude whose square is a number, and so is that of its reciprocal."""
_SMALLEST_NORMAL = 2.0**-126
"""Smaller magnitudes are flushed to zero by chips, and by products of bfloat16 on every target."""


class ResultFormat(NamedTuple):
    """The storage format of a result.

    Attributes:
        dtype: The element type.
        flushes: Whether a chip stores it: denormals are zero, and in types of at most 16 bits NaN may be infinity.
    """

    dtype: DataType
    flushes: bool = False


@dataclass(frozen=True)
class Tolerance:
    """The allowed difference of a result from its golden: the sum of all parts.

    Attributes:
        max_ulp: Units in the last place of the result's type at the golden; for block floats, of the block.
        atol: An absolute difference.
        relative: A factor of the golden's magnitude plus the root mean square of all its elements.
        noise: Gives estimates, per element, of the change of the golden when its operands change by their own
            tolerances, each at least the one before; infinite where float32 gives no number. It is called only where
            the other parts do not suffice, and asked until one does.
        noise_at: As `noise`, of the elements at some places in row-major order alone; None: it is not known so.
        by_rms: Judge the root mean square of all differences, not each element.
    """

    max_ulp: float = 0.5
    atol: float = 0.0
    relative: float = 0.0
    noise: Callable[[], Iterable[torch.Tensor]] | None = None
    noise_at: Callable[[torch.Tensor], Iterable[torch.Tensor]] | None = None
    by_rms: bool = False

    def __str__(self) -> str:
        parts = [f"{self.max_ulp:g} ulp"]
        parts += [f"{self.atol:g}"] * bool(self.atol)
        parts += [f"{self.relative:.3g} of its size"] * bool(self.relative)
        parts += ["its backward error"] * (self.noise is not None)
        return " + ".join(parts) + (", root mean square" if self.by_rms else "")


@dataclass(frozen=True)
class Verdict:
    """The outcome of a comparison of a result with its golden.

    Attributes:
        matches: Whether the result is right.
        reason: What is wrong; empty if the result is right.
        pcc: The correlation.
        max_ulp: The largest distance, in units in the last place of the result's type.
        differing_nans: The number of elements that are NaN in one of the two alone.
        first_nan: The index of the first such element; None if there is none.
        allclose: `torch.allclose` by the tolerances of `torch.testing`; None for block floats.
    """

    matches: bool
    reason: str
    pcc: float
    max_ulp: float
    differing_nans: int = 0
    first_nan: tuple[int, ...] | None = None
    allclose: bool | None = None


def relative_of_pcc(pcc: float) -> float:
    """The relative root mean square of the differences of two tensors whose correlation is `pcc`.

    It is sqrt(2 (1 - pcc)), for two tensors of equal mean and variance; a `pcc` of -1 or below allows any difference.
    """
    return math.inf if pcc <= -1.0 else math.sqrt(2.0 * max(0.0, 1.0 - pcc))


def judge(got: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat, tolerance: Tolerance) -> Verdict:
    """The verdict on `got` and its `golden`, which has the same shape and is float64 or integers."""
    if result_format.dtype.is_integer:
        return _judge_integers(got, as_integers(golden, result_format.dtype), tolerance)
    if got.numel() > _LARGE and not tolerance.by_rms and not result_format.dtype.is_block_float:
        return _judge_parts(got, golden, result_format, tolerance)
    pair = _Comparison.of(got, golden, result_format)
    differing = (pair.result.isnan() != pair.exact.isnan()).nonzero()
    first = tuple(differing[0].tolist()) if len(differing) else None
    reason = _reason(pair, result_format, tolerance)
    return Verdict(
        matches=not reason,
        reason=reason,
        pcc=correlation(pair.exact, pair.result),
        max_ulp=float(pair.ulp.max()) if got.numel() else 0.0,
        differing_nans=len(differing),
        first_nan=first,
        allclose=None
        if result_format.dtype.is_block_float
        else is_close_by_torch(pair.result, pair.exact, result_format.dtype),
    )


class _Comparison(NamedTuple):
    """A result and its golden, in float64.

    Attributes:
        result: The result.
        exact: The golden, infinite where the result's type overflows.
        distance: Their distance; 0 where one is NaN, infinite where only an infinity is right.
        unit: The unit in the last place.
        is_plain: All elements are numbers in the range of the type.
    """

    result: torch.Tensor
    exact: torch.Tensor
    distance: torch.Tensor
    unit: torch.Tensor
    is_plain: bool = False

    @property
    def ulp(self) -> torch.Tensor:
        """The distance in units."""
        import torch

        if self.is_plain:
            return self.distance / self.unit
        return torch.where(self.distance > 0, self.distance / self.unit, 0.0)

    def where(self, judged: torch.Tensor) -> _Comparison:
        """The comparison of the elements of `judged` alone; the others become equal."""
        result, exact, distance = (each.masked_fill(~judged, 0.0) for each in self[:3])
        return _Comparison(result, exact, distance, self.unit, self.is_plain)

    def exceeds(self, allowed: torch.Tensor) -> torch.Tensor:
        """Where the distance is larger than `allowed`."""
        return self.distance.isinf() | (self.distance > 0) & ~(self.distance <= _HALF_ULP_SLACK * allowed)

    @staticmethod
    def of(got: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat) -> _Comparison:
        """The comparison of a result with its golden."""
        result = got.double()
        return _Comparison.compare(result, _with_flushed_nan(golden.double(), result, result_format), result_format)

    @staticmethod
    def compare(result: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat) -> _Comparison:
        """The comparison of a result with a golden, which may exceed the range of the type."""
        import torch

        dtype, largest = result_format.dtype, result_format.dtype.traits.largest
        if dtype.is_block_float:
            overflows = golden.abs() >= OVERFLOW  # float32 overflows before the value is packed
            exact = torch.where(overflows, golden.sign() * math.inf, golden.clamp(-largest, largest))
            unit = torch.maximum(*(unit_of_block(each, dtype.traits.magnitude_bits) for each in (result, exact)))
            judged = _is_in_finite_block(exact)
        else:
            form = dtype.mantissa_bits, dtype.smallest_normal
            if golden.numel() and all(float(each.abs().amax()) <= largest for each in (golden, result)):
                unit = unit_in_last_place(golden, *form)
                return _Comparison(result, golden, (result - golden).abs_(), unit, is_plain=True)
            last = unit_in_last_place(golden.new_tensor(largest), *form)
            exact = torch.where(golden.abs() >= largest + last / 2, golden.sign() * math.inf, golden)
            unit = torch.where(golden.isfinite(), unit_in_last_place(golden, *form), last)
            judged = torch.ones_like(exact, dtype=torch.bool)
        # An infinity that results from rounding counts as the number after the largest finite one.
        beyond = OVERFLOW if dtype.is_block_float else 2.0 * (largest / 2 + float(last) / 2)
        distance = (result.clamp(-beyond, beyond) - (exact if dtype.is_block_float else golden)).abs()
        excluded = (result == exact) | result.isnan() | exact.isnan() | ~judged
        return _Comparison(result, exact, torch.where(excluded, 0.0, distance), unit)


def _reason(pair: _Comparison, result_format: ResultFormat, tolerance: Tolerance) -> str:
    """What is wrong; empty if nothing is."""
    underflow = _SMALLEST_NORMAL if result_format.flushes or result_format.dtype.is_block_float else 0.0
    without_noise = replace(tolerance, noise=None)
    judge_pair = _reason_by_rms if tolerance.by_rms else _reason_by_element
    reason = _nan_mismatch(pair) or judge_pair(pair, without_noise, underflow, 0.0)
    if not reason or tolerance.noise is None:
        return reason
    for noise in tolerance.noise():
        judged = pair.where(noise.isfinite())
        reason = _nan_mismatch(judged) or judge_pair(judged, without_noise, underflow, noise.nan_to_num(posinf=0.0))
        if not reason:
            break
    return reason


def _judge_parts(got: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat, tolerance: Tolerance) -> Verdict:
    import torch

    judged = _JudgedParts(tuple(got.shape), result_format, tolerance)
    for own, right in zip(*(torch.split(each.reshape(-1), _PART) for each in (got, golden)), strict=True):
        judged.add(own, right)
    return judged.verdict


class _Outside(NamedTuple):
    """Elements that may be wrong.

    Attributes:
        places: Their places in the result, in row-major order.
        got: What they are.
        golden: What is right.
    """

    places: torch.Tensor
    got: torch.Tensor
    golden: torch.Tensor

    def where(self, chosen: torch.Tensor) -> _Outside:
        """Some of them."""
        return _Outside(*(each[chosen] for each in self))


class _JudgedParts:
    """A result that is judged part by part.

    Args:
        shape: The shape of the whole result.
        result_format: Its format, which is no block float and no integer.
        tolerance: The allowed difference of each element.
    """

    def __init__(self, shape: tuple[int, ...], result_format: ResultFormat, tolerance: Tolerance) -> None:
        self._shape, self._format, self._tolerance = shape, result_format, tolerance
        self._count, self._nans, self._units = 0, 0, 0.0
        self._first: tuple[int, ...] | None = None
        self._is_close, self._is_exact = True, True
        self._sums = CorrelationSums()
        self._sizes: list[torch.Tensor] = []
        self._outside: list[_Outside] = []

    def add(self, got: torch.Tensor, golden: torch.Tensor) -> None:
        """Judge the next part: vectors of one length, the golden in float64."""
        pair = _Comparison.of(got, golden, self._format)
        self._is_exact = self._is_exact and bool((pair.result == pair.exact).all())
        self._note_nans(pair)
        ulp = pair.ulp
        self._units = max(self._units, float(ulp.max()))
        self._is_close = self._is_close and is_close_by_torch(pair.result, pair.exact, self._format.dtype)
        self._sums.add(pair.exact, pair.result, is_plain=pair.is_plain)
        self._sizes.append(root_mean_square(pair.exact) * (len(got) / math.prod(self._shape)) ** 0.5)
        suspect = ulp > _HALF_ULP_SLACK * self._tolerance.max_ulp
        if not pair.is_plain:
            suspect |= pair.distance.isinf() | (pair.result.isnan() != pair.exact.isnan())
        (places,) = suspect.nonzero(as_tuple=True)
        if len(places):
            found = _Outside(places + self._count, got[places], golden[places])
            chosen, _ = self._judged(found, None, None)
            self._outside.append(found.where(chosen))
        self._count += len(got)

    @property
    def verdict(self) -> Verdict:
        """The verdict, after all parts."""
        reason = self._reason() if self._outside else ""
        sums, units = self._sums, self._units
        return Verdict(not reason, reason, sums.correlation, units, self._nans, self._first, self._is_close)

    def _note_nans(self, pair: _Comparison) -> None:
        if pair.is_plain:
            return
        differing = (pair.result.isnan() != pair.exact.isnan()).nonzero()
        self._nans += len(differing)
        if self._first is None and len(differing):
            self._first = place_in(self._shape, self._count + int(differing[0]))

    def _judged(
        self, outside: _Outside, size: torch.Tensor | None, noise: torch.Tensor | None
    ) -> tuple[torch.Tensor, str]:
        """Which elements are wrong, and what is wrong; without the size of the result, no text."""
        pair = _Comparison.of(outside.got, outside.golden, self._format)
        tolerance, underflow = self._tolerance, _SMALLEST_NORMAL if self._format.flushes else 0.0
        allowed: torch.Tensor = tolerance.max_ulp * pair.unit + tolerance.atol + underflow
        if tolerance.relative:
            allowed = allowed + tolerance.relative * (pair.exact.abs() + (0.0 if size is None else size))
        if noise is not None:
            pair, allowed = pair.where(noise.isfinite()), allowed + noise.nan_to_num(posinf=0.0)
        differing = pair.result.isnan() != pair.exact.isnan()
        wrong = pair.exceeds(allowed) | differing
        return wrong, "" if size is None or not bool(wrong.any()) else self._text(outside, pair, allowed, differing)

    def _text(self, outside: _Outside, pair: _Comparison, allowed: torch.Tensor, differing: torch.Tensor) -> str:
        nans, total = int(differing.sum()), math.prod(self._shape)
        if nans:
            at = index_of_largest(differing.double())
            place = [*place_in(self._shape, int(outside.places[at]))]
            what = f"are NaN in the result or the golden alone, the first at {place}"
            return f"{nans} of {total} elements {what}: {_described(pair, at)}"
        wrong = pair.exceeds(allowed)
        ratios = (pair.distance / allowed).nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(~wrong, 0.0)
        at = index_of_largest(ratios)
        place = [*place_in(self._shape, int(outside.places[at]))]
        return f"{int(wrong.sum())} of {total} elements are off, the worst at {place}: {_excess(pair, allowed, at)}"

    def _reason(self) -> str:
        """What is wrong with all parts; empty if nothing is."""
        import torch

        outside = _Outside(*(torch.cat(each) for each in zip(*self._outside, strict=True)))
        size = torch.stack(self._sizes).norm()
        wrong, text = self._judged(outside, size, None)
        outside = outside.where(wrong)
        if not text or not self._has_noise:
            return text
        noises = [self._allowing_noise(part, size) for part in self._groups(outside)]
        return self._judged(outside, size, torch.cat(noises))[1]

    @property
    def _has_noise(self) -> bool:
        return self._tolerance.noise is not None or self._tolerance.noise_at is not None

    def _groups(self, outside: _Outside) -> Iterator[_Outside]:
        """Elements for which noise is asked at a time: all, unless it is known of some places."""
        import torch

        if not self._knows_places(len(outside.places)):
            yield outside
            return
        for group in zip(*(torch.split(each, _PLACES) for each in outside), strict=True):
            yield _Outside(*group)

    def _knows_places(self, count: int) -> bool:
        few = self._tolerance.noise is None or count <= math.prod(self._shape) * _FEW
        return self._tolerance.noise_at is not None and few

    def _allowing_noise(self, outside: _Outside, size: torch.Tensor) -> torch.Tensor:
        """The first estimate of noise that allows these elements; the last one, if none does."""
        import torch

        noise = torch.zeros_like(outside.golden)
        for noise in self._noises(outside.places):
            wrong, _ = self._judged(outside, size, noise)
            if not bool(wrong.any()):
                break
        return noise

    def _noises(self, places: torch.Tensor) -> Iterator[torch.Tensor]:
        """The changes of the golden at these places."""
        tolerance = self._tolerance
        if tolerance.noise_at is not None and self._knows_places(len(places)):
            yield from tolerance.noise_at(places)
        elif tolerance.noise is not None:
            for noise in tolerance.noise():
                yield noise.reshape(-1)[places]


def _judge_integers(got: torch.Tensor, golden: torch.Tensor, tolerance: Tolerance) -> Verdict:
    import torch

    result = got.to(torch.int64)
    distance = (result - golden).abs().double()
    reason = ""
    if not torch.equal(result, golden):
        first = tuple((result != golden).nonzero()[0].tolist())
        count = int((result != golden).sum())
        off = float(root_mean_square(distance) / root_mean_square(golden.double()).clamp(min=1.0))
        if not tolerance.by_rms or off > tolerance.relative:
            reason = (
                f"{count} of {got.numel()} integers differ, the first at {list(first)}: {int(result[first])}, and "
                f"{int(golden[first])} is right"
            )
            reason += f"; off by {off:.3g} of all, and {tolerance.relative:.3g} is allowed" if tolerance.by_rms else ""
    largest = float(distance.max()) if distance.numel() else 0.0
    pcc = correlation(golden.double(), result.double())
    return Verdict(not reason, reason, pcc, largest, allclose=torch.equal(result, golden))


def _with_flushed_nan(golden: torch.Tensor, result: torch.Tensor, result_format: ResultFormat) -> torch.Tensor:
    """The golden, with infinity for NaN where a chip stores its NaN as infinity."""
    if result_format.flushes and not result_format.dtype.is_compute_type:
        return golden.masked_fill(golden.isnan() & (result == math.inf), math.inf)
    return golden


def _is_in_finite_block(exact: torch.Tensor) -> torch.Tensor:
    """Where the block of an element is finite: an infinity or a NaN erases the other elements of its block."""
    import torch

    return unit_of_block(torch.zeros_like(exact).masked_fill_(~exact.isfinite(), OVERFLOW), 8) < 1.0


def _nan_mismatch(pair: _Comparison) -> str:
    """The reason if elements are NaN in one of the two alone; else empty."""
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


def _reason_by_element(pair: _Comparison, tolerance: Tolerance, underflow: float, noise: torch.Tensor | float) -> str:
    allowed = tolerance.max_ulp * pair.unit + tolerance.atol + underflow + noise
    if tolerance.relative:
        allowed = allowed + tolerance.relative * (pair.exact.abs() + root_mean_square(pair.exact))
    outside = pair.exceeds(allowed)
    if not bool(outside.any()):
        return ""
    worst = index_of_largest(
        (pair.distance / allowed).nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(~outside, 0.0)
    )
    return (
        f"{int(outside.sum())} of {outside.numel()} elements are off, the worst at {list(worst)}: "
        f"{_excess(pair, allowed, worst)}"
    )


def _excess(pair: _Comparison, allowed: torch.Tensor, at: tuple[int, ...]) -> str:
    """A distance and the allowed one, in units."""
    units = float((allowed / pair.unit)[at])
    return f"{_described(pair, at)}, {float(pair.ulp[at]):.6g} ulp, where {units:.6g} are allowed"


def _reason_by_rms(pair: _Comparison, tolerance: Tolerance, underflow: float, noise: torch.Tensor | float) -> str:
    outside = pair.exceeds(tolerance.max_ulp * pair.unit + tolerance.atol + underflow)
    size, off = (float(root_mean_square(each)) for each in (pair.exact, pair.distance * outside))
    allowed = tolerance.relative * size + (float(root_mean_square(noise)) if not isinstance(noise, float) else 0.0)
    infinite = bool(pair.distance.isinf().any())
    if off <= allowed and not infinite:
        return ""
    worst = index_of_largest(pair.distance)
    return (
        f"it is off by {math.inf if infinite else off:.6g} (root mean square) beside elements of {size:.6g}, where "
        f"{allowed:.6g} is allowed; the worst at {list(worst)}: {_described(pair, worst)}"
    )


def _described(pair: _Comparison, index: tuple[int, ...]) -> str:
    """An element of a result, and what is right."""
    return f"{pair.result[index].item():.9g}, and {pair.exact[index].item():.9g} is right"


def root_mean_square(values: torch.Tensor) -> torch.Tensor:
    """The root mean square of the finite elements, without overflow."""
    import torch

    if not values.numel():
        return values.new_tensor(0.0)
    if values.dtype is torch.float64 and _SMALL <= float(values.abs().amax()) <= 1.0 / _SMALL:
        vector = values.reshape(-1)
        return (vector.dot(vector) / len(vector)).sqrt()
    finite = torch.where(values.isfinite(), values, 0.0).abs()
    largest = finite.amax().clamp(min=1e-300)
    return largest * (finite / largest).square().mean().sqrt()
