"""Collectives: what devices along an axis of a mesh exchange. Along an axis of one device that is its own tensor.

Arguments that say how chips pass data on are checked, and change nothing. Devices of a mesh exchange nothing here: a
collective along an axis of several is refused.
"""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.axes import axis_of
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.specs.sub_devices import SubDeviceId
from ttnn_jit.specs.tensor_spec import MemoryConfig, check_kind
from ttnn_jit.ttnn import eager_functions as operations
from ttnn_jit.ttnn.host_function import host_function
from ttnn_jit.ttnn.mesh import over_meshes
from ttnn_jit.ttnn.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.topology import ReduceType, Topology
from ttnn_jit.ttnn.transfers import clone, to_memory_config


@host_function()
def all_gather(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    **links: Any,
) -> Tensor:
    """The tensors of all devices along an axis of the mesh, joined along `dim` (ttnn.all_gather).

    Args:
        input_tensor: On a device.
        dim: From -rank to rank - 1.
        cluster_axis: Of the mesh; None: all devices.
        mesh_device: The tensor's.
        memory_config: Where the result lies; where the tensor does when omitted.
        output_tensor: What the result is written into.
        **links: `num_links`, `topology`, `subdevice_id` and others, by which chips pass data on.

    Raises:
        ArgumentError: There are several devices along the axis; an argument is of another kind.
        ShapeError: There is no such dimension.
    """
    axis_of(dim, len(input_tensor.shape))
    return _of_one("all_gather", input_tensor, cluster_axis, mesh_device, memory_config, output_tensor, links)


@host_function()
def all_reduce(
    input_tensor: Tensor,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **links: Any,
) -> Tensor:
    """The sum of the tensors of all devices along an axis of the mesh (ttnn.all_reduce); arguments as `all_gather`.

    Raises:
        ArgumentError: There are several devices along the axis; an argument is of another kind.
    """
    return _of_one("all_reduce", input_tensor, cluster_axis, mesh_device, memory_config, None, links)


@host_function()
def reduce_scatter(
    input_tensor: Tensor,
    dim: int,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    **links: Any,
) -> Tensor:
    """Of the sum of the tensors along an axis of the mesh, each device's part along `dim` (ttnn.reduce_scatter).

    Arguments as `all_gather`, and `reduce_type` or `math_op`.

    Raises:
        ArgumentError: There are several devices along the axis; an argument is of another kind.
        ShapeError: There is no such dimension.
    """
    axis_of(dim, len(input_tensor.shape))
    return _of_one("reduce_scatter", input_tensor, cluster_axis, mesh_device, memory_config, output_tensor, links)


@host_function()
def mesh_partition(
    input_tensor: Tensor, dim: int, cluster_axis: int | None = None, memory_config: MemoryConfig | None = None
) -> Tensor:
    """The part along `dim` that each device along an axis of the mesh keeps (ttnn.mesh_partition).

    Raises:
        ArgumentError: There are several devices along the axis; an argument is of another kind.
        ShapeError: There is no such dimension.
    """
    axis_of(dim, len(input_tensor.shape))
    return _of_one("mesh_partition", input_tensor, cluster_axis, None, memory_config, None, {})


@host_function(name="experimental.all_gather_async")
def all_gather_async(input_tensor: Tensor, *args: Any, **keywords: Any) -> Tensor:
    """`all_gather` in the forms of ttnn.experimental.all_gather_async.

    Written ``(tensor, dim, ...)`` or ``(tensor, persistent_output_buffer, dim, ...)``; semaphores and what else says
    how chips pass data on, also by place, are checked and change nothing.

    Raises:
        ArgumentError: There are several devices along the axis; an argument is of another kind.
        ShapeError: There is no such dimension.
    """
    return _asynchronous("all_gather_async", all_gather, input_tensor, args, keywords)


@host_function(name="experimental.reduce_scatter_minimal_async")
def reduce_scatter_minimal_async(input_tensor: Tensor, *args: Any, **keywords: Any) -> Tensor:
    """`reduce_scatter` in the forms of ttnn.experimental.reduce_scatter_minimal_async.

    Written ``(tensor, dim, ...)`` or ``(tensor, persistent_output_buffers, dim, ...)``, the last of which buffers gets
    the result; the rest as for `all_gather_async`.

    Raises:
        ArgumentError: There are several devices along the axis; an argument is of another kind.
        ShapeError: There is no such dimension.
    """
    return _asynchronous("reduce_scatter_minimal_async", reduce_scatter, input_tensor, args, keywords)


def _asynchronous(name: str, function: Any, tensor: Tensor, args: tuple[Any, ...], keywords: dict[str, Any]) -> Tensor:
    """A call of `function`, whose output buffers stand in front of the dimension, or behind it by keyword."""
    given, rest = dict(keywords), list(args)
    buffers = [given.pop(key, None) for key in ("persistent_output_buffer", "persistent_output_tensor")]
    buffers.append(_last(given.pop("persistent_output_buffers", None)))
    if rest and type(rest[0]) is not int:
        buffers.append(_last(rest.pop(0)))
    if rest:
        given["dim"] = rest.pop(0)
    if "dim" not in given:
        raise ArgumentError(f"{name} needs `dim`")
    for value in rest:
        given[_keyword_of(name, value)] = value
    wanted = [buffer for buffer in buffers if buffer is not None]
    result: Tensor = function(tensor, given.pop("dim"), output_tensor=wanted[0] if wanted else None, **given)
    return result


def _last(buffers: Any) -> Any:
    """The one that gets the result, of a list of buffers or of one."""
    return (buffers or [None])[-1] if isinstance(buffers, list | tuple) else buffers


