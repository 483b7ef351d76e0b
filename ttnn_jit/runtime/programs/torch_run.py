"""Runs a program of host tensors on tensors of torch."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.elements.torch_elements import logical_view, torch_tensor
from ttnn_jit.runtime.memory.buffer import Buffer
from ttnn_jit.runtime.programs.program import Program
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import torch


def run_on_torch(program: Program, inputs: Sequence[torch.Tensor], *, unpacks: bool = True) -> list[torch.Tensor]:
    """The results of a program whose tensors are on the host; each input has the shape and dtype of its spec.

    Args:
        program: The program.
        inputs: Its inputs. Block floats are float32, or uint8: the bytes of their tiles.
        unpacks: Whether results of block floats are float32; else they are the bytes of their tiles.
    """
    plan = program.plan
    held = [_held(tensor, spec) for tensor, spec in zip(inputs, plan.inputs, strict=True)]
    buffers = program.allocate_outputs()
    program.run(*(tensor.data_ptr() for tensor in held), *(buffer.address for buffer in buffers))
    outputs = [_wrapped(spec, buffer) for spec, buffer in zip(plan.outputs, buffers, strict=True)]
    for index, _ in plan.updates:
        if inputs[index].dtype is not held[index].dtype:
            inputs[index].copy_(_unpacked(held[index], plan.inputs[index]))
    visible, specs = [*held, *outputs], (*plan.inputs, *plan.outputs)
    if not unpacks:
        return [visible[index] for index in plan.results]
    return [_unpacked(visible[index], specs[index]) for index in plan.results]


def _held(tensor: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    """The tensor whose memory the program reads."""
    import torch

    is_padded = tuple(spec.padded_shape) != tuple(spec.shape)
    if not spec.dtype.is_block_float and not is_padded:
        return _with_strides(tensor, spec)
    if spec.dtype.is_block_float and tensor.dtype is torch.uint8:
        return tensor.contiguous()
    from ttnn_jit.kernels.block_floats.block_floats import packed

    padded = tensor.detach().to(spec.dtype.torch)
    if is_padded:
        height, width = (1, 1, *spec.shape)[-2:]
        padded = torch.zeros(tuple(spec.padded_shape), dtype=padded.dtype)
        padded[..., :height, :width] = tensor
    if not spec.dtype.is_block_float:
        return padded
    return torch.from_numpy(packed(padded.numpy(), spec.dtype)).clone()  # torch aligns what it allocates


def _unpacked(tensor: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    """The elements of a tensor in memory."""
    import torch

    if not spec.dtype.is_block_float:
        return tensor
    from ttnn_jit.kernels.block_floats.block_floats import unpacked

    height, width = (1, 1, *spec.shape)[-2:]
    padded = torch.from_numpy(unpacked(tensor.numpy(), spec.padded_shape, spec.dtype))
    return padded[..., :height, :width].reshape(tuple(spec.shape)).contiguous()


def _wrapped(spec: TensorSpec, buffer: Buffer) -> torch.Tensor:
    """A result over its memory, or a copy without padding; of block floats the bytes of its tiles."""
    import torch

    if not spec.dtype.is_block_float and tuple(spec.padded_shape) != tuple(spec.shape):
        return logical_view(spec, buffer).contiguous()
    if not spec.dtype.is_block_float or not spec.nbytes:
        return torch_tensor(spec, buffer)
    memory = (ctypes.c_char * spec.nbytes).from_address(buffer.address)
    memory._ttnn_jit_buffer = buffer  # type: ignore[attr-defined]  # it keeps the memory
    return torch.frombuffer(memory, dtype=torch.uint8)


def _with_strides(tensor: torch.Tensor, spec: TensorSpec) -> torch.Tensor:
    """A copy of a tensor with the strides that the program expects; elements that share memory have one value."""
    import torch

    if spec.strides is None:
        return tensor.contiguous()
    if min(spec.strides, default=0) < 0:
        raise ArgumentError(f"torch has no tensor with the strides {spec.strides}", help="`--interpret` needs none")
    strided = torch.empty_strided(tuple(spec.shape), spec.strides, dtype=tensor.dtype)
    return strided.copy_(tensor)
