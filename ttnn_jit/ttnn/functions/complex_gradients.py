"""Eager gradients of functions of complex numbers: the gradient by z = x + iy is that by x plus i times that by y."""

from __future__ import annotations

from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.eager_ops import in_requested_memory
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.complex_tensors import ComplexTensor

_CONSTANT_GRADIENT = {"the gradient does not depend on it": "input_tensor"}


@host_function(observed=False, without_effect=_CONSTANT_GRADIENT)
def real_bw(
    grad_tensor: Tensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None
) -> list[ComplexTensor]:
    """The gradient of `real`, in a list (ttnn.real_bw)."""
    return _in_requested_memory((ttnn.identity(grad_tensor), ttnn.fill(grad_tensor, 0.0)), memory_config)


@host_function(observed=False, without_effect=_CONSTANT_GRADIENT)
def imag_bw(
    grad_tensor: Tensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None
) -> list[ComplexTensor]:
    """The gradient of `imag`, in a list (ttnn.imag_bw)."""
    return _in_requested_memory((ttnn.fill(grad_tensor, 0.0), ttnn.identity(grad_tensor)), memory_config)


@host_function(observed=False, without_effect=_CONSTANT_GRADIENT)
def conj_bw(
    grad_tensor: ComplexTensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None
) -> list[ComplexTensor]:
    """The gradient of `conj`, in a list (ttnn.conj_bw)."""
    return _in_requested_memory((ttnn.identity(grad_tensor.real), ttnn.neg(grad_tensor.imag)), memory_config)


@host_function(observed=False)
def angle_bw(
    grad_tensor: Tensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None
) -> list[ComplexTensor]:
    """The gradient of `angle`, in a list (ttnn.angle_bw)."""
    z = input_tensor
    scaled = ttnn.divide(grad_tensor, ttnn.add(ttnn.square(z.real), ttnn.square(z.imag)))
    return _in_requested_memory((ttnn.neg(ttnn.multiply(scaled, z.imag)), ttnn.multiply(scaled, z.real)), memory_config)


@host_function(observed=False)
def polar_bw(
    grad_tensor: ComplexTensor, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None
) -> list[ComplexTensor]:
    """The gradient of `polar`, in a list (ttnn.polar_bw).

    The real and imaginary parts of the input are lengths and angles.
    """
    g, z = grad_tensor, input_tensor
    cosine, sine = ttnn.cos(z.imag), ttnn.sin(z.imag)
    length = ttnn.add(ttnn.multiply(g.real, cosine), ttnn.multiply(g.imag, sine))
    tangential = ttnn.subtract(ttnn.multiply(g.imag, cosine), ttnn.multiply(g.real, sine))
    return _in_requested_memory((length, ttnn.multiply(z.real, tangential)), memory_config)


def _in_requested_memory(parts: tuple[Tensor, Tensor], memory_config: MemoryConfig | None) -> list[ComplexTensor]:
    return [ComplexTensor(*(in_requested_memory(part, memory_config) for part in parts))]
