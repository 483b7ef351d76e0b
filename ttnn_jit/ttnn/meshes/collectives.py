"""Collectives along an axis of a mesh that has one device, where each returns a copy of the device's tensor.

Devices of a mesh exchange no data here: a collective along an axis of several devices is refused. Arguments that choose
how chips transfer data are checked and have no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypedDict, Unpack

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.language.axes import axis_of
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.cores.sub_devices import SubDeviceId
from ttnn_jit.specs.tensor_spec import CoreRangeSet, MemoryConfig
from ttnn_jit.ttnn.calling import eager_functions as operations
from ttnn_jit.ttnn.calling.host_function import call_overload, host_function, host_overload
from ttnn_jit.ttnn.calling.mesh import over_meshes
from ttnn_jit.ttnn.devices.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.meshes.topology import ReduceType, Topology
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS
from ttnn_jit.ttnn.tensors.transfers import clone, to_memory_config

PositiveInt = Annotated[int, "at least 1"]


class _WorkerOptions(TypedDict, total=False):
    barrier_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None
    chunks_per_sync: PositiveInt | None
    final_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None
    intermediate_memory_config: MemoryConfig | None
    math_op: ReduceType | None
    num_buffers_per_channel: PositiveInt | None
    num_links: PositiveInt | None
    num_workers_per_link: PositiveInt | None
    reduce_type: ReduceType | None
    sub_core_grids: CoreRangeSet | None
    sub_device_id: SubDeviceId | None
    subdevice_id: SubDeviceId | None
    use_optimal_ccl_for_llama: bool | None


class FabricOptions(_WorkerOptions, total=False):
    """Options of the links between chips, which change no result."""

    topology: Topology | None


_FABRIC_OPTIONS = {NO_LINKS: " ".join(FabricOptions.__annotations__)}


@host_function(without_effect=_FABRIC_OPTIONS)
def all_gather(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The tensors of the devices along an axis, concatenated along `dim`; of one device only (ttnn.all_gather).

    Args:
        input_tensor: A tensor on a device.
        dim: Dimension from -rank to rank - 1.
        cluster_axis: Axis of the mesh; None for all devices.
        mesh_device: The tensor's device.
        memory_config: Memory config of the result; that of the tensor when omitted.
        output_tensor: The tensor that receives the result.
        **_links: Options of the links between chips, such as `num_links` and `topology`; without effect.

    Raises:
        ArgumentError: There are several devices along the axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
    """
    axis_of(dim, len(input_tensor.shape))
    return _over_one_device("all_gather", input_tensor, cluster_axis, mesh_device, memory_config, output_tensor)


