"""Gradients of functions of complex numbers, eagerly: of z = x + iy that by x, plus i times that by y."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.runtime.tensor import Tensor, check_tensor
from ttnn_jit.specs.tensor_spec import MemoryConfig, check_kind
from ttnn_jit.ttnn import eager_functions as ttnn
from ttnn_jit.ttnn.complex_tensors import ComplexTensor
from ttnn_jit.ttnn.eager_ops import placed

Parts = tuple[Tensor, Tensor]

_DOCSTRING = """The gradient of `{name}`, in a list (ttnn.{name}_bw).

    Raises:
        ArgumentError: An argument of another kind.
    """


def _gradient(
    name: str, formula: Callable[[Any, ComplexTensor], Parts], *, of_complex: bool
) -> Callable[..., list[ComplexTensor]]:
    """The function ``ttnn.<name>_bw``, whose result's gradient is that of complex numbers or of real ones."""

    def call(
        grad_tensor: Any, input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None
    ) -> list[ComplexTensor]:
        check_kind(input_tensor, ComplexTensor, f"`input_tensor` of {name}_bw")
        if of_complex:
            check_kind(grad_tensor, ComplexTensor, f"`grad_tensor` of {name}_bw")
        else:
            check_tensor(grad_tensor, f"`grad_tensor` of {name}_bw")
        return [ComplexTensor(*(placed(part, memory_config) for part in formula(grad_tensor, input_tensor)))]

    call.__name__ = call.__qualname__ = f"{name}_bw"
    call.__doc__ = _DOCSTRING.format(name=name)
    return call


def _zeros(tensor: Tensor) -> Tensor:
    return ttnn.fill(tensor, 0.0)


def _angle(g: Tensor, z: ComplexTensor) -> Parts:
    scaled = ttnn.divide(g, ttnn.add(ttnn.square(z.real), ttnn.square(z.imag)))
    return ttnn.neg(ttnn.multiply(scaled, z.imag)), ttnn.multiply(scaled, z.real)


def _polar(g: ComplexTensor, z: ComplexTensor) -> Parts:
    """The input's parts are lengths and angles."""
    cosine, sine = ttnn.cos(z.imag), ttnn.sin(z.imag)
    length = ttnn.add(ttnn.multiply(g.real, cosine), ttnn.multiply(g.imag, sine))
    turned = ttnn.subtract(ttnn.multiply(g.imag, cosine), ttnn.multiply(g.real, sine))
    return length, ttnn.multiply(z.real, turned)


real_bw = _gradient("real", lambda g, _: (ttnn.identity(g), _zeros(g)), of_complex=False)
imag_bw = _gradient("imag", lambda g, _: (_zeros(g), ttnn.identity(g)), of_complex=False)
conj_bw = _gradient("conj", lambda g, _: (ttnn.identity(g.real), ttnn.neg(g.imag)), of_complex=True)
angle_bw = _gradient("angle", _angle, of_complex=False)
polar_bw = _gradient("polar", _polar, of_complex=True)
