"""Complex tensors, as pairs of real tensors, and eager operations on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops import Operation, bind
from ttnn_jit.ops.result_options import bind_options
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as ttnn
from ttnn_jit.ttnn.calling.host_function import host_function


@dataclass(frozen=True, eq=False)
class ComplexTensor:
    """A tensor of complex numbers (ttnn.ComplexTensor).

    Attributes:
        real: The real parts.
        imag: The imaginary parts, of the same shape.
    """

    real: Tensor
    imag: Tensor

    def __getitem__(self, part: int) -> Tensor:
        """The real parts for 0, the imaginary parts for 1."""
        return (self.real, self.imag)[part]

    def deallocate(self) -> None:
        """Free both parts."""
        self.real.deallocate()
        self.imag.deallocate()

    def __ttnn_call__(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run an operation that has a complex tensor among its operands.

        Raises:
            ArgumentError: The operation has no complex overload, or another operand is not a complex tensor.
        """
        overloads, name = function.__ttnn_overloads__, function.__name__
        own, options = bind_options(name, overloads, kwargs)
        bound = bind(overloads, args, own, _dtype_of)
        overload = _COMPLEX_OVERLOADS.get(bound.operation)
        if overload is None or {*map(type, bound.operands)} != {ComplexTensor}:
            raise ArgumentError(
                f"{name} does not take {' and '.join(type(each).__name__ for each in bound.operands)}",
                help="of complex tensors there are abs, add, divide, multiply, reciprocal and subtract",
            )
        if not replace(options, memory_config=None).change_nothing:
            raise ArgumentError(f"{name} takes nothing but `memory_config` beside complex tensors")
        return overload(*bound.operands, memory_config=options.memory_config)


def _dtype_of(value: Any) -> DataType | None:
    tensor = value.real if isinstance(value, ComplexTensor) else value
    return tensor.dtype if isinstance(tensor, Tensor) else None


@host_function(observed=False)
def complex_tensor(real: Tensor, imag: Tensor) -> ComplexTensor:
    """The complex tensor with these parts (ttnn.complex_tensor).

    Raises:
        ArgumentError: A part is not a tensor.
        ShapeError: The parts have different shapes.
    """
    if tuple(real.shape) != tuple(imag.shape):
        raise ShapeError(f"real parts of shape {list(real.shape)} and imaginary ones of {list(imag.shape)}")
    return ComplexTensor(real, imag)


@host_function(observed=False)
def real(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """A copy of the real parts (ttnn.real)."""
    return ttnn.identity(input_tensor.real, memory_config=memory_config)


@host_function(observed=False)
def imag(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """A copy of the imaginary parts (ttnn.imag)."""
    return ttnn.identity(input_tensor.imag, memory_config=memory_config)


@host_function(observed=False)
def angle(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """The angles in radians, from -pi to pi (ttnn.angle)."""
    return ttnn.atan2(input_tensor.imag, input_tensor.real, memory_config=memory_config)


@host_function(observed=False)
def conj(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> ComplexTensor:
    """The complex conjugates (ttnn.conj)."""
    z = input_tensor
    return ComplexTensor(
        ttnn.identity(z.real, memory_config=memory_config), ttnn.neg(z.imag, memory_config=memory_config)
    )


@host_function(observed=False)
def polar(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> ComplexTensor:
    """Polar to Cartesian: real parts are lengths, and imaginary parts angles in radians (ttnn.polar)."""
    z = input_tensor
    parts = (ttnn.multiply(z.real, function(z.imag), memory_config=memory_config) for function in (ttnn.cos, ttnn.sin))
    return ComplexTensor(*parts)


@host_function(observed=False)
def is_real(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """1 where the imaginary part is 0, else 0 (ttnn.is_real)."""
    return ttnn.eq(input_tensor.imag, 0.0, memory_config=memory_config)


@host_function(observed=False)
def is_imag(input_tensor: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """1 where the real part is 0, else 0 (ttnn.is_imag)."""
    return ttnn.eq(input_tensor.real, 0.0, memory_config=memory_config)


def _length(z: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    return ttnn.hypot(z.real, z.imag, memory_config=memory_config)


def _reciprocal(z: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> ComplexTensor:
    scale = ttnn.add(ttnn.square(z.real), ttnn.square(z.imag))
    return ComplexTensor(
        ttnn.divide(z.real, scale, memory_config=memory_config),
        ttnn.divide(ttnn.neg(z.imag), scale, memory_config=memory_config),
    )


def _by_parts(function: Callable[..., Tensor]) -> Callable[..., ComplexTensor]:
    def combined(z: ComplexTensor, w: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> ComplexTensor:
        return ComplexTensor(
            function(z.real, w.real, memory_config=memory_config), function(z.imag, w.imag, memory_config=memory_config)
        )

    return combined


def _product(z: ComplexTensor, w: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> ComplexTensor:
    real_part = ttnn.subtract(ttnn.multiply(z.real, w.real), ttnn.multiply(z.imag, w.imag), memory_config=memory_config)
    imaginary = ttnn.add(ttnn.multiply(z.real, w.imag), ttnn.multiply(z.imag, w.real), memory_config=memory_config)
    return ComplexTensor(real_part, imaginary)


def _quotient(z: ComplexTensor, w: ComplexTensor, *, memory_config: MemoryConfig | None = None) -> ComplexTensor:
    return _product(z, _reciprocal(w), memory_config=memory_config)


_CALLED: dict[Any, Callable[..., Any]] = {
    ttnn.abs: _length,
    ttnn.add: _by_parts(ttnn.add),
    ttnn.subtract: _by_parts(ttnn.subtract),
    ttnn.multiply: _product,
    ttnn.divide: _quotient,
    ttnn.reciprocal: _reciprocal,
}
_COMPLEX_OVERLOADS: dict[Operation, Callable[..., Any]] = {
    next(iter(f.__ttnn_overloads__)): overload for f, overload in _CALLED.items()
}
"""Declaration of an operation -> its complex overload."""
