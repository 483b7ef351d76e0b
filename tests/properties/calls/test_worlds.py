"""In random worlds, changed between calls and edited between processes, a call has Python's result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.properties.worlds.__main__ import attempt
from tests.properties.worlds.attack import Tally
from tests.properties.worlds.cases import case_of, loads
from tests.properties.worlds.reduce import reduced, script
from tests.sampling import drawn

ROOT = Path(__file__).parents[3]
WORLDS = 100
FEWEST = 8
"""So many have the shares of outcomes that are asserted."""
BOTH = pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])


@pytest.fixture(autouse=True)
def no_disk_cache():
    """Programs of worlds are stored on disk."""


def sees_what_python_sees(seed, graph_capture, tally=None):
    case = case_of(seed, graph_capture=graph_capture)
    if case is None or not loads(case):
        return
    failure = attempt(case, tally)
    if failure is not None:
        case, failure = reduced(case, failure, attempt)
        pytest.fail(f"seed {seed}, {failure.kind}: {failure.text}\n{script(case)}")


@pytest.mark.slow
@BOTH
def test_a_compiled_function_sees_the_changes_that_python_sees(graph_capture):
    tally = Tally()
    for seed in range(max(drawn(WORLDS), FEWEST)):
        sees_what_python_sees(seed, graph_capture, tally)
    # Most programs of these worlds compile, and most changes are read.
    assert tally.counts["values"] > tally.counts["calls"] / 2
    assert tally.counts["refused"] < tally.counts["calls"] / 4
    assert tally.counts["other values"] > tally.counts["calls"] / 20


@pytest.mark.slow
@BOTH
# A smaller seed is not a smaller world: `reduced` makes those.
@settings(max_examples=50, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(seed=st.integers(0, 2**48))
def test_random_programs_see_the_changes_that_python_sees(graph_capture, seed):
    sees_what_python_sees(seed, graph_capture)


@pytest.mark.slow
@pytest.mark.process
def test_processes_that_share_a_disk_cache_see_their_own_sources(own_disk_cache):
    for segment in range(2 if settings.get_current_profile_name() == "sample" else 3):
        command = [
            sys.executable,
            "-m",
            "tests.properties.worlds",
            "--cases",
            str(drawn(30)),
            "--segment",
            str(segment),
        ]
        environment = {**os.environ, "TTNN_JIT_CACHE_DIR": str(own_disk_cache), "PYTHONHASHSEED": str(segment + 1)}
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert "seed" not in ran.stdout, ran.stdout
