"""Numbers of a trace that each size computes anew, and quotients in normal form."""

from __future__ import annotations

import json
import math

import pytest

from ttnn_jit.specs.extents.divisors import block_of, divisor_within
from ttnn_jit.specs.extents.extent import applied, computed
from ttnn_jit.specs.extents.float_functions import double_bits
from ttnn_jit.specs.extents.formulas import UNUSED, Formulas
from ttnn_jit.specs.extents.polynomials import value_of
from ttnn_jit.specs.extents.trace import Trace


def test_a_divisor_is_the_greatest_one_in_the_range_and_0_if_there_is_none():
    for number in range(1, 200):
        wanted = [each for each in range(16, 65) if number % each == 0]
        assert divisor_within(number, 16, 64) == max(wanted, default=0)


@pytest.mark.parametrize(("function", "more"), [(divisor_within, (16, 64)), (block_of, (32, 16))])
def test_a_search_of_a_trace_guards_nothing_and_is_made_for_every_size(function, more):
    trace = Trace()
    found = computed(function, trace.symbol(96), *more) * 3
    stored = Formulas.from_json(json.loads(json.dumps(trace.formulas.to_json())))
    assert not trace.specialized
    for size in range(2, 300):
        atoms = stored.values([size])
        assert atoms is not None
        assert value_of(found.terms, atoms) == 3 * function(size, *more)


def test_what_neither_a_guard_nor_the_plan_needs_is_not_computed():
    trace = Trace()
    size, rate = trace.symbol(96), trace.float_symbol(double_bits(0.5))
    with trace.recording():
        needed = computed(block_of, (size + 31) // 32, 8, 2) * 5
        computed(divisor_within, size // 7, 16, 64)
        assert size // 3 > 20
        applied(math.log, rate - 0.25)
    stored = Formulas.from_json(json.loads(json.dumps(trace.formulas.to_json())))
    pruned = stored.without_unused([needed.terms])
    assert pruned.guards == stored.guards
    assert pruned.atoms.count(UNUSED) == 2
    for number in range(2, 300):
        every, few = (each.values([number, double_bits(0.75)]) for each in (stored, pruned))
        assert (every is None) == (few is None) == (number < 63)
        assert every is None or few is None or value_of(needed.terms, every) == value_of(needed.terms, few)
    assert pruned.values([96, double_bits(0.125)]) is None  # the logarithm does not exist


def test_a_search_of_an_int_is_an_int():
    assert computed(block_of, 96, 32, 16) == block_of(96, 32, 16) == 32


def test_a_function_that_does_not_exist_is_refused():
    trace = Trace()
    computed(divisor_within, trace.symbol(96), 16, 64)
    fields = trace.formulas.to_json()
    fields["atoms"][1][0] = "system"
    with pytest.raises(ValueError, match="there is no function 'system'"):
        Formulas.from_json(fields)


def test_quotients_with_a_common_factor_are_one_number():
    trace = Trace()
    size = trace.symbol(96)
    with trace.recording():
        assert (16 * size) // 64 == size // 4
        assert -(-size // 32) == (size + 31) // 32
        assert (size - 1) // size == 0
        assert -1 // size == -1
        assert (16 * size + 3) // 32 == size // 2
    assert not trace.specialized
    assert [guard.text([None]) for guard in trace.formulas.guards] == ["2 <= s0 <= 4294967295"]


def test_a_comparison_does_not_depend_on_positive_factors():
    trace = Trace()
    users, size = trace.symbol(8), trace.symbol(96)
    with trace.recording():
        assert users * size * size > 8 * users * size
        assert users != 4 * users * size
    assert trace.formulas.values([3, 9]) is not None
    assert trace.formulas.values([3, 8]) is None


def test_equal_polynomials_are_one_object_in_a_trace():
    trace = Trace()
    users, size = trace.symbol(8), trace.symbol(96)
    assert (size + users) * 2 is 2 * users + size * 2
    assert size + 1 is size - -1
    assert size + True is size + 1
    assert size - size == 0
    assert trace.symbol(8) is not users
    assert trace.formulas.values([9, 97, 9]) is not None
