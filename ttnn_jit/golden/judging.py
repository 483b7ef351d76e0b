"""The verdict on a result: a function of the result, its golden, and a tolerance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_jit.golden.distances import as_integers, correlation, index_of_largest, is_close_by_torch, root_mean_square
from ttnn_jit.golden.element_comparison import SMALLEST_NORMAL, ElementComparison, described, excess
from ttnn_jit.golden.judging_parts import PART, judge_parts
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict

if TYPE_CHECKING:
    import torch


def judge(got: torch.Tensor, golden: torch.Tensor, result_format: ResultFormat, tolerance: Tolerance) -> Verdict:
    """The verdict on `got` and its `golden`, which has the same shape and is float64 or integers."""
    if result_format.dtype.is_integer:
        return _judge_integers(got, as_integers(golden, result_format.dtype), tolerance)
    if got.numel() > PART and not tolerance.by_rms and not result_format.dtype.is_block_float:
        return judge_parts(got, [golden.reshape(-1)], result_format, tolerance)
    pair = ElementComparison.of(got, golden, result_format)
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


def _reason(pair: ElementComparison, result_format: ResultFormat, tolerance: Tolerance) -> str:
    """What is wrong; empty if nothing is."""
    underflow = SMALLEST_NORMAL if result_format.flushes or result_format.dtype.is_block_float else 0.0
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


def _nan_mismatch(pair: ElementComparison) -> str:
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


def _reason_by_element(
    pair: ElementComparison, tolerance: Tolerance, underflow: float, noise: torch.Tensor | float
) -> str:
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
        f"{excess(pair, allowed, worst)}"
    )


def _reason_by_rms(pair: ElementComparison, tolerance: Tolerance, underflow: float, noise: torch.Tensor | float) -> str:
    outside = pair.exceeds(tolerance.max_ulp * pair.unit + tolerance.atol + underflow)
    size, off = (float(root_mean_square(each)) for each in (pair.exact, pair.distance * outside))
    allowed = tolerance.relative * size + (float(root_mean_square(noise)) if not isinstance(noise, float) else 0.0)
    infinite = bool(pair.distance.isinf().any())
    if off <= allowed and not infinite:
        return ""
    worst = index_of_largest(pair.distance)
    return (
        f"it is off by {math.inf if infinite else off:.6g} (root mean square) beside elements of {size:.6g}, where "
        f"{allowed:.6g} is allowed; the worst at {list(worst)}: {described(pair, worst)}"
    )
