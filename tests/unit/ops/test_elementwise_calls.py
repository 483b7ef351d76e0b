"""nextafter, polynomials, and further names, as in torch: eagerly, jitted, on both targets."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError

EVERY = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(torch.bfloat16).reshape(256, 256)
AT_RANDOM = torch.randint(-(2**31), 2**31, (256, 256), generator=torch.Generator().manual_seed(1)).to(torch.int32)
TOWARDS = [torch.inf, -torch.inf, 0.0, -0.0, 1.0, torch.nan]


def on(device, tensor):
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)


def assert_equal(got, want):
    assert got.dtype is want.dtype
    assert torch.equal(got.isnan(), want.isnan())
    assert torch.equal(got.nan_to_num(nan=0.0), want.nan_to_num(nan=0.0))


@pytest.mark.parametrize("toward", TOWARDS)
@pytest.mark.parametrize("x", [EVERY, EVERY.float(), AT_RANDOM.view(torch.float32)], ids=["bf16", "bf16 in f32", "f32"])
def test_the_next_number_is_torchs(x, toward, device, cpu_device):
    y = torch.full_like(x, toward)
    want = torch.nextafter(x, y)
    assert_equal(jit()(lambda x, y: ttnn.nextafter(x, y))(x, y), want)
    assert_equal(jit(backend="numba")(lambda x, y: ttnn.nextafter(x, y))(x, y), want)
    for each_device in (device, cpu_device):
        got = ttnn.to_torch(ttnn.nextafter(on(each_device, x), on(each_device, y)))
        if each_device is device and x.dtype is torch.bfloat16:  # it flushes denormals, and stores NaN as infinity
            want = torch.where(want.abs() < torch.finfo(x.dtype).tiny, 0.0, want)
            want = want.nan_to_num(nan=torch.inf, posinf=torch.inf, neginf=-torch.inf)
        assert_equal(got, want)
        want = torch.nextafter(x, y)


@pytest.mark.parametrize("coeffs", [[3.0], [2.0, -1.0], [1.5, -2.0, 0.25], [1.0, 0.0, -0.5, 2.0, 7.0]])
@pytest.mark.parametrize("graph_capture", [None, False, True])
def test_a_polynomial_has_its_highest_power_first(coeffs, graph_capture, cpu_device):
    x = torch.randn(3, 40, generator=torch.Generator().manual_seed(2))
    want = sum(c * x.double() ** k for k, c in enumerate(reversed(coeffs))) + 0 * x.double()
    if graph_capture is None:
        got = ttnn.to_torch(ttnn.polyval(on(cpu_device, x), coeffs))
    else:
        got = jit(graph_capture=graph_capture)(lambda x: ttnn.polyval(x, coeffs))(x)
    torch.testing.assert_close(got.double(), want, rtol=1e-6, atol=1e-5)


def test_polynomials_of_other_numbers_are_other_programs(cpu_device):
    x = on(cpu_device, torch.full((2, 3), 2.0))
    assert [ttnn.to_torch(ttnn.polyval(x, list(each)))[0, 0].item() for each in ((1, 1), (1, 2), (0, 1, 1))] == [
        3,
        4,
        3,
    ]


def test_a_polynomial_without_numbers_is_refused(cpu_device):
    x = on(cpu_device, torch.ones(2, 3))
    with pytest.raises(TtnnJitError, match="`coeffs` of polyval is empty"):
        ttnn.polyval(x, [])
    with pytest.raises(TtnnJitError, match="must be numbers in a list or tuple, got float"):
        ttnn.polyval(x, 1.0)
    with pytest.raises(TtnnJitError, match="an element of `coeffs` of `polyval` must be a number, got str"):
        ttnn.polyval(x, [1.0, "2"])


def test_sigmoid_accurate_takes_the_flag_that_ttnn_has(device):
    x = on(device, torch.linspace(-9, 9, 1024).reshape(32, 32))
    want = ttnn.to_torch(ttnn.sigmoid(x))
    for got in (
        ttnn.sigmoid_accurate(x),
        ttnn.sigmoid_accurate(x, True),
        ttnn.sigmoid_accurate(x, fast_and_approximate_mode=True),
    ):
        assert torch.equal(ttnn.to_torch(got), want)


def test_logit_clamps_its_argument_on_request(cpu_device):
    x = torch.tensor([[-1.0, 0.0, 0.1, 0.25, 0.5, 0.500001, 0.9, 1.0, 2.0, torch.nan]])
    for eps in (None, 0.0, 0.125, 0.6):
        got = ttnn.to_torch(ttnn.logit(on(cpu_device, x), eps=eps))
        want = torch.logit(x.double(), eps=eps)
        torch.testing.assert_close(got.double(), want, rtol=2e-6, atol=1e-12, equal_nan=True)
