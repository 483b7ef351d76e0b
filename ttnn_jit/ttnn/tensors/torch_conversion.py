"""Conversion of torch tensors to ttnn tensors and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError, DTypeError, ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.torch_tensor import require_torch
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.elements.torch_elements import as_signed
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors import tensor as storage
from ttnn_jit.runtime.tensors import tensors_from_host
from ttnn_jit.runtime.tensors.tensor import Tensor, torch_copy
from ttnn_jit.specs.dtypes import dtypes_made_of_torch
from ttnn_jit.specs.tensor_spec import (
    DataType,
    Layout,
    MemoryConfig,
    TensorSpec,
    checked,
)
from ttnn_jit.specs.tile import Tile
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.rank_exchange import gathered_shards
from ttnn_jit.ttnn.tensors.mesh_mappers import (
    BLOCK_COMPOSER,
    BLOCK_MAPPER,
    MeshToTensor,
    ReplicateTensorToMesh,
    TensorToMesh,
)
from ttnn_jit.ttnn.tensors.tensor_creation import spec_of_new

if TYPE_CHECKING:
    import torch


@host_function(without_effect={"no operation reads padding": "pad_value"})
def from_torch(  # noqa: PLR0913 - ttnn's keywords
    tensor: torch.Tensor,
    dtype: DataType | None = None,
    *,
    spec: TensorSpec | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    mesh_mapper: TensorToMesh | None = None,
    tile: Tile | None = None,
    pad_value: float | None = None,
    cq_id: int | None = None,
) -> Tensor:
    """A copy of a torch tensor (ttnn.from_torch).

    Args:
        tensor: A torch tensor of any strides, of floats, integers or booleans.
        dtype: Element type of the copy; floats are rounded to nearest even, integers keep their low bits in a narrower
            type. When omitted it is the tensor's own; float16 becomes BFLOAT16, int64 UINT32, int16 UINT16, bool UINT8.
        spec: Shape, dtype, layout and memory config in one object, instead of these arguments.
        layout: ROW_MAJOR when omitted; TILE for block floats, which have no other layout.
        device: Device of the copy; None for the host.
        memory_config: Interleaved DRAM when omitted; a host tensor keeps it for `to_device`.
        mesh_mapper: Distributes the tensor over a mesh. When omitted the mapper of `distribute` is used, or else the
            tensor is replicated.
        tile: Tiles of 32x32, the only supported ones.
        pad_value: Padding of tiles; ignored, since no operation reads it.
        cq_id: A command queue of the device.

    Raises:
        DTypeError: An unsupported element type, such as complex numbers.
        GridError: A shard does not consist of whole tiles, or the shards do not hold the tensor.
        ShapeError: `spec` has another shape.
        L1CapacityError: The copy does not fit into L1.
        ArgumentError: `spec` is given beside an argument that it contains, `device` is not that of the mapper, or an
            argument has the wrong type.
    """
    check_torch(tensor, "from_torch")
    if device is not None:
        device.require_queue(cq_id, "from_torch")
    if spec is not None and any(given is not None for given in (dtype, layout, memory_config, tile)):
        raise SpecConflictError(
            "from_torch: `spec` excludes `dtype`, `layout`, `memory_config` and `tile`: it contains them"
        )
    mesh_mapper = BLOCK_MAPPER.get() if mesh_mapper is None else mesh_mapper
    if mesh_mapper is None and isinstance(device, MeshDevice):
        mesh_mapper = ReplicateTensorToMesh(device)

    def on(own: torch.Tensor, device: Device | None) -> Tensor:
        whole = spec or spec_of_new(
            own.shape, _inferred_dtype(own) if dtype is None else dtype, layout, device, memory_config
        )
        return tensors_from_host.from_torch(own, checked(whole), device)

    return on(tensor, device) if mesh_mapper is None else _distributed(tensor, device, mesh_mapper, on)


def _distributed(
    tensor: torch.Tensor,
    device: Device | None,
    mapper: TensorToMesh,
    on: Callable[[torch.Tensor, Device | None], Tensor],
) -> Tensor:
    """The parts of a tensor on the devices of a mesh that this rank has, each made by `on`."""
    mesh = _mesh_of_mapper(mapper, device)
    parts, topology = mapper.distributed(tensor)
    if not isinstance(mesh, MeshDevice):
        return on(parts[0], device)
    numbers = [*map(mesh.shape.number, topology.mesh_coords())]
    own = {*mesh.own(numbers)}
    if not own:  # only other ranks have parts
        device = mesh.members()[0] if device else None
        return MeshTensor(mesh, [on(_zeros_like(parts[0]), device)], topology)
    placed = [(part, number) for part, number in zip(parts, numbers, strict=True) if number in own]
    with storage.replicas_share_memory():
        made = [on(part, mesh.devices[number] if device else None) for part, number in placed]
    return MeshTensor(mesh, made, topology)


class SpecConflictError(ArgumentError, RuntimeError):
    """A spec was given beside an argument that it contains (a TT_FATAL in ttnn, hence also a RuntimeError)."""


def _zeros_like(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of zeros."""
    import torch

    return torch.zeros_like(tensor)


