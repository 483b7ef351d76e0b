"""Tensors of the runtime: a torch tensor per device."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch

from ttnn_jit.ttmlir.ttmlir_runtime.data_types import OF_TORCH, TORCH_DTYPES, DataType
from ttnn_jit.ttmlir.ttmlir_runtime.environments import TensorDesc
from ttnn_jit.ttmlir.ttmlir_runtime.tensor_layouts import Layout


class Tensor:
    """A tensor.

    Args:
        shards: What each device has; one of a tensor that is not shared among devices.
        layout: Its layout; rows on the host by default.

    Attributes:
        devices: How many devices of a mesh have the whole of it.
    """

    def __init__(self, shards: Sequence[torch.Tensor], layout: Layout | None = None) -> None:
        self.shards = list(shards)
        self._layout = layout
        self._retain = True
        self.devices = 1

    @property
    def first(self) -> torch.Tensor:
        """What the first device has."""
        return self.shards[0]

    def get_shape(self) -> list[int]:
        """Its extents."""
        return list(self.first.shape)

    def get_stride(self) -> list[int]:
        """Its strides, in elements."""
        return list(self.first.stride())

    def get_dtype(self) -> DataType:
        """Its dtype."""
        return OF_TORCH[self.first.dtype]

    def get_element_size(self) -> int:
        """The bytes of an element."""
        return self.first.element_size()

    def get_volume(self) -> int:
        """The number of its elements."""
        return self.first.numel()

    def get_logical_volume(self) -> int:
        """The number of its elements."""
        return self.first.numel()

    def get_tensor_desc(self) -> TensorDesc:
        """Its extents and dtype."""
        return TensorDesc(
            self.get_shape(), self.get_stride(), self.get_element_size(), self.get_dtype(), self.get_volume()
        )

    def get_data_buffer(self) -> bytes:
        """The bytes of its elements, in order."""
        dense = self.first.contiguous()
        return ctypes.string_at(dense.data_ptr(), dense.numel() * dense.element_size())

    def get_layout(self) -> Layout:
        """Its layout."""
        return self._layout or Layout(self.get_dtype())

    def has_layout(self, layout: Layout) -> bool:
        """Whether that is its layout."""
        return self.get_layout() == layout

    def is_allocated(self) -> bool:
        """Whether it holds data."""
        return True

    def set_retain(self, retain: bool) -> None:
        """Says whether a program keeps it. What is read stays in any case."""
        self._retain = retain

    def get_retain(self) -> bool:
        """Whether a program keeps it: yes, unless `set_retain` said no."""
        return self._retain


def borrowed(
    pointer: int, shape: Sequence[int], strides: Sequence[int], itemsize: int, dtype: DataType
) -> torch.Tensor:
    """The memory of another owner, who keeps it, as a torch tensor.

    Raises:
        ValueError: No memory has such extents, strides and elements.
    """
    kind = TORCH_DTYPES.get(dtype)
    if kind is None:
        raise ValueError(f"torch has no dtype for {dtype}")
    if itemsize < kind.itemsize:
        raise ValueError(f"elements of {itemsize} bytes are no elements of {dtype}, which have {kind.itemsize}")
    if len(shape) != len(strides) or min((*shape, *strides, 0)) < 0:
        raise ValueError(f"no tensor has the shape {list(shape)} and the strides {list(strides)}")
    if 0 in shape:
        return torch.empty(list(shape), dtype=kind)
    if not pointer:
        raise ValueError("the address of the elements is 0")
    last = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) + 1
    size = last * kind.itemsize
    memory = torch.frombuffer((ctypes.c_char * size).from_address(pointer), dtype=kind)
    return memory.as_strided(list(shape), list(strides))
