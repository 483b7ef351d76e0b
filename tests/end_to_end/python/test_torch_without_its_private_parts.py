"""With a torch that lacks private functions of the fast path, calls take the slow path and have equal results."""

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.libraries import torch_tensors

A, B = torch.randn(4, 6), torch.randn(6)
PARTS = ["_len_torch_dispatch_stack", "_dynamo.guards._empty_strided_cpu", "_dynamo.guards._reinterpret_tensor"]
PARTS += ["_dynamo.guards.TensorGuards", "_dynamo.guards", "_dynamo"]


def takes_nothing():
    """A guard as a later torch might have it."""


@pytest.fixture(autouse=True)
def fresh_calls():
    torch_tensors._checked.cache_clear()
    yield
    torch_tensors._checked.cache_clear()


@pytest.fixture(params=[*PARTS, "other arguments"])
def lacking(request, monkeypatch):
    if request.param == "other arguments":
        monkeypatch.setattr(torch._C._dynamo.guards, "TensorGuards", takes_nothing)
    else:
        monkeypatch.delattr(f"torch._C.{request.param}")


@pytest.mark.usefixtures("lacking")
def test_every_call_returns_the_result_of_the_first():
    compiled = jit()(lambda a, b, scale=2.0: (ttnn.add(a, b) * scale, a))
    big, row = torch.randn(64, 1024, 8), torch.randn(8)
    for _ in range(5):
        assert torch.equal(compiled(A, B)[0], (A + B) * 2.0)
        assert torch.equal(compiled(A, B, 3.0)[0], (A + B) * 3.0)
        assert torch.equal(compiled(A.T, B[:4])[0], (A.T + B[:4]) * 2.0)
        assert torch.equal(compiled(big, row)[0], (big + row) * 2.0)


@pytest.fixture
def tracers_of_torch():
    """Loaded while torch has all of its parts, because the import of `make_fx` needs them."""
    make_fx(torch.neg)(A)


@pytest.mark.usefixtures("tracers_of_torch", "lacking")
@pytest.mark.filterwarnings("ignore:.*torch.jit.trace:DeprecationWarning")
def test_a_tracer_is_still_refused():
    compiled = jit()(lambda a: ttnn.exp(a))
    for _ in range(4):
        compiled(A)
    with pytest.raises(ArgumentError, match="cannot be traced"):
        make_fx(compiled)(A)
    with pytest.raises(ArgumentError, match="cannot be traced"):
        torch.jit.trace(compiled, A)
