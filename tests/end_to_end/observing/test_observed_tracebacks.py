"""Hooks, comparison mode and the tracer do not appear in tracebacks."""

from __future__ import annotations

import traceback
from contextlib import ExitStack

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError


@pytest.fixture
def x(device):
    return ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device)


doubled = ttnn_jit.tile_op(lambda x: x * 2.0, golden=lambda x: x * 3.0)


@ttnn_jit.jit()
def refused(x):
    return ttnn.matmul(x, ttnn.reshape(x, (1, 1024)))


@ttnn_jit.jit()
def differs(x):
    return doubled(x)


def raising_hook(*_):
    raise KeyError("the user's")


OBSERVERS = {
    "comparison": lambda: [
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
    ],
    "hook": lambda: [ttnn.register_pre_operation_hook(lambda *_: None)],
    "raising hook": lambda: [ttnn.register_pre_operation_hook(raising_hook)],
    "returning hook": lambda: [ttnn.register_post_operation_hook(lambda *_: 3)],
    "tracer": lambda: [ttnn.tracer.trace()],
    "nobody": lambda: [],
}
MISTAKES = {
    "operation": lambda _: ttnn.exp("no tensor"),
    "host function": lambda _: ttnn.to_layout(3, ttnn.TILE_LAYOUT),
    "method": lambda x: x.to(7),
    "creation": lambda _: ttnn.zeros("a shape"),
    "program": refused,
}
FAULTS = [
    (observer, name, call)
    for observer in OBSERVERS
    for name, call in MISTAKES.items()
    if (observer, name) != ("nobody", "method")  # methods are observed functions while anybody observes
]
FAULTS += [("comparison", "far", doubled), ("comparison", "far inside", differs)]


@pytest.mark.parametrize(("observer", "name", "call"), FAULTS)
def test_a_traceback_contains_only_the_users_frames(x, observer, name, call):
    with ExitStack() as stack:
        for context in OBSERVERS[observer]():
            stack.enter_context(context)
        with pytest.raises((TtnnJitError, KeyError)) as caught:
            call(x)
    files = {frame.filename for frame in traceback.extract_tb(caught.tb)}
    assert {file for file in files if "/ttnn_jit/" in file} == set(), name


def test_an_unexpected_error_inside_this_package_keeps_every_frame(x, monkeypatch):
    ttnn.exp.clear()  # earlier calls may have had such a tensor
    monkeypatch.setattr(type(ttnn.exp), "_slow_path", len)  # which takes one argument
    with ttnn.register_pre_operation_hook(lambda *_: None), pytest.raises(TypeError) as caught:
        ttnn.exp(x)
    assert any("observers" in str(frame.path) for frame in caught.traceback)