def _keyword_of(name: str, value: Any) -> str:
    """What an argument is that is given by its place: they are of different kinds."""
    kinds = {Device: "mesh_device", Topology: "topology", MemoryConfig: "memory_config", int: "cluster_axis"}
    if isinstance(value, GlobalSemaphore | list | tuple):
        return "multi_device_global_semaphore"
    keyword = next((keyword for kind, keyword in kinds.items() if isinstance(value, kind)), None)
    if keyword is None:
        raise ArgumentError(f"{name}: a {type(value).__name__} is given by place", help="give it by keyword")
    return keyword


@host_function(name="experimental.neighbor_pad_async")
def neighbor_pad_async(
    input_tensor: Tensor,
    dim: int,
    padding_left: int,
    padding_right: int,
    padding_mode: str = "zeros",
    cluster_axis: int | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **links: Any,
) -> Tensor:
    """A tensor between what its neighbours in the mesh hold next to it (ttnn.experimental.neighbor_pad_async).

    A device at the end of the axis, as one alone is at both, has zeros there, or its own first and last element along
    `dim` again.

    Args:
        input_tensor: On a device.
        dim: Of the padding.
        padding_left: Elements in front.
        padding_right: Elements behind.
        padding_mode: ``"zeros"`` or ``"replicate"``.
        cluster_axis: Of the mesh; None: all devices.
        memory_config: Where the result lies; where the tensor does when omitted.
        **links: By which chips pass data on.

    Raises:
        ArgumentError: There are several devices along the axis; an argument is of another kind.
        ShapeError: There is no such dimension.
    """
    axis = axis_of(dim, len(input_tensor.shape))
    for padding in (padding_left, padding_right):
        if padding < 0:
            raise ArgumentError(f"a padding of neighbor_pad_async must be at least 0, got {padding}")
    if padding_mode not in {"zeros", "replicate"}:
        raise ArgumentError(f"`padding_mode` must be 'zeros' or 'replicate', got {padding_mode!r}")
    whole = _of_one("neighbor_pad_async", input_tensor, cluster_axis, None, memory_config, None, links)
    if padding_mode == "zeros":
        widths = [(padding_left, padding_right) if each == axis else (0, 0) for each in range(len(whole.shape))]
        return operations.pad(whole, tuple(widths), value=0.0)
    front, behind = _part(whole, axis, 0), _part(whole, axis, tuple(whole.shape)[axis] - 1)
    return operations.concat([*[front] * padding_left, whole, *[behind] * padding_right], axis)


def _part(tensor: Tensor, axis: int, place: int) -> Tensor:
    """The elements at one place along an axis."""
    begins = [place if each == axis else 0 for each in range(len(tensor.shape))]
    ends = [place + 1 if each == axis else extent for each, extent in enumerate(tensor.shape)]
    return operations.slice(tensor, begins, ends)


# --- One device along an axis -----------------------------------------------------------------------------------------


def _of_one(
    name: str,
    tensor: Tensor,
    cluster_axis: int | None,
    mesh_device: Device | None,
    memory_config: MemoryConfig | None,
    output_tensor: Tensor | None,
    links: dict[str, Any],
) -> Tensor:
    """A copy of the tensor, which is what a collective along one device gives."""
    _check_links(name, links)
    device = tensor.device()
    if device is None:
        raise ArgumentError(f"{name}: the tensor is on the host", help="move it to a device: `ttnn.to_device`")
    if mesh_device is not None and mesh_device is not device:
        raise ArgumentError(f"{name}: `mesh_device` is {mesh_device}, and the tensor lies on {device}")
    count = _devices_along(name, device, cluster_axis)
    if count > 1:
        along = "" if cluster_axis is None else f" along axis {cluster_axis}"
        raise ArgumentError(
            f"{name}: {device} has {count} devices{along}, and devices of a mesh exchange nothing here",
            help="run it on a mesh of one: `ttnn.open_mesh_device(ttnn.MeshShape(1, 1))`",
        )
    return _copied(tensor, memory_config, output_tensor)


@over_meshes
def _copied(tensor: Tensor, memory_config: MemoryConfig | None, output_tensor: Tensor | None) -> Tensor:
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


_COUNTS = ("chunks_per_sync", "num_buffers_per_channel", "num_links", "num_workers_per_link")
_SEMAPHORES = ("barrier_semaphore", "final_semaphore", "multi_device_global_semaphore")
_LINKS: dict[str, type] = {
    **dict.fromkeys(_COUNTS, int),
    **dict.fromkeys(_SEMAPHORES, GlobalSemaphore),
    "topology": Topology,
    "subdevice_id": SubDeviceId,
    "sub_device_id": SubDeviceId,
    "intermediate_memory_config": MemoryConfig,
    "reduce_type": ReduceType,
    "math_op": ReduceType,
    "use_optimal_ccl_for_llama": bool,
}
"""Keyword that says how chips pass data on -> the kind of its values."""


def _check_links(name: str, links: dict[str, Any]) -> None:
    """Refuse keywords that no collective has, and values of another kind."""
    for keyword, value in links.items():
        if keyword not in _LINKS:
            raise ArgumentError(f"{name} has no keyword `{keyword}`", help=f"it takes {', '.join(sorted(_LINKS))}")
        several = keyword in _SEMAPHORES and isinstance(value, list | tuple)
        for each in value if several else [value] if value is not None else []:
            check_kind(each, _LINKS[keyword], f"{name}: `{keyword}`")
        if keyword in _COUNTS and value is not None and value < 1:
            raise ArgumentError(f"{name}: `{keyword}` must be at least 1, got {value}")
