"""Numbers that a function reads: whether one has changed is found out without code of the user's."""

import types

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS

X = torch.randn(8, 8)
WORLD = types.SimpleNamespace(scales=True, layer=types.SimpleNamespace(rate=0.25), rates={"up": 0.5})


class Watched:
    """A layer whose rate is computed, and that counts how often."""

    runs = 0

    @property
    def rate(self):
        Watched.runs += 1
        return 0.75


class Computing(dict):
    """A table that computes, and counts, what it lacks."""

    def __getitem__(self, key):
        Watched.runs += 1
        return 0.75


def scaled(x):
    if WORLD.scales:
        return x * WORLD.layer.rate * WORLD.rates["up"]
    return ttnn.exp(x)


def test_a_number_that_the_call_does_not_read_is_looked_up_without_code_of_the_users(monkeypatch):
    function = ttnn_jit.jit(enable_cache=False)(scaled)
    assert torch.equal(function(X), X * 0.25 * 0.5)
    monkeypatch.setattr(WORLD, "scales", False)
    monkeypatch.setattr(WORLD, "layer", Watched())
    monkeypatch.setattr(WORLD, "rates", Computing())
    assert torch.allclose(function(X), torch.exp(X))
    assert Watched.runs == 0


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate):
        self.rate = rate


class Owner:
    def __init__(self, rate):
        self.rate = rate


OWNERS = {
    "an own attribute": lambda rate: types.SimpleNamespace(rate=rate),
    "a slot": Slotted,
    "a class": lambda rate: type("Own", (), {"rate": rate}),
    "an instance": Owner,
}
HELD = types.SimpleNamespace(owner=None)


def test_numbers_that_plain_look_ups_lead_to_are_open_from_the_second_value_on():
    for name, owner in OWNERS.items():
        function = ttnn_jit.jit(enable_cache=False)(lambda x: x * HELD.owner.rate)
        before = COUNTERS.compiles
        for step in range(6):
            HELD.owner = owner(0.3 + step)
            assert torch.equal(function(X), X * (0.3 + step)), name
        assert COUNTERS.compiles - before == 2, name


def counted(calls):
    """The compiles of each call in turn."""
    for call in calls:
        before = COUNTERS.compiles
        call()
        yield COUNTERS.compiles - before


def test_a_number_that_the_function_needs_leaves_its_sizes_open():
    """Four templates find that it is fixed; others hold for one value of it, and for all sizes."""

    @ttnn_jit.jit(enable_cache=False)
    def repeated(x, count, rate):
        for _ in range(count):
            x = x * rate
        return x

    with pytest.warns(UserWarning, match="compiled for 6 values of `count`"):
        numbers = [*counted(lambda count=count: repeated(X, count, 0.5) for count in range(2, 12))]
    assert numbers == [1] * 10
    sizes = [*counted(lambda rows=rows: repeated(torch.randn(rows, 8), 3, 0.5) for rows in range(20, 30))]
    assert sum(sizes) == 1
    rates = [*counted(lambda rate=rate: repeated(X, 3, rate) for rate in (0.6, 0.7, 0.8, 0.9))]
    assert sum(rates) <= 2
    x = torch.randn(23, 8)
    assert torch.equal(repeated(x, 3, 0.25), x * 0.25 * 0.25 * 0.25)


def test_a_number_that_the_function_needs_at_first_is_open_later():
    @ttnn_jit.jit(enable_cache=False)
    def warmed_up(x, step):
        return x if step in (2, 3, 4) else x * step

    compiles = [*counted(lambda step=step: warmed_up(X, step) for step in range(2, 20))]
    assert compiles == [1, 1, 1, 1] + [0] * 14
