"""Comparisons of which a template records less than their result."""

import pytest

from ttnn_jit.specs.extents.partial_comparisons import are_known_to_be_equal, hint_of, interval_of
from ttnn_jit.specs.extents.trace import Trace

BOUNDS = (10, 20)


@pytest.mark.parametrize(("number", "index"), [(9, 0), (10, 1), (19, 1), (20, 2), (50, 2)])
def test_the_interval_of_a_number_is_between_two_bounds(number, index):
    assert interval_of(number, BOUNDS, lambda each: each) == index
    assert interval_of(Trace().symbol(number), BOUNDS, lambda each: each) == index


@pytest.mark.parametrize(
    ("chosen", "held"),
    [
        ((0, 1, 2), range(10, 20)),
        ((0, 0, 2), range(2, 20)),
        ((0, 1, 1), range(10, 60)),
        ((0, 0, 0), range(2, 60)),
        ((0, 1, 0), range(10, 20)),
    ],
)
def test_a_bound_that_changes_nothing_is_not_recorded(chosen, held):
    trace = Trace()
    assert interval_of(trace.symbol(15), BOUNDS, chosen.__getitem__) == 1
    assert [size for size in range(2, 60) if trace.formulas.values([size])] == [*held]


def test_extents_are_known_to_be_equal_by_their_expressions_or_by_guards():
    trace = Trace()
    one, other = trace.symbol(32), trace.symbol(32)
    assert are_known_to_be_equal((one, 2 * other), (one, other + other))
    assert not are_known_to_be_equal((one, 4), (other, 4))
    assert not are_known_to_be_equal((one,), (32,))
    assert not are_known_to_be_equal((one,), (one, one))
    assert trace.formulas.values([5, 7]), "nothing was recorded"
    assert one == 32
    assert are_known_to_be_equal((one, 3), (32, 3))
    assert not are_known_to_be_equal((one,), (33,))
    assert are_known_to_be_equal((1, 2), (1, 2))
    assert not are_known_to_be_equal((1, 2), (1, 3))


def test_a_hint_records_nothing():
    trace = Trace()
    assert (hint_of(trace.symbol(7)), hint_of(5)) == (7, 5)
    assert trace.formulas.values([100])
