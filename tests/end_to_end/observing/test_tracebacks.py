"""The traceback of a user error has only the user's frames."""

from __future__ import annotations

import time
import traceback

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import (
    ArgumentError,
    CompileError,
    DeallocatedError,
    DeviceError,
    DTypeError,
    InternalError,
    L1CapacityError,
    TtnnJitError,
)

X = torch.ones(2, 2)


def mistaken(x):
    return ttnn.swish(x)


def failing_helper(x):
    raise KeyError(x.shape)


def calls_a_failing_helper(x):
    return failing_helper(x)


def refused_in_a_helper(x):
    return mistaken(x)


def raises_when_plain(x):
    return ttnn.mul(x, [])


def doubled(x):
    return ttnn.multiply(x, 2.0)


@ttnn_jit.tile_op
def capped(x):
    return min(x, 3.0)


@ttnn_jit.tile_op
def rounds(x):
    return round(x)


@ttnn_jit.tile_op
def changes_the_world(x):
    raise ValueError(int(x))


def on_device(device=None):
    return ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=device or ttnn.open_device(device_id=0))


ON_DEVICE = on_device()


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


@pytest.mark.filterwarnings("ignore:raises_when_plain runs as plain Python")
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
        lambda: ttnn_jit.jit(mistaken)(3.0),
        lambda: ttnn_jit.jit(mistaken)(X, 1, 2),
        lambda: ttnn_jit.jit(fallback=True)(raises_when_plain)(X),
        lambda: Model().forward(X),
        lambda: rounds(X),
        lambda: changes_the_world(ON_DEVICE),
        lambda: ttnn_jit.jit(lambda x: changes_the_world(x))(X),
        lambda: ttnn_jit.jit(compile_only=True)(doubled)(X)(ON_DEVICE),
    ],
)  # fmt: skip
def test_the_users_line_is_the_last_of_the_traceback(action, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `compile_only` writes there
    assert_users_frames_alone(raised_by(action))


def assert_users_frames_alone(error):
    assert {file for file, _ in frames_of(error)} == {__file__}
    assert "<ttnn_jit" not in "".join(traceback.format_exception(error))


def deallocated():
    x = on_device()
    return lambda f: f(x), x.deallocate


def closed():
    device = ttnn.open_device(device_id=0)
    x = on_device(device)
    return lambda f: f(x), lambda: ttnn.close_device(device)


def full_l1():
    device = ttnn.open_device(device_id=0)
    config = ttnn.create_sharded_memory_config(
        [128, 128], ttnn.CoreGrid(x=1, y=1), ttnn.ShardStrategy.BLOCK, use_height_and_width_as_shard_shape=False
    )
    x = ttnn.from_torch(torch.zeros(128, 128), layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    kept = []
    return lambda f: f(x), lambda: kept.extend(filled(x))


def filled(x):
    while True:
        try:
            yield ttnn.clone(x)
        except L1CapacityError:
            return


def of_another_dtype():
    values = [X]
    return lambda f: f(*values), lambda: values.__setitem__(0, X.double())


def absent():
    values = [X]
    return lambda f: f(*values), values.clear


@pytest.mark.parametrize("warm_calls", [0, 1, 2, 5])
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (deallocated, DeallocatedError),
        (closed, DeviceError),
        (full_l1, L1CapacityError),
        (of_another_dtype, DTypeError),
        (absent, ArgumentError),
    ],
)
@pytest.mark.parametrize("function", ["jitted", "two parameters", "eager", "tile operation"])
def test_the_same_holds_after_warm_calls(make, kind, function, warm_calls):
    callee = {
        "jitted": ttnn_jit.jit(doubled),
        "two parameters": partial_of(ttnn_jit.jit(lambda x, n: ttnn.multiply(x, n))),
        "eager": ttnn.exp,
        "tile operation": capped,
    }[function]
    call, spoil = make()
    if kind in {DTypeError, ArgumentError} and function in {"eager", "tile operation"}:
        pytest.skip("takes tensors of ttnn alone")
    for _ in range(warm_calls):
        call(callee)
    spoil()
    assert_users_frames_alone(raised_by(lambda: call(callee), kind))


def partial_of(function):
    return lambda *x: function(*x, 2.0)


def test_the_calls_of_a_traced_function_are_in_its_traceback():
    error = raised_by(lambda: ttnn_jit.jit(graph_capture=True)(calls_a_failing_helper)(X), CompileError)
    assert names_of(error)[-1] == "<lambda>"
    assert names_of(error.__cause__) == ["calls_a_failing_helper", "failing_helper"]
    refused = raised_by(lambda: ttnn_jit.jit(graph_capture=True)(refused_in_a_helper)(X), CompileError)
    assert names_of(refused)[-3:] == ["<lambda>", "refused_in_a_helper", "mistaken"]


def test_the_debug_switch_keeps_every_frame(monkeypatch):
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
    assert len(names_of(raised_by(lambda: ttnn_jit.jit(mistaken)(X)))) > 8


def test_a_fault_of_the_compiler_keeps_every_frame(monkeypatch):
    def fault(*_, **__):
        raise InternalError("wrong")

    monkeypatch.setattr("ttnn_jit.compiler.request.FunctionRequest.lower", fault)
    assert {"compile_anew", "fault"} <= set(names_of(raised_by(lambda: ttnn_jit.jit(mistaken)(X))))
    monkeypatch.setattr("ttnn_jit.compiler.request.FunctionRequest.lower", lambda *_: 1 // 0)
    assert "compile_anew" in names_of(raised_by(lambda: ttnn_jit.jit(mistaken)(X), ZeroDivisionError))


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


def on_a_chip(x):
    return ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=ttnn.open_device(device_id=0))


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
        (lambda: ttnn_jit.jit(ignored_keyword)(on_a_chip(torch.ones(32, 32))), "is ignored inside a jitted function"),
    ],
)
def test_a_warning_names_the_users_line(monkeypatch, call, text):
    monkeypatch.setattr(TRACED._variants, "_opaque_programs", 0)
    with pytest.warns(UserWarning, match=text) as warned:
        call()
    assert {(warning.filename, warning.lineno) for warning in warned} == {(__file__, call.__code__.co_firstlineno)}
