"""A tensor is shown in neither frontend while a function is compiled: it has no value then."""
# ruff: noqa: T201, T203 - what is refused

from __future__ import annotations

import logging
import pprint
import types
import warnings

import pytest
import torch

import ttnn_jit
from ttnn_jit.diagnostics.errors import CompileError, UnsupportedFunction

log = logging.getLogger("of.a.test")
X = torch.ones(2)


def refusal(function, graph_capture):
    with pytest.raises(UnsupportedFunction) as raised:
        ttnn_jit.jit(graph_capture=graph_capture)(function)(X)
    assert type(raised.value) is UnsupportedFunction
    return str(raised.value)


def show(*values):
    print("shown:", *values)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: print(x) or x,
        lambda x: print("it is", [x, {"k": x}], flush=True) or x,
        lambda x: show(x + 1.0) or x,
        lambda x: pprint.pprint(x) or x,
        lambda x: logging.warning("it is %s", x) or x,
        lambda x: log.warning("it is %s", x) or x,
        lambda x: warnings.warn(x, stacklevel=1) or x,
    ],
)
def test_both_frontends_refuse_to_show_a_tensor_with_one_text(function, capsys):
    text = refusal(function, graph_capture=False)
    assert refusal(function, graph_capture=True) == text
    assert "it would act once, when the function is compiled: print what the call returns" in text
    assert capsys.readouterr().out == ""


def test_a_trace_prints_what_is_no_tensor_and_is_kept(capsys):
    scale = 2.0

    def function(x):
        print("scale", scale, x.shape)
        return x * scale

    jitted = ttnn_jit.jit(graph_capture=True)(function)
    assert jitted(X).tolist() == jitted(X).tolist() == [2.0, 2.0]
    assert capsys.readouterr().out == "scale 2.0 Shape([2])\n"
    scale = 3.0
    assert jitted(X).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_tensor_has_no_text_while_it_is_compiled(graph_capture):
    with pytest.raises(CompileError, match=r"`str\(\)` of a tensor is not supported: its value is not known"):
        ttnn_jit.jit(graph_capture=graph_capture)(lambda x: x * len(str(x)))(X)


def test_a_trace_without_source_prints_no_tensor(capsys):
    code = compile("def function(x):\n    print(x)\n    return x\n", "<nowhere>", "exec").co_consts[0]
    with pytest.raises(CompileError, match=r"`str\(\)` of a tensor"):
        ttnn_jit.jit(graph_capture=True)(types.FunctionType(code, {}))(X)
    assert capsys.readouterr().out == ""
