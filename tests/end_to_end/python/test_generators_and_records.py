"""Generators with send, throw and close, and dataclasses with user code behave as in a plain run."""

from __future__ import annotations

import dataclasses
import typing

import pytest
import torch

import ttnn_jit
from ttnn_jit.diagnostics.errors import CompileError

X = torch.randn(2, 3)


def averager():
    total, n = 0.0, 0
    got = yield None
    while True:
        total = total + got
        n += 1
        got = yield total / n


def send(x):
    g = averager()
    next(g)
    a = g.send(x)
    b = g.send(x * 3)
    g.close()
    return a + b


def guarded():
    done = []
    try:
        got = yield 1.0
        yield got * 2
    except ValueError:
        yield 7.0
    finally:
        done.append(2.0)


def throw(x):
    g = guarded()
    a = next(g)
    b = g.throw(ValueError("no"))
    try:
        next(g)
    except StopIteration:
        return x * a * b
    return x


def closing(x):
    out = []

    def g():
        try:
            yield 1.0
        finally:
            out.append(5.0)

    h = g()
    a = next(h)
    h.close()
    return x * out[0] * a


def send_first(x):
    g = averager()
    g.send(None)
    return x + g.send(x)


def stop_value(x):
    def g():
        got = yield 1.0
        return got * 2

    h = g()
    next(h)
    try:
        h.send(x)
    except StopIteration as e:
        return e.value
    return x


def delegated(x):
    def inner():
        got = yield 0.0
        return got * 2

    def outer():
        r = yield from inner()
        yield r + 1

    h = outer()
    next(h)
    return h.send(x)


def early(x):
    g = averager()
    try:
        g.send(x)
    except TypeError:
        return x * 3
    return x


def uncaught(x):
    g = guarded()
    next(g)
    try:
        g.throw(KeyError("k"))
    except KeyError:
        return x * 5
    return x


def throwclass(x):
    g = guarded()
    next(g)
    return x * g.throw(ValueError)


@dataclasses.dataclass
class P:
    x: object
    k: float = 2.0
    y: object = dataclasses.field(init=False)

    def __post_init__(self):
        self.y = self.x * self.k


def post(x):
    p = P(x)
    return p.y + P(x, k=3.0).y


@dataclasses.dataclass
class Q:
    x: object
    s: dataclasses.InitVar[float] = 1.0
    items: list = dataclasses.field(default_factory=list)

    def __post_init__(self, s):
        self.items.append(self.x * s)


def initvar(x):
    return Q(x, 4.0).items[0] + len(Q(x).items)


@dataclasses.dataclass(frozen=True)
class F:
    x: object

    def __post_init__(self):
        object.__setattr__(self, "z", self.x + 1)


def frozen(x):
    return F(x).z


@dataclasses.dataclass
class R(P):
    def __post_init__(self):
        super().__post_init__()
        self.y = self.y + 1


def derived(x):
    return R(x).y


@dataclasses.dataclass
class V:
    n: int

    def __post_init__(self):
        if self.n < 0:
            raise ValueError("negative")


def refuses(x):
    try:
        V(-1)
    except ValueError as e:
        return x * len(str(e))
    return x


def nopost(x):
    return dataclasses.replace(P(x), k=5.0).y


@dataclasses.dataclass(slots=True)
class S:
    x: object
    k: float = 3.0

    def __post_init__(self):
        self.k = self.k * 2


def slots(x):
    return S(x).k * S(x).x


@dataclasses.dataclass(kw_only=True)
class KW:
    x: object
    k: float = 3.0

    def __post_init__(self):
        self.k = self.k * 2


def kwonly(x):
    return KW(x=x).k * x


@dataclasses.dataclass
class Cached:
    x: object
    total: float = dataclasses.field(default_factory=lambda: 2.5)
    names: dict = dataclasses.field(default_factory=dict)
    kind: typing.ClassVar[int] = 4


def factories(x):
    c = Cached(x)
    c.names["a"] = x
    c.total = c.total * 2
    return c.names["a"] * c.total + c.kind + len(Cached(x).names)


@dataclasses.dataclass
class Noinit:
    x: object
    k: int = dataclasses.field(default=3, init=False)

    def __post_init__(self):
        self.k += 1


def noinit(x):
    return Noinit(x).k * x + (Noinit(1) == Noinit(1))


def wrongargs(x):
    try:
        return P()
    except TypeError as e:
        return x * len(str(e))


def frozen_set(x):
    f = F(x)
    try:
        f.x = 1
    except dataclasses.FrozenInstanceError:
        return x * 4
    return x


