"""Tensors whose elements nobody has chosen: memory for what is written later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ttnn_jit.runtime import tensor as storage
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec, check_kind, checked
from ttnn_jit.ttnn.host_function import host_function
from ttnn_jit.ttnn.mesh import over_meshes
from ttnn_jit.ttnn.tensor_creation import call_by_form


@host_function(over_meshes=True)
def allocate_tensor_on_device(spec: TensorSpec | Iterable[int], *args: Any, **kwargs: Any) -> Tensor:
    """A device tensor with unspecified elements (ttnn.allocate_tensor_on_device).

    Written ``(spec, device)`` or ``(shape, dtype, layout, device, memory_config=None)``.

    Raises:
        ArgumentError: An argument of another kind.
        GridError, L1CapacityError: It does not fit.
    """
    return _by_form("allocate_tensor_on_device", _allocated, spec, args, kwargs)


def _by_form(
    name: str,
    allocated: Callable[[TensorSpec, Device], Tensor],
    spec: TensorSpec | Iterable[int],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Tensor:
    """What `allocated` gives for a spec, or for the parts of one."""

    def of_parts(
        shape: Iterable[int], dtype: DataType, layout: Layout, device: Device, memory_config: MemoryConfig | None = None
    ) -> Tensor:
        return allocated(TensorSpec(shape, dtype, layout, memory_config), device)

    form: Callable[..., Tensor] = allocated if isinstance(spec, TensorSpec) else of_parts
    renamed = {"device" if key == "mesh_device" else key: value for key, value in kwargs.items()}
    written = "`(spec, device)` or `(shape, dtype, layout, device, memory_config=None)`"
    return call_by_form(name, form, written, (spec, *args), renamed)


def _allocated(spec: TensorSpec, device: Device) -> Tensor:
    check_kind(device, Device, "`device`")
    storage.check_dense(spec)
    return Tensor(checked(spec), device, device.allocate_tensor(spec, again=True))


@host_function()
def allocate_tensor_on_host(
    spec: TensorSpec | Iterable[int],
    *args: Any,
    **kwargs: Any,
) -> Tensor:
    """A host tensor with unspecified elements, here zeros, such as a device's would be (ttnn.allocate_tensor_on_host).

    Written ``(spec, device)`` or ``(shape, dtype, layout, device, memory_config=None)``; of a mesh there is one for
    each device.

    Raises:
        ArgumentError: An argument of another kind.
        GridError: The memory config does not hold it.
    """

    def allocated(spec: TensorSpec, device: Device) -> Tensor:
        check_kind(device, Device, "`device`")
        storage.check_dense(spec)
        return storage.filled(0.0, checked(spec), None)

    return _by_form("allocate_tensor_on_host", over_meshes(allocated), spec, args, kwargs)
