"""Views of a tensor's elements as torch tensors, and conversion of torch tensors to elements."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from ttnn_jit.runtime.elements.numpy_elements import owning_bytes, pack, zero_padding
from ttnn_jit.runtime.memory.buffer import Buffer
from ttnn_jit.specs.cores.sharding import dense_strides
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import torch


def write_torch(source: torch.Tensor, spec: TensorSpec, buffer: Buffer) -> None:
    """Write the elements of `source` to a tensor of `spec`, of the same shape; padding becomes zero."""
    source = source.detach()
    if spec.dtype.is_block_float:
        pack(source.float().numpy(), spec, buffer)
        return
    zero_padding(spec, buffer)
    if spec.dtype.is_integer and source.is_floating_point():
        limits = spec.dtype.values
        source = source.double().nan_to_num(0.0).clamp(limits[0], limits[-1]).long()
    if spec.dtype.is_upper_half and source.element_size() > spec.dtype.itemsize:
        source = _rounded_to_odd(source)
    logical_view(spec, buffer).copy_(source)


def _rounded_to_odd(numbers: torch.Tensor) -> torch.Tensor:
    """`numbers` rounded to odd in float32, so that rounding them to bfloat16 rounds once.

    torch converts to bfloat16 through float32, and the first of two roundings to nearest may create a tie. Rounding to
    odd creates none: an inexact number becomes the adjacent float32 number whose last bit is odd (Boldo and Melquiond
    2008). Integers beyond 2**53 are rounded to float64 first.
    """
    import torch

    if numbers.dtype is torch.float32:
        return numbers
    exact = numbers.double()
    nearest = exact.float()
    adjacent = torch.nextafter(nearest, torch.where(exact > nearest, math.inf, -math.inf).float())
    keep = (nearest.double() == exact) | (nearest.view(torch.int32) % 2 == 1)
    return torch.where(keep, nearest, adjacent)


def logical_view(spec: TensorSpec, buffer: Buffer) -> torch.Tensor:
    """A view of the logical elements; it keeps `buffer` alive."""
    import torch

    stored = torch.frombuffer(owning_bytes(buffer, spec.nbytes), dtype=spec.dtype.torch)
    return stored.as_strided(tuple(spec.shape), spec.element_strides)


def as_signed(elements: torch.Tensor) -> torch.Tensor:
    """Elements as ttnn gives them to torch: unsigned integers of 16 and 32 bits are the signed ones with these bits.

    torch computes and indexes with few of its own unsigned types. Programs are written for the signed ones.
    """
    import torch

    signed = {torch.uint16: torch.int16, torch.uint32: torch.int32}.get(elements.dtype)
    return elements if signed is None else elements.view(signed)


def torch_tensor(spec: TensorSpec, buffer: Buffer) -> torch.Tensor:
    """A dense torch tensor of `spec`'s shape and dtype over the memory of `buffer`; the tensor keeps it alive.

    torch's own allocator costs a page fault per 4 KB from 32 MB on; the memory of the pool is reused.
    """
    import torch

    if not spec.volume:
        return torch.empty(tuple(spec.shape), dtype=spec.dtype.torch, device="cpu")
    return torch_wrapper(spec)(buffer)


def torch_wrapper(spec: TensorSpec) -> Callable[[Buffer], torch.Tensor]:
    """`torch_tensor` for many buffers of one `spec`, which has elements."""
    import torch

    from ttnn_jit.foreign.torch_private import reinterpret

    memory_at = (ctypes.c_char * spec.nbytes_of_elements).from_address
    shaped = reinterpret()
    frombuffer, dtype = torch.frombuffer, spec.dtype.torch
    shape = tuple(spec.shape)
    strides = dense_strides(shape)

    def wrap(buffer: Buffer) -> torch.Tensor:
        memory = memory_at(buffer.address)
        memory._ttnn_jit_buffer = buffer  # type: ignore[attr-defined]  # ctypes instances have a __dict__
        wrapped: torch.Tensor = shaped(frombuffer(memory, dtype=dtype), shape, strides)
        return wrapped

    return wrap
