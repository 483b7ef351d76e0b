"""The verdict on a result: a function of the result, its golden, and a tolerance.

A result of one operation is judged element by element. A result of a chain of operations is judged by the root mean
square of the differences: errors add up along the chain, and a comparison in it may have the other outcome. A result
must have NaN and infinities where the golden, rounded to the result's type, has them. The correlation is reported and
decides nothing: it is undefined for a constant, and x correlates with 1000 x.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
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
    tolerances_of_torch,
    unit_in_last_place,
    unit_of_block,
)
from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.dtypes import DataType

_HALF_ULP_SLACK = 1.0 + 2.0**-20
"""The factor of a bound that allows for the rounding of the float64 golden itself."""
_PART = 2**18
"""Elements of a large result that are judged at a time: each takes some hundred bytes meanwhile, in a core's cache."""
_ORDINARY = 2.0**500
"""Smaller magnitudes, of which none is near the largest of its type, have distances and squares without exceptions."""
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
            the other parts do not suffice, and asked until one does; with ``places=``, of the elements at these places
            in row-major order.
        by_rms: Judge the root mean square of all differences, not each element.
    """

    max_ulp: float = 0.5
    atol: float = 0.0
    relative: float = 0.0
    noise: Callable[..., Iterable[torch.Tensor]] | None = None
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
    if got.numel() > _PART and not tolerance.by_rms and not result_format.dtype.is_block_float:
        return _judge_parts(got, golden, result_format, tolerance)
    pair = _Comparison.of(got, golden, result_format)
    differing = pair.differing_nans
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

    def where(self, judged: torch.Tensor) -> _Comparison:
        """The comparison of the elements of `judged` alone; the others become equal."""
        result, exact, distance = (each.masked_fill(~judged, 0.0) for each in self[:3])
        return _Comparison(result, exact, distance, self.unit)

    def exceeds(self, allowed: torch.Tensor) -> torch.Tensor:
        """Where the distance is larger than `allowed`."""
        if self.is_ordinary:
            return self.distance > allowed * _HALF_ULP_SLACK
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
        if not dtype.is_block_float and _are_below(min(largest / 2, _ORDINARY), golden, result):
            unit = unit_in_last_place(golden, dtype.mantissa_bits, dtype.smallest_normal)
            return _Comparison(result, golden, (result - golden).abs_(), unit, is_ordinary=True)
        if dtype.is_block_float:
            overflows = golden.abs() >= OVERFLOW  # float32 overflows before the value is packed
            exact = torch.where(overflows, golden.sign() * math.inf, golden.clamp(-largest, largest))
            unit = torch.maximum(*(unit_of_block(each, dtype.traits.magnitude_bits) for each in (result, exact)))
            judged = _is_in_finite_block(exact)
        else:
            form = dtype.mantissa_bits, dtype.smallest_normal
            last = unit_in_last_place(golden.new_tensor(largest), *form)
            exact = _overflowed(golden, dtype)
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


def _are_below(limit: float, *tensors: torch.Tensor) -> bool:
    """Whether all magnitudes are below a limit; NaN is not, and neither is an empty tensor."""
    ends = [float(end) for each in tensors if each.numel() for end in each.aminmax()]
    return len(ends) == 2 * len(tensors) and all(-limit < end < limit for end in ends)


def _judge_parts(got: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat, tolerance: Tolerance) -> Verdict:
    """The verdict on a large result, whose elements are judged one by one: what is computed of a part is freed.

    Only the elements that are wrong without noise are judged with it: it widens the bound of the others.
    """
    import torch

    shape, flat = tuple(got.shape), [torch.split(each.reshape(-1), _PART) for each in (got, golden)]
    size = _size_of_parts(flat[1], result_format.dtype) if tolerance.relative else golden.new_tensor(0.0)
    nans, first, units, is_close, sums = 0, None, 0.0, True, CorrelationSums()
    wrong_parts = []
    for number, (own, right) in enumerate(zip(*flat, strict=True)):
        pair = _Comparison.of(own, right, result_format)
        differing = pair.differing_nans
        nans += len(differing)
        if first is None and len(differing):
            first = place_in(shape, number * _PART + int(differing[0]))
        units = max(units, float(pair.ulp.max()))
        is_close &= _is_close(pair, result_format.dtype)
        sums.add(pair.exact, pair.result, is_ordinary=pair.is_ordinary)
        outside = pair.exceeds(_allowed(pair, result_format, tolerance, size))
        outside[differing] = True
        if outside.any():
            places = outside.nonzero().squeeze(-1)
            wrong_parts.append(_WrongElements(number * _PART + places, own[places], right[places]))

    counts = [len(each.places) for each in wrong_parts]

    def reason(noise: torch.Tensor | None) -> str:
        noises = [None] * len(counts) if noise is None else torch.split(noise, counts)
        parts = zip(wrong_parts, noises, strict=True)
        return _joined([each.judged(result_format, tolerance, size, own) for each, own in parts], shape)

    wrong = reason(None)
    if wrong and tolerance.noise is not None:
        for noise in tolerance.noise(places=torch.cat([each.places for each in wrong_parts])):
            wrong = reason(noise)
            if not wrong:
                break
    return Verdict(not wrong, wrong, sums.correlation, units, nans, first, is_close)


def _size_of_parts(parts: Sequence[torch.Tensor], dtype: DataType) -> torch.Tensor:
    """The root mean square of all elements in the range of a scalar type."""
    import torch

    sizes, total = [], sum(map(len, parts))
    for part in parts:
        inside = part if _are_below(dtype.traits.largest / 2, part) else _overflowed(part, dtype)
        sizes.append(root_mean_square(inside) * (len(part) / total) ** 0.5)
    size: torch.Tensor = torch.stack(sizes).norm()
    return size


def _overflowed(golden: torch.Tensor, dtype: DataType) -> torch.Tensor:
    """The golden, infinite where it is beyond the range of a scalar type."""
    import torch

    largest = dtype.traits.largest
    last = unit_in_last_place(golden.new_tensor(largest), dtype.mantissa_bits, dtype.smallest_normal)
    return torch.where(golden.abs() >= largest + last / 2, golden.sign() * math.inf, golden)


def _is_close(pair: _Comparison, dtype: DataType) -> bool:
    """`is_close_by_torch`."""
    if not pair.is_ordinary:
        return is_close_by_torch(pair.result, pair.exact, dtype)
    rtol, atol = tolerances_of_torch(dtype)
    return bool((pair.distance <= (pair.exact * rtol).abs_().add_(atol)).all())


def _allowed(pair: _Comparison, result_format: ResultFormat, tolerance: Tolerance, size: torch.Tensor) -> torch.Tensor:
    """The allowed distance without noise, where all elements have the root mean square `size`."""
    allowed: torch.Tensor = pair.unit * tolerance.max_ulp
    allowed.add_(tolerance.atol + (_SMALLEST_NORMAL if result_format.flushes else 0.0))
    if tolerance.relative:
        allowed.add_(pair.exact.abs().add_(size), alpha=tolerance.relative)
    return allowed


class _OutsideOfPart(NamedTuple):
    """The elements of a part that are wrong.

    Attributes:
        nans: How many are NaN in one of the two alone.
        outside: How many others are off.
        ratio: Of the worst, its distance over the allowed one; infinite of NaN.
        worst: The place of the worst, or of the first NaN, among all elements.
        text: What is wrong there.
    """

    nans: int
    outside: int
    ratio: float
    worst: int
    text: str


class _WrongElements(NamedTuple):
    """The elements of a part that are wrong without noise.

    Attributes:
        places: Their places among all elements.
        result: Of the result.
        golden: Of its golden.
    """

    places: torch.Tensor
    result: torch.Tensor
    golden: torch.Tensor

    def judged(
        self, result_format: ResultFormat, tolerance: Tolerance, size: torch.Tensor, noise: torch.Tensor | None
    ) -> _OutsideOfPart:
        """Those that are wrong with their noise; None: without it."""
        pair = _Comparison.of(self.result, self.golden, result_format)
        allowed = _allowed(pair, result_format, tolerance, size)
        if noise is not None:
            pair, allowed = pair.where(noise.isfinite()), allowed + noise.nan_to_num(posinf=0.0)
        differing = pair.differing_nans
        if len(differing):
            first = int(differing[0])
            return _OutsideOfPart(len(differing), 0, math.inf, int(self.places[first]), _described(pair, (first,)))
        outside = pair.exceeds(allowed)
        count = int(outside.sum())
        if not count:
            return _OutsideOfPart(0, 0, 0.0, 0, "")
        ratios = (pair.distance / allowed).nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(~outside, 0.0)
        worst = index_of_largest(ratios)
        place = int(self.places[worst])
        return _OutsideOfPart(0, count, float(ratios[worst]), place, _excess(pair, allowed, worst))


def _joined(parts: Sequence[_OutsideOfPart], shape: tuple[int, ...]) -> str:
    """What is wrong in all parts; empty if nothing is."""
    nans, outside = sum(each.nans for each in parts), sum(each.outside for each in parts)
    if not nans and not outside:
        return ""
    total = math.prod(shape)
    if nans:
        part = next(each for each in parts if each.nans)
        place = [*place_in(shape, part.worst)]
        return (
            f"{nans} of {total} elements are NaN in the result or the golden alone, the first at {place}: {part.text}"
        )
    part = max(parts, key=lambda each: each.ratio)
    return f"{outside} of {total} elements are off, the worst at {[*place_in(shape, part.worst)]}: {part.text}"


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
    differing = pair.differing_nans
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
    return f"{pair.result[index].item():.9g}, and {pair.exact[index].item():.9g} is right"


def root_mean_square(values: torch.Tensor) -> torch.Tensor:
    """The root mean square of the finite elements, without overflow."""
    import torch

    length: torch.Tensor = values.norm()
    if 1.0 / _ORDINARY < float(length) < _ORDINARY:  # NaN and infinities are not below
        return length / math.sqrt(values.numel())
    finite = torch.where(values.isfinite(), values, 0.0).abs()
    largest = finite.amax().clamp(min=1e-300) if finite.numel() else finite.new_tensor(1.0)
    return largest * (finite / largest).square().mean().sqrt() if finite.numel() else finite.new_tensor(0.0)
