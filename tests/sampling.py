"""The share of the tests that a profile runs: examples of properties, cases of products of parameters.

Of a product, as few cases stand for all as show every value of every parameter. Of a parameter with more than a few
values, each function shows about a fifth: what one leaves out others show.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")
Values = frozenset[tuple[tuple[str, Hashable], ...]]
"""The values of a case's parameters."""
MANY = 3
"""As many values of one parameter are all shown."""
PARTS = 5
"""Of more values, each function shows one of so many parts, or one value."""


def drawn(stated: int) -> int:
    """The number of drawn examples for a stated number: examples that never change find little more."""
    match settings.get_current_profile_name():
        case "fuzz":
            return 4 * stated
        case "sample":
            return max(min(stated, 2), stated // 15)
        case _:
            return max(min(stated, 6), stated // 2)


def shown(test: str, values: Sequence[T]) -> Sequence[T]:
    """The values that a test with a loop over very many shows, as a function with a parameter does."""
    if settings.get_current_profile_name() != "sample":
        return values
    parts = min(PARTS, len(values))
    return values[_hash(test) % parts :: parts]


def _hash(text: str) -> int:
    return zlib.crc32(text.encode())


def covering(cases: Mapping[str, Values]) -> set[str]:
    """The names of few cases that contain all values (a greedy set cover, hence the same ones each time).

    Among equals a hash of the name decides: two functions of one product show other combinations of its values.
    """
    left = sorted(cases, key=_hash)
    held = Counter(value for values in cases.values() for value in values)
    taken = {name for name in left if any(held[value] == 1 for value in cases[name])}
    unseen = set(held).difference(*(cases[name] for name in taken))
    while unseen:
        best = max(left, key=lambda name: len(unseen & cases[name]))
        taken.add(best)
        unseen -= cases[best]
    return taken


def without_some_of_many(function: str, cases: Mapping[str, Values]) -> dict[str, Values]:
    """The cases of a function with the values that it shows: where there are many of one parameter, about a fifth.

    Hashes of the places of values put them into `PARTS` parts, a hash of the function says which of them it shows.
    """
    of_parameters: defaultdict[Hashable, dict[Hashable, None]] = defaultdict(dict)  # in the order of the cases
    for values in cases.values():
        for value in values:
            of_parameters[tuple(name for name, _ in value)][value] = None
    left_out = set()
    for values in of_parameters.values():
        if len(values) > MANY:
            parts = min(PARTS, len(values))
            shuffled = sorted(enumerate(values), key=lambda at: _hash(str(at[0])))
            left_out |= {value for rank, (_, value) in enumerate(shuffled) if rank % parts != _hash(function) % parts}
    return {name: values - left_out for name, values in cases.items()}


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

    Whatever has no parameters, or one without many values, stands for itself.
    """
    items = list(items)
    products: defaultdict[str, dict[str, Values]] = defaultdict(dict)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            function = item.nodeid.removesuffix(f"[{item.callspec.id}]")
            products[function][item.nodeid] = values_of(item)
    left_out = {
        name
        for function, cases in products.items()
        for name in cases.keys() - covering(without_some_of_many(function, cases))
    }
    return (
        [item for item in items if item.nodeid not in left_out],
        [item for item in items if item.nodeid in left_out],
    )
