"""The traceback of a user's mistake has the user's frames, and one of ours: the call that was made."""

from __future__ import annotations

import time
import traceback

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.errors import CompileError, InternalError, TtnnJitError

X = torch.ones(2, 2)


def mistaken(x):
    return ttnn.mul(x, 0.5)


def failing_helper(x):
    raise KeyError(x.shape)


def calls_a_failing_helper(x):
    return failing_helper(x)


def refused_in_a_helper(x):
    return mistaken(x)


def frames_of(error):
    return [(frame.filename, frame.name) for frame in traceback.extract_tb(error.__traceback__)]


def names_of(error):
    return [name for _, name in frames_of(error)]


def raised_by(action, kind=TtnnJitError):
    with pytest.raises(kind) as raised:
        action()
    return raised.value


class Model:
    @ttnn_jit.jit()
    def forward(self, x):
        return mistaken(x)


@pytest.mark.parametrize(
    "action",
    [
        lambda: ttnn_jit.jit(mistaken)(X),
        lambda: ttnn_jit.jit(mistaken)(x=X),
        lambda: ttnn_jit.jit(mistaken)(X.double()),
        lambda: ttnn_jit.jit(mistaken)([X]),
        lambda: ttnn_jit.jit(mistaken).ir(X),
        lambda: ttnn_jit.jit(mistaken).explain(X),
        lambda: ttnn_jit.jit(lambda *x: mistaken(*x))(X),
        lambda: ttnn.exp(X),
        lambda: ttnn.exp("x"),
    ],
)  # fmt: skip
def test_below_the_users_line_stands_the_call_alone(action):
    error = raised_by(action)
    *users, (_, called) = frames_of(error)
    assert {file for file, _ in users} == {__file__}
    assert called in {"__call__", "public"}


def test_a_methods_mistake_is_as_short():
    assert names_of(raised_by(lambda: Model().forward(X)))[1:] == ["<lambda>", "__call__"]


def test_what_a_traced_function_called_is_shown():
    error = raised_by(lambda: ttnn_jit.jit(graph_capture=True)(calls_a_failing_helper)(X), CompileError)
    assert names_of(error)[-1] == "__call__"
    assert names_of(error.__cause__) == ["calls_a_failing_helper", "failing_helper"]
    refused = raised_by(lambda: ttnn_jit.jit(graph_capture=True)(refused_in_a_helper)(X), CompileError)
    assert names_of(refused)[-3:] == ["__call__", "refused_in_a_helper", "mistaken"]


def test_the_debug_switch_keeps_every_frame(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
    assert len(names_of(raised_by(lambda: ttnn_jit.jit(mistaken)(X)))) > 8


def test_a_fault_of_the_compiler_keeps_every_frame(monkeypatch):
    def fault(*_, **__):
        raise InternalError("wrong")

    monkeypatch.setattr("ttnn_jit.compiler.lower_request", fault)
    assert {"compile_function", "fault"} <= set(names_of(raised_by(lambda: ttnn_jit.jit(mistaken)(X))))
    monkeypatch.setattr("ttnn_jit.compiler.lower_request", lambda *_: 1 // 0)
    assert "compile_function" in names_of(raised_by(lambda: ttnn_jit.jit(mistaken)(X), ZeroDivisionError))


class Settings:
    @property
    def scale(self):
        return time.monotonic()


SETTINGS = Settings()


class ReadsSettings:
    @ttnn_jit.jit(graph_capture=True)
    def forward(self, x):
        return x * SETTINGS.scale


def ignored_keyword(x):
    return ttnn.exp(x, memory_config=ttnn.L1_MEMORY_CONFIG)


def of_torch(x):
    return torch.exp(x)


READS_SETTINGS = ReadsSettings()
TRACED = ttnn_jit.jit(graph_capture=True)(lambda x: x * SETTINGS.scale)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: [TRACED(X) for _ in range(3)], "compiled at every call"),
        (lambda: [TRACED(x=X) for _ in range(3)], "compiled at every call"),
        (lambda: [READS_SETTINGS.forward(X) for _ in range(3)], "compiled at every call"),
        (lambda: ttnn_jit.jit(fallback=True)(of_torch)(X), "runs as plain Python"),
        (lambda: ttnn_jit.jit(fallback=True, graph_capture=True)(of_torch)(X), "runs as plain Python"),
        (lambda: ttnn_jit.jit(ignored_keyword)(X), "is ignored inside a jitted function"),
    ],
)
def test_a_warning_names_the_users_line(monkeypatch, call, text):
    monkeypatch.setattr(TRACED, "_opaque_programs", 0)
    with pytest.warns(UserWarning, match=text) as warned:
        call()
    assert {(warning.filename, warning.lineno) for warning in warned} == {(__file__, call.__code__.co_firstlineno)}
