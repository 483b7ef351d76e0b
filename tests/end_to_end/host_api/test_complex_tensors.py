"""Complex tensors: their parts and the operations on them, against torch's complex numbers."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError


def numbers(seed):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn((2, 1, 33, 40), dtype=torch.complex64, generator=generator)
    return torch.where(torch.rand(z.shape, generator=generator) < 0.2, torch.complex(z.real, torch.zeros(())), z)


def on_device(z, device):
    return ttnn.complex_tensor(
        *(ttnn.from_torch(part.contiguous(), layout=ttnn.TILE_LAYOUT, device=device) for part in (z.real, z.imag))
    )


def in_torch(found):
    if isinstance(found, ttnn.Tensor):
        return ttnn.to_torch(found)
    return torch.complex(ttnn.to_torch(found.real), ttnn.to_torch(found.imag))


UNARY = {
    "real": (ttnn.real, lambda z: z.real),
    "imag": (ttnn.imag, lambda z: z.imag),
    "angle": (ttnn.angle, torch.angle),
    "conj": (ttnn.conj, torch.conj_physical),
    "polar": (ttnn.polar, lambda z: z.real * torch.exp(1j * z.imag)),
    "is_real": (ttnn.is_real, lambda z: (z.imag == 0).double()),
    "is_imag": (ttnn.is_imag, lambda z: (z.real == 0).double()),
    "abs": (ttnn.abs, torch.abs),
    "reciprocal": (ttnn.reciprocal, torch.reciprocal),
}
BINARY = {
    "add": (ttnn.add, torch.add),
    "subtract": (ttnn.subtract, torch.sub),
    "multiply": (ttnn.multiply, torch.mul),
    "divide": (ttnn.divide, torch.div),
}


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_complex_numbers_is_torchs(name, device):
    function, golden = UNARY[name]
    z = numbers(1)
    got = in_torch(function(on_device(z, device), memory_config=ttnn.DRAM_MEMORY_CONFIG))
    want = golden(z.to(torch.complex128))
    torch.testing.assert_close(got.to(want.dtype), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", BINARY)
def test_an_operation_of_two_complex_numbers_is_torchs(name, device):
    function, golden = BINARY[name]
    z, w = numbers(1), numbers(2)
    want = golden(z.to(torch.complex128), w.to(torch.complex128))
    got = in_torch(function(on_device(z, device), on_device(w, device)))
    torch.testing.assert_close(got.to(want.dtype), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", BINARY)
def test_operands_and_options_are_given_as_to_any_operation(name, device):
    function, _ = BINARY[name]
    z, w = on_device(numbers(1), device), on_device(numbers(2), device)
    want = in_torch(function(z, w))
    for call in (
        lambda: function(input_tensor_a=z, input_tensor_b=w),
        lambda: function(z, input_tensor_b=w, output_mem_config=ttnn.L1_MEMORY_CONFIG, queue_id=0),
    ):
        assert torch.equal(torch.view_as_real(in_torch(call())), torch.view_as_real(want))
    assert function(z, w, output_mem_config=ttnn.L1_MEMORY_CONFIG)[1].memory_config() == ttnn.L1_MEMORY_CONFIG
    refused = {"dtype": ttnn.bfloat16, "output_tensor": z.real, "activations": ["relu"]}
    for keyword, value in refused.items():
        with pytest.raises(ArgumentError, match=rf"ttnn.{name} takes nothing but `memory_config` beside complex"):
            function(z, w, **{keyword: value})
    with pytest.raises(ArgumentError, match="has no argument `colour`"):
        function(z, w, colour=1)
    with pytest.raises(ArgumentError, match="lacks its argument"):
        function(z)


def test_a_rounding_mode_is_refused_for_complex_numbers(device):
    z = on_device(numbers(1), device)
    with pytest.raises(ArgumentError, match="does not take ComplexTensor and ComplexTensor"):
        ttnn.divide(z, z, rounding_mode="floor")


def test_parts_of_a_complex_tensor_are_indexed_and_freed_together(device):
    z = on_device(numbers(3), device)
    assert z[0] is z.real
    assert z[1] is z.imag
    z.deallocate()
    with pytest.raises(RuntimeError):
        ttnn.real(z)


def test_operations_without_a_complex_form_are_refused(device):
    z = on_device(numbers(3), device)
    with pytest.raises(ArgumentError, match=r"ttnn\.exp does not take ComplexTensor"):
        ttnn.exp(z)
    with pytest.raises(ArgumentError, match=r"ttnn\.add does not take ComplexTensor and Tensor"):
        ttnn.add(z, z.real)
    with pytest.raises(ArgumentError, match=r"`input_tensor` of angle must be a ttnn\.ComplexTensor"):
        ttnn.angle(z.real)
    with pytest.raises(ShapeError, match="real parts of shape"):
        ttnn.complex_tensor(z.real, z.imag[0])
