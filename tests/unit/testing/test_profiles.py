"""The number of examples of a property: tests/sampling.py."""

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sampling import shown


def property_of(stated, **drawn):
    """A property that states a number of examples, and its number of draws under the named profile."""

    @settings(max_examples=stated, deadline=None)
    @given(st.integers())
    def test(_):
        own = test._hypothesis_internal_use_settings
        assert own.max_examples == drawn[settings.get_current_profile_name()]

    return test


test_few_examples_are_drawn_as_stated_and_to_find_more_four_times_as_many = property_of(2, sample=2, repeated=2, fuzz=8)
test_of_more_examples_a_few_are_drawn_at_least = property_of(10, sample=2, repeated=6, fuzz=40)
test_of_many_examples_half_are_drawn = property_of(84, sample=5, repeated=42, fuzz=336)


def test_of_the_values_of_a_loop_a_sample_shows_a_fifth_and_several_tests_show_all():
    values = range(100)
    shares = [shown(f"test {n}", values) for n in range(16)]
    assert {value for share in shares for value in share} == {*values}
    each = {20} if settings.get_current_profile_name() == "sample" else {100}
    assert {len(share) for share in shares} <= each


def test_a_property_states_its_number_of_examples_which_is_scaled_once():
    """What pytest collects is scaled by tests/conftest.py."""
    files = Path(__file__).parents[2].rglob("test_*.py")
    scaled = re.compile(r"^@settings\([^@]*?max_examples=drawn\(", re.MULTILINE)
    assert [file.name for file in files if scaled.search(file.read_text())] == []
