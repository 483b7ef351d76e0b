"""How many examples properties draw: tests/conftest.py."""

from hypothesis import given, settings
from hypothesis import strategies as st

STATED = (2, 10, 40)
DRAWN = {"repeated": [2, 6, 20], "fuzz": [8, 40, 160]}
NUMBERS = []


def property_of(stated):
    @settings(max_examples=stated, deadline=None)
    @given(st.integers())
    def test(_):
        NUMBERS.append(stated)

    return test


test_of_two, test_of_ten, test_of_forty = PROPERTIES = tuple(map(property_of, STATED))


def test_a_property_draws_half_of_what_it_states_but_a_few_and_to_find_more_four_times_as_many():
    NUMBERS.clear()
    for each in PROPERTIES:
        each()
    assert [NUMBERS.count(stated) for stated in STATED] == DRAWN[settings.get_current_profile_name()]
