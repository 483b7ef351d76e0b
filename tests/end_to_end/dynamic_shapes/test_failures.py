"""Errors and hidden inputs of functions with programs for many sizes: as with a program for each size."""

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import CompileError, TtnnJitError


class Model:
    """A model with a tensor that changes its size between calls."""

    def __init__(self):
        self.cache = torch.randn(4, 8)

    def forward(self, x):
        return ttnn.matmul(x, self.cache, transpose_b=True)

    def appended(self, x):
        return ttnn.concat([self.cache, x], dim=0)


@pytest.mark.parametrize("method", [Model.forward, Model.appended])
@pytest.mark.parametrize("dynamic", [None, True])
def test_a_hidden_input_that_grows_is_never_taken_for_one_of_another_size(method, dynamic):
    model, jitted = Model(), ttnn_jit.jit(enable_cache=False, dynamic=dynamic)(method)
    exact = ttnn_jit.jit(enable_cache=False, dynamic=False)(method)
    for rows in (3, 5, 6, 2, 5):
        for length in (4, 5, 9, 4):
            model.cache = torch.randn(length, 8)
            x = torch.randn(rows, 8)
            for _ in range(2):
                assert torch.equal(jitted(model, x), exact(model, x))


class Decoder:
    """A decoder whose caches grow by one row at every step."""

    def __init__(self):
        self.keys, self.values = torch.randn(2, 9, 16), torch.randn(2, 9, 16)

    def step(self, query, key, value):
        keys, values = ttnn.concat([self.keys, key], dim=1), ttnn.concat([self.values, value], dim=1)
        scores = ttnn.softmax(ttnn.matmul(query, keys, transpose_b=True), dim=-1)
        return ttnn.matmul(scores, values), keys, values


@pytest.mark.parametrize("library", ["torch", "ttnn"])
def test_a_decoder_whose_caches_grow_compiles_a_few_programs(library):
    device = ttnn.open_device(device_id=0, target="cpu")
    jitted = ttnn_jit.jit(enable_cache=False)(Decoder.step)
    model, compiles, steps = Decoder(), 0, 40
    if library == "ttnn":
        model.keys, model.values = (ttnn.from_torch(each, device=device) for each in (model.keys, model.values))
    for _ in range(steps):
        given = [torch.randn(2, 1, 16) for _ in range(3)]
        if library == "ttnn":
            given = [ttnn.from_torch(each, device=device) for each in given]
        before = COUNTERS.compiles
        found = jitted(model, *given)
        compiles += COUNTERS.compiles - before
        exact = ttnn_jit.jit(enable_cache=False, dynamic=False)(Decoder.step)(model, *given)
        for one, other in zip(found, exact, strict=True):
            assert torch.equal(*(ttnn.to_torch(each) if library == "ttnn" else each for each in (one, other)))
        _, model.keys, model.values = found
    assert compiles <= steps // 4
    ttnn.close_device(device)


def test_a_hidden_input_as_long_as_an_argument_at_every_call_shares_its_symbol():
    model, jitted = Model(), ttnn_jit.jit(enable_cache=False)(lambda self, x: ttnn.multiply(x, self.cache))
    before = COUNTERS.compiles
    for rows in (4, 5, 6, 7, 20):
        model.cache, x = torch.randn(rows, 8), torch.randn(rows, 8)
        assert torch.equal(jitted(model, x), x * model.cache)
    assert COUNTERS.compiles - before == 2
    model.cache, x = torch.randn(1, 8), torch.randn(6, 8)
    assert torch.equal(jitted(model, x), x * model.cache)
    model.cache = torch.randn(1, 1)
    missing = ttnn_jit.explain_miss(jitted, model, torch.randn(7, 8)).splitlines()[0]
    assert (
        missing == "template 1 of 2 needs self.cache.shape[0] == x.shape[0], as in the calls before: they are 1 and 7"
    )


WEIGHT = torch.randn(8, 8)


def test_a_hidden_input_that_was_as_long_as_an_argument_is_no_symbol(monkeypatch):
    def scaled(x):
        return ttnn.multiply(x, 2.0 if x.shape[0] == WEIGHT.shape[0] else 3.0)

    jitted = ttnn_jit.jit(enable_cache=False)(scaled)
    for rows in (7, 8, 9, 10, 8):
        for length in (8, rows):
            monkeypatch.setattr(f"{__name__}.WEIGHT", torch.randn(length, 8))
            factor = 2.0 if length == rows else 3.0
            x = torch.randn(rows, 8)
            assert torch.equal(jitted(x), x * factor)


def failure(function, *args):
    """The error of a call."""
    with pytest.raises(TtnnJitError) as caught:
        function(*args)
    return type(caught.value), str(caught.value)


def negative(x):
    return ttnn.reshape(x, (x.shape[0] - 50, -1))


def overflowing(x):
    return ttnn.repeat(x, [1 + x.shape[0] // 50 * 2**40, 1])


def refused(x):
    if x.shape[0] > 50:
        raise ValueError("too many rows")
    return ttnn.exp(x)


def unsupported(x):
    return ttnn.exp(x) if x.shape[0] < 50 else sorted(x, key=id)


@pytest.mark.parametrize("function", [negative, overflowing, refused, unsupported])
def test_errors_of_a_size_are_those_of_a_compile_for_it(function):
    jitted = ttnn_jit.jit(enable_cache=False)(function)
    exact = ttnn_jit.jit(enable_cache=False, dynamic=False)(function)
    failures = 0
    for rows in (40, 44, 60, 61, 45, 62, 2, 3):
        x = torch.randn(rows, 4)
        try:
            expected = exact(x)
        except TtnnJitError:
            failures += 1
            assert failure(jitted, x) == failure(exact, x)
        else:
            assert torch.equal(jitted(x), expected)
    assert failures >= 2


def test_a_failed_compile_leaves_no_template():
    jitted = ttnn_jit.jit(enable_cache=False, dynamic=True)(refused)
    for rows in (60, 61, 62):
        with pytest.raises(CompileError, match="too many rows"):
            jitted(torch.randn(rows, 4))
    assert jitted.num_entries == 0
    assert [len(family.templates) for family in jitted._templates._loaded()._families.values()] == [0]
    before = COUNTERS.compiles
    for rows in (40, 41, 42):
        x = torch.randn(rows, 4)
        assert torch.equal(jitted(x), ttnn_jit.jit(dynamic=False)(ttnn_exp)(x))
    assert COUNTERS.compiles - before == 1 + 3, "one template, and three programs to compare with"


def ttnn_exp(x):
    return ttnn.exp(x)
