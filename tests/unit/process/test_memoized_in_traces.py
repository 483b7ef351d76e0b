"""Memoized functions in a trace."""

import threading

import pytest

from ttnn_jit.process.memoized import KEYS, hash_of, keys_as_expressions, memoized
from ttnn_jit.specs.extents.trace import Trace
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec


@pytest.fixture
def counted():
    calls = []

    @memoized
    def is_long(extent):
        calls.append(extent)
        return extent > 32

    return is_long, calls


def test_a_result_for_an_extent_is_kept_for_its_trace_alone(counted):
    is_long, calls = counted
    for hint in (40, 20):
        trace = Trace()
        with trace.recording():
            extent = trace.symbol(hint)
            assert is_long(extent) is is_long(extent) is (hint > 32)
        assert trace.formulas.values([hint]) is not None
        assert trace.formulas.values([60 - hint]) is None
    assert len(calls) == 2


def test_results_for_numbers_are_kept_across_traces(counted):
    is_long, calls = counted
    for _ in range(2):
        with Trace().recording():
            assert is_long(40)
    assert is_long(40)
    assert len(calls) == 1


def test_extents_with_equal_hints_and_other_expressions_have_results_of_their_own(counted):
    is_long, calls = counted
    trace = Trace()
    with trace.recording():
        one, other = trace.symbol(40), trace.symbol(40)
        assert is_long(one)
        assert is_long(other)
    assert len(calls) == 2


def test_specs_with_extents_are_equal_where_their_extents_are_and_the_guards_say_so():
    trace = Trace()
    with trace.recording():
        rows = trace.symbol(40)
        spec = TensorSpec((rows, 64), DataType.FLOAT32)
        assert spec != TensorSpec((32, 64), DataType.FLOAT32)
        assert spec == TensorSpec((rows, 64), DataType.FLOAT32)
        assert spec == TensorSpec((40, 64), DataType.FLOAT32)
    assert trace.formulas.values([40]) is not None
    assert trace.formulas.values([41]) is None


def test_keys_as_expressions_record_nothing():
    trace = Trace()
    with trace.recording():
        one, other = trace.symbol(40), trace.symbol(40)
        with keys_as_expressions():
            assert one != other
            assert one != 40
            assert len({one, other, one + 0}) == 2
    assert trace.formulas.values([40, 41]) is not None


def test_hashes_ignore_numbers_in_a_trace_so_that_keys_are_compared():
    assert hash_of(32) != hash_of(33)
    with Trace().recording():
        assert hash_of(32) == hash_of(33)
        with keys_as_expressions():
            assert hash_of(32) != hash_of(33)


def test_a_trace_is_of_its_thread():
    found = []
    with Trace().recording():
        other = threading.Thread(target=lambda: found.append(KEYS.memos))
        other.start()
        other.join()
        assert KEYS.memos is not None
    assert found == [None]
    assert KEYS.memos is None


def test_results_by_type_are_kept_apart_in_a_trace():
    @memoized(maxsize=8, typed=True)
    def text_of(number, extent):
        return f"{number!r} of {int(extent > 32)}"

    with (trace := Trace()).recording():
        for extent in (40, trace.symbol(40)):
            assert [text_of(number, extent) for number in (1, 1.0, True)] == ["1 of 1", "1.0 of 1", "True of 1"]


def test_specs_with_extents_are_one_object_in_a_trace():
    with (trace := Trace()).recording():
        rows, users = trace.symbol(40), trace.symbol(40)
        spec = TensorSpec((rows, 64), DataType.FLOAT32)
        assert TensorSpec((rows + 0, 64), DataType.FLOAT32) is spec
        assert TensorSpec((users, 64), DataType.FLOAT32) is not spec
