"""Overlap of written tensors with others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.runtime.memory.overlap import ranges_overlap

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)).map(lambda each: (each[0], sum(each))), max_size=6)


def have_a_common_byte(one, other):
    return not {*range(*one)}.isdisjoint(range(*other))


@given(SPANS, SPANS)
def test_spans_conflict_where_a_byte_is_written_and_read_or_written_twice(written, read):
    pairs = [(one, other) for k, one in enumerate(written) for other in (*written[k + 1 :], *read)]
    assert ranges_overlap(written, read) == any(have_a_common_byte(*pair) for pair in pairs)


def test_spans_that_are_only_read_may_overlap():
    assert not ranges_overlap([(0, 4)], [(4, 8), (4, 8), (5, 6)])
