"""`ttnn.Tensor(...)` and `ttnn.from_buffer`: a tensor from numbers and a shape, or from a torch or numpy array."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.foreign.numpy_array import check_numeric, dtype_from_numpy, is_numpy_array
from ttnn_jit.foreign.torch_tensor import is_torch_tensor
from ttnn_jit.ops.language.kinds import are_numbers
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.buffer import Buffer
from ttnn_jit.runtime.meshes.mesh import MeshDevice
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.runtime.tensors.tensors_from_host import from_numbers
from ttnn_jit.specs.checks import whole_numbers
from ttnn_jit.specs.tensor_spec import DataType, Layout, MemoryConfig, TensorSpec
from ttnn_jit.specs.tile import Tile
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.calling.host_overloads import call_overload, host_overload
from ttnn_jit.ttnn.tensors.tensor_creation import spec_of_new
from ttnn_jit.ttnn.tensors.torch_conversion import from_torch

Parts = tuple[TensorSpec, Device | None, Buffer]


def parts_of(*args: Any, **keywords: Any) -> Parts:
    """Spec, device and buffer of a new tensor, from the arguments of one of the constructor's overloads (ttnn.Tensor).

    Raises:
        ArgumentError: The arguments fit no overload, or one has the wrong type.
        ShapeError: The number of elements does not fit the shape.
        DTypeError: An unsupported element type.
        GridError, L1CapacityError: The tensor does not fit into its memory config.
    """
    data = args[0] if args else keywords.get("data", keywords.get("tensor"))
    is_array = is_torch_tensor(data) or is_numpy_array(data) or isinstance(data, Tensor)
    has_shape = "shape" in keywords or (len(args) > 1 and isinstance(args[1], (list, tuple)))
    made = call_overload("ttnn.Tensor", [_of_array if is_array and not has_shape else _of_numbers], args, keywords)
    return made.spec, made.device(), made.buffer("ttnn.Tensor")


@host_function(over_meshes=True)
def from_buffer(
    buffer: Iterable[float],
    shape: Sequence[int],
    dtype: DataType,
    device: Device,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor on a device from a list of numbers in row-major order (ttnn.from_buffer); on a mesh, one per device.

    Args:
        buffer: The numbers, in a flat list.
        shape: Shape of the tensor.
        dtype: Element type of the tensor.
        device: Device of the tensor.
        layout: ROW_MAJOR when omitted; TILE for block floats, which have no other layout.
        memory_config: Interleaved DRAM when omitted.

    Raises:
        ArgumentError: An argument has the wrong type, or a number is out of the range of `dtype`.
        ShapeError: The number of elements does not fit the shape.
        GridError, L1CapacityError: The tensor does not fit into its memory config.
    """
    numbers = _python_numbers(buffer, dtype, "ttnn.from_buffer")
    _check_count(len(numbers), shape, "ttnn.from_buffer")
    return from_numbers(numbers, spec_of_new(shape, dtype, layout, device, memory_config), device)


@host_overload()
def _of_numbers(
    data: Any,
    shape: Iterable[int],
    data_type: DataType,
    layout: Layout,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
    tile: Tile | None = None,
    pad_value: float = 0,
) -> Tensor:
    extents = whole_numbers(shape, "a shape")
    if is_numpy_array(data) or is_torch_tensor(data):
        _check_count(math.prod(data.shape), extents)
        made: Tensor = _of_array.function(
            data.reshape(extents), data_type, device, layout, memory_config, tile, pad_value=pad_value
        )
        return made
    listed = _python_numbers(data, data_type)
    _check_count(len(listed), extents)
    if isinstance(device, MeshDevice):
        raise _mesh_error()
    return from_numbers(listed, spec_of_new(extents, data_type, layout, device, memory_config), device)


@host_overload()
def _of_array(  # noqa: PLR0913, PLR0917 - ttnn's
    tensor: Any,
    data_type: DataType | None = None,
    device: Device | None = None,
    layout: Layout | None = None,
    mem_config: MemoryConfig | None = None,
    tile: Tile | None = None,
    cq_id: int | None = None,
    pad_value: float | None = None,
    mesh_mapper: object = None,
) -> Tensor:
    if isinstance(tensor, MeshTensor) or isinstance(device, MeshDevice) or mesh_mapper is not None:
        raise _mesh_error()
    if isinstance(tensor, Tensor):
        if any(given is not None for given in (data_type, device, layout, mem_config)):
            raise ArgumentError("ttnn.Tensor of a ttnn tensor makes no copy", help="use `ttnn.clone` or `.to`")
        return tensor
    if is_numpy_array(tensor):
        check_numeric(tensor, "ttnn.Tensor")
        dtype = dtype_from_numpy(tensor) if data_type is None else data_type
        return from_numbers(tensor, spec_of_new(tensor.shape, dtype, layout, device, mem_config), device)
    return from_torch(
        tensor,
        data_type,
        layout=layout,
        device=device,
        memory_config=mem_config,
        tile=tile,
        pad_value=pad_value,
    )


def _check_count(count: int, extents: Sequence[int], name: str = "ttnn.Tensor") -> None:
    if count != math.prod(extents) or min(extents, default=1) < 0:
        raise ShapeError(
            f"{name}: {count} numbers do not make up a shape of {list(extents)}",
            help=f"give {math.prod(extents)} of them in one list, row by row" if min(extents, default=1) >= 0 else None,
        )


def _mesh_error() -> ArgumentError:
    return ArgumentError(
        "ttnn.Tensor makes the tensor of one device", help="use `ttnn.from_torch(..., device=mesh, mesh_mapper=...)`"
    )


def _python_numbers(data: Any, dtype: DataType, name: str = "ttnn.Tensor") -> list[float]:
    """The numbers of a list as Python numbers: ints for integer types if all are integers, else floats."""
    if not isinstance(data, Sequence) or isinstance(data, (str, bytes)):
        raise ArgumentError(
            f"{name} takes numbers in a list, got {type_name(data)}",
            help="`ttnn.Tensor` takes torch tensors and numpy arrays too; it is written "
            f"{_of_numbers.call_text('ttnn.Tensor')} or {_of_array.call_text('ttnn.Tensor')}",
        )
    for number in data:
        if isinstance(number, (list, tuple)) or not are_numbers(number):
            raise ArgumentError(
                f"{name} takes a flat list of numbers, got {type_name(number)} in it",
                help="give the numbers row by row in one list, and the shape beside it",
            )
    if dtype.is_integer and all(isinstance(number, int) for number in data):
        return [dtype.checked_integer(number, f"a number of {name}") for number in data]
    return [float(number) for number in data]
