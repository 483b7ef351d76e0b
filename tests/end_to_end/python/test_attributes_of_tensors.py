"""Attributes of a tensor in a jitted function equal those of a plain run, or are refused by name."""

from __future__ import annotations

import contextlib
import itertools
import linecache
import re

import numpy
import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError

TENSORS = {
    "torch": torch.arange(24.0).reshape(4, 6),
    "transposed": torch.arange(24.0).reshape(6, 4).T,
    "integers": torch.arange(24, dtype=torch.int32).reshape(4, 6),
    "numpy": numpy.arange(24, dtype="f4").reshape(4, 6),
}
TTNN = {"cpu": ttnn.TILE_LAYOUT, "wormhole_b0": ttnn.TILE_LAYOUT}
NUMBERS = itertools.count()
CHANGES = ("pin_memory", "backward", "deallocate")
"""Calls that have an effect and return nothing of interest."""


def comparing(expression, wanted):
    """A program that doubles its tensor if `expression` is not `wanted`, of that type."""
    text = f"def f(x):\n    v = {expression}\n    return x * (1 if v == WANTED and isinstance(v, KIND) else 2)\n"
    file = f"<attribute {next(NUMBERS)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    names = {"WANTED": wanted, "KIND": type(wanted)}
    exec(compile(text, file, "exec"), names)
    return names["f"]


def values_in_a_plain_run(x):
    """Expression -> its value in a plain run, for attributes and methods without arguments; no tensors."""
    found = {}
    for name in dir(type(x)):
        if name.startswith("_") or name.endswith("_") or name in CHANGES:
            continue
        with contextlib.suppress(Exception):  # it has arguments, or does not apply to such a tensor
            value, expression = getattr(x, name), f"x.{name}"
            if callable(value) and not isinstance(value, type):
                value, expression = value(), f"x.{name}()"
            if not isinstance(value, (type(x), torch.Tensor, numpy.ndarray, list, type(None))):
                found[expression] = value
    return found


def check(x, graph_capture, numbers, answered):
    known, refused = set(), {}
    for expression, value in values_in_a_plain_run(x).items():
        jitted = jit(graph_capture=graph_capture)(comparing(expression, value))
        try:
            result = numbers(jitted(x))
        except TtnnJitError as error:
            refused[expression] = str(error)
        else:
            assert torch.equal(result, numbers(x)), (expression, value)
            known.add(expression)
    for expression, message in refused.items():
        name = expression.removeprefix("x.").removesuffix("()")
        assert re.search(r"^ +\| +\^+$", message, re.MULTILINE), message
        assert name in message.replace(expression, ""), message
    assert known >= {*answered}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("kind", TENSORS)
def test_attributes_of_a_foreign_tensor_are_those_of_a_plain_run(kind, graph_capture):
    answered = {"x.shape", "x.dtype", "x.ndim", "x.device", "x.itemsize"}
    if kind == "torch":
        answered |= {"x.layout", "x.size()", "x.dim()", "x.is_sparse", "x.is_contiguous()"}
    check(TENSORS[kind], graph_capture, torch.as_tensor, answered)


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("target", TTNN)
def test_attributes_of_a_ttnn_tensor_are_those_of_eager_ttnn(target, graph_capture):
    with ttnn.manage_device(0, target=target) as device:
        x = ttnn.from_torch(torch.arange(2048.0).reshape(32, 64), layout=TTNN[target], device=device)
        check(
            x, graph_capture, ttnn.to_torch, {"x.shape", "x.dtype", "x.layout", "x.memory_config()", "x.get_layout()"}
        )


@pytest.mark.parametrize("graph_capture", [False, True])
def test_torchs_layout_is_accepted_in_place_of_ttnns(graph_capture):
    @jit(graph_capture=graph_capture)
    def program(x):
        says = (x.layout == torch.strided) + (x.layout != ttnn.TILE_LAYOUT) - 2
        return ttnn.to_layout(x, x.layout) + says + ttnn.ones(x.shape, dtype=x.dtype, layout=x.layout)

    x = torch.randn(2, 3)
    assert torch.equal(program(x), x + 1)


@pytest.mark.parametrize("graph_capture", [False, True])
def test_shapes_are_those_of_the_library(graph_capture):
    @jit(graph_capture=graph_capture)
    def program(x):
        says = x.shape.numel() if isinstance(x.shape, torch.Size) else len(str(x.shape))
        return x * says + (x.shape == [2, 3]) + ttnn.zeros(x.shape) + ttnn.reshape(x, (*x.shape[:-1], x.shape[-1]))

    x, y = torch.randn(2, 3), numpy.ones((2, 3), "f4")
    assert torch.equal(program(x), x * 6 + x)
    assert numpy.array_equal(program(y), y * 6 + y)
