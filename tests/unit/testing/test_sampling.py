"""The cases of a product that `make test` runs: tests/sampling.py."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import MANY, PARTS, covering, sampled, values_of, without_some_of_many

LENGTHS = st.lists(st.integers(0, 4), min_size=1, max_size=3)


def named(cases):
    return {f"case {index}": frozenset(enumerate(case)) for index, case in enumerate(cases)}


@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), max_size=40))
def test_every_value_of_every_parameter_is_in_a_selected_case(cases):
    all_of_them = named(cases)
    taken = covering(all_of_them)
    assert set().union(*(all_of_them[name] for name in taken)) == set().union(*all_of_them.values())


@given(LENGTHS.map(lambda lengths: [range(length + 1) for length in lengths]))
def test_a_full_product_selects_about_as_many_cases_as_the_longest_parameter_has_values(ranges):
    longest = max(map(len, ranges))
    assert longest <= len(covering(named(itertools.product(*ranges)))) <= 2 * longest


@given(st.integers(0, 30))
def test_tests_with_one_parameter_are_selected_completely(length):
    cases = named((value,) for value in range(length))
    assert covering(cases) == set(cases)


def product_of(*lengths):
    """The cases of a product of parameters of so many values."""
    ranges = [[((f"p{place}", value),) for value in range(length)] for place, length in enumerate(lengths)]
    return {f"case {place}": frozenset(values) for place, values in enumerate(itertools.product(*ranges))}


@given(st.integers(1, MANY), st.integers(1, 3))
def test_all_of_a_few_values_are_shown(one, other):
    cases = product_of(one, other)
    assert without_some_of_many("test_it", cases) == cases


@given(st.integers(MANY + 1, 4 * MANY), st.integers(1, 3))
def test_about_a_fifth_of_many_values_are_shown_with_all_of_the_few_beside_them(many, few):
    cases = product_of(many, few)
    shown = set().union(*without_some_of_many("test_it", cases).values())
    taken = covering(without_some_of_many("test_it", cases))
    assert many // PARTS <= len(shown) - few <= many // PARTS + 1
    assert set().union(*(cases[name] for name in taken)) >= shown
    assert len(taken) <= max(len(shown) - few, few) + few


@given(st.integers(MANY + 1, 4 * MANY))
def test_of_many_values_that_many_functions_have_each_is_shown_by_some(many):
    cases = product_of(many)
    shown = [set().union(*without_some_of_many(f"test_{n}", cases).values()) for n in range(16)]
    assert len(set().union(*shown)) == many


@pytest.mark.parametrize(argnames="alone", argvalues=[1, 2])
@pytest.mark.parametrize(("joined", "to_it"), [(1, 2), (2, 1)])
def test_parameters_of_one_list_vary_together(request, alone, joined, to_it):
    (one, two) = sorted(values_of(request.node), key=len)
    assert one == (("alone", id(alone)),)
    assert two == (("joined", id(joined)), ("to_it", id(to_it)))


def test_items_keep_their_order_and_tests_without_parameters_run(request):
    items = request.session.items
    kept, rest = sampled(items)
    assert sorted(kept + rest, key=items.index) == items
    assert kept == sorted(kept, key=items.index)
    assert request.node in kept
