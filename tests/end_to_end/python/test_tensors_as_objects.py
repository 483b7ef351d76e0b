"""What a program asks of a tensor as an object, its class and attributes that it was given, is read."""

from __future__ import annotations

import types
from typing import Any

import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.hidden_inputs import BOTH
from ttnn_jit.diagnostics.errors import UnsupportedFunction

HELD = types.SimpleNamespace()
X = torch.ones(2, 2)

PROGRAMS = {
    "hasattr": lambda x: x + HELD.p if hasattr(HELD.p, "tag") else x - HELD.p,
    "getattr": lambda x: x + HELD.p * getattr(HELD.p, "tag", 5.0),
    "getattr of None": lambda x: x + HELD.p if getattr(HELD.p, "tag", None) is None else x - HELD.p,
    "a caught error": lambda x: x + tag_of(HELD.p),
    "hasattr of what its class has": lambda x: x + HELD.p if hasattr(HELD.p, "grad") else x - HELD.p,
    "hasattr of what a stand-in has": lambda x: x + HELD.p if hasattr(HELD.p, "emitter") else x - HELD.p,
}


def tag_of(tensor: Any) -> float:
    try:
        return float(tensor.tag)
    except AttributeError:
        return 7.0


def give(tag: float | None) -> None:
    if tag is None:
        vars(HELD.p).pop("tag", None)
    else:
        HELD.p.tag = tag


@BOTH
@pytest.mark.parametrize("cached", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_attribute_that_a_tensor_was_given_is_seen(name, cached, graph_capture):
    function = PROGRAMS[name]
    HELD.p = torch.nn.Parameter(torch.ones(2, 2), requires_grad=False)

    def jit() -> Any:
        return ttnn_jit.jit(graph_capture=graph_capture, enable_cache=cached)(function)

    jitted = jit()
    for tag in (None, 2.0, 3.0, None, 3.0):
        give(tag)
        for _ in range(3):
            jitted = jit() if cached else jitted
            assert torch.equal(jitted(X), function(X))


@BOTH
def test_an_attribute_of_an_argument_is_seen(graph_capture):
    def program(x, y):
        return x + 1.0 if hasattr(y, "tag") else x + 2.0

    jitted, given = ttnn_jit.jit(graph_capture=graph_capture)(program), torch.ones(2, 2)
    assert jitted(X, X)[0, 0] == 3.0
    given.tag = 1.0
    for _ in range(3):
        if graph_capture:
            with pytest.raises(UnsupportedFunction, match="whether a tensor has a `tag` is not known in a trace"):
                jitted(X, given)
        else:
            assert jitted(X, given)[0, 0] == 2.0
        assert jitted(X, X)[0, 0] == 3.0


def test_what_an_argument_was_given_is_a_value():
    jitted = ttnn_jit.jit(lambda x, y: x * y.scale)
    given = torch.ones(2, 2)
    for scale in (2.0, 3.0, 3.0):
        given.scale = scale
        assert jitted(X, given)[0, 0] == scale


@pytest.mark.parametrize("asked", ["type", "__class__"])
def test_the_class_of_a_tensor_is_that_of_the_object(asked):
    of_type = lambda x: x + 1.0 if type(HELD.p) is torch.nn.Parameter else x + 2.0  # noqa: E731 - a program
    of_class = lambda x: x + 1.0 if HELD.p.__class__ is torch.nn.Parameter else x + 2.0  # noqa: E731 - a program
    function = of_type if asked == "type" else of_class
    jitted = ttnn_jit.jit(function)
    for tensor in (torch.nn.Parameter(torch.ones(2, 2), requires_grad=False), torch.ones(2, 2)) * 2:
        HELD.p = tensor
        for _ in range(3):
            assert torch.equal(jitted(X), function(X))


def test_the_class_of_an_argument_is_that_of_the_object():
    jitted = ttnn_jit.jit(lambda x: x + 1.0 if type(x) is torch.Tensor else x + 2.0)
    for tensor in (torch.ones(2, 2), torch.nn.Parameter(torch.ones(2, 2), requires_grad=False)) * 2:
        for _ in range(2):
            assert jitted(tensor)[0, 0] == (2.0 if type(tensor) is torch.Tensor else 3.0)


def test_what_torch_is_given_is_seen(monkeypatch):
    jitted = ttnn_jit.jit(lambda x: x + 1.0 if hasattr(HELD.p, "given_later") else x + 2.0)
    HELD.p = torch.ones(2, 2)
    assert jitted(X)[0, 0] == jitted(X)[0, 0] == 3.0
    monkeypatch.setattr(torch.Tensor, "given_later", 1.0, raising=False)
    assert jitted(X)[0, 0] == 2.0
