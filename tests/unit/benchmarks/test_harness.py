"""The benchmark driver: kept steps, resumed runs, and the counted work of a kernel."""

import json
import math
import os
from contextlib import nullcontext

import pytest
import torch

from benchmarks.harness import harness
from benchmarks.harness.contenders import Case
from benchmarks.harness.harness import Benchmark, Step, spread
from benchmarks.harness.process import Process, ProcessFailedError
from benchmarks.harness.tables import ratios
from benchmarks.kernels.roofline import operations_in
from benchmarks.run import BENCHMARKS
from ttnn_jit import jit, ttnn


@pytest.fixture
def results(tmp_path, monkeypatch):
    pytest.importorskip("rich", reason="the driver's progress bar is of the extra [bench]")
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "ROOT", tmp_path)
    return tmp_path


def benchmark(*steps):
    return Benchmark("sample", "A sample.", lambda _: nullcontext(steps), lambda found, _: f"{sorted(found)}\n")


def interrupted():
    raise KeyboardInterrupt


def test_an_interrupted_run_keeps_its_steps_and_is_resumed(results):
    measured = []

    def step(name):
        return Step(name, 1, lambda: measured.append(name) or name)

    with pytest.raises(KeyboardInterrupt):
        harness.run([benchmark(step("a"), Step("b", 1, interrupted))], quick=False, resume=False)
    broken_off = json.loads((results / "sample.json").read_text())
    assert (broken_off["steps"], broken_off["complete"]) == ({"a": "a"}, False)
    harness.run([benchmark(step("a"), step("b"))], quick=False, resume=True)
    assert measured == ["a", "b"]
    assert json.loads((results / "sample.json").read_text())["steps"] == {"a": "a", "b": "b"}
    assert "['a', 'b']" in (results / "sample.md").read_text()


def test_a_contender_that_fails_loses_only_its_step(results):
    def fails():
        raise ProcessFailedError("it died")

    harness.run([benchmark(Step("a", 1, fails), Step("b", 1, lambda: 2))], quick=True, resume=False)
    assert json.loads((results / "sample.json").read_text())["steps"] == {"b": 2}


@pytest.mark.process
def test_a_child_process_returns_its_result_or_its_error():
    with Process({}) as process:
        assert process.call(math.hypot, 3, 4) == 5
        with pytest.raises(ProcessFailedError, match="math domain error"):
            process.call(math.sqrt, -1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_operations_are_counted_per_element(dtype):
    x = torch.ones(64, 64, dtype=dtype)
    assert operations_in(jit(lambda a, b: ttnn.add(a, b)).ir(x, x, stage="codegen")) == 1
    assert operations_in(jit(lambda a: ttnn.multiply(ttnn.add(a, 1.5), a)).ir(x, stage="codegen")) == 2


def test_ratios_are_of_the_same_round():
    case = Case("cosh", (32, 32), "f32")
    found = {case.name: {"ours": {"seconds": [1.0, 2.0]}, "peer": {"seconds": [3.0, 4.0]}, "other": {"refused": "no"}}}
    assert ratios(found, case, "peer", "ours") == [3.0, 2.0]
    assert ratios(found, case, "other", "ours") == []
    assert spread([3.0, 2.0]) == "2.50 [2.00-3.00]"


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_leaves_the_threads_of_those_that_follow(name, monkeypatch):
    monkeypatch.delenv("TTNN_JIT_NUM_THREADS", raising=False)
    variables, threads = dict(os.environ), torch.get_num_threads()
    with BENCHMARKS[name].steps(True):
        pass
    assert dict(os.environ) == variables
    assert torch.get_num_threads() == threads