@host_function(without_effect=_FABRIC_OPTIONS)
def all_reduce(
    input_tensor: Tensor,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The sum of the tensors of the devices along an axis of the mesh; of one device only (ttnn.all_reduce).

    The arguments are those of `all_gather`.

    Raises:
        ArgumentError: There are several devices along the axis, or an argument has the wrong type.
    """
    return _over_one_device("all_reduce", input_tensor, cluster_axis, mesh_device, memory_config, None)


@host_function(without_effect=_FABRIC_OPTIONS)
def reduce_scatter(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """The sum of the tensors along an axis, scattered along `dim`; of one device only (ttnn.reduce_scatter).

    The arguments are those of `all_gather`, and `reduce_type` or `math_op`.

    Raises:
        ArgumentError: There are several devices along the axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
    """
    axis_of(dim, len(input_tensor.shape))
    return _over_one_device("reduce_scatter", input_tensor, cluster_axis, mesh_device, memory_config, output_tensor)


@host_function()
def mesh_partition(
    input_tensor: Tensor, dim: int, cluster_axis: int | None = None, memory_config: MemoryConfig | None = None
) -> Tensor:
    """The slice along `dim` that a device along an axis keeps; of one device only (ttnn.mesh_partition).

    Raises:
        ArgumentError: There are several devices along the axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
    """
    axis_of(dim, len(input_tensor.shape))
    return _over_one_device("mesh_partition", input_tensor, cluster_axis, None, memory_config, None)


@host_function(name="experimental.all_gather_async")
def all_gather_async(*args: Any, **keywords: Any) -> Tensor:
    """`all_gather` with the overloads of ttnn.experimental.all_gather_async; of one device only.

    The overloads are ``(tensor, dim, ...)`` and ``(tensor, persistent_output_buffer, dim, ...)``. Semaphores and other
    options of the transfer, also by position, are checked and have no effect.

    Raises:
        ArgumentError: There are several devices along the axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
    """
    return _asynchronous("all_gather_async", all_gather, args, keywords)


@host_function(name="experimental.reduce_scatter_minimal_async")
def reduce_scatter_minimal_async(*args: Any, **keywords: Any) -> Tensor:
    """`reduce_scatter` with the overloads of ttnn.experimental.reduce_scatter_minimal_async; of one device only.

    The overloads are ``(tensor, dim, ...)`` and ``(tensor, persistent_output_buffers, dim, ...)``; the last buffer
    receives the result. Other arguments are those of `all_gather_async`.

    Raises:
        ArgumentError: There are several devices along the axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
    """
    return _asynchronous("reduce_scatter_minimal_async", reduce_scatter, args, keywords)


def _asynchronous(name: str, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Tensor:
    """A call of `function` with the arguments of one of the overloads below."""
    tensor, dim, buffers, options = call_overload(name, (_by_dimension, _into_buffers, _along_an_axis), args, keywords)
    result: Tensor = function(tensor, dim, output_tensor=([None, *buffers])[-1], **options)
    return result


class _CollectiveOptions(FabricOptions, total=False):
    cluster_axis: int | None
    mesh_device: Device | None
    memory_config: MemoryConfig | None


_Call = tuple[Tensor, int, Sequence[Tensor], Any]
"""Tensor, dimension, buffers (the last receives the result), and keywords."""


@host_overload(persistent_output_buffers="persistent_output_buffer")
def _into_buffers(
    input_tensor: Tensor,
    persistent_output_buffers: Tensor | Sequence[Tensor] | None,
    dim: int,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    **options: Unpack[_CollectiveOptions],
) -> _Call:
    buffers = persistent_output_buffers
    return input_tensor, dim, [buffers] if isinstance(buffers, Tensor) else [*(buffers or ())], options


@host_overload()
def _by_dimension(
    input_tensor: Tensor,
    dim: int,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    *,
    persistent_output_tensor: Tensor | None = None,
    **options: Unpack[_CollectiveOptions],
) -> _Call:
    return input_tensor, dim, [] if persistent_output_tensor is None else [persistent_output_tensor], options


@host_overload()
def _along_an_axis(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None,
    mesh_device: Device | None,
    topology: Topology,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    *,
    persistent_output_tensor: Tensor | None = None,
    memory_config: MemoryConfig | None = None,
    **_worker_options: Unpack[_WorkerOptions],
) -> _Call:
    given = {"cluster_axis": cluster_axis, "mesh_device": mesh_device, "memory_config": memory_config}
    return input_tensor, dim, [] if persistent_output_tensor is None else [persistent_output_tensor], given


@host_function(name="experimental.neighbor_pad_async", without_effect=_FABRIC_OPTIONS)
def neighbor_pad_async(
    input_tensor: Tensor,
    dim: int,
    padding_left: int,
    padding_right: int,
    padding_mode: str = "zeros",
    cluster_axis: int | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """A tensor padded with elements of its neighbours; on one device only (ttnn.experimental.neighbor_pad_async).

    A device at an end of the axis has no neighbour there: its padding is zeros, or its own first or last element
    along `dim`. A single device is at both ends.

    Args:
        input_tensor: A tensor on a device.
        dim: Dimension of the padding.
        padding_left: Elements before the tensor.
        padding_right: Elements after the tensor.
        padding_mode: ``"zeros"`` or ``"replicate"``.
        cluster_axis: Axis of the mesh; None for all devices.
        memory_config: Memory config of the result; that of the tensor when omitted.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There are several devices along the axis, or an argument has the wrong type.
        ShapeError: There is no such dimension.
    """
    axis = axis_of(dim, len(input_tensor.shape))
    for padding in (padding_left, padding_right):
        if padding < 0:
            raise ArgumentError(f"a padding of neighbor_pad_async must be at least 0, got {padding}")
    if padding_mode not in {"zeros", "replicate"}:
        raise ArgumentError(f"`padding_mode` must be 'zeros' or 'replicate', got {padding_mode!r}")
    whole = _over_one_device("neighbor_pad_async", input_tensor, cluster_axis, None, memory_config, None)
    if padding_mode == "zeros":
        widths = [(padding_left, padding_right) if each == axis else (0, 0) for each in range(len(whole.shape))]
        return operations.pad(whole, tuple(widths), value=0.0)
    front, behind = _slice_at(whole, axis, 0), _slice_at(whole, axis, tuple(whole.shape)[axis] - 1)
    return operations.concat([*[front] * padding_left, whole, *[behind] * padding_right], axis)


def _slice_at(tensor: Tensor, axis: int, index: int) -> Tensor:
    """The slice at one index along an axis."""
    begins = [index if each == axis else 0 for each in range(len(tensor.shape))]
    ends = [index + 1 if each == axis else extent for each, extent in enumerate(tensor.shape)]
    return operations.slice(tensor, begins, ends)


# --- One device along an axis -----------------------------------------------------------------------------------------


def _over_one_device(
    name: str,
    tensor: Tensor,
    cluster_axis: int | None,
    mesh_device: Device | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
) -> Tensor:
    """A copy of the tensor, the result of a collective along an axis of one device."""
    device = tensor.device()
    if device is None:
        raise ArgumentError(f"{name}: the tensor is on the host", help="move it to a device: `ttnn.to_device`")
    if mesh_device is not None and mesh_device is not device:
        raise ArgumentError(f"{name}: `mesh_device` is {mesh_device}, and the tensor is on {device}")
    count = _devices_along(name, device, cluster_axis)
    if count > 1:
        along = "" if cluster_axis is None else f" along axis {cluster_axis}"
        raise ArgumentError(
            f"{name}: {device} has {count} devices{along}, and devices of a mesh exchange nothing here",
            help="run it on a mesh of one: `ttnn.open_mesh_device(ttnn.MeshShape(1, 1))`",
        )
    return _copy(tensor, memory_config, output_tensor)


@over_meshes
def _copy(tensor: Tensor, memory_config: MemoryConfig | None, output_tensor: Tensor | None) -> Tensor:
    if memory_config is None and output_tensor is None:
        return clone(tensor)
    where = output_tensor.memory_config() if memory_config is None and output_tensor is not None else memory_config
    assert where is not None, "one of the two is given"
    return to_memory_config(tensor, where, output_tensor=output_tensor)


def _devices_along(name: str, device: Device, cluster_axis: int | None) -> int:
    if cluster_axis is None:
        return device.get_num_devices()
    if not 0 <= cluster_axis < device.shape.dims():
        raise ArgumentError(f"{name}: {device} has no axis {cluster_axis}")
    return device.shape[cluster_axis]