def closes_raise(x):
    def g():
        try:
            yield 1.0
        finally:
            raise ValueError("in finally")

    h = g()
    next(h)
    try:
        h.close()
    except ValueError as e:
        return x * len(str(e))
    return x


def ignores(x):
    def g():
        while True:
            try:
                yield 1.0
            except GeneratorExit:
                continue

    h = g()
    next(h)
    try:
        h.close()
    except RuntimeError as e:
        return x * len(str(e))
    return x


def close_twice(x):
    h = averager()
    h.close()
    h.close()
    next(averager())
    try:
        next(h)
    except StopIteration:
        return x * 2
    return x


def close_inner(x):
    log = []

    def inner():
        try:
            yield 1.0
        finally:
            log.append(1.0)

    def outer():
        try:
            yield from inner()
        finally:
            log.append(2.0)

    h = outer()
    next(h)
    h.close()
    return x * len(log) + log[0]


def throw_inner(x):
    def inner():
        try:
            yield 1.0
        except ValueError:
            yield 9.0

    def outer():
        yield from inner()

    h = outer()
    next(h)
    return x * h.throw(ValueError("z"))


def throw_done(x):
    h = guarded()
    try:
        h.throw(ValueError("q"))
    except ValueError as e:
        return x * len(str(e))


def comp(x):
    g = (x * i for i in range(4))
    a = next(g)
    b = g.send(None)
    g.close()
    try:
        next(g)
    except StopIteration:
        return a + b


def exit_in_gen(x):
    log = []

    def g():
        try:
            yield 1.0
        except GeneratorExit:
            log.append(3.0)
            raise

    h = g()
    next(h)
    h.close()
    return x * log[0]


def coroutine_class(x):

    def acc():
        t = 0
        while True:
            v = yield t
            if v is None:
                return t
            t = t + v

    h = acc()
    next(h)
    for i in range(3):
        last = h.send(x * i)
    try:
        h.send(None)
    except StopIteration as s:
        return s.value + last


@dataclasses.dataclass
class Config:
    hidden: int = 4
    heads: int = 2

    def __post_init__(self):
        self.size = self.hidden // self.heads
        if self.hidden % self.heads:
            raise ValueError("heads")


def config(x):
    c = Config(6, 3)
    return x * c.size


GENERATORS = (
    send,
    throw,
    closing,
    send_first,
    stop_value,
    delegated,
    early,
    uncaught,
    throwclass,
    closes_raise,
    ignores,
    close_twice,
    close_inner,
    throw_inner,
    throw_done,
    comp,
    exit_in_gen,
    coroutine_class,
)
RECORDS = (post, initvar, frozen, derived, refuses, nopost, slots, kwonly, wrongargs, frozen_set, config)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("function", [*GENERATORS, *RECORDS], ids=lambda function: function.__name__)
def test_a_program_returns_the_results_of_a_plain_run(function, graph_capture):
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
    for _ in range(2):
        torch.testing.assert_close(jitted(X), function(X))
    assert jitted.num_entries == 1


@pytest.mark.filterwarnings("ignore:.*is compiled at every call")
@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("function", [factories, noinit], ids=lambda function: function.__name__)
def test_a_function_that_no_guard_can_cover_is_compiled_at_every_call(function, graph_capture):
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
    for _ in range(2):
        torch.testing.assert_close(jitted(X), function(X))


def test_a_changed_default_of_a_record_is_detected(monkeypatch):
    jitted = ttnn_jit.jit()(post)
    torch.testing.assert_close(jitted(X), post(X))
    monkeypatch.setattr(P, "__post_init__", lambda self: setattr(self, "y", self.x - self.k))
    torch.testing.assert_close(jitted(X), post(X))
    monkeypatch.setattr(P.__init__, "__defaults__", (7.0,))
    torch.testing.assert_close(jitted(X), post(X))


OUTSIDE = averager()


def test_a_generator_from_outside_is_not_advanced():
    def program(x):
        return x + OUTSIDE.send(None)

    with pytest.raises(CompileError, match="comes from outside the function"):
        ttnn_jit.jit()(program)(X)
    assert next(OUTSIDE) is None


def test_an_uncaught_exception_points_at_its_raise():
    def program(x):
        waiting = averager()
        next(waiting)
        return x + waiting.throw(KeyError("k"))

    with pytest.raises(CompileError, match="KeyError: 'k'") as error:
        ttnn_jit.jit()(program)(X)
    assert 'waiting.throw(KeyError("k"))' in str(error.value)
