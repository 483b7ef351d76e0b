"""In random models whose tensors may be one object, a call has Python's result, and changes nothing else."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.properties.tensor_worlds.__main__ import LIBRARIES, attempt, reduced
from tests.properties.tensor_worlds.attack import Tally, case_of
from tests.sampling import drawn

WORLDS = 30
FEWEST = 5
"""So many have the shares of outcomes that are asserted."""
BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
EACH = pytest.mark.parametrize("library", LIBRARIES)


@pytest.fixture(autouse=True)
def no_disk_cache():
    """Programs of models are stored on disk."""


def sees_what_python_sees(seed, library, graph_capture, tally=None):
    case = case_of(seed, library, graph_capture=graph_capture)
    failure = attempt(case, tally)
    if failure is not None:
        pytest.fail(f"seed {seed}: {failure}\n{case.text}\n{reduced(case).steps}")


@pytest.mark.slow
@BOTH
@EACH
def test_a_compiled_function_sees_the_changes_that_python_sees(library, graph_capture):
    tally = Tally()
    for seed in range(max(drawn(WORLDS), FEWEST)):
        sees_what_python_sees(seed, library, graph_capture, tally)
    # Most programs compile; reads that a trace does not record are refused.
    assert tally.counts["values"] > tally.counts["calls"] / (3 if graph_capture else 2)
    assert tally.counts["refused"] < tally.counts["calls"] * (0.6 if graph_capture else 0.1)


@pytest.mark.slow
@BOTH
@EACH
@settings(max_examples=20, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**48))
def test_random_models_see_the_changes_that_python_sees(library, graph_capture, seed):
    sees_what_python_sees(seed, library, graph_capture)
