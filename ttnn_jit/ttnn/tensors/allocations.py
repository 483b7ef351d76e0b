"""Allocation of tensors with unspecified elements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors import tensors_from_host
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec, checked
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.host_overloads import call_overload, host_overload


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
    """Allocate a device tensor with unspecified elements (ttnn.allocate_tensor_on_device).

    The overloads are ``(tensor_spec, device)`` and ``(shape, dtype, layout, device, memory_config=None)``.

    Raises:
        ArgumentError: An argument has the wrong type.
        GridError, L1CapacityError: The tensor does not fit into its memory config.
    """
    spec, device = call_overload("allocate_tensor_on_device", _OVERLOADS, args, kwargs)
    return Tensor(spec, device, device.allocate_tensor(spec, reuse_captured=True))


@host_function(over_meshes=True)
def allocate_tensor_on_host(*args: Any, **kwargs: Any) -> Tensor:
    """Allocate a host tensor with unspecified elements, which are zeros (ttnn.allocate_tensor_on_host).

    The overloads are ``(tensor_spec, device)`` and ``(shape, dtype, layout, device, memory_config=None)``; with a mesh
    there is one tensor for each device.

    Raises:
        ArgumentError: An argument has the wrong type.
        GridError: The shards do not hold the tensor.
    """
    spec, _ = call_overload("allocate_tensor_on_host", _OVERLOADS, args, kwargs)
    return tensors_from_host.filled(0.0, spec, None)
