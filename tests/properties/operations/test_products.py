"""Operations built on a product of matrices equal torch, in one launch, rounded once."""

from __future__ import annotations

import math

import pytest
import torch

import ttnn_jit
from tests.products import BIT_TYPES, assert_bits, bf16, random
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "sigmoid", None])
def test_an_activation_of_a_product_is_fused_into_its_launch_and_its_rounding(activation, dtype):
    a, b = random((2, 33, 40), dtype, 1), random((40, 50), dtype, 2, 0)
    program = ttnn_jit.jit(compile_only=True)(lambda a, b: ttnn.matmul(a, b, activation=activation))
    assert len(program(a, b).plan.launches) == 1
    got = ttnn_jit.jit()(lambda a, b: ttnn.matmul(a, b, activation=activation))(a, b)
    exact = a.double() @ b.double()
    want = exact if activation is None else getattr(torch.nn.functional, activation)(exact)
    torch.testing.assert_close(got.double(), want, atol=1e-4, rtol=2**-8 if dtype is bf16 else 1e-5)


@pytest.mark.parametrize("product", [ttnn.matmul, ttnn.linear])
def test_eager_products_take_an_activation_and_both_names_of_the_memory_config(product, device):
    a, b = (ttnn.from_torch(random((32, 32), bf16, k), layout=ttnn.TILE_LAYOUT, device=device) for k in (1, 2))
    want = ttnn.relu(ttnn.matmul(a, b))
    got = product(a, b, activation="relu", output_mem_config=ttnn.L1_MEMORY_CONFIG)
    assert got.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert_bits(ttnn.to_torch(got), ttnn.to_torch(want))
    with pytest.raises(TtnnJitError, match="`memory_config` and `output_mem_config` are two names of one argument"):
        product(a, b, memory_config=ttnn.L1_MEMORY_CONFIG, output_mem_config=ttnn.L1_MEMORY_CONFIG)
    with pytest.raises(TtnnJitError, match="'relux' is no activation"):
        product(a, b, activation="relux")


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (0.5, -2.0), (3.0, 0.0)])
@pytest.mark.parametrize("added", [(33, 50), (50,), (33, 1)])
def test_addmm_agrees_with_torch_in_float64(added, alpha, beta, dtype):
    x, a, b = (random(shape, dtype, k, 0) for k, shape in enumerate((added, (33, 40), (40, 50))))
    if not beta:
        x = x * math.nan
    got = ttnn_jit.jit()(lambda x, a, b: ttnn.addmm(x, a, b, alpha=alpha, beta=beta))(x, a, b)
    want = torch.addmm(x.double(), a.double(), b.double(), alpha=alpha, beta=beta)
    torch.testing.assert_close(got.double(), want, atol=1e-4, rtol=2**-8 if dtype is bf16 else 1e-5)


@pytest.mark.parametrize(
    ("program", "shapes", "message"),
    [
        (ttnn.addmm, ((3, 5), (2, 3, 4), (4, 5)), "are matrices, got shapes"),
        (ttnn.addmm, ((3, 6), (3, 4), (4, 5)), r"has shape \[3, 6\], and the product \[3, 5\]"),
        (ttnn.outer, ((3, 2), (4,)), "one dimension longer than 1, got"),
    ],
)
def test_mismatched_shapes_are_refused(program, shapes, message):
    with pytest.raises(TtnnJitError, match=message):
        ttnn_jit.jit()(lambda *xs: program(*xs))(*map(torch.ones, shapes))


@pytest.mark.parametrize("dtype", BIT_TYPES)
def test_an_outer_product_reads_the_elements_along_any_dimension(dtype):
    a, b = random((37,), dtype, 1), random((1, 1, 50, 1), dtype, 2)
    got = ttnn_jit.jit()(lambda a, b: ttnn.outer(a, b))(a, b)
    assert_bits(got, torch.outer(a, b.flatten()).reshape(1, 1, 37, 50))


def test_the_minimal_product_is_linear_and_checks_its_config(cpu_device):
    generator = torch.Generator().manual_seed(1)
    x, w, bias = (torch.randn(shape, generator=generator) for shape in ((2, 33, 40), (40, 70), (1, 70)))
    tensors = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=cpu_device) for each in (x, w, bias)]
    config = ttnn.MinimalMatmulConfig(
        M_block_size=2,
        K_block_size=2,
        N_block_size=2,
        subblock_h=1,
        subblock_w=1,
        compute_with_storage_grid_size=ttnn.CoreCoord(4, 4),
    )
    fused = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
    want = torch.relu(x.double() @ w.double() + bias.double())

    def program(x, w, bias):
        return ttnn.experimental.minimal_matmul(x, w, bias, fused, config=config)

    for call in (program, ttnn_jit.jit()(program)):
        torch.testing.assert_close(ttnn.to_torch(call(*tensors)).double(), want, rtol=2e-6, atol=4e-5)
    with pytest.raises(TtnnJitError, match="`config` of minimal_matmul"):
        ttnn.experimental.minimal_matmul(*tensors[:2], config=3)
