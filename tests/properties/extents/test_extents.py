"""Programs of whole numbers compute the same with extents, for every size for which the guards hold."""

import json
import math
import operator
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.specs.extents.extent import is_extent
from ttnn_jit.specs.extents.formulas import Formulas
from ttnn_jit.specs.extents.polynomials import value_of
from ttnn_jit.specs.extents.trace import GREATEST_SYMBOL, LEAST_SYMBOL, Trace

BINARY = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, divmod, max, min)
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
EXITS = (
    *(
        operator.index,
        hash,
        float,
        str,
        "{:04d}".format,
        bool,
        range,
        operator.invert,
        abs,
        round,
        math.ceil,
        math.sqrt,
    ),
    *(lambda n: n.bit_length(), lambda n: 1.0 / n, lambda n: n / 3, lambda n: n & 7, lambda n: 2 << (n % 5)),
    *(lambda n: n**3, lambda n: 2 ** (n % 7), lambda n: {n: 1}[n], lambda n: [0] * (n % 9), lambda n: f"{n:x}"),
)
CONSTANTS = (-3, -1, 0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 64, 4096)


def run(seed, sizes, exits=True):
    """The numbers that a random program makes of its sizes, and the results of its comparisons and exits."""
    draw = random.Random(seed)
    numbers, seen = [*sizes], []
    for _ in range(draw.randint(1, 12)):
        one, other = draw.choice(numbers), draw.choice([*numbers, draw.choice(CONSTANTS)])
        if draw.random() < 0.5:
            one, other = other, one
        kind = draw.random()
        if kind < 0.55:
            try:
                made = draw.choice(BINARY)(one, other)
            except ZeroDivisionError:
                seen.append("division by zero")
                continue
            numbers += made if isinstance(made, tuple) else [made]
        elif kind < 0.9 or not exits:
            outcome = draw.choice(COMPARISONS)(one, draw.choice([other, float(draw.choice(CONSTANTS)) / 2]))
            seen.append(outcome)
            if outcome:  # what follows depends on it
                numbers.append(one + 1)
        else:
            try:
                seen.append(repr(draw.choice(EXITS)(one)))
            except (ZeroDivisionError, TypeError, ValueError, OverflowError, MemoryError) as error:
                seen.append(type(error).__name__)
        if any(abs(int(number.hint if is_extent(number) else number)) > 1 << 200 for number in numbers):
            break
    return numbers, seen


def traced(seed, hints, exits=True):
    trace = Trace()
    with trace.recording():
        numbers, seen = run(seed, [trace.symbol(hint) for hint in hints], exits)
    return numbers, seen, trace


SIZES = st.integers(LEAST_SYMBOL, 200) | st.sampled_from([31, 32, 33, 4096, 65536, GREATEST_SYMBOL])


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=2), st.booleans())
def test_where_the_guards_hold_numbers_and_comparisons_are_those_of_plain_ints(seed, sizes, exits):
    hints, others = [each[0] for each in sizes], [each[1] for each in sizes]
    numbers, seen, trace = traced(seed, hints, exits)
    formulas = trace.formulas
    for values in (hints, others, hints[::-1], [n + 1 for n in hints if n < GREATEST_SYMBOL], [2 * n for n in hints]):
        if len(values) != len(hints) or max(values) > GREATEST_SYMBOL:
            continue
        atoms = formulas.values(values)
        assert atoms is not None or values != hints, "the guards hold for the hints"
        if atoms is not None:
            found = [value_of(each.terms, atoms) if is_extent(each) else each for each in numbers]
            assert (found, seen) == run(seed, values, exits)


def test_most_programs_without_exits_hold_for_other_sizes():
    served = 0
    for seed in range(200):
        _, _, trace = traced(seed, [40], exits=False)
        served += trace.formulas.values([41]) is not None
    assert served > 120


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), SIZES)
def test_formulas_as_json_are_the_same(seed, hint):
    _, _, trace = traced(seed, [hint])
    assert Formulas.from_json(json.loads(json.dumps(trace.formulas.to_json()))) == trace.formulas


@pytest.mark.parametrize("dropped", ["least", "greatest", "excluded"])
def test_without_one_kind_of_guard_some_program_differs(dropped):
    wrong = 0
    for seed in range(400):
        _, seen, trace = traced(seed, [40], exits=False)
        formulas = trace.formulas
        guards = tuple(replace(each, **{dropped: () if dropped == "excluded" else None}) for each in formulas.guards)
        for size in (2, 3, 31, 32, 33, 39, 41, 64, 4096):
            if Formulas(formulas.atoms, guards).values([size]) is not None:
                wrong += run(seed, [size], exits=False)[1] != seen
    assert wrong
