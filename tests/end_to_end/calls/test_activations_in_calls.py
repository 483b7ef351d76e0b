"""Activations that a call applies to its result or its operands, in every form of their names."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.products import EXACTLY, TF32
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError

RELU, SILU, GELU = ttnn.UnaryOpType.RELU, ttnn.UnaryOpType.SILU, ttnn.UnaryOpType.GELU
A, B = torch.randn(64, 64), torch.randn(64, 64)
SILU_OF = torch.nn.functional.silu
ONE_D = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
    compute_with_storage_grid_size=(8, 8), in0_block_w=1, out_subblock_h=1, out_subblock_w=1, per_core_M=1,
    per_core_N=1, fuse_batch=True, mcast_in0=True,
)  # fmt: skip


def fused(activation):
    config = ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
        compute_with_storage_grid_size=(8, 8), in0_block_w=1, out_subblock_h=1, out_subblock_w=1, per_core_M=1,
        per_core_N=1, fuse_batch=True, mcast_in0=True, fused_activation=activation,
    )  # fmt: skip
    assert config != ONE_D
    return config


@pytest.fixture(params=["wormhole_b0", "cpu"])
def device(request):
    with ttnn.open_device(target=request.param) as opened:
        yield opened


def on(device, x, dtype=ttnn.float32):
    return ttnn.from_torch(x, dtype, layout=ttnn.TILE_LAYOUT, device=device)


def rounded_once(result, expected, dtype):
    """For bfloat16: within half a unit of the float64 reference, plus a hundredth for float32 intermediates."""
    if dtype is ttnn.float32:
        torch.testing.assert_close(result.double(), expected, rtol=3e-6, atol=1e-6)
        return
    unit = torch.exp2(torch.frexp(expected.abs())[1] - 8.0)
    assert ((result == expected) | ((result.double() - expected).abs() <= 0.51 * unit)).all()


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
@pytest.mark.parametrize(
    ("activations", "expected"),
    [
        ([RELU], torch.relu),
        ([ttnn.UnaryWithParam(GELU, True)], torch.nn.functional.gelu),
        ([ttnn.UnaryOpType.GELU_TANH], lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
        ([ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.25)], lambda x: torch.nn.functional.leaky_relu(x, 0.25)),
        ([ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 2)], lambda x: x**2),
        ([ttnn.UnaryWithParam(ttnn.UnaryOpType.CLAMP_TSS, [-0.5, 0.5])], lambda x: x.clamp(-0.5, 0.5)),
        ([ttnn.UnaryOpType.RECIP, "neg"], lambda x: -1 / x),
    ],
)
def test_activations_apply_to_a_result_before_its_one_rounding(device, dtype, activations, expected):
    a, b = on(device, A, dtype), on(device, B, dtype)
    result = ttnn.add(a, b, activations=activations).to_torch()
    rounded_once(result, expected(a.to_torch().double() + b.to_torch().double()), dtype)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_each_operand_has_its_own_activations(device, dtype):
    a, b = on(device, A, dtype), on(device, B, dtype)
    x, y = a.to_torch().double(), b.to_torch().double()
    result = ttnn.mul(a, b, input_tensor_a_activations=[SILU]).to_torch()
    rounded_once(result, SILU_OF(x) * y, dtype)
    both = ttnn.multiply(
        a, b, input_tensor_a_activations=["silu"], input_tensor_b_activations=[RELU], activations=[ttnn.neg]
    )
    rounded_once(both.to_torch(), -(SILU_OF(x) * y.relu()), dtype)
    assert torch.equal(ttnn.mul(a, b).to_torch(), ttnn.multiply(a, b).to_torch())


def tolerance(device, dtype):
    if dtype is ttnn.bfloat16:
        return {"rtol": 4e-3, "atol": 1e-3}
    return {"rtol": 1e-5, "atol": 1e-4} if device.target.name == "cpu" else {"rtol": TF32, "atol": 30 * TF32}


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_the_activation_of_a_program_config_is_applied_before_the_one_rounding(device, dtype):
    a, b = on(device, A, dtype), on(device, B, dtype)
    product = a.to_torch().double() @ b.to_torch().double()
    for activation, expected in ((RELU, torch.relu), ((GELU, True), torch.nn.functional.gelu), ("silu", SILU_OF)):
        result = ttnn.matmul(a, b, program_config=fused(activation), compute_kernel_config=EXACTLY)
        assert result.dtype is dtype
        torch.testing.assert_close(result.to_torch().double(), expected(product), **tolerance(device, dtype))
    plain = ttnn.matmul(a, b, program_config=ONE_D, compute_kernel_config=EXACTLY)
    assert torch.equal(plain.to_torch(), ttnn.matmul(a, b, compute_kernel_config=EXACTLY).to_torch())


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"program_config": "fast"}, "`program_config` must be a ttnn.ProgramConfig, got 'fast'"),
        ({"compute_kernel_config": ONE_D}, "`compute_kernel_config` must be a ttnn.DeviceComputeKernelConfig"),
        ({"activations": [3]}, "3 is no activation"),
        (
            {"activations": [ttnn.UnaryOpType.XIELU]},
            r"`ttnn.UnaryOpType.XIELU` is not supported here\nhelp: give another",
        ),
        ({"input_tensor_a_activations": RELU}, "`input_tensor_a_activations` must be a list"),
        ({"activations": [ttnn.UnaryWithParam(RELU, 1.0)]}, "takes at most 1 arguments, got 2"),
    ],
)
def test_invalid_configs_and_activations_are_refused(device, keywords, text):
    a = on(device, A)
    with pytest.raises(ArgumentError, match=text):
        ttnn.add(a, a, **keywords)


def test_missing_operands_cannot_have_activations(device):
    a = on(device, A)
    for call in (
        lambda: ttnn.exp(a, input_tensor_a_activations=[RELU]),
        lambda: ttnn.add(a, 1.0, input_tensor_b_activations=[RELU]),
        lambda: ttnn.matmul(a, a, input_tensor_a_activations=[RELU]),
    ):
        with pytest.raises(ArgumentError, match=r"operand of a binary elementwise operation\nhelp: apply"):
            call()


@ttnn_jit.jit()
def with_config(a, b, config):
    return ttnn.matmul(a, b, program_config=config)


CONFIG = ONE_D


@ttnn_jit.jit()
def with_global_config(a, b):
    return ttnn.matmul(a, b, program_config=CONFIG, compute_kernel_config=EXACTLY)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_a_jitted_function_applies_the_activation_of_a_config_before_the_one_rounding(device, monkeypatch, dtype):
    a, b = on(device, A, dtype), on(device, B, dtype)
    exactly = ttnn.matmul(a, b, compute_kernel_config=EXACTLY)
    assert torch.equal(with_global_config(a, b).to_torch(), exactly.to_torch())
    product = a.to_torch().double() @ b.to_torch().double()
    for activation, expected in ((RELU, torch.relu), ((GELU, True), torch.nn.functional.gelu), ("silu", SILU_OF)):
        monkeypatch.setitem(globals(), "CONFIG", fused(activation))
        result = with_global_config(a, b)
        assert result.dtype is dtype
        torch.testing.assert_close(result.to_torch().double(), expected(product), **tolerance(device, dtype))


@ttnn_jit.jit()
def into_another(a, b, c):
    return ttnn.matmul(a, b, program_config=CONFIG, optional_output_tensor=c)


def test_a_jitted_function_applies_the_activation_of_a_call_that_writes(device, monkeypatch):
    a, b, c = (on(device, X) for X in (A, B, A))
    monkeypatch.setitem(globals(), "CONFIG", fused(RELU))
    into_another(a, b, c)
    assert torch.equal(c.to_torch(), ttnn.matmul(a, b, program_config=fused(RELU)).to_torch())


@ttnn_jit.jit()
def gated(a, b):
    return ttnn.multiply(a, b, input_tensor_a_activations=[SILU], activations=["relu"], dtype=ttnn.float32)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.float32])
def test_a_jitted_function_applies_activations_of_operands_and_of_the_result(device, dtype):
    a, b = on(device, A, dtype), on(device, B, dtype)
    result = gated(a, b)
    assert result.dtype is ttnn.float32
    expected = torch.relu(SILU_OF(a.to_torch().double()) * b.to_torch().double())
    tolerance = {"rtol": 8e-3, "atol": 1e-3} if dtype is ttnn.bfloat16 else {"rtol": 1e-5, "atol": 1e-6}
    torch.testing.assert_close(result.to_torch().double(), expected, **tolerance)


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        (
            {"input_tensor_a_activations": [RELU]},
            "`input_tensor_a_activations` applies to a tensor operand of a binary",
        ),
        ({"activations": [3]}, "3 is no activation"),
        ({"activations": RELU}, "`activations` must be a list"),
    ],
)
def test_a_jitted_function_refuses_an_invalid_activation_of_a_call(device, keywords, text):
    a = on(device, A)
    with pytest.raises(CompileError, match=text):
        ttnn_jit.jit()(lambda x: ttnn.exp(x, **keywords))(a)


@ttnn_jit.jit()
def with_names(a):
    topology = ttnn.Topology.Linear
    return ttnn.add(a, 1.0 if topology == ttnn.Topology.Linear else 2.0)


def test_a_jitted_function_reads_names_that_load_on_demand(device):
    a = on(device, A)
    assert torch.equal(with_names(a).to_torch(), A + 1)


KERNELS = torch.nn.functional
WITH_NUMBERS = [
    ("gelu_approx", KERNELS.gelu),
    ("sigmoid_approx", torch.sigmoid),
    ("recip", torch.reciprocal),
    ("leaky_relu(0.5)", lambda x: KERNELS.leaky_relu(x, 0.5)),
    (ttnn.UnaryOpType.RELU, torch.relu),
    (ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, True), KERNELS.gelu),
    (ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU_TANH), lambda x: KERNELS.gelu(x, approximate="tanh")),
    (ttnn.UnaryWithParam(ttnn.UnaryOpType.LEAKY_RELU, 0.25), lambda x: KERNELS.leaky_relu(x, 0.25)),
]


@pytest.mark.parametrize("function", [ttnn.linear, ttnn.matmul], ids=["linear", "matmul"])
@pytest.mark.parametrize(("activation", "in_torch"), WITH_NUMBERS, ids=[str(each) for each, _ in WITH_NUMBERS])
def test_a_product_takes_an_activation_by_ttnns_names_and_with_numbers(function, activation, in_torch, cpu_device):
    generator = torch.Generator().manual_seed(4)
    a, b = (torch.randn(shape, generator=generator) + 0.1 for shape in ((5, 40), (40, 33)))
    on_device = [ttnn.from_torch(each, device=cpu_device) for each in (a, b)]
    call = lambda a, b: function(a, b, activation=activation)  # noqa: E731
    want = in_torch(a.double() @ b.double())
    torch.testing.assert_close(ttnn.to_torch(call(*on_device)).double(), want, rtol=2e-4, atol=1e-4)
    for graph_capture in (False, True):
        got = ttnn_jit.jit(graph_capture=graph_capture)(call)(a, b)
        torch.testing.assert_close(got.double(), want, rtol=2e-4, atol=1e-4)
    golden = ttnn.get_golden_function(function)(a, b, activation=activation)
    torch.testing.assert_close(golden.double(), want, rtol=2e-4, atol=1e-4)
