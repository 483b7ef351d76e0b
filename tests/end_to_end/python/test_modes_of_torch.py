"""Modes of torch around a call and inside a compiled function: those without effect warn or are refused."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.hidden_inputs import BOTH, whole
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, UnsupportedFunction


def warnings_of(call: Any) -> list[str]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(warning.message) for warning in caught]


@BOTH
@pytest.mark.parametrize("warm", [0, 1, 3])
@pytest.mark.parametrize("twice", [False, True], ids=["two tensors", "one tensor twice"])
def test_autocast_around_a_call_causes_one_warning(twice, warm, graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def product(x, y):
        return x @ y

    x, y = whole(), whole()
    given = (x, x) if twice else (x, y)
    assert [text for _ in range(warm) for text in warnings_of(lambda: product(*given))] == []
    with torch.autocast("cpu", dtype=torch.bfloat16):
        texts = [text for _ in range(4) for text in warnings_of(lambda: product(*given))]
    assert len(texts) == 1
    assert texts[0].startswith("`torch.autocast` is on and has no effect on `product`: ")
    assert warnings_of(lambda: product(*given)) == []
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert warnings_of(lambda: product(*given)) == []
        assert product(*given).dtype == torch.float32


def test_a_function_that_was_compiled_under_autocast_is_the_same_outside():
    product = ttnn_jit.jit(lambda x, y: x @ y)
    x, y = whole(), whole()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert len(warnings_of(lambda: [product(x, y) for _ in range(3)])) == 1
        before = ttnn_jit.cache_info().compiles
    assert torch.equal(product(x, y), x @ y)
    assert ttnn_jit.cache_info().compiles == before


def test_autocast_does_not_affect_ttnn_tensors():
    device = ttnn.open_device(device_id=0)
    tensor = ttnn.from_torch(whole(), layout=ttnn.TILE_LAYOUT, device=device)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert warnings_of(lambda: ttnn_jit.jit(lambda x: x @ x)(tensor)) == []
    ttnn.close_device(device)


def with_autocast(x, y):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ y


def with_amp(x, y):
    with torch.amp.autocast("cpu"):
        return x @ y


@torch.autocast("cpu")
def decorated(x, y):
    return x @ y


def with_decorated(x, y):
    return decorated(x, y)


@BOTH
@pytest.mark.filterwarnings("ignore:.* is compiled at every call:UserWarning")
@pytest.mark.parametrize("function", [with_autocast, with_amp, with_decorated])
def test_autocast_inside_a_function_is_refused(function, graph_capture):
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
    for _ in range(2):
        with pytest.raises(UnsupportedFunction, match="autocast"):
            jitted(whole(), whole())
    assert not torch.is_autocast_enabled("cpu")


@BOTH
def test_gradients_are_refused_where_they_are_required(graph_capture):
    jitted, weight = ttnn_jit.jit(graph_capture=graph_capture)(lambda x, y: x + y), whole().requires_grad_()
    x = whole()
    for _ in range(2):
        with pytest.raises(ArgumentError, match="requires grad"):
            jitted(x, weight)
        for mode in (torch.no_grad(), torch.inference_mode(), torch.set_grad_enabled(False)):
            with mode:
                for _ in range(3):
                    assert torch.equal(jitted(x, weight), x + weight)
        torch.set_grad_enabled(True)


@BOTH
def test_a_default_dtype_has_no_effect_in_a_program(graph_capture):
    jitted, x = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: x * 2.0), whole()
    for _ in range(2):
        for dtype in (torch.float64, torch.bfloat16, torch.float32):
            torch.set_default_dtype(dtype)
            try:
                assert torch.equal(jitted(x), x * 2.0)
            finally:
                torch.set_default_dtype(torch.float32)
