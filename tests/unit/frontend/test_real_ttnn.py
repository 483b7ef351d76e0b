"""If the real ttnn is installed, its op objects denote the operations of their names here."""

from __future__ import annotations

import types

import pytest
import torch

import ttnn_jit
from ttnn_jit.diagnostics.errors import UnsupportedFunction


class FastOperation:
    """As in `ttnn.decorators`: a callable object that knows its qualified name."""

    __module__ = "ttnn.decorators"

    def __init__(self, name):
        self.__name__ = f"ttnn.{name}"

    def __call__(self, *_):
        raise RuntimeError("there is no card")


ttnn = types.ModuleType("ttnn")
for name in ("add", "exp", "multiply", "all_gather", "mul"):
    setattr(ttnn, name, FastOperation(name))
exponential = ttnn.exp


def test_operations_of_the_real_namespace_compile():
    jitted = ttnn_jit.jit()(lambda x: ttnn.multiply(ttnn.add(exponential(x), x), 0.5))
    x = torch.randn(4, 4)
    torch.testing.assert_close(jitted(x), (x.exp() + x) * 0.5)
    jitted(x)
    assert jitted.num_entries == 1


@pytest.mark.parametrize("function", [lambda x: ttnn.all_gather(x), lambda x: ttnn.mul(x, x)])
def test_missing_and_refused_names_are_refused(function):
    with pytest.raises(UnsupportedFunction, match=r"Function (all_gather|mul) not supported"):
        ttnn_jit.jit()(function)(torch.randn(4, 4))
