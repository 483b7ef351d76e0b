"""The verdict on a large result, whose elements are judged one by one, part after part.

A part is so small that what is computed of it stays in the cache. Elements that are off by more than the tolerance of
single elements are kept, and judged once more when the size of the whole result is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ttnn_jit.golden.distances import CorrelationSums, index_of_largest, is_close_by_torch, place_in
from ttnn_jit.golden.verdict import (
    HALF_ULP_SLACK,
    SMALLEST_NORMAL,
    Comparison,
    ResultFormat,
    Tolerance,
    Verdict,
    described,
    excess,
    root_mean_square,
)

if TYPE_CHECKING:
    import torch

PART = 2**16
"""Elements of a part: half a megabyte of float64."""
_PLACES = 2**9
"""Elements whose noise is computed at a time."""
_FEW = 2.0**-8
"""Elements, of all, up to which their noise alone is computed: a sum of products alone takes some hundred times as long
as one in a product of matrices."""


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


class JudgedParts:
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
        pair = Comparison.of(got, golden, self._format)
        self._is_exact = self._is_exact and bool((pair.result == pair.exact).all())
        self._note_nans(pair)
        ulp = pair.ulp
        self._units = max(self._units, float(ulp.max()))
        self._is_close = self._is_close and is_close_by_torch(pair.result, pair.exact, self._format.dtype)
        self._sums.add(pair.exact, pair.result, is_plain=pair.is_plain)
        self._sizes.append(root_mean_square(pair.exact) * (len(got) / math.prod(self._shape)) ** 0.5)
        suspect = ulp > HALF_ULP_SLACK * self._tolerance.max_ulp
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

    def _note_nans(self, pair: Comparison) -> None:
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
        pair = Comparison.of(outside.got, outside.golden, self._format)
        tolerance, underflow = self._tolerance, SMALLEST_NORMAL if self._format.flushes else 0.0
        allowed: torch.Tensor = tolerance.max_ulp * pair.unit + tolerance.atol + underflow
        if tolerance.relative:
            allowed = allowed + tolerance.relative * (pair.exact.abs() + (0.0 if size is None else size))
        if noise is not None:
            pair, allowed = pair.where(noise.isfinite()), allowed + noise.nan_to_num(posinf=0.0)
        differing = pair.result.isnan() != pair.exact.isnan()
        wrong = pair.exceeds(allowed) | differing
        return wrong, "" if size is None or not bool(wrong.any()) else self._text(outside, pair, allowed, differing)

    def _text(self, outside: _Outside, pair: Comparison, allowed: torch.Tensor, differing: torch.Tensor) -> str:
        nans, total = int(differing.sum()), math.prod(self._shape)
        if nans:
            at = index_of_largest(differing.double())
            place = [*place_in(self._shape, int(outside.places[at]))]
            what = f"are NaN in the result or the golden alone, the first at {place}"
            return f"{nans} of {total} elements {what}: {described(pair, at)}"
        wrong = pair.exceeds(allowed)
        ratios = (pair.distance / allowed).nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(~wrong, 0.0)
        at = index_of_largest(ratios)
        place = [*place_in(self._shape, int(outside.places[at]))]
        return f"{int(wrong.sum())} of {total} elements are off, the worst at {place}: {excess(pair, allowed, at)}"

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
        if not self._knows_places(len(outside.places)):
            yield outside
            return
        for group in zip(*(each.split(_PLACES) for each in outside), strict=True):
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
