"""Code that the guard would run again is not run again if it does something else each time."""
# ruff: noqa: ARG005 - programs are written as users write them

from __future__ import annotations

import itertools

import pytest

from tests.unit.frontend.stand_in import BF16, lowered
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.python.side_effects import has_effects

ITEMS = iter([1.0, 2.0, 3.0])
CYCLE = itertools.cycle([2.0, 3.0])
DONE = []
COUNTS = {"a": 0}
total = 0


class Counter:
    def __init__(self):
        self.count = 0
        self.kept = None

    def counted(self):
        self.count += 1
        return self.count

    def remembered(self):
        if self.kept is None:
            self.kept = 2.0
        return self.kept


def adds_to_a_global():
    global total  # noqa: PLW0603 - it is what is looked for
    total += 1
    return total


def adds_to_an_item():
    COUNTS["a"] += 1
    return 1


@pytest.mark.parametrize(
    "function",
    [
        lambda self: next(CYCLE),
        lambda self: [2.0 * item for item in ITEMS],
        lambda self: DONE.append(1),
        lambda self: DONE.pop() if DONE else 2.0,
        lambda self: adds_to_a_global(),
        lambda self: adds_to_an_item(),
        lambda self: sum(ITEMS),
        Counter.counted,
    ],
)
def test_a_function_that_advances_counts_or_appends_has_effects(function):
    assert has_effects(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda self: COUNTS.setdefault("b", 2.0),
        lambda self: sum(DONE) + COUNTS["a"],
        lambda self: [k * 2 for k in (1, 2)],
        Counter.remembered,
        sorted,
        len,
    ],
)
def test_one_that_computes_or_remembers_has_none(function):
    assert not has_effects(function)


class Claiming:
    """Asked by C for its class, by a property that counts."""

    asked = 0

    @property
    def __class__(self):
        Claiming.asked += 1
        return float


class Comparing:
    """Compared by a method without a source, which advances an iterator."""

    exec("def __gt__(self, other): return next(CYCLE) > 2.5")


class Computing:
    exec("@property\ndef scale(self): return next(CYCLE)")


CLAIMING, COMPARING, COMPUTING = Claiming(), Comparing(), Computing()
PROGRAMS = [
    lambda x: x * (3.0 if isinstance(CLAIMING, float) else 5.0),
    lambda x: x * (3.0 if COMPARING > 1.0 else 5.0),
    lambda x: x * COMPUTING.scale,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_where_it_is_met_the_program_serves_one_call(program):
    assert lowered(program, BF16).opaque


@pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_compile_runs_it_as_often_as_python_does(program, graph_capture):
    def steps_of(run):
        Claiming.asked, before = 0, next(CYCLE)
        run()
        return Claiming.asked, before == next(CYCLE)

    assert steps_of(lambda: program(2.0)) == steps_of(lambda: lowered(program, BF16, graph_capture=graph_capture))


def test_a_world_s_iterator_is_not_advanced_by_a_program_that_is_interpreted():
    with pytest.raises(CompileError, match="from outside the function"):
        lowered(lambda x: x * next(CYCLE), BF16)
