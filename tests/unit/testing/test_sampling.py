"""The cases of a product that `make test` runs: tests/sampling.py."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling import covering, sampled, values_of

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
