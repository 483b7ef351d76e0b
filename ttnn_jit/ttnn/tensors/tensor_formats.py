"""Older functions of ttnn that move a tensor to a device, pad or slice it, and change its layout, in one call."""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import Layout, MemoryConfig
from ttnn_jit.ttnn.calling.eager_functions import pad
from ttnn_jit.ttnn.calling.eager_functions import slice as sliced
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.tensors.transfers import to_device, to_layout, to_memory_config


@host_function(in_programs=True)
def format_input_tensor(
    input: Tensor,  # noqa: A002 - ttnn's name
    device: Device,
    padded_shape: Sequence[int],
    pad_value: float,
    target_layout: Layout,
    target_mem_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor moved to `device`, padded at the end to `padded_shape`, in `target_layout` (ttnn.format_input_tensor).

    Args:
        input: A tensor on the host or on the device; returned itself if it has the requested format.
        device: Device of the result.
        padded_shape: Shape of the result; no extent is below that of the tensor.
        pad_value: Value of the padding.
        target_layout: Layout of the result.
        target_mem_config: Memory config of the result; that of the tensor when omitted.

    Raises:
        ShapeError: The shape has another rank, or an extent below that of the tensor.
        ArgumentError: An argument has the wrong type.
    """
    wanted, shape = tuple(padded_shape), tuple(input.shape)
    if len(wanted) != len(shape) or any(new < old for new, old in zip(wanted, shape, strict=True)):
        raise ShapeError(f"format_input_tensor: a tensor of shape {list(shape)} has no padded shape {list(wanted)}")
    tensor = _moved(input, device)
    if wanted != shape:
        tensor = pad(tensor, [(0, new - old) for new, old in zip(wanted, shape, strict=True)], pad_value)
    return _laid_out(tensor, target_layout, target_mem_config)


@host_function(in_programs=True)
def format_output_tensor(
    output: Tensor,
    shape: Sequence[int],
    device: Device,
    target_layout: Layout,
    target_mem_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor moved to `device`, sliced to `shape` from index 0, in `target_layout` (ttnn.format_output_tensor).

    Args:
        output: A tensor on the host or on the device; returned itself if it has the requested format.
        shape: Shape of the result; no extent is above that of the tensor.
        device: Device of the result.
        target_layout: Layout of the result.
        target_mem_config: Memory config of the result; that of the tensor when omitted.

    Raises:
        ShapeError: The shape has another rank, or an extent above that of the tensor.
        ArgumentError: An argument has the wrong type.
    """
    wanted, own = tuple(shape), tuple(output.shape)
    if len(wanted) != len(own) or any(new > old for new, old in zip(wanted, own, strict=True)):
        raise ShapeError(f"format_output_tensor: a tensor of shape {list(own)} has no part of shape {list(wanted)}")
    tensor = _moved(output, device)
    if wanted != own:
        tensor = sliced(tensor, (0,) * len(own), wanted)
    return _laid_out(tensor, target_layout, target_mem_config)


def _moved(tensor: Tensor, device: Device) -> Tensor:
    return to_device(tensor, device) if tensor.device() is None else tensor


def _laid_out(tensor: Tensor, layout: Layout, memory_config: MemoryConfig | None) -> Tensor:
    if tensor.layout is not layout:
        return to_layout(tensor, layout, None, memory_config)
    if memory_config is None or tensor.memory_config() == memory_config:
        return tensor
    return to_memory_config(tensor, memory_config)
