"""Collectives of `ttnn.experimental`, which take semaphores and persistent buffers; several have overloads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.collectives.device_exchanges import (
    ALL_GATHER,
    ALL_GATHER_REVERSED,
    ALL_REDUCE,
    ALL_TO_ALL,
    REDUCE_SCATTER,
)
from ttnn_jit.ops.families.collective import REDUCE_SUM, Collective
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.host_overloads import call_overload, host_overload
from ttnn_jit.ttnn.devices.semaphores import GlobalSemaphore
from ttnn_jit.ttnn.meshes.exchange import exchange
from ttnn_jit.ttnn.meshes.fabric_options import WITHOUT_LINKS, FabricOptions, WorkerOptions
from ttnn_jit.ttnn.meshes.topology import ReduceType, Topology, reduction_of
from ttnn_jit.ttnn.namespace.lazy_names import NO_LINKS
from ttnn_jit.ttnn.tensors.transfers import typecast


class _ChunkOptions(FabricOptions, total=False):
    mm_block_ht: int | None
    mm_block_wt: int | None
    mm_cores_y: int | None
    tiles_per_chunk: int | None


_CHUNKS = {NO_LINKS: " ".join(["multi_device_global_semaphore", *_ChunkOptions.__annotations__])}


@host_function(exchanges=True, name="experimental.all_gather_async")
def all_gather_async(*args: Any, **keywords: Any) -> Tensor:
    """`all_gather` with the overloads of ttnn.experimental.all_gather_async.

    The overloads are ``(tensor, dim, ...)``, ``(tensor, persistent_output_buffer, dim, ...)`` and ``(tensor, dim,
    cluster_axis, mesh_device, topology, ...)``. Semaphores and other options of the transfer, also by position, are
    checked and have no effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or the buffer does not fit the result.
    """
    return _asynchronous("all_gather_async", ALL_GATHER, (), args, keywords)


@host_function(exchanges=True, name="experimental.all_gather_async_reversed")
def all_gather_async_reversed(*args: Any, **keywords: Any) -> Tensor:
    """`all_gather_async` in the reversed order of devices (ttnn.experimental.all_gather_async_reversed).

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or the buffer does not fit the result.
    """
    return _asynchronous("all_gather_async_reversed", ALL_GATHER_REVERSED, (), args, keywords)


@host_function(exchanges=True, name="experimental.strided_all_gather_async", without_effect=_CHUNKS)
def strided_all_gather_async(
    input_tensor: Tensor,
    persistent_output_buffer: Tensor | None,
    dim: int,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    cluster_axis: int | None = None,
    **_chunk_options: Unpack[_ChunkOptions],
) -> Tensor:
    """`all_gather` in another order of transfers (ttnn.experimental.strided_all_gather_async).

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, or the buffer does not fit the result.
    """
    return exchange(
        "strided_all_gather_async",
        ALL_GATHER,
        input_tensor,
        dim,
        cluster_axis=cluster_axis,
        memory_config=memory_config,
        output=persistent_output_buffer,
    )


@host_function(exchanges=True, name="experimental.reduce_scatter_minimal_async")
def reduce_scatter_minimal_async(*args: Any, **keywords: Any) -> Tensor:
    """`reduce_scatter` with the overloads of ttnn.experimental.reduce_scatter_minimal_async.

    The overloads are ``(tensor, dim, ...)`` and ``(tensor, persistent_output_buffers, dim, ...)``; the last buffer
    receives the result. Other arguments are those of `all_gather_async`.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, it has no equal parts, or the buffer does not fit the result.
    """
    return _asynchronous("reduce_scatter_minimal_async", REDUCE_SCATTER, (REDUCE_SUM,), args, keywords)


def _asynchronous(
    name: str, collective: Collective, statics: tuple[Any, ...], args: tuple[Any, ...], keywords: dict[str, Any]
) -> Tensor:
    """A call of a collective along a dimension, with the arguments of one of the overloads below."""
    tensor, dim, buffers, options = call_overload(name, (_by_dimension, _into_buffers, _along_an_axis), args, keywords)
    return exchange(
        name,
        collective,
        tensor,
        dim,
        *statics,
        cluster_axis=options.get("cluster_axis"),
        mesh_device=options.get("mesh_device"),
        memory_config=options.get("memory_config"),
        output=([None, *buffers])[-1],
    )


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
    **_worker_options: Unpack[WorkerOptions],
) -> _Call:
    given = {"cluster_axis": cluster_axis, "mesh_device": mesh_device, "memory_config": memory_config}
    return input_tensor, dim, [] if persistent_output_tensor is None else [persistent_output_tensor], given


@host_function(exchanges=True, name="experimental.all_reduce_async")
def all_reduce_async(*args: Any, **keywords: Any) -> Tensor:
    """`all_reduce` with the overloads of ttnn.experimental.all_reduce_async.

    The overloads are ``(tensor, num_devices, *semaphores, math_op)``,
    ``(tensor, cluster_axis, mesh_device, *semaphores, math_op)`` with three semaphores each, and
    ``(tensor, buffer_tensor, cluster_axis, mesh_device, semaphore)``, which takes `dtype` too. Semaphores, the buffer
    and options of the transfer have no effect.

    Raises:
        ArgumentError: There is no such axis or reduction, or an argument has the wrong type.
    """
    overloads = (_reduced_by_axis, _reduced_by_count, _reduced_in_buffer)
    tensor, (axis, mesh), reduction, options = call_overload("all_reduce_async", overloads, args, keywords)
    config, dtype = options.get("memory_config"), options.get("dtype")
    summed = exchange(
        "all_reduce_async",
        ALL_REDUCE,
        tensor,
        reduction,
        cluster_axis=axis,
        mesh_device=mesh,
        memory_config=config,
    )
    return summed if dtype is None or dtype is tensor.dtype else typecast(summed, dtype, config)


class _ReduceOptions(FabricOptions, total=False):
    memory_config: MemoryConfig | None
    dtype: DataType | None
    use_noc1_only: bool | None


_ReduceCall = tuple[Tensor, tuple[int | None, Device | None], str, Any]


@host_overload()
def _reduced_by_axis(
    input_tensor: Tensor,
    cluster_axis: int | None = None,
    mesh_device: Device | None = None,
    barrier_semaphores: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    rs_global_semaphores: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    ag_global_semaphores: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    math_op: ReduceType | None = None,
    **options: Unpack[_ReduceOptions],
) -> _ReduceCall:
    return input_tensor, (cluster_axis, mesh_device), reduction_of("all_reduce_async", math_op), options


@host_overload()
def _reduced_by_count(
    input_tensor: Tensor,
    num_devices: int,
    barrier_semaphores: GlobalSemaphore | Sequence[GlobalSemaphore],
    rs_global_semaphores: GlobalSemaphore | Sequence[GlobalSemaphore],
    ag_global_semaphores: GlobalSemaphore | Sequence[GlobalSemaphore],
    math_op: ReduceType,
    **options: Unpack[_ReduceOptions],
) -> _ReduceCall:
    count = len(input_tensor.placed) if isinstance(input_tensor, MeshTensor) else 1
    if num_devices != count:
        raise ArgumentError(f"all_reduce_async: `num_devices` is {num_devices}, and the tensor is on {count}")
    return input_tensor, (None, None), reduction_of("all_reduce_async", math_op), options


@host_overload()
def _reduced_in_buffer(
    input_tensor: Tensor,
    buffer_tensor: Tensor,
    cluster_axis: int | None,
    mesh_device: Device | None,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore],
    **options: Unpack[_ReduceOptions],
) -> _ReduceCall:
    return input_tensor, (cluster_axis, mesh_device), REDUCE_SUM, options


@host_function(exchanges=True, name="experimental.all_to_all_async_generic", without_effect=WITHOUT_LINKS)
def all_to_all_async_generic(
    input_tensor: Tensor,
    in_dim: int,
    out_dim: int,
    persistent_output_buffer: Tensor | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    cluster_axis: int | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """A tensor split along `in_dim` over the devices, split along `out_dim` instead.

    Device i gets part i along `out_dim` of every device's tensor, concatenated along `in_dim`
    (ttnn.experimental.all_to_all_async_generic).

    Args:
        input_tensor: A tensor of a mesh.
        in_dim: The dimension along which parts are concatenated.
        out_dim: The dimension along which tensors are split.
        persistent_output_buffer: The tensor that receives the result, and is returned.
        memory_config: Memory config of the result; that of the tensor when omitted.
        cluster_axis: Axis of the mesh; None for all devices.
        **_links: Options of the links between chips; without effect.

    Raises:
        ArgumentError: There is no such axis, or an argument has the wrong type.
        ShapeError: There is no such dimension, it has no equal parts, or the buffer does not fit the result.
    """
    return exchange(
        "all_to_all_async_generic", ALL_TO_ALL, input_tensor, in_dim, out_dim, cluster_axis=cluster_axis,
        memory_config=memory_config, output=persistent_output_buffer,
    )  # fmt: skip


_TRANSFER = {NO_LINKS: f"multi_device_global_semaphore persistent_intermediate_buffer {WITHOUT_LINKS[NO_LINKS]}"}


@host_function(exchanges=True, name="experimental.all_to_all_async", without_effect=_TRANSFER)
def all_to_all_async(
    input_tensor: Tensor,
    persistent_intermediate_buffer: Tensor | None = None,
    persistent_output_buffer: Tensor | None = None,
    in_dim: int = 0,
    out_dim: int = 1,
    multi_device_global_semaphore: GlobalSemaphore | Sequence[GlobalSemaphore] | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **_fabric_options: Unpack[FabricOptions],
) -> Tensor:
    """`all_to_all_async_generic` over all devices, into a buffer (ttnn.experimental.all_to_all_async).

    Raises:
        ArgumentError: An argument has the wrong type.
        ShapeError: There is no such dimension, it has no equal parts, or the buffer does not fit the result.
    """
    return exchange(
        "all_to_all_async", ALL_TO_ALL, input_tensor, in_dim, out_dim,
        memory_config=memory_config, output=persistent_output_buffer,
    )  # fmt: skip
