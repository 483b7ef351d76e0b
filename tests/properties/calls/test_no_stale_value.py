"""The next call sees every change between calls."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit import ttnn

FACTOR = 1.0
TABLE = [1.0]


def helper(x):
    return x + 1.0


def helper_twice(x):
    return x + 2.0


BODIES = {"once": helper.__code__, "twice": helper_twice.__code__}
NUMBERS = st.sampled_from([0.0, -0.0, 1, 1.0, True, 2.5, -3.0])
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("global"), NUMBERS),
        st.tuples(st.just("closure"), NUMBERS),
        st.tuples(st.just("argument"), NUMBERS),
        st.tuples(st.just("append"), NUMBERS),
        st.tuples(st.just("shape"), st.integers(1, 3)),
        st.tuples(st.just("helper"), st.sampled_from(sorted(BODIES))),
    ),
    max_size=12,
)


@pytest.fixture(autouse=True)
def no_disk_cache():
    """Changes are detected on disk too."""


def expected(x, cell, scale):
    for entry in TABLE:
        x = x * entry
    return (x * FACTOR + (1.0 if helper.__code__ is BODIES["once"] else 2.0)) * cell - float(scale)


@pytest.mark.slow
@pytest.mark.parametrize("graph_capture", [False, True])
@settings(max_examples=20, deadline=None)
@given(CHANGES)
def test_a_call_never_sees_a_stale_value(graph_capture, changes):
    global FACTOR  # noqa: PLW0603 - rebinding a global is what is tested
    FACTOR, TABLE[:] = 1.0, [1.0]
    helper.__code__ = BODIES["once"]
    cell = 1.0

    def function(x, scale):
        for entry in TABLE:
            x = x * entry
        return helper(ttnn.multiply(x, FACTOR)) * cell - scale

    jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
    scale, rows = 1.0, 1
    for kind, value in [("shape", 1), *changes]:
        match kind:
            case "global":
                FACTOR = value
            case "closure":
                cell = value
            case "argument":
                scale = value
            case "append":
                TABLE[-1:] = [value, value][: len(TABLE) % 2 + 1]
            case "shape":
                rows = value
            case "helper":
                helper.__code__ = BODIES[value]
        x = torch.full((rows, 2), 3.0)
        assert torch.equal(jitted(x, scale), expected(x, cell, scale))