def _mesh_of_mapper(mapper: TensorToMesh, device: Device | None) -> Device:
    if device is not None and device is not mapper.mesh_device:
        raise ArgumentError(f"`mesh_mapper` is for {mapper.mesh_device}, and `device` is {device}")
    return mapper.mesh_device


def _inferred_dtype(tensor: torch.Tensor) -> DataType:
    table = dtypes_made_of_torch()
    if tensor.dtype not in table:
        raise DTypeError(
            f"ttnn tensors of {tensor.dtype} are not supported",
            help="cast it: `tensor.to(torch.float32)`, or `tensor.to(torch.int32)` if it holds integers",
        )
    return table[tensor.dtype]


def check_torch(value: object, name: str) -> None:
    """Check that an argument of the function `name` is a dense torch tensor on the CPU.

    Raises:
        ArgumentError: `value` is something else; the help states how to convert it.
        DTypeError: The dtype is complex or quantized.
    """
    require_torch(
        name,
        "give numpy arrays to a jitted function, or use `ttnn.full` and the like; or `pip install torch`",
    )
    import torch

    if not isinstance(value, torch.Tensor):
        known = {"ndarray": "torch.from_numpy(array)", "list": "torch.tensor(values)", "tuple": "torch.tensor(values)"}
        way = known.get(type(value).__name__)
        raise ArgumentError(
            f"{name} takes a torch tensor, got a {type_name(value)}", help=f"pass `{way}`" if way else None
        )
    if value.device.type != "cpu" or value.layout != torch.strided:
        raise ArgumentError(
            f"{name} takes a torch tensor that is dense on the CPU, got {value.layout} on {value.device}",
            help="call `.cpu()` or `.to_dense()` on it first",
        )
    if value.is_quantized:
        raise DTypeError(f"{name}: {value.dtype} numbers are quantized", help="call `.dequantize()` on it first")
    if value.is_complex():
        raise DTypeError(
            f"{name}: {value.dtype} numbers have an imaginary part, which no ttnn tensor holds",
            help="pass `tensor.real` and `tensor.imag` one by one",
        )


@host_function(without_effect={"where ttnn tilizes and untilizes": "device"})
def to_torch(
    tensor: Tensor,
    dtype: torch.dtype | None = None,
    *,
    torch_rank: int | None = None,
    mesh_composer: MeshToTensor | None = None,
    device: Device | None = None,
    cq_id: int | None = None,
) -> torch.Tensor:
    """A torch tensor of the logical shape, copied (ttnn.to_torch).

    Args:
        tensor: A tensor on a device or on the host.
        dtype: Element type of the copy; when omitted that of the tensor, but of UINT16 and UINT32 the signed type with
            the same bits (docs/numerics.md).
        torch_rank: Rank of the copy; leading dimensions of extent 1 are removed.
        mesh_composer: Joins the tensors of a mesh's devices; the composer of `distribute` when omitted.
        device: The device on which ttnn untilizes; ignored.
        cq_id: A command queue of the tensor's device.

    Raises:
        DeallocatedError: The tensor was deallocated.
        ShapeError: A leading dimension to be removed has another extent than 1.
        ArgumentError: An argument has the wrong type.
    """
    own_device = tensor.device()
    if own_device is not None:
        own_device.require_queue(cq_id, "to_torch")
    require_torch("to_torch", "`numpy.asarray(tensor.cpu())` needs numpy alone")
    import torch

    if dtype is not None and not isinstance(dtype, torch.dtype):
        raise ArgumentError(
            f"`dtype` of to_torch must be a torch.dtype, got {type(dtype).__name__}",
            help="write `torch.float32` or `torch.bfloat16`",
        )
    mesh_composer = BLOCK_COMPOSER.get() if mesh_composer is None else mesh_composer
    if isinstance(tensor, MeshTensor) and mesh_composer is not None:
        result = mesh_composer.whole({number: torch_copy(each) for number, each in gathered_shards(tensor).items()})
    else:
        result = torch_copy(tensor.only("to_torch") if isinstance(tensor, MeshTensor) else tensor)
    while torch_rank is not None and result.dim() > torch_rank:
        if not result.dim() or result.shape[0] != 1:
            raise ShapeError(f"to_torch: a tensor of shape {list(tensor.shape)} has no form of rank {torch_rank}")
        result = result.squeeze(0)
    return as_signed(result) if dtype is None else result.to(dtype)
