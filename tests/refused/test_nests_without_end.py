"""Containers that contain themselves, or are too deep to be walked, are refused by the argument's name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.pytrees import MAX_DEPTH, MAX_LEAVES

X = torch.ones(2, 2)


@dataclass
class Record:
    value: Any


def in_itself(kind):
    value = {"list": [X], "dict": {"x": X}, "record": Record(X), "tuple": ([X],)}[kind]
    match value:
        case list():
            value.append(value)
        case dict():
            value["again"] = value
        case Record():
            value.value = value
        case _:
            value[0].append(value)
    return value


def nested(depth, wrap=lambda inner: [inner]):
    value = X
    for _ in range(depth):
        value = wrap(value)
    return value


WRAPS = {"list": lambda v: [v], "tuple": lambda v: (v,), "dict": lambda v: {"x": v}, "record": Record}


@ttnn_jit.jit()
def function(x, more=None):  # noqa: ARG001 - it is only passed
    return ttnn.exp(x)


@pytest.mark.parametrize("call", [function, function.ir, function.explain])
@pytest.mark.parametrize("kind", WRAPS)
def test_a_jitted_function_names_the_argument_that_does_not_end(call, kind):
    for _ in range(4):  # the warm path, too
        function(X), function(X, [X])
    for value in (in_itself(kind), nested(3000, WRAPS[kind])):
        with pytest.raises(ArgumentError, match=r"`more` (holds a .* that contains itself|is nested more than 100)"):
            call(X, value)
        with pytest.raises(ArgumentError, match="`more` "):
            call(X, more=value)
        with pytest.raises(ArgumentError, match="`x` "):
            call(value)


@pytest.mark.parametrize("kind", WRAPS)
def test_an_eager_operation_names_the_argument_that_does_not_end(kind, device):
    x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    for value in (in_itself(kind), nested(3000, WRAPS[kind])):
        with pytest.raises(ArgumentError, match=r"argument 1 of ttnn.add "):
            ttnn.add(x, value)
        with pytest.raises(ArgumentError, match=r"`activations` of ttnn.add "):
            ttnn.add(x, x, activations=value)


def test_what_ends_is_taken_as_deep_as_it_says():
    @ttnn_jit.jit()
    def innermost(nest):
        return ttnn.exp(nest[0][0])

    assert torch.equal(innermost(nested(2)), X.exp())
    with pytest.raises(ArgumentError, match="`more` is nested more than"):
        function(X, nested(MAX_DEPTH + 1))
    assert torch.equal(function(X, nested(MAX_DEPTH)), function(X))


def test_one_container_at_many_paths_is_counted_as_often():
    shared = [1.0]
    for _ in range(60):
        shared = [shared, shared]
    with pytest.raises(ArgumentError, match=f"`more` holds {2**60:,} values, and {MAX_LEAVES:,} are the most"):
        function(X, shared)
