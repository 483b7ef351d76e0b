"""Tensors moved to a device, padded or cut, and laid out in one call, by older names of ttnn."""

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
    """A tensor on `device`, padded behind to `padded_shape`, in rows or in tiles (ttnn.format_input_tensor).

    Args:
        input: On the host or on the device; one that has the shape and the layout on it already is returned itself.
        device: Where the result lies.
        padded_shape: The result's shape; no extent is below the tensor's.
        pad_value: What it is padded with.
        target_layout: The result's layout.
        target_mem_config: Where on the device it lies; where the tensor does when omitted.

    Raises:
        ShapeError: The shape has another rank, or an extent below the tensor's.
        ArgumentError: An argument is of another kind.
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
    """The first elements of a tensor along every dimension, as many as `shape` has (ttnn.format_output_tensor).

    Args:
        output: On the host or on the device; one that has the shape and the layout on it already is returned itself.
        shape: The result's shape; no extent is above the tensor's.
        device: Where the result lies.
        target_layout: The result's layout.
        target_mem_config: Where on the device it lies; where the tensor does when omitted.

    Raises:
        ShapeError: The shape has another rank, or an extent above the tensor's.
        ArgumentError: An argument is of another kind.
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
