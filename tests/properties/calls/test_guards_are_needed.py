"""Without any one kind of guard, the worlds find a number that Python does not give."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.properties.worlds.__main__ import attempt
from tests.properties.worlds.directed import DIRECTED
from tests.properties.worlds.kinds import KINDS
from tests.properties.worlds.needed import SEEDS, failure_without, usable
from ttnn_jit.guards import reads

AGAIN = "no world needs it as the generator is now: `python -m tests.properties.worlds.needed` looks for others"
WRONG = {"stale", "returned", "raw"}


@pytest.fixture(autouse=True)
def no_disk_cache():
    """Worlds have programs on disk."""


def cases(kind, graph_capture):
    """One after the other, for the first is mostly enough."""
    if kind in DIRECTED:
        return [replace(DIRECTED[kind], graph_capture=graph_capture)]
    made = (usable(seed, graph_capture=graph_capture) for seed in SEEDS[kind])
    return (case for case in made if case is not None)


@pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_guard_is_needed(kind, graph_capture):
    for case in cases(kind, graph_capture):
        assert attempt(case) is None
        failure = failure_without(kind, case)
        if failure is not None and failure.kind in WRONG:
            return
    pytest.fail(AGAIN)


def test_every_kind_of_step_is_switched_off():
    steps = {value for name, value in vars(reads).items() if name.endswith("_STEP")}
    # One is in the call's key, one leads to an object that never is another, and modules are read by attributes;
    # a tensor of the call is an operand.
    assert steps - set(KINDS) == {reads.ARGUMENT_STEP, reads.STATE_STEP, reads.MODULE_STEP, reads.TENSOR_STEP}
