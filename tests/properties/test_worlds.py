"""In random worlds, changed at random between calls and edited between processes, a call sees what Python sees."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.properties.worlds.__main__ import attempt
from tests.properties.worlds.attack import Tally
from tests.properties.worlds.cases import case_of, loads
from tests.properties.worlds.reduce import reduced, script

ROOT = Path(__file__).parents[2]
WORLDS = 60


@pytest.mark.slow
@pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
@pytest.mark.parametrize("part", range(2))
def test_a_compiled_function_sees_what_python_sees(graph_capture, part):
    tally = Tally()
    for seed in range(part * WORLDS, (part + 1) * WORLDS):
        case = case_of(seed, graph_capture=graph_capture)
        if case is None or not loads(case):
            continue
        failure = attempt(case, tally)
        if failure is not None:
            case, failure = reduced(case, failure, attempt)
            pytest.fail(f"seed {seed}, {failure.kind}: {failure.text}\n{script(case)}")
    # Most programs of these worlds compile, and what changes is mostly read.
    assert tally.counts["values"] > tally.counts["calls"] / 2
    assert tally.counts["refused"] < tally.counts["calls"] / 4
    assert tally.counts["other values"] > tally.counts["calls"] / 20


@pytest.mark.slow
@pytest.mark.process
def test_processes_that_share_a_disk_cache_see_their_own_sources(own_disk_cache):
    for segment in range(3):
        command = [sys.executable, "-m", "tests.properties.worlds", "--cases", "15", "--segment", str(segment)]
        environment = {**os.environ, "TTNN_JIT_CACHE_DIR": str(own_disk_cache), "PYTHONHASHSEED": str(segment + 1)}
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert "seed" not in ran.stdout, ran.stdout
