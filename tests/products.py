"""Random operands of products, and bits of tensors."""

from __future__ import annotations

import torch

from ttnn_jit import ttnn

f32, bf16 = torch.float32, torch.bfloat16
EXACTLY = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
"""The options of a chip's products in tests that are not about precision; float32 factors are still cut to TF32."""
TF32 = 2e-3
"""The relative difference between a chip's float32 products and those of all bits, for some hundred terms."""
BIT_TYPES = {f32: torch.int32, bf16: torch.int16}


def random(shape, dtype, seed, exponents=2):
    """Normally distributed numbers of a few magnitudes."""
    generator = torch.Generator().manual_seed(seed)
    powers = torch.randint(-exponents, exponents + 1, shape, generator=generator)
    return torch.ldexp(torch.randn(shape, generator=generator), powers).to(dtype)


def bits(x):
    return x.contiguous().view(BIT_TYPES[x.dtype])


def assert_bits(got, want):
    """Asserts equal bits, except for those of NaN."""
    assert got.shape == want.shape
    assert got.dtype is want.dtype
    assert bool(((bits(got) == bits(want)) | (got.isnan() & want.isnan())).all())


def for_interpreter(x):
    """An input of the interpreter: for bfloat16, the bits as uint16."""
    return x.view(torch.int16).numpy().view("uint16") if x.dtype is torch.bfloat16 else x.numpy()


def product_of(transposes):
    """The product of matrices that are stored transposed, or not."""
    transpose_a, transpose_b = transposes

    def program(a, b):
        return ttnn.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)

    return program
