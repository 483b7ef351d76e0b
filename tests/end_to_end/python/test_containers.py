"""Tensors in containers and records as arguments and results; methods, nested functions and comprehensions."""

from __future__ import annotations

import dataclasses
import enum
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.testing import assert_allclose

A, B = torch.randn(4, 6), torch.randn(4, 6)


class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor
    scale: float = 1.0


class Both(NamedTuple):
    after: torch.Tensor
    before: torch.Tensor


@dataclasses.dataclass(frozen=True)
class Weights:
    gain: torch.Tensor
    shift: torch.Tensor
    power: int = 1


@dataclasses.dataclass
class Outcome:
    value: object
    parts: list = dataclasses.field(default_factory=list)


class Part(enum.Enum):
    GAIN = "gain"


class Number(enum.IntEnum):
    ONE = 1


@dataclasses.dataclass
class Busy:
    value: object

    def __post_init__(self):
        self.other = 1


@pytest.mark.parametrize("graph_capture", [False, True])
def test_records_can_be_arguments_and_results(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def apply(pair, weights):
        value = (pair.first * weights.gain + weights.shift) * pair.scale
        for _ in range(weights.power):
            value = value + pair.second
        return Outcome(value, [value - 1.0, Both(value, pair.first)])

    def expected(pair, weights):
        value = (pair.first * weights.gain + weights.shift) * pair.scale
        for _ in range(weights.power):
            value = value + pair.second
        return value

    calls = [(Pair(A, B), Weights(B, A)), (Pair(A, B, 2.0), Weights(B, A)), (Pair(A, B, 2.0), Weights(B, A, power=3))]
    for number, (pair, weights) in enumerate(calls, 1):
        for _ in range(2):
            outcome = apply(pair, weights)
            torch.testing.assert_close(outcome.value, expected(pair, weights))
            assert type(outcome) is Outcome
            assert torch.equal(outcome.parts[0], outcome.value - 1.0)
            assert isinstance(outcome.parts[1], Both)
            assert outcome.parts[1].before is pair.first
        assert apply.num_entries == number


def records(x):
    return Outcome(x + 1.0, [Both(x, {"after": x * 2.0})])


def test_a_second_process_would_find_a_program_that_returns_records():
    ttnn_jit.jit()(records)(A)
    hits = ttnn_jit.cache_info().disk_hits
    again = ttnn_jit.jit()(records)
    for _ in range(2):
        outcome = again(A)
        assert type(outcome) is Outcome
        assert torch.equal(outcome.value, A + 1.0)
        assert type(outcome.parts[0]) is Both
        assert outcome.parts[0].after is A
        assert torch.equal(outcome.parts[0].before["after"], A * 2.0)
    assert ttnn_jit.cache_info().disk_hits == hits + 1


def under(key, x):
    return {key: x * 2.0}


@pytest.mark.parametrize("key", [(1, 0.0), -0.0, True, Number.ONE, Part.GAIN, np.float32(1.0)], ids=repr)
def test_a_second_process_would_return_dicts_with_the_keys_that_the_first_returns(key):
    for _ in range(2):
        ((found, doubled),) = ttnn_jit.jit()(under)(key, A).items()
        assert (type(found), repr(found)) == (type(key), repr(key))
        assert torch.equal(doubled, A * 2.0)


def test_a_record_class_that_changed_is_another(monkeypatch):
    ttnn_jit.jit()(records)(A)

    @dataclasses.dataclass
    class Changed:
        value: object
        parts: tuple = ()
        swapped: bool = dataclasses.field(init=False)

    Changed.__qualname__, Changed.__module__ = Outcome.__qualname__, Outcome.__module__
    monkeypatch.setitem(globals(), "Outcome", Changed)
    again = ttnn_jit.jit()(records)
    assert "read Outcome" in ttnn_jit.explain_miss(again, A)
    assert type(again(A)) is Changed


@pytest.mark.parametrize("keys", [(1, True, 1.0), (0.0, -0.0, 0, False), ((0.0,), (-0.0,)), (Number.ONE, 1)], ids=str)
def test_dict_keys_that_python_considers_equal_are_distinguished(keys):
    compiled = ttnn_jit.jit()(lambda items: {key: item * 2.0 for key, item in items.items()})
    for key in [*keys, *keys] * 3:
        ((found, result),) = compiled({key: A}).items()
        assert repr(found) == repr(key)
        assert torch.equal(result, A * 2.0)


@dataclasses.dataclass
class Scaling:
    factor: float = 1.0
    times: ClassVar[float] = 1.0

    def __post_init__(self):
        self.more = 1.0

    @property
    def whole(self):
        return self.factor * self.times * self.more * FACTOR


class Power(NamedTuple):
    factor: float = 1.0

    def whole(self):
        return self.factor * FACTOR


class Level(enum.IntEnum):
    LOW = 1

    @property
    def whole(self):
        return self.value * FACTOR


FACTOR = 1.0


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.filterwarnings("ignore:.*compiled at every call")
def test_a_value_that_an_argument_computes_from_more_than_its_fields_is_never_stale(graph_capture, monkeypatch):
    scaling = Scaling()
    functions = [
        (lambda x, each: x * each[0].whole, [scaling]),
        (lambda x, each: x * each[0].whole(), [Power()]),
        (lambda x, each: x * each.whole, Level.LOW),
    ]
    compiled = [(ttnn_jit.jit(graph_capture=graph_capture)(function), value) for function, value in functions]
    more = ttnn_jit.jit(graph_capture=graph_capture)(lambda x, each: x * each.more * each.times)
    for factor in (1.0, 1.0, 1.0, 2.0, 2.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        assert all(torch.equal(function(A, value), A * factor) for function, value in compiled)
        assert torch.equal(more(A, scaling), A)
    scaling.more = 3.0
    monkeypatch.setattr(Scaling, "times", 2.0)
    assert torch.equal(more(A, scaling), A * 6.0)


def test_a_traced_function_of_plain_records_compiles_once():
    compiled = ttnn_jit.jit(graph_capture=True)(lambda x, each: x * each[0].scale * each[1].power + each[1].gain)
    for _ in range(4):
        compiled(A, [Pair(A, B), Weights(A, B)])
    assert compiled.num_entries == 1


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_dataclass_that_runs_code_of_its_own_can_be_a_result(graph_capture, monkeypatch):
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(lambda x: Busy(x + 1))
    for _ in range(2):
        assert torch.equal(jitted(A).value, A + 1)
        assert jitted(A).other == 1
        jitted.clear()  # from disk

    def with_tensor(self):
        self.other = self.value * 2

    monkeypatch.setattr(Busy, "__post_init__", with_tensor)
    with pytest.raises(CompileError, match="returns a Busy whose `other`, a tensor, is none of its fields"):
        jitted(A)


def test_comprehensions_and_several_outputs():
    @ttnn_jit.jit()
    def powers(x, count):
        results = [ttnn.multiply(x, float(n)) for n in range(count)]
        return {f"times {n}": result for n, result in enumerate(results)}, tuple(results[:2])

    by_name, first = powers(A, 3)
    assert list(by_name) == ["times 0", "times 1", "times 2"]
    assert torch.equal(by_name["times 2"], A * 2)
    assert torch.equal(first[1], A)


@ttnn_jit.jit()
def inner(x):
    return ttnn.exp(x)


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_jitted_function_inside_another_is_part_of_its_program(graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def outer(x):
        return inner(inner(x)) + x

    entries = inner.num_entries
    result = outer(A)
    assert outer.explain(A).kernels[0].ops[:2] == ("exp", "exp")
    assert inner.num_entries == entries
    assert torch.equal(result, inner(inner(A)) + A)  # in float32 fusing changes no bit
    assert_allclose(inner(A), A.double().exp(), max_ulp=1.25)
