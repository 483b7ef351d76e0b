"""Tensors made of values of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.elements.numpy_elements import fill, write_numbers
from ttnn_jit.runtime.elements.torch_elements import write_torch
from ttnn_jit.runtime.memory.buffer import HOST_POOL, Buffer
from ttnn_jit.runtime.tensors.tensor import Tensor, allocated, check_dense, once_of_replicas
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import numpy
    import torch


def from_torch(tensor: torch.Tensor, spec: TensorSpec, device: Device | None) -> Tensor:
    """A copy of `tensor` in the form of `spec`, on `device`, or on the host if `device` is None.

    Values convert to the spec's dtype with one rounding to nearest even; a NaN stays a NaN. Integers keep their low
    bits in a narrower type. Floats converted to an integer type are truncated and saturated; NaN becomes 0.

    Raises:
        ShapeError: `spec` has another shape than `tensor`, or strides.
        DeviceError: The device is closed.
    """
    if tuple(tensor.shape) != tuple(spec.shape):
        raise ShapeError(f"a torch tensor of shape {list(tensor.shape)} cannot become {spec}")
    return _written_by_host(spec, device, write_torch, tensor)


def from_numbers(values: Sequence[float] | numpy.ndarray[Any, Any], spec: TensorSpec, device: Device | None) -> Tensor:
    """A tensor of `spec` with the elements `values`, an array or a row-major sequence, converted as by `write_numbers`.

    Raises:
        ShapeError: `spec` has strides.
        DeviceError: The device is closed.
    """
    return _written_by_host(spec, device, write_numbers, values)


def _written_by_host(
    spec: TensorSpec, device: Device | None, write: Callable[[Any, TensorSpec, Buffer], None], of: Any
) -> Tensor:
    """A tensor of `spec` whose elements the host writes by `write(of, spec, buffer)`."""
    check_dense(spec)
    if device is not None:
        device.require_host_access("making a tensor on the host")

    def made() -> Tensor:
        buffer = allocated(spec, device)
        if spec.nbytes:
            write(of, spec, buffer)
        return Tensor(spec, device, buffer)

    return once_of_replicas(of, write, spec, device, made)


def filled(number: float, spec: TensorSpec, device: Device | None) -> Tensor:
    """A tensor of `spec` whose elements are all `number`, on `device`, or on the host if `device` is None.

    Raises:
        ShapeError: `spec` has strides.
        DeviceError: The device is closed.
    """
    check_dense(spec)

    def made() -> Tensor:
        buffer = allocated(spec, device)
        if device is None or device.recorder is None:
            fill(spec, buffer, number)
        else:
            constant = HOST_POOL.allocate(spec.nbytes)
            fill(spec, constant, number)
            device.recorder.write(constant, spec, buffer)
        return Tensor(spec, device, buffer)

    return once_of_replicas(None, repr(number), spec, device, made)
