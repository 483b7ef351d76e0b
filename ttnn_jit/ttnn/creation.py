"""Devices, and the way of data into tensors and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ttnn_jit.errors import ArgumentError, DTypeError
from ttnn_jit.runtime import tensor as storage
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.target import SystemDesc, resolve_target
from ttnn_jit.tensor_spec import (
    HOST_MEMORY_CONFIG,
    DataType,
    Layout,
    MemoryConfig,
    TensorSpec,
)

if TYPE_CHECKING:
    import torch

_IGNORED_DEVICE_KEYWORDS = {"dispatch_core_config", "trace_region_size", "l1_small_size", "num_command_queues"}


def open_device(*, device_id: int = 0, target: SystemDesc | str | None = None, **hardware: Any) -> Device:
    """A device whose rules are those of `target` (ttnn.open_device).

    Args:
        device_id: Its number, shown in messages.
        target: A preset's name or a description; else the file of ``SYSTEM_DESC_PATH``, else ``wormhole_b0``.
        **hardware: Keywords of ttnn that have no meaning on a CPU: accepted and ignored.

    Raises:
        ArgumentError: An unknown target or keyword.
    """
    if unknown := set(hardware) - _IGNORED_DEVICE_KEYWORDS:
        raise ArgumentError(f"open_device has no keyword {', '.join(sorted(unknown))}")
    return Device(resolve_target(target), device_id)


def close_device(device: Device) -> None:
    """Give the device's memory back; closing twice is allowed (ttnn.close_device)."""
    device.close()


def from_torch(
    tensor: torch.Tensor,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = None,
    device: Device | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A copy of a torch tensor (ttnn.from_torch).

    Args:
        tensor: Any strides; float32, bfloat16 or float16.
        dtype: Element type of the copy, rounded to nearest even; float16 becomes BFLOAT16 when omitted.
        layout: ROW_MAJOR when omitted.
        device: Where it goes; None keeps it on the host.
        memory_config: Interleaved DRAM when omitted.

    Raises:
        DTypeError: An element type that ttnn_jit lacks.
        GridError: A shard that is not made of whole tiles, or that does not cover the tensor.
    """
    dtype = dtype or _inferred_dtype(tensor)
    if device is None:
        memory_config = HOST_MEMORY_CONFIG
    spec = TensorSpec(tensor.shape, dtype, layout or Layout.ROW_MAJOR, memory_config)
    return storage.from_torch(tensor, spec, device)


def _inferred_dtype(tensor: torch.Tensor) -> DataType:
    import torch

    table = {
        torch.float32: DataType.FLOAT32,
        torch.bfloat16: DataType.BFLOAT16,
        torch.float16: DataType.BFLOAT16,
    }
    if tensor.dtype not in table:
        raise DTypeError(
            f"ttnn tensors of {tensor.dtype} are not supported",
            help="cast it: `tensor.to(torch.float32)` or `tensor.to(torch.bfloat16)`",
        )
    return table[tensor.dtype]


def to_torch(tensor: Tensor) -> torch.Tensor:
    """A torch tensor of the logical shape, copied (ttnn.to_torch).

    Raises:
        DeallocatedError: The tensor was deallocated.
    """
    return tensor.to_torch()


def deallocate(tensor: Tensor) -> None:
    """Free the tensor's memory; using it later raises DeallocatedError (ttnn.deallocate)."""
    tensor.deallocate()
