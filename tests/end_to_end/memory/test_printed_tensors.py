"""Printing a tensor in a compiled function prints its known properties, once, in both frontends alike."""
# ruff: noqa: T201, T203 - what is tested

from __future__ import annotations

import logging
import pprint
import types
import warnings

import pytest
import torch

import ttnn_jit
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType, TensorSpec

log = logging.getLogger("of.a.test")
X = torch.ones(2)
SHOWN = (
    f"<tensor of {TensorSpec((2,), DataType.FLOAT32, memory_config=HOST_MEMORY_CONFIG)} in a function being compiled>"
)


def show(*values):
    print("shown:", *values)


PRINTS = pytest.mark.filterwarnings("ignore:.* prints when the function is compiled:UserWarning")


@PRINTS
@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: print(x) or x, SHOWN),
        (lambda x: print("it is", [x, {"k": x}], flush=True) or x, f"it is [{SHOWN}, {{'k': {SHOWN}}}]"),
        (lambda x: show(str(x), f"{x!r:>3}") or x, f"shown: {SHOWN} {SHOWN}"),
        (lambda x: pprint.pprint(x) or x, SHOWN),
        (lambda x: pprint.pp(x) or x, SHOWN),
    ],
)
def test_both_frontends_print_the_known_properties_of_a_tensor_once(function, text, graph_capture, capsys):
    jitted = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(function)
    assert all(torch.equal(jitted(X), X) for _ in range(2))
    assert capsys.readouterr().out == text + "\n"
    jitted.explain(X)
    assert capsys.readouterr().out in {"", text + "\n"}


@PRINTS
@pytest.mark.parametrize("graph_capture", [False, True])
def test_the_printed_values_of_other_objects_are_no_part_of_a_program(graph_capture, capsys):
    scale = 2.0

    def function(x):
        print("scale", scale, x.shape)
        return x * scale

    jitted = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=False)(function)
    assert jitted(X).tolist() == jitted(X).tolist() == [2.0, 2.0]
    assert capsys.readouterr().out == "scale 2.0 torch.Size([2])\n"
    scale = 3.0
    assert jitted(X).tolist() == [3.0, 3.0]
    assert capsys.readouterr().out == "scale 3.0 torch.Size([2])\n"


def test_a_trace_without_source_prints_too(capsys):
    code = compile("def function(x):\n    print(x)\n    return x\n", "<nowhere>", "exec").co_consts[0]
    ttnn_jit.jit(graph_capture=True, enable_cache=False)(types.FunctionType(code, {}))(X)
    assert capsys.readouterr().out == SHOWN + "\n"


def first_line(x):
    print(x)
    return x


def with_a_helper(x):
    pprint.pprint(x.shape)
    for _ in range(3):
        x = first_line(x)
    return x


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize(
    ("function", "lines"),
    [(first_line, [("print", first_line)]), (with_a_helper, [("pprint", with_a_helper), ("print", first_line)])],
)
def test_one_warning_says_that_print_runs_once(function, lines, cached, graph_capture):
    jitted = ttnn_jit.jit(graph_capture=graph_capture, enable_cache=cached)(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for size in (2, 2, 3, 4, 2):
            jitted(torch.ones(size))
    texts = [str(warning.message).partition(", and not at each call")[0] for warning in caught]
    locations = [f"{__file__}:{by.__code__.co_firstlineno + 1}:5" for _, by in lines]
    assert texts == [
        f"`{name}` at {location} prints when the function is compiled"
        for (name, _), location in zip(lines, locations, strict=True)
    ]
    assert {warning.filename for warning in caught} == {__file__}
