"""Under ``TTNN_JIT_DEBUG=1`` a template is compiled again at the second size that it serves."""

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler import template_check
from ttnn_jit.diagnostics.errors import InternalError
from ttnn_jit.ops.reduction import moments
from ttnn_jit.specs.extents.extent import is_extent


@pytest.fixture(autouse=True)
def debugging(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")


@pytest.fixture
def checked(monkeypatch):
    """The requests whose templates are checked."""
    found, check = [], template_check.check_by_another_compile

    def recorded(compiled, request, plan):
        check(compiled, request, plan)
        found.append(request)

    monkeypatch.setattr("ttnn_jit.compiler.templates.check_by_another_compile", recorded)
    return found


def test_a_template_is_compiled_again_at_its_second_size_only(checked):
    function = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.exp(ttnn.softmax(x, dim=-1)))
    for rows in (40, 41, 42, 43):
        compiles = COUNTERS.compiles
        function(torch.randn(rows, 64))
        assert COUNTERS.compiles - compiles == (rows in {40, 41})
    assert [request.inputs[0].shape for request in checked] == [(42, 64)]


def test_templates_with_hidden_inputs_and_numbers_are_checked(checked):
    held = {"cache": None, "scale": 0.0}

    @ttnn_jit.jit(enable_cache=False)
    def attended(x, shift):
        return ttnn.matmul(x, held["cache"]) * held["scale"] + shift

    for index, length in enumerate((20, 21, 22, 23)):
        held["cache"], held["scale"] = torch.randn(16, length), 0.5 + index
        attended(torch.randn(20 + index, 16), 2.5 + index)
    assert checked


def test_a_size_that_was_lost_in_a_compile_is_found(monkeypatch):
    monkeypatch.setattr(moments, "as_float", lambda count: float(count.hint if is_extent(count) else count))
    function = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.mean(x, dim=0))
    for rows in (40, 41):
        function(torch.randn(rows, 64))
    with pytest.raises(InternalError, match=r"for sizes \[\[42, 64\].* have other plan"):
        function(torch.randn(42, 64))
