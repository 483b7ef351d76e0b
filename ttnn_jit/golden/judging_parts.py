"""The verdict on a large result, part by part: what is computed of a part is freed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from ttnn_jit.golden.distances import (
    ORDINARY,
    CorrelationSums,
    index_of_largest,
    is_close_by_torch,
    place_in,
    root_mean_square,
    tolerances_of_torch,
)
from ttnn_jit.golden.element_comparison import (
    SMALLEST_NORMAL,
    ElementComparison,
    are_below,
    described,
    excess,
)
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict
from ttnn_jit.process.cached_property import cached_property

if TYPE_CHECKING:
    import torch

    from ttnn_jit.specs.dtypes import DataType

PART = 2**18
"""Elements that are judged at a time: each takes some hundred bytes meanwhile, in a core's cache."""
_FEW = 2.0**-8
"""The share of all elements up to which their noise alone is computed: in a product of matrices, one takes some hundred
times as long alone."""
_FEWER = 2.0**-3
"""The share of the elements whose noise was asked up to which further estimates are asked of those that need them."""
_BELOW_BFLOAT16 = 0xFFFF
"""The bits of a float32 that bfloat16 lacks."""
_MOST_OF_ROUNDING = 0.499
"""Units that a rounded number is off by at most, but for a thousandth."""


def judge_parts(
    got: torch.Tensor, goldens: Iterable[torch.Tensor], result_format: ResultFormat, tolerance: Tolerance
) -> Verdict:
    """The verdict on a result of scalar floats whose elements are judged one by one.

    Only the elements that are wrong without noise are judged with it: it widens the bound of the others.

    Args:
        got: The result.
        goldens: Its golden in float64, some elements after another in row-major order.
        result_format: The format of the result.
        tolerance: The allowed difference.
    """
    import torch

    judged = _JudgedParts(tuple(got.shape), result_format, tolerance)
    flat, begin = got.reshape(-1), 0
    for golden in goldens:
        for right in torch.split(golden, PART):
            judged.add(flat[begin : begin + len(right)], right)
            begin += len(right)
    assert begin == len(flat), "a golden has the shape of its result"
    return judged.verdict


