"""Hooks see every operation exactly once, and cost nothing if there are none."""

from __future__ import annotations

import threading

import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError


@pytest.fixture
def reported():
    """The names of the operations that started, and of those that completed."""
    begun, ended = [], []
    with (
        ttnn.register_pre_operation_hook(lambda op, *_: begun.append(op.python_fully_qualified_name)),
        ttnn.register_post_operation_hook(lambda op, *_: ended.append(op.python_fully_qualified_name)),
    ):
        yield begun, ended


def tensor(device, **keywords):
    return ttnn.from_torch(torch.randn(32, 32), layout=ttnn.TILE_LAYOUT, device=device, **keywords)


CALLS = {
    "ttnn.exp": ttnn.exp,
    "ttnn.multiply": lambda x: 2 * x,
    "ttnn.add_": lambda x: ttnn.add_(x, x),
    "ttnn.softmax": lambda x: ttnn.softmax(x, -1),
    "ttnn.slice": lambda x: x[0:3],
    "ttnn.to_torch": ttnn.to_torch,
    "ttnn.Tensor.cpu": lambda x: x.cpu(),
    "ttnn.to_memory_config": lambda x: ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG),
    "ttnn.typecast": lambda x: ttnn.typecast(x, ttnn.bfloat16),
    "ttnn.zeros_like": ttnn.zeros_like,
    "ttnn.deallocate": ttnn.deallocate,
    "ttnn.all_reduce": ttnn.all_reduce,
    "ttnn.untilize": ttnn.untilize,
    "ttnn.transformer.attention_softmax": lambda x: ttnn.transformer.attention_softmax(x, head_size=None),
    "ttnn.experimental.fast_reduce_nc": lambda x: ttnn.experimental.fast_reduce_nc(x, dims=[0]),
    "ttnn.upsample": lambda x: ttnn.upsample(ttnn.reshape(x, (1, 1, 32, 32)), 2),
}
jitted_before = ttnn_jit.jit()(programs.cosh)


@pytest.mark.parametrize(("name", "call"), CALLS.items(), ids=CALLS)
def test_hooks_are_called_once_before_and_after_each_call(device, reported, name, call):
    x = tensor(device)
    for _ in range(2):
        call(ttnn.clone(x))
    told_of = [each for each in reported[0] if each != "ttnn.reshape"]
    assert told_of == ["ttnn.from_torch", "ttnn.clone", name, "ttnn.clone", name]
    assert reported[0] == reported[1]


def test_a_jitted_function_is_one_operation_whether_it_was_decorated_before_or_after(device, reported):
    x = tensor(device)
    early, late = jitted_before, ttnn_jit.jit()(programs.add_mul_exp_sigmoid)
    for _ in range(3):
        early(x)
        late(x, x)
    name = "tests.programs."
    assert reported[0][1:] == reported[1][1:] == [f"{name}cosh", f"{name}add_mul_exp_sigmoid"] * 3


def test_after_the_block_no_hook_is_called_and_calls_take_the_usual_path(device):
    x = tensor(device)
    before = dict(vars(type(ttnn.exp))), dict(vars(type(jitted_before))), dict(vars(ttnn.Tensor))
    calls = []
    with ttnn.register_pre_operation_hook(lambda *_: calls.append(1)):
        ttnn.exp(x)
    assert (dict(vars(type(ttnn.exp))), dict(vars(type(jitted_before))), dict(vars(ttnn.Tensor))) == before
    ttnn.exp(x), jitted_before(x), x.cpu()
    assert calls == [1]


def test_hooks_get_the_arguments_and_the_result_and_may_change_keywords(device):
    x, seen = tensor(device), []

    def pre(operation, args, kwargs):
        assert operation is ttnn.exp
        assert args == (x,)
        kwargs["dtype"] = ttnn.bfloat16

    with (
        ttnn.register_pre_operation_hook(pre),
        ttnn.register_post_operation_hook(lambda *given: seen.append(given)),
    ):
        y = ttnn.exp(x)
    assert y.dtype is ttnn.bfloat16
    ((_, args, kwargs, output),) = seen
    assert (args, kwargs) == ((x,), {"dtype": ttnn.bfloat16})
    assert output is y


def test_calls_made_by_a_hook_are_not_reported_to_hooks(device, reported):
    def post(_operation, _args, _kwargs, output):
        ttnn.to_torch(ttnn.exp(output))

    x = tensor(device)
    with ttnn.register_post_operation_hook(post):
        ttnn.neg(x)
    assert reported[0] == ["ttnn.from_torch", "ttnn.neg"]


def test_a_call_that_fails_calls_no_post_hook_and_the_next_one_is_reported(device, reported):
    x = tensor(device)
    with pytest.raises(CompileError):
        ttnn.matmul(x, tensor(device)[:5])
    ttnn.exp(x)
    assert reported[0][-2:] == ["ttnn.matmul", "ttnn.exp"]
    assert reported[1][-1] == "ttnn.exp"
    assert "ttnn.matmul" not in reported[1]


def test_a_hook_that_returns_a_value_or_is_not_callable_is_refused(device):
    x = tensor(device)
    with (
        pytest.raises(RuntimeError, match=r"Pre-operation hook .* returned 1 but must return None"),
        ttnn.register_pre_operation_hook(lambda *_: 1),
    ):
        ttnn.exp(x)
    with (
        pytest.raises(RuntimeError, match=r"Post-operation hook .* returned 1 but must return None"),
        ttnn.register_post_operation_hook(lambda *_: 1),
    ):
        ttnn.exp(x)
    with (
        pytest.raises(ArgumentError, match="`hook` of register_pre_operation_hook must be a Callable, got 3"),
        ttnn.register_pre_operation_hook(3),
    ):
        pass


def test_hooks_see_calls_of_other_threads_but_no_compiles(device, reported):
    x = tensor(device)

    def work():
        ttnn.sin(x)
        ttnn_jit.jit(graph_capture=True)(programs.cosh)(x)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert reported[0] == ["ttnn.from_torch", "ttnn.sin", "tests.programs.cosh"]


def test_inspecting_a_compile_is_no_operation(device, reported):
    x = tensor(device)
    jitted_before.explain(x)
    jitted_before.ir(x)
    assert reported[0] == ["ttnn.from_torch"]


def test_hooks_see_the_calls_that_a_trace_captures(device, reported):
    x = tensor(device)
    trace = ttnn.begin_trace_capture(device)
    ttnn.exp(x)
    ttnn.end_trace_capture(device, trace)
    assert reported[0] == ["ttnn.from_torch", "ttnn.exp"]
