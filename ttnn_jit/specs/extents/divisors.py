"""Functions of natural numbers whose values a template computes anew for every size: `computed` (extent.py) calls them.

As comparisons, a search for divisors would fix nearly all of a number, and a minimum would divide the sizes in two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping


def divisor_within(number: int, least: int, greatest: int) -> int:
    """The greatest divisor of a positive number from `least` to `greatest`; 0 if there is none."""
    return next((each for each in range(min(number, greatest), least - 1, -1) if number % each == 0), 0)


def largest_divisor(number: int, bound: int) -> int:
    """The largest divisor of a number that is not above `bound`, at least 1."""
    return next((each for each in range(min(number, bound), 0, -1) if number % each == 0), 1)


def cores_along(tiles: int, padding: int, most: int) -> int:
    """The number of cores, `most` at most, that share so many tiles evenly; 1 for a tensor with padding."""
    return 1 if padding else largest_divisor(tiles, most)


def share_of(tiles: int, cores: int) -> int:
    """The most of so many tiles, at least one, that one of the cores has."""
    return max(1, -(-tiles // cores))


def block_of(extent: int, wanted: int, line: int) -> int:
    """The extent of a block along a loop: `wanted`, or a nearby divisor of the extent that moves few lines twice."""
    if extent % wanted == 0:
        return wanted
    near = [part for part in range(line, 8 * wanted) if extent % part == 0]
    return min(near, key=lambda part: (-(-part // line) * line / part, part), default=extent)


def least_of(number: int, other: int) -> int:
    """The lesser of two numbers."""
    return min(number, other)


def greatest_of(number: int, other: int) -> int:
    """The greater of two numbers."""
    return max(number, other)


_ALL = (divisor_within, largest_divisor, cores_along, share_of, block_of, least_of, greatest_of)
FUNCTIONS: Mapping[str, Callable[..., int]] = {each.__name__: each for each in _ALL}
"""The functions by their names, which templates on disk hold."""

LEAST: Mapping[str, int] = dict.fromkeys(FUNCTIONS, 0) | {"largest_divisor": 1, "cores_along": 1, "share_of": 1}
"""The least value of each."""

WITHIN_LAST = frozenset(FUNCTIONS) - {"share_of", "block_of", "greatest_of"}
"""Those whose values are not above their last argument, if that is at least 1."""
