"""In random worlds, changed at random between calls and edited between processes, a call sees what Python sees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.worlds.__main__ import attempt
from tests.properties.worlds.cases import case_of, loads
from tests.properties.worlds.reduce import reduced, script


@pytest.mark.slow
@pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "capture"])
@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_compiled_function_sees_what_python_sees(graph_capture, seed):
    case = case_of(seed, graph_capture=graph_capture)
    if case is None or not loads(case):
        return
    failure = attempt(case)
    if failure is not None:
        case, failure = reduced(case, failure, attempt)
        pytest.fail(f"{failure.kind}: {failure.text}\n{script(case)}")
