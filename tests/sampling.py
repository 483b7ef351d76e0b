"""The share of the tests that a profile runs: examples of properties, cases of products of parameters.

Of a product, as few cases stand for all as show every value of every parameter.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping

import pytest
from hypothesis import settings

Values = frozenset[Hashable]
"""The values of a case's parameters."""


def drawn(stated: int) -> int:
    """The number of drawn examples for a stated number: examples that never change find little more."""
    match settings.get_current_profile_name():
        case "fuzz":
            return 4 * stated
        case "sample":
            return max(min(stated, 3), stated // 4)
        case _:
            return max(min(stated, 6), stated // 2)


def covering(cases: Mapping[str, Values]) -> set[str]:
    """The names of few cases that contain all values (a greedy set cover, hence the same ones each time).

    Among equals a hash of the name decides: two functions of one product show other combinations of its values.
    """
    left = sorted(cases, key=lambda name: zlib.crc32(name.encode()))
    held = Counter(value for values in cases.values() for value in values)
    taken = {name for name in left if any(held[value] == 1 for value in cases[name])}
    unseen = set(held).difference(*(cases[name] for name in taken))
    while unseen:
        best = max(left, key=lambda name: len(unseen & cases[name]))
        taken.add(best)
        unseen -= cases[best]
    return taken


def values_of(item: pytest.Function) -> Values:
    """The value that a case has for every `parametrize`, whose arguments vary together, and every fixture parameter."""
    left = dict(item.callspec.params)
    values = set()
    for mark in item.iter_markers("parametrize"):
        said = mark.args[0] if mark.args else mark.kwargs["argnames"]
        names = said.split(",") if isinstance(said, str) else said
        values.add(tuple((name.strip(), id(left.pop(name.strip()))) for name in names))
    return frozenset(values | {((name, id(value)),) for name, value in left.items()})


def sampled(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The selected items, in their order, and the rest.

    Whatever has one parameter, or none, stands for itself.
    """
    items = list(items)
    products: defaultdict[str, dict[str, Values]] = defaultdict(dict)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            function = item.nodeid.removesuffix(f"[{item.callspec.id}]")
            products[function][item.nodeid] = values_of(item)
    left_out = {name for cases in products.values() for name in cases.keys() - covering(cases)}
    return (
        [item for item in items if item.nodeid not in left_out],
        [item for item in items if item.nodeid in left_out],
    )
