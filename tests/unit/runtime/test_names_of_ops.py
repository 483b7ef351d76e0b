"""The stored names of a program's operations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ttnn_jit.runtime.programs.run_log import named_ops, ops_text


@given(st.lists(st.sampled_from(["ttnn.add", "ttnn.exp", "ttnn.full", "ttnn.slice_static"])))
def test_the_names_of_operations_round_trip_in_their_order(names):
    assert named_ops(ops_text(names)) == names


def test_a_long_chain_is_a_short_text():
    assert len(ops_text(["ttnn.multiply", "ttnn.full"] * 100)) < 500


def test_a_program_without_names_has_none():
    assert named_ops("") == []
