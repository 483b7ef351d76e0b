"""Gradients of elementwise functions against exact derivatives, over numbers of all sizes."""

from __future__ import annotations

import pytest
import torch

from benchmarks.accuracy.derivatives import DERIVATIVES, OF_ELEMENTS, PARTIAL, errors_of, name_of, numbers, points_of
from ttnn_jit import ttnn

IDS = [f"{each.name}-{len(each.operands)}-{index}" for index, each in enumerate(OF_ELEMENTS)]
STEP = 211
"""A sample of the bfloat16 numbers; `python -m benchmarks.accuracy.derivatives` checks all."""
POINTS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, -3.0, 1e-30, -1e-30, 1e-38, 1e-40, 1e20, -1e20, 3e38, -3e38, 2e-26,
    11.4375, -11.4375, 22.875, -22.875, 88.0, 89.0, -88.0, -104.0, 127.0, 128.0, -126.0, -149.0, 44.5, -44.5, -8.5625,
    0.99609375, 1.0078125, -0.99609375, 1.4609375, -1.5, 2.359375, -22.75, 7.5, -12.625,
]  # fmt: skip
"""Numbers where functions are steep or flat, have zeros or ends, and where squares overflow float32."""


def test_every_stated_derivative_belongs_to_an_existing_function():
    assert {*DERIVATIVES, *PARTIAL} <= {name_of(each) for each in OF_ELEMENTS}


@pytest.mark.parametrize("operation", OF_ELEMENTS, ids=IDS)
def test_a_gradient_is_the_exact_derivative_within_its_bound(operation, cpu_device):
    tensors = points_of(operation, STEP)
    if len(tensors) == 1:
        points = torch.tensor(POINTS).bfloat16().float()
        tensors = [torch.cat([tensors[0].flatten(), points, points[: -len(points) % 32]]).reshape(-1, 32)]
    for errors in errors_of(operation, tensors, cpu_device):
        worst = int(errors.argmax())
        found = float(errors.max()), [float(each.flatten()[worst]) for each in tensors]
        assert errors.max() <= (operation.probe.max_ulp or 0.5), found


@pytest.mark.parametrize("operation", [each for each in OF_ELEMENTS if len(each.operands) == 2], ids=lambda x: x.name)
def test_a_gradient_of_bfloat16_is_rounded_once(operation, cpu_device):
    tensors = [numbers(1024)[:32].reshape(1, 32).bfloat16()]
    for errors in errors_of(operation, tensors, cpu_device):
        assert errors.max() <= 0.51


def test_gradients_are_accurate_where_squares_and_differences_cancel(device, cpu_device):
    cases = [
        (ttnn.tanh_bw, (11.4375,), 4.6425e-10), (ttnn.sigmoid_bw, (22.875,), 1.1628e-10),
        (ttnn.exp2_bw, (128.0,), 2.3587e38), (ttnn.rsqrt_bw, (2e-26,), -1.7678e38),
        (ttnn.asinh_bw, (1e20,), 1e-20), (ttnn.acosh_bw, (1e20,), 1e-20),
        (ttnn.div_bw, (1e-25, 1e-25), 1e25), (ttnn.atan2_bw, (1e-25, 1e-25), 5e24),
        (ttnn.atan2_bw, (1e25, 1e25), 5e-26),
    ]  # fmt: skip
    for each_device in (device, cpu_device):
        for gradient, numbers_, want in cases:
            one, *tensors = (
                ttnn.from_torch(torch.full((32, 32), x), layout=ttnn.TILE_LAYOUT, device=each_device)
                for x in (1.0, *numbers_)
            )
            got = ttnn.to_torch(gradient(one, *tensors)[0])[0, 0].item()
            assert got == pytest.approx(want, rel=1e-4), (gradient, got)
