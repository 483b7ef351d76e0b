"""Least and largest values of activations over intervals."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit.ops.elementwise.activation_text import NAMED, extremes_in_torch

_FUNCTIONS = {one.ttnn_name: one for one in NAMED.values()}


def _text(name):
    numbers = _FUNCTIONS[name].tested_attributes
    return f"{name}({', '.join(map(repr, numbers))})" if numbers else name


def _intervals(domain, generator):
    """Intervals of all widths, in a domain, and around 0."""
    ends = torch.tensor([*domain, -4.0, 4.0], dtype=torch.float64)
    low, high = ends[0::2].repeat_interleave(40), ends[1::2].repeat_interleave(40)
    middle = low + (high - low) * torch.rand(80, generator=generator, dtype=torch.float64)
    width = 2.0 ** (8 * torch.rand(80, generator=generator, dtype=torch.float64) - 6)
    return torch.maximum(middle - width, low), torch.minimum(middle + width, high)


def _samples(low, high, count):
    parts = torch.linspace(0, 1, count, dtype=torch.float64)[:, None]
    return torch.minimum(low + (high - low) * parts, high)


@pytest.mark.parametrize("name", sorted(name for name, one in _FUNCTIONS.items() if one.turns is not None))
def test_no_sample_of_an_activation_is_outside_of_its_extremes(name):
    low, high = _intervals(_FUNCTIONS[name].probe.domain, torch.Generator().manual_seed(0))
    least, largest = extremes_in_torch(torch, low, high, _text(name))
    samples = _FUNCTIONS[name].golden(torch, _samples(low, high, 4001), *_FUNCTIONS[name].tested_attributes)
    samples = torch.where(samples.isnan(), least, samples)
    slack = 1e-12 * (1 + samples.abs())
    assert bool((least - slack <= samples)[:, least == least].all())
    assert bool((samples <= largest + slack)[:, largest == largest].all())


@pytest.mark.parametrize("name", ["silu", "gelu", "gelu_tanh", "mish", "hardswish", "sin", "tanh", "relu6"])
def test_extremes_are_as_close_as_dense_samples_are(name):
    low, high = _intervals((-6.0, 6.0), torch.Generator().manual_seed(1))
    least, largest = extremes_in_torch(torch, low, high, name)
    samples = _FUNCTIONS[name].golden(torch, _samples(low, high, 20001))
    assert bool((samples.amin(0) - least <= 1e-5).all())
    assert bool((largest - samples.amax(0) <= 1e-5).all())


def test_turning_points_of_smooth_activations_have_no_slope():
    for name in ("silu", "gelu", "gelu_tanh", "mish", "hardswish", "hardmish"):
        for point in _FUNCTIONS[name].turns.points:
            x = torch.tensor(point, dtype=torch.float64, requires_grad=True)
            _FUNCTIONS[name].golden(torch, x).backward()
            assert abs(float(x.grad)) < 1e-12, name


def test_of_lgamma_no_turning_points_are_stated():
    least, largest = extremes_in_torch(torch, torch.zeros(2).double(), torch.ones(2).double(), "lgamma")
    assert bool(least.isnan().all())
    assert bool(largest.isnan().all())
