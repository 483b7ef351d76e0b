"""What a jitted function learns of the class of its tensors: that of the tensors of its calls, or it is refused."""

from __future__ import annotations

import collections.abc

import numpy
import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import UnsupportedFunction


def matched(x):
    match x:
        case torch.Tensor():
            return 1
        case numpy.ndarray() | ttnn.Tensor():
            return 2
        case _:
            return 3


QUESTIONS = {
    "torch": lambda x: isinstance(x, torch.Tensor),
    "numpy": lambda x: isinstance(x, (list, numpy.ndarray)),
    "ttnn": lambda x: isinstance(x, ttnn.Tensor | int),
    "is_tensor": lambda x: torch.is_tensor(x),
    "type": lambda x: [torch.Tensor, numpy.ndarray, ttnn.Tensor].index(type(x)),
    "class": lambda x: x.__class__ is torch.Tensor,
    "match": matched,
    "containers": lambda x: isinstance(x, (tuple, list, dict, int, str)),
    "subclass": lambda x: issubclass(type(x), torch.Tensor),
    "abstract": lambda x: isinstance(x, collections.abc.Callable),
}


def tensors():
    device = ttnn.open_device(device_id=0, target="cpu")
    return torch.ones(2, 3), numpy.ones((2, 3), "f4"), ttnn.from_torch(torch.ones(2, 3), device=device)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_tensor_being_compiled_is_what_calls_bring(name, graph_capture):
    question = QUESTIONS[name]

    @jit(graph_capture=graph_capture)
    def program(x):
        return x * (2.0 + question(x))

    for x in tensors():  # one after the other: what is on disk is of a library
        if graph_capture and program_needs(name, x):
            with pytest.raises(UnsupportedFunction, match="graph_capture=True") as error:
                program(x)
            assert "^" in str(error.value)
        else:
            got = program(x)
            assert numpy.asarray(got.to_torch() if isinstance(got, ttnn.Tensor) else got)[0, 0] == 2.0 + question(x)


def program_needs(name, x):
    """Whether a trace would answer something else: its stand-ins are of a class of their own."""
    if name in {"type", "class", "subclass"}:
        return True
    return isinstance(x, torch.Tensor) and name in {"torch", "ttnn", "is_tensor", "match"}


WITHOUT_SOURCE = {
    "isinstance(x, torch.Tensor)": "torch",
    "torch.is_tensor(x)": "torch",
    "isinstance(x, ttnn.Tensor)": "torch",
    "type(x) is numpy.ndarray": "torch numpy ttnn",
    "isinstance(x, numpy.ndarray)": "torch",
    "isinstance(2, int)": "",
}


@pytest.mark.filterwarnings("ignore:.*compiled at every call")
@pytest.mark.parametrize("question", WITHOUT_SOURCE)
def test_a_trace_without_source_says_what_calls_bring_or_nothing(question):
    scope = {"torch": torch, "numpy": numpy, "ttnn": ttnn}
    program = eval(f"lambda x: x * (2.0 + ({question}))", scope)
    for name, x in zip(("torch", "numpy", "ttnn"), tensors(), strict=True):
        jitted = jit(graph_capture=True)(program)
        if name in WITHOUT_SOURCE[question].split():
            with pytest.raises(UnsupportedFunction, match="is not known in a trace without source"):
                jitted(x)
        else:
            got = jitted(x)
            expected = 2.0 + eval(question, scope, {"x": x})
            assert numpy.asarray(got.to_torch() if isinstance(got, ttnn.Tensor) else got)[0, 0] == expected


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("cls", [torch.nn.Parameter, torch.FloatTensor])
def test_what_some_tensors_of_a_library_are_is_not_known(cls, graph_capture):
    jitted = jit(graph_capture=graph_capture)(lambda x: x * (2.0 + isinstance(x, cls)))
    with pytest.raises(UnsupportedFunction, match=f"whether a tensor is a `{cls.__name__}` is not known"):
        jitted(torch.ones(2, 3))
    assert jitted.num_entries == 0