class _JudgedParts:
    """A result of which parts were judged.

    Args:
        shape: Its shape.
        result_format: Its format.
        tolerance: The allowed difference.
    """

    def __init__(self, shape: tuple[int, ...], result_format: ResultFormat, tolerance: Tolerance) -> None:
        self._shape, self._format, self._tolerance = shape, result_format, tolerance
        self._sizes: list[float] = []
        self._count, self._nans, self._units = 0, 0, 0.0
        self._first: tuple[int, ...] | None = None
        self._is_close = True
        self._sums = CorrelationSums()
        self._wrong: list[_WrongElements] = []

    def add(self, own: torch.Tensor, right: torch.Tensor) -> None:
        """Judge the next elements of the result beside those of its golden."""
        if _is_rounded(own, right):
            self._add_rounded(own, right)
        else:
            self._add(own, right)
        self._count += len(own)

    def _add_rounded(self, own: torch.Tensor, right: torch.Tensor) -> None:
        """The same, of elements that are the golden rounded to the result's type, and so not wrong."""
        import torch

        is_ordinary = are_below(min(self._format.dtype.traits.largest / 2, ORDINARY), right)
        if not is_ordinary or (self._units < _MOST_OF_ROUNDING and not torch.equal(own.double(), right)):
            pair = ElementComparison.of(own, right, self._format)
            self._units = max(self._units, float(pair.ulp.max()))
            right = pair.exact
        self._note_size(right)
        self._sums.add(right, right, is_ordinary=is_ordinary)

    def _add(self, own: torch.Tensor, right: torch.Tensor) -> None:
        pair = ElementComparison.of(own, right, self._format)
        differing = pair.differing_nans
        self._nans += len(differing)
        if self._first is None and len(differing):
            self._first = place_in(self._shape, self._count + int(differing[0]))
        units = float(pair.ulp.max())
        self._units = max(self._units, units)
        self._is_close &= _is_close(pair, self._format.dtype, units)
        self._note_size(pair.exact)
        self._sums.add(pair.exact, pair.result, is_ordinary=pair.is_ordinary)
        if pair.is_ordinary and units <= self._tolerance.max_ulp:  # the least that is allowed
            return
        outside = pair.exceeds(_allowed(pair, self._format, self._tolerance, 0.0))  # the size is not known yet
        outside[differing] = True
        if outside.any():
            places = outside.nonzero().squeeze(-1)
            self._wrong.append(_WrongElements(self._count + places, own[places], right[places]))

    def _note_size(self, exact: torch.Tensor) -> None:
        if self._tolerance.relative:
            self._sizes.append(float(root_mean_square(exact)) * math.sqrt(exact.numel()))

    @cached_property
    def _size(self) -> float:
        """The root mean square of all elements, after all parts, where the tolerance is relative to it."""
        return math.hypot(*self._sizes) / math.sqrt(self._count)

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole, after all parts."""
        found = [self._judged(each, None) for each in self._wrong]
        self._wrong = [
            each.at(outside.which) for each, outside in zip(self._wrong, found, strict=True) if outside.which.any()
        ]
        if self._wrong and self._tolerance.noise is not None:
            found = self._with_noise(self._wrong)
        reason = _joined(found, self._shape)
        return Verdict(not reason, reason, self._sums.correlation, self._units, self._nans, self._first, self._is_close)

    def _with_noise(self, parts: Sequence[_WrongElements]) -> list[_OutsideOfPart]:
        """Elements of parts that are wrong with their noise; if they are few, it is asked of these alone."""
        import torch

        at_a_time = self._tolerance.noise_at_a_time
        if at_a_time is None or _count(parts) > _FEW * math.prod(self._shape):
            return self._asked(parts)
        whole = [torch.cat(each) for each in zip(*parts, strict=True)]
        groups = zip(*(torch.split(each, at_a_time) for each in whole), strict=True)
        return [*chain.from_iterable(self._asked([_WrongElements(*each)]) for each in groups)]

    def _asked(self, parts: Sequence[_WrongElements]) -> list[_OutsideOfPart]:
        """Those that are wrong with the first estimate of their noise that allows all, or else with the last."""
        import torch

        assert self._tolerance.noise is not None, "it is asked"
        found, alone = [self._judged(each, None) for each in parts], self._tolerance.noise_at_a_time is not None
        for noise in self._tolerance.noise(places=torch.cat([each.places for each in parts])):
            noises = torch.split(noise, [len(each.places) for each in parts])
            found = [self._judged(*each) for each in zip(parts, noises, strict=True)]
            left = _left(parts, found)
            if not left:
                break
            if alone and _count(left) <= min(_FEWER * _count(parts), _FEW * math.prod(self._shape)):
                return self._with_noise(left)
        return found

    def _judged(self, wrong: _WrongElements, noise: torch.Tensor | None) -> _OutsideOfPart:
        """Those that are wrong with their noise; None: without it."""
        pair = ElementComparison.of(wrong.result, wrong.golden, self._format)
        allowed = _allowed(pair, self._format, self._tolerance, self._size)
        if noise is not None:
            pair, allowed = pair.where(noise.isfinite()), allowed + noise.nan_to_num(posinf=0.0)
        which, differing = pair.exceeds(allowed), pair.differing_nans
        if len(differing):
            which[differing] = True
            first = int(differing[0])
            text = described(pair, (first,))
            return _OutsideOfPart(which, len(differing), 0, math.inf, int(wrong.places[first]), text)
        count = int(which.sum())
        if not count:
            return _OutsideOfPart(which, 0, 0, 0.0, 0, "")
        ratios = (pair.distance / allowed).nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(~which, 0.0)
        worst = index_of_largest(ratios)
        text = excess(pair, allowed, worst)
        return _OutsideOfPart(which, 0, count, float(ratios[worst]), int(wrong.places[worst]), text)


def _is_close(pair: ElementComparison, dtype: DataType, units: float) -> bool:
    """`is_close_by_torch` of elements that are off by so many units at most."""
    if not pair.is_ordinary:
        return is_close_by_torch(pair.result, pair.exact, dtype)
    rtol, atol = tolerances_of_torch(dtype)
    if units * 2.0**-dtype.mantissa_bits <= rtol and units * dtype.smallest_normal <= atol:
        return True  # the unit of a number is below 2^-bits of it, or of the smallest normal one
    return bool((pair.distance <= (pair.exact * rtol).abs_().add_(atol)).all())


def _allowed(pair: ElementComparison, result_format: ResultFormat, tolerance: Tolerance, size: float) -> torch.Tensor:
    """The allowed distance without noise, where all elements have the root mean square `size`."""
    allowed: torch.Tensor = pair.unit * tolerance.max_ulp
    allowed.add_(tolerance.atol + (SMALLEST_NORMAL if result_format.flushes else 0.0))
    if tolerance.relative:
        allowed.add_(pair.exact.abs().add_(size), alpha=tolerance.relative)
    return allowed


def _is_rounded(own: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether elements are those of the golden, rounded once.

    Torch rounds float64 to narrow types by way of float32, which is another number only where that is a tie.
    """
    import torch

    if own.itemsize >= torch.float32.itemsize:
        return torch.equal(own, right.to(own.dtype))
    once = right.float()
    if not torch.equal(own, once.to(own.dtype)):
        return False
    wide = once.double()
    if torch.equal(wide, right) or own.dtype is not torch.bfloat16:
        return torch.equal(wide, right)
    ties = once.view(torch.int32).bitwise_and(_BELOW_BFLOAT16) == (_BELOW_BFLOAT16 + 1) // 2
    return not bool(ties.logical_and_(wide != right).any())


class _OutsideOfPart(NamedTuple):
    """The elements of a part that are wrong.

    Attributes:
        which: Which are.
        nans: How many are NaN in one of the two alone.
        outside: How many others are off.
        ratio: Of the worst, its distance over the allowed one; infinite of NaN.
        worst: The place of the worst, or of the first NaN, among all elements.
        text: What is wrong there.
    """

    which: torch.Tensor
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

    def at(self, which: torch.Tensor) -> _WrongElements:
        """Some of them."""
        return _WrongElements(*(each[which] for each in self))


def _left(parts: Sequence[_WrongElements], found: Sequence[_OutsideOfPart]) -> list[_WrongElements]:
    """Those of elements of parts that are still wrong."""
    return [each.at(outside.which) for each, outside in zip(parts, found, strict=True) if outside.which.any()]


def _count(parts: Sequence[_WrongElements]) -> int:
    return sum(len(each.places) for each in parts)


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
