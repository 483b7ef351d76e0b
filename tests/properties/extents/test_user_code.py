"""Functions that compute on shapes give the same bits by templates as by a compile of each size."""

import itertools
from dataclasses import replace

import pytest

from tests.properties.extents.sizes_attack import LIBRARIES, run
from tests.properties.extents.user_programs import program_of
from tests.sampling import drawn
from ttnn_jit.compiler.symbols import Symbols
from ttnn_jit.specs.extents.trace import Trace


@pytest.mark.parametrize("library", LIBRARIES)
def test_functions_that_compute_on_shapes_give_the_same_bits_by_templates(tmp_path, library):
    new_sizes = served = 0
    for seed in range(drawn(20)):
        outcome = run(program_of(seed, library), tmp_path, library)
        assert outcome.difference is None, f"seed {seed}: {outcome.difference}"
        new_sizes += outcome.new_sizes - outcome.refused
        served += outcome.served
    assert served >= 0.6 * new_sizes, f"{served} of {new_sizes}"


def test_traced_functions_get_ints_and_give_the_same_bits_by_templates(tmp_path):
    for seed in range(drawn(20)):
        outcome = run(program_of(seed, "torch", calls=10), tmp_path, graph_capture=True)
        assert outcome.difference is None, f"seed {seed}: {outcome.difference}"


def test_with_dynamic_the_first_call_compiles_a_program_for_many_sizes(tmp_path):
    for seed in range(1000, 1000 + drawn(10)):
        outcome = run(program_of(seed), tmp_path, dynamic=True)
        assert outcome.difference is None, f"seed {seed}: {outcome.difference}"


def without(part):
    """A mutation of the guards of a trace: one part of each is dropped."""

    def mutated(guard):
        is_equality = guard.least == guard.greatest
        match part:
            case "equalities":
                return None if is_equality else guard
            case "excluded":
                return replace(guard, excluded=())
            case _:
                return guard if is_equality else replace(guard, **{part: None})

    return mutated


@pytest.mark.parametrize("part", ["least", "greatest", "excluded", "equalities"])
def test_a_guard_that_is_not_checked_is_found(tmp_path, monkeypatch, part):
    complete = Trace.formulas.fget

    def formulas(trace):
        found = complete(trace)
        return replace(found, guards=tuple(filter(None, map(without(part), found.guards))))

    monkeypatch.setattr(Trace, "formulas", property(formulas))
    assert first_difference(tmp_path)


def fixed_sizes_are_not_compared(symbols, sizes):
    given = [
        tuple(size if wanted is None else wanted for size, wanted in zip(shape, fixed, strict=True))
        for shape, fixed in zip(sizes, symbols.fixed, strict=True)
    ]
    return VALUES(symbols, given)


def equal_symbols_are_not_compared(symbols, sizes):
    first = {}
    given = [
        tuple(size if number is None else first.setdefault(number, size) for size, number in zip(*each, strict=True))
        for each in zip(sizes, symbols.numbers, strict=True)
    ]
    return VALUES(symbols, given)


VALUES = Symbols.values


@pytest.mark.parametrize(
    ("mutated", "second"), [(fixed_sizes_are_not_compared, None), (equal_symbols_are_not_compared, "mostly")]
)
def test_a_size_that_is_not_compared_is_found(tmp_path, monkeypatch, mutated, second):
    monkeypatch.setattr(Symbols, "values", mutated)
    assert first_difference(tmp_path, second)


FAILURES = (AssertionError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""What a program for other sizes may end in, beside other bits."""


def first_difference(folder, second=None):
    """The first difference, or failure of this compiler, in programs that have such a second tensor; None: any."""
    programs = map(program_of, itertools.count())
    for program in itertools.islice((each for each in programs if second in {None, each.second}), 40):
        try:
            outcome = run(program, folder)
        except FAILURES as error:
            return repr(error)
        if outcome.difference:
            return outcome.difference
    return None
