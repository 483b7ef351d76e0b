"""Conversions between host and device, layouts, memory configs and dtypes; only `typecast` runs a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.ops import TYPECAST
from ttnn_jit.ops.host_ops import HostOps
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor, over_meshes
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors import tensors_from_host
from ttnn_jit.runtime.tensors.tensor import Tensor, torch_copy
from ttnn_jit.specs.cores.sharding import folded_2d
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import (
    DRAM_MEMORY_CONFIG,
    HOST_MEMORY_CONFIG,
    CoreCoord,
    CoreRangeSet,
    DataType,
    Layout,
    MemoryConfig,
    ShardSpec,
    TensorSpec,
    checked,
)
from ttnn_jit.ttnn.calling.eager_operation import function_of
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.tensor_creation import check_ttnn_dtype


@host_function(in_programs=True, over_meshes=True, shares_memory=True)
def to_device(
    _ops: HostOps[Tensor],
    tensor: Tensor,
    device: Device,
    memory_config: MemoryConfig | None = None,
    *,
    cq_id: int | None = None,
    queue_id: int | None = None,
) -> Tensor:
    """A copy on `device`, with `memory_config` or that of the tensor (ttnn.to_device).

    Raises:
        ArgumentError: There is no such command queue.
        GridError, L1CapacityError: The tensor does not fit into the memory config.
        DeallocatedError, DeviceError: The tensor was deallocated, or the device is closed.
    """
    _check_queues(device, "to_device", cq_id, queue_id)
    if memory_config is None and tensor.memory_config() == HOST_MEMORY_CONFIG:
        memory_config = DRAM_MEMORY_CONFIG
    return _ops.with_layout(tensor, tensor.spec.with_(memory_config=memory_config), device, "to_device")


@host_function(over_meshes=True, shares_memory=True, without_effect={"every call waits for its work": "blocking"})
def from_device(
    tensor: Tensor,
    blocking: bool = True,
    *,
    cq_id: int | None = None,
    queue_id: int | None = None,
) -> Tensor:
    """A copy on the host (ttnn.from_device), which is complete when the call returns."""
    _check_queues(tensor.device(), "from_device", cq_id, queue_id)
    spec = tensor.spec.with_(memory_config=HOST_MEMORY_CONFIG)
    return storage.stored_as(tensor, spec, None, "from_device")


@host_function(in_programs=True, over_meshes=True)
def to_memory_config(
    _ops: HostOps[Tensor],
    tensor: Tensor,
    memory_config: MemoryConfig,
    dtype: DataType | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """A copy with another memory config on the same device (ttnn.to_memory_config).

    Args:
        tensor: A tensor on a device.
        memory_config: Memory config of the result.
        dtype: Element type of the result, cast as by `typecast`; that of the tensor when omitted.
        output_tensor: The tensor that receives the result, and is returned.

    Raises:
        ArgumentError: The tensor is on the host, or an argument has the wrong type.
        ShapeError: `output_tensor` does not have the spec of the result.
        GridError, L1CapacityError: The tensor does not fit into the memory config.
    """
    device = _device_of(tensor, "to_memory_config")
    if dtype is not None and dtype is not tensor.dtype:
        tensor = typecast(tensor, dtype)
    spec = checked(tensor.spec.with_(memory_config=memory_config))
    if output_tensor is not None:
        _check_output(_ops, output_tensor, spec, device)
        _overwrite(output_tensor, tensor, "to_memory_config")
        return output_tensor
    return _ops.with_layout(tensor, spec, device, "to_memory_config")


def _check_output(ops: HostOps[Tensor], output: Tensor, spec: TensorSpec, device: Device) -> None:
    name = "to_memory_config"
    if ops.device is not None:
        raise ArgumentError(
            f"{name} writes into no tensor inside a jitted function",
            help=f"write `ttnn.copy({name}(x, ...), output)`, or leave `output_tensor` out",
        )
    if output.spec is not spec or output.device() is not device:
        raise ShapeError(
            f"{name}: `output_tensor` is {output.spec} on {output.device()}, the result {spec} on {device}"
        )


@host_function(in_programs=True, aliases={"memory_config": "output_memory_config"})
def reshard(input_tensor: Tensor, memory_config: MemoryConfig, output_tensor: Tensor | None = None) -> Tensor:
    """A copy of a sharded tensor with another sharded memory config, in `output_tensor` if given (ttnn.reshard).

    Raises:
        ArgumentError: One of the memory configs is not sharded; and the errors of `to_memory_config`.
    """
    _check_transfer(input_tensor, memory_config, (True, True), "reshard: both memory configs must be sharded")
    return to_memory_config(input_tensor, memory_config, None, output_tensor)


@host_function(in_programs=True, aliases={"memory_config": "grid sharded_memory_config"})
def interleaved_to_sharded(
    input_tensor: Tensor,
    memory_config: MemoryConfig | CoreCoord | Sequence[int] | CoreRangeSet,
    shard_shape: Any = None,
    shard_scheme: Any = None,
    shard_orientation: Any = None,
    output_dtype: DataType | None = None,
) -> Tensor:
    """A sharded copy of an interleaved tensor, cast to `output_dtype` (ttnn.interleaved_to_sharded).

    ttnn has two overloads. In the first, the second argument is a sharded memory config, optionally followed by the
    dtype. In the second, it is a core grid, as (columns, rows) or a set of cores, followed by the description of the
    shards in L1.

    Raises:
        ArgumentError: The tensor is sharded, the memory config is not, or an argument has the wrong type; and the
            errors of `to_memory_config`.
    """
    if isinstance(memory_config, MemoryConfig):
        config, output_dtype = memory_config, shard_shape if output_dtype is None else output_dtype
    else:
        from ttnn_jit.specs.cores.core_sets import shards_in_l1

        config = shards_in_l1(memory_config, shard_shape, shard_scheme, shard_orientation)
    rule = "interleaved_to_sharded goes from an interleaved tensor to a sharded one"
    _check_transfer(input_tensor, config, (False, True), rule)
    return to_memory_config(input_tensor, config, output_dtype)


@host_function(in_programs=True)
def sharded_to_interleaved(
    input_tensor: Tensor, memory_config: MemoryConfig | None = None, output_dtype: DataType | None = None
) -> Tensor:
    """An interleaved copy of a sharded tensor, cast to `output_dtype` (ttnn.sharded_to_interleaved).

    `memory_config` is DRAM when omitted. An interleaved tensor is returned itself, whatever the other arguments, as by
    ttnn.

    Raises:
        ArgumentError: `memory_config` is sharded; and the errors of `to_memory_config`.
    """
    if not input_tensor.is_sharded():
        return input_tensor
    memory_config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    rule = "sharded_to_interleaved goes to an interleaved memory config"
    _check_transfer(input_tensor, memory_config, (True, False), rule)
    return to_memory_config(input_tensor, memory_config, output_dtype)


def _check_transfer(tensor: Tensor, config: MemoryConfig, sharded_from_and_to: tuple[bool, bool], rule: str) -> None:
    if (tensor.is_sharded(), config.is_sharded()) != sharded_from_and_to:
        raise ArgumentError(rule, help="use `ttnn.to_memory_config`")


@host_function(in_programs=True, over_meshes=True, without_effect={"where ttnn tilizes and untilizes": "device"})
def to_layout(
    _ops: HostOps[Tensor],
    tensor: Tensor,
    layout: Layout,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    device: Device | None = None,
) -> Tensor:
    """A copy in another layout, on the same device or the host (ttnn.to_layout); tiles are padded with zeros.

    Block floats, which exist only in tiles, become bfloat16 in rows. A shard that spans the tensor along a dimension
    still does so in the new layout.

    Args:
        tensor: A tensor on a device or on the host; the result has its logical shape.
        layout: ROW_MAJOR, or TILE with tiles of 32x32 elements.
        dtype: Element type of the result, cast as by `typecast`; that of the tensor when omitted.
        memory_config: Memory config of the result; that of the tensor when omitted.
        device: The device on which ttnn converts; ignored.

    Raises:
        ArgumentError: An argument has the wrong type.
        GridError, L1CapacityError: The tensor does not fit into the memory config.
    """
    if dtype is None and layout is Layout.ROW_MAJOR and tensor.dtype.is_block_float:
        dtype = tensor.dtype.unpacked
    if dtype is None or dtype is tensor.dtype:
        return _in_layout(_ops, tensor, layout, memory_config)
    if layout is Layout.TILE:  # block floats have tiles only
        return typecast(_in_layout(_ops, tensor, layout, memory_config), dtype)
    return _in_layout(_ops, typecast(tensor, dtype), layout, memory_config)


def _in_layout(ops: HostOps[Tensor], tensor: Tensor, layout: Layout, memory_config: MemoryConfig | None) -> Tensor:
    own = tensor.memory_config()
    unsharded = TensorSpec(tensor.shape, tensor.dtype, layout, own.unsharded)
    config = _resharded(own, tensor.spec, unsharded) if memory_config is None else memory_config
    spec = unsharded.with_(memory_config=config)
    return ops.with_layout(tensor, spec, tensor.device(), "to_layout")


def _resharded(config: MemoryConfig, before: TensorSpec, after: TensorSpec) -> MemoryConfig:
    """The memory config after a change of padding: a shard that spans a dimension of the tensor still spans it."""
    if config.shard_spec is None:
        return config
    extents = zip(config.shard_spec.shape, folded_2d(before.padded_shape), folded_2d(after.padded_shape), strict=True)
    shape = (now if extent == then else extent for extent, then, now in extents)
    return replace(config, shard_spec=ShardSpec(config.shard_spec.grid, shape, config.shard_spec.orientation))


@host_function(in_programs=True, over_meshes=True, chip_only="sub_core_grids")
def typecast(
    input_tensor: Tensor,
    dtype: DataType,
    memory_config: MemoryConfig | None = None,
    *,
    sub_core_grids: CoreRangeSet | None = None,
) -> Tensor:
    """A copy in another dtype (ttnn.typecast); floats are rounded once, to nearest even.

    A float is truncated to an integer and saturated at the bounds of the type; NaN becomes 0. An integer keeps its low
    bits in a narrower type. On a device `typecast` is an operation with the rounding of its target: on chip targets a
    NaN becomes +infinity in bfloat16, and bfloat16 denormals become zero. On the host NaN stays NaN.

    Args:
        input_tensor: A tensor on a device or on the host; the result is there too, with its shape and layout.
        dtype: Element type of the result; block floats only for tensors in tiles.
        memory_config: Memory config of the result; that of the tensor when omitted.
        sub_core_grids: Cores of a chip; ignored.

    Raises:
        ArgumentError: An argument has the wrong type.
        CompileError: A cast of a ROW_MAJOR tensor to block floats.
        DTypeError: The dtype exists only in torch and numpy.
        DeallocatedError: The tensor was deallocated.
    """
    if type(input_tensor) is Tensor:  # and not a tracer
        check_ttnn_dtype(dtype)
        input_tensor.memory(TYPECAST.name)
        if input_tensor.device() is None:
            spec = input_tensor.spec.with_(dtype=dtype, memory_config=memory_config)
            return tensors_from_host.from_torch(torch_copy(input_tensor), checked(spec), None)
    options: dict[str, Any] = {} if memory_config is None else {"memory_config": memory_config}
    return _TYPECAST(input_tensor, dtype, **options)


def in_float32(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """A function of one tensor, computed in float32 and rounded to the dtype of `x` once."""
    result = function(x if x.dtype is COMPUTE_TYPE else typecast(x, COMPUTE_TYPE))
    return result if x.dtype is COMPUTE_TYPE else typecast(result, x.dtype)


vars(typecast)["__ttnn_overloads__"] = (TYPECAST,)
_TYPECAST = function_of(TYPECAST)


@host_function(over_meshes=True)
def to_dtype(tensor: Tensor, dtype: DataType) -> Tensor:
    """A copy of a host tensor in another dtype, rounded as by `typecast` on the host (ttnn.to_dtype).

    A tensor that has this dtype is returned itself, also on a device.

    Raises:
        ArgumentError: The tensor is on a device, or an argument has the wrong type.
    """
    if tensor.dtype is dtype:
        return tensor
    if tensor.device() is not None:
        raise ArgumentError(
            f"to_dtype takes a tensor on the host, and this one is on {tensor.device()}",
            help="use `ttnn.typecast`, or `ttnn.from_device` first",
        )
    return typecast(tensor, dtype)


@host_function(in_programs=True, over_meshes=True)
def reallocate(_ops: HostOps[Tensor], tensor: Tensor, memory_config: MemoryConfig | None = None) -> Tensor:
    """A copy of a device tensor in new memory; the tensor is deallocated (ttnn.reallocate).

    Raises:
        ArgumentError: The tensor is on the host.
        GridError, L1CapacityError: The copy does not fit beside the tensor, which then stays allocated.
    """
    device = _device_of(tensor, "reallocate")
    moved = _ops.with_layout(tensor, tensor.spec.with_(memory_config=memory_config), device, "reallocate")
    _ops.free(tensor)
    return moved


@host_function(in_programs=True)
def move(input_tensor: Tensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """Another name of `reallocate` (ttnn.move)."""
    return reallocate(input_tensor, memory_config)


@host_function(in_programs=True, over_meshes=True, chip_only="compute_kernel_config")
def clone(
    _ops: HostOps[Tensor],
    input: Tensor,  # noqa: A002 - ttnn's name
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    *,
    compute_kernel_config: object = None,
) -> Tensor:
    """A copy (ttnn.clone)."""
    if dtype is not None and dtype is not input.dtype:
        return typecast(input, dtype, memory_config)
    return _ops.with_layout(input, input.spec.with_(memory_config=memory_config), input.device(), "clone")


@host_function()
def copy_host_to_device_tensor(
    host_tensor: Tensor,
    device_tensor: Tensor,
    cq_id: int | None = None,
) -> None:
    """Overwrite the elements of a device tensor with those of a host tensor (ttnn.copy_host_to_device_tensor).

    Raises:
        ShapeError: Shape, dtype or layout differ.
        ArgumentError: The first tensor is not on the host, the second not on a device, or there is no such queue.
    """
    name = "copy_host_to_device_tensor"
    if host_tensor.device() is not None or device_tensor.device() is None:
        raise ArgumentError(f"{name} takes a tensor on the host, then one on a device")
    _check_queues(device_tensor.device(), name, cq_id)
    _overwrite(device_tensor, host_tensor, name)


@host_function(without_effect={"every call waits for its work": "blocking"})
def copy_device_to_host_tensor(
    device_tensor: Tensor,
    host_tensor: Tensor,
    blocking: bool = True,
    cq_id: int | None = None,
) -> None:
    """Overwrite the elements of a host tensor with those of a device tensor (ttnn.copy_device_to_host_tensor).

    Raises:
        ShapeError: Shape, dtype or layout differ.
        ArgumentError: The first tensor is not on a device, the second not on the host, only the first is of a mesh, or
            there is no such command queue.
    """
    name = "copy_device_to_host_tensor"
    if device_tensor.device() is None or host_tensor.device() is not None:
        raise ArgumentError(f"{name} takes a tensor on a device, then one on the host")
    if isinstance(device_tensor, MeshTensor) and not isinstance(host_tensor, MeshTensor):
        raise ArgumentError(
            f"{name}: one tensor on the host does not hold those of {len(device_tensor.tensors)} devices",
            help="use `ttnn.from_device`, or `ttnn.get_device_tensors` and copy one of them",
        )
    _check_queues(device_tensor.device(), name, cq_id)
    _overwrite(host_tensor, device_tensor, name)


@host_function(observed=False)
def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """The tensors of a mesh's devices in row-major order (ttnn.get_device_tensors); of ranks, those of this one."""
    return [tensor.on(number) for number in tensor.numbers] if isinstance(tensor, MeshTensor) else [tensor]


