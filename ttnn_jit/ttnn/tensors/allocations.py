"""Tensors whose elements nobody has chosen: memory for what is written later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling.host_function import call_overload, host_function, host_overload


@host_overload(tensor_spec="spec", device="mesh_device")
def _of_spec(tensor_spec: TensorSpec, device: Device) -> tuple[TensorSpec, Device]:
    storage.check_dense(tensor_spec)
    return checked(tensor_spec), device


@host_overload(device="mesh_device")
def _of_parts(
    shape: Iterable[int], dtype: DataType, layout: Layout, device: Device, memory_config: MemoryConfig | None = None
) -> tuple[TensorSpec, Device]:
    return checked(TensorSpec(shape, dtype, layout, memory_config)), device


_OVERLOADS = (_of_spec, _of_parts)


@host_function(over_meshes=True)
def allocate_tensor_on_device(*args: Any, **kwargs: Any) -> Tensor:
    """A device tensor with unspecified elements (ttnn.allocate_tensor_on_device).

    Written ``(tensor_spec, device)`` or ``(shape, dtype, layout, device, memory_config=None)``.

    Raises:
        ArgumentError: An argument of another kind.
        GridError, L1CapacityError: It does not fit.
    """
    spec, device = call_overload("allocate_tensor_on_device", _OVERLOADS, args, kwargs)
    return Tensor(spec, device, device.allocate_tensor(spec, reuse_captured=True))


@host_function(over_meshes=True)
def allocate_tensor_on_host(*args: Any, **kwargs: Any) -> Tensor:
    """A host tensor with unspecified elements, here zeros, such as a device's would be (ttnn.allocate_tensor_on_host).

    Written ``(tensor_spec, device)`` or ``(shape, dtype, layout, device, memory_config=None)``; of a mesh there is one
    for each device.

    Raises:
        ArgumentError: An argument of another kind.
        GridError: The memory config does not hold it.
    """
    spec, _ = call_overload("allocate_tensor_on_host", _OVERLOADS, args, kwargs)
    return storage.filled(0.0, spec, None)
