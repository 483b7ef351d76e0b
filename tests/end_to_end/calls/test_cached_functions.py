"""`functools.lru_cache` in compiled functions: results are those of Python's cache."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.hidden_inputs import BOTH

FACTOR = 2.0
COUNTED: list[float] = []


@functools.lru_cache
def scale(n=1.0):
    COUNTED.append(n)
    return FACTOR * n


@functools.cache
def mask(n):
    return torch.full((2, 2), FACTOR * n)


@functools.cache
def table(n, *, k=1.0):
    return [FACTOR * n * k]


@functools.lru_cache(maxsize=0)
def anew(n):
    return FACTOR * n


@functools.lru_cache
def of_tensor(tensor):
    return tensor * FACTOR


class Model:
    @functools.cache  # noqa: B019 - it lives as long as the test does
    def scale(self, n):
        return FACTOR * n


MODEL = Model()
CACHED = (scale, mask, table, anew, of_tensor, Model.scale)
PROGRAMS = {
    "a number": lambda x: x * scale(3.0),
    "a default": lambda x: x * scale(),
    "a tensor": lambda x: x * mask(2),
    "an item": lambda x: x * table(1.0, k=2.0)[0],
    "a method": lambda x: x * MODEL.scale(2.0),
    "what remembers nothing": lambda x: x * anew(3.0),
    "a tensor given": lambda x: of_tensor(x),
    "in a loop": lambda x: x * sum(scale(n) for n in (1.0, 5.0)),
}


def has_changed(step: str) -> None:
    global FACTOR  # noqa: PLW0603 - rebinding a global is what is tested
    if step == "forget":
        for function in CACHED:
            function.cache_clear()
    else:
        FACTOR = float(step)


@BOTH
@pytest.mark.parametrize("plain_first", [False, True])
@pytest.mark.parametrize("cached", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_compiled_function_gets_the_values_of_python(name, cached, plain_first, graph_capture):
    function = PROGRAMS[name]

    def jit() -> Any:
        return ttnn_jit.jit(graph_capture=graph_capture, enable_cache=cached)(function)

    jitted = jit()
    for step in ("forget", "2", "2", "3", "3", "forget", "3", "4", "forget", "2"):
        has_changed(step)
        jitted = jit() if cached else jitted
        x = torch.ones(2, 2)
        first, second = (function, jitted) if plain_first else (jitted, function)
        assert first(x)[0, 0] == second(x)[0, 0]


@BOTH
def test_a_cached_function_runs_as_often_as_in_python(graph_capture):
    has_changed("forget")
    COUNTED.clear()
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(PROGRAMS["a number"])
    for _ in range(4):
        jitted(torch.ones(2, 2))
    assert COUNTED == [3.0]


@functools.lru_cache(maxsize=1)
def forgetful(n):
    return [float(n)]


WEIGHT = torch.ones(2, 2)


@BOTH
@pytest.mark.filterwarnings("ignore:.* is compiled at every call:UserWarning")
def test_a_cache_that_evicts_within_a_call_makes_the_program_serve_one_call(graph_capture):
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: x * forgetful(2)[0] * forgetful(3)[0] * WEIGHT)
    for _ in range(3):
        assert jitted(torch.ones(2, 2))[0, 0] == 6.0


@pytest.mark.filterwarnings("ignore:.* is compiled at every call:UserWarning")
def test_a_function_without_source_gets_them_too():
    space = {"scale": scale}
    exec("def program(x): return x * scale(7.0)", space)
    jitted = ttnn_jit.jit(space["program"])
    for step in ("forget", "2", "3", "forget", "3"):
        has_changed(step)
        assert jitted(torch.ones(2, 2))[0, 0] == space["program"](torch.ones(2, 2))[0, 0]