@host_function(in_programs=True, without_effect={"memory is freed at once": "force"})
def deallocate(tensor: Tensor, force: bool = True) -> None:
    """Free the tensor's memory; using it later raises DeallocatedError (ttnn.deallocate)."""
    tensor.deallocate()


@host_function(in_programs=True, observed=False)
def is_sharded(tensor: Tensor) -> bool:
    """Whether a tensor is sharded (ttnn.is_sharded)."""
    return tensor.is_sharded()


@host_function(in_programs=True, observed=False)
def is_tensor_storage_on_device(tensor: Tensor) -> bool:
    """Whether a tensor is on a device (ttnn.is_tensor_storage_on_device)."""
    return tensor.device() is not None


@host_function(in_programs=True, observed=False)
def get_memory_config(tensor: Tensor) -> MemoryConfig:
    """The memory config of a tensor (ttnn.get_memory_config)."""
    return tensor.memory_config()


def _device_of(tensor: Tensor, name: str) -> Device:
    """The device of a tensor; refuses a host tensor."""
    device = tensor.device()
    if device is None:
        raise ArgumentError(
            f"{name}: the tensor is on the host", help="move it to a device: `ttnn.to_device(tensor, device)`"
        )
    return device


def _check_queues(device: Device | None, name: str, *queues: int | None) -> None:
    if device is not None:
        for queue in queues:
            device.require_queue(queue, name)


@over_meshes
def _overwrite(target: Tensor, source: Tensor, name: str) -> None:
    for field in ("shape", "dtype", "layout"):
        ours, theirs = getattr(target, field), getattr(source, field)
        if ours != theirs:
            raise ShapeError(f"{name}: the tensors differ in {field}, {theirs} and {ours}")
    storage.write_elements(source, target, name)
