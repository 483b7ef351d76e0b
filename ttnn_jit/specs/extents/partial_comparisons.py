"""Comparisons of extents of which a template records less than their result."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.specs.extents.extent import is_extent, terms_of
from ttnn_jit.specs.extents.polynomials import difference


def interval_of(number: Any, bounds: Sequence[int], chosen: Callable[[int], object]) -> int:
    """The index of the interval of a number: interval k has the numbers from ``bounds[k - 1]`` to below ``bounds[k]``.

    The interval of an extent is that of its hint. A bound between two intervals for which `chosen` has equal results is
    not recorded, so that a template holds for both.

    Args:
        number: A number, or an extent of a trace.
        bounds: The least number of each interval but the first, in ascending order.
        chosen: What the index of an interval decides.
    """
    if not is_extent(number):
        return bisect_right(bounds, number)
    changing = [bound for index, bound in enumerate(bounds) if chosen(index) != chosen(index + 1)]
    bisect_right(changing, number)  # which records its comparisons
    return bisect_right(bounds, hint_of(number))


def hint_of(number: Any) -> int:
    """The value of an extent in its trace, which records nothing; an int itself."""
    return int(number.hint) if is_extent(number) else int(number)


def are_known_to_be_equal(ones: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether numbers are equal at all sizes for which their trace holds so far; it records nothing.

    For choices whose results matter only to numbers that are equal for a reason, not by coincidence.
    """
    return len(ones) == len(others) and all(map(_are_known_to_be_equal, ones, others))


def _are_known_to_be_equal(one: Any, other: Any) -> bool:
    trace = next((each.trace for each in (one, other) if is_extent(each)), None)
    if trace is None:
        return bool(one == other)
    return bool(trace.is_known_to_be_zero(difference(terms_of(one), terms_of(other))))
