"""Functions of natural numbers whose values a template computes anew for every size: `computed` (extent.py) calls them.

As comparisons, a search for divisors would fix nearly all of a number, and a minimum would divide the sizes in two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


def divisor_within(number: int, least: int, greatest: int) -> int:
    """The greatest divisor of a positive number from `least` to `greatest`; 0 if there is none."""
    return next((each for each in range(min(number, greatest), least - 1, -1) if number % each == 0), 0)


def block_of(extent: int, wanted: int, line: int) -> int:
    """The extent of a block along a loop: `wanted`, or a nearby divisor of the extent that moves few lines twice."""
    if extent % wanted == 0:
        return wanted
    near = [part for part in range(line, 8 * wanted) if extent % part == 0]
    return min(near, key=lambda part: (-(-part // line) * line / part, part), default=extent)


def least_of(*numbers: int) -> int:
    """The least of natural numbers."""
    return min(numbers)


def greatest_of(*numbers: int) -> int:
    """The greatest of natural numbers."""
    return max(numbers)


_ALL = (divisor_within, block_of, least_of, greatest_of)
FUNCTIONS: Mapping[str, Callable[..., int]] = {each.__name__: each for each in _ALL}
"""The functions by their names, which templates on disk hold."""
