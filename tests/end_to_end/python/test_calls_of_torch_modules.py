"""A call of a torch module inside a compiled function is refused at the user's line; its `forward` is compiled."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import UnsupportedFunction


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, x):
        return ttnn.multiply(x, self.weight)


class Shift(torch.nn.Module):
    def __call__(self, x):
        return ttnn.add(x, 1.0)


@torch.no_grad()
@pytest.mark.parametrize(("module", "name"), [(Scale(), "Scale"), (torch.nn.Linear(2, 2), "Linear")])
def test_a_call_is_refused_at_the_line_of_the_caller(module, name):
    @ttnn_jit.jit()
    def function(x):
        return module(x)

    with pytest.raises(UnsupportedFunction, match=f"call of the torch module `{name}` is not supported") as refused:
        function(torch.ones(3, 2))
    assert "return module(x)" in str(refused.value)
    assert "called from" not in str(refused.value)
    assert "`ttnn.linear(x, layer.weight, bias=layer.bias, transpose_b=True)`" in str(refused.value)


def test_a_function_of_torch_that_is_written_in_python_is_refused_at_the_line_of_the_caller():
    @ttnn_jit.jit()
    def function(x):
        return torch.nn.functional.silu(x)

    with pytest.raises(UnsupportedFunction, match=r"Function silu not supported") as refused:
        function(torch.ones(3, 2))
    assert "return torch.nn.functional.silu(x)" in str(refused.value)
    assert "the operation is `ttnn.silu`" in str(refused.value)


@torch.no_grad()
def test_forward_and_a_call_method_of_the_users_are_compiled():
    scale, shift = Scale(), Shift()

    @ttnn_jit.jit()
    def function(x):
        return shift(scale.forward(x))

    assert torch.equal(function(torch.ones(3, 2)), torch.tensor([[3.0, 4.0]] * 3))


@torch.no_grad()
def test_the_operation_that_the_error_names_computes_the_layer():
    layer = torch.nn.Linear(2, 4)

    @ttnn_jit.jit()
    def function(x):
        return ttnn.linear(x, layer.weight, bias=layer.bias, transpose_b=True)

    x = torch.randn(3, 2)
    torch.testing.assert_close(function(x), layer(x))
