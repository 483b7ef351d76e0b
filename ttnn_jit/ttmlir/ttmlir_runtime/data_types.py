"""The dtypes of runtime tensors, with those of torch and of IR."""

from __future__ import annotations

import enum

import torch


class DataType(enum.Enum):
    """A dtype; its value is the number of tt-mlir's schema."""

    Float32 = 0
    Float16 = 1
    BFloat16 = 2
    BFP_Float8 = 3
    BFP_BFloat8 = 4
    BFP_Float4 = 5
    BFP_BFloat4 = 6
    BFP_Float2 = 7
    BFP_BFloat2 = 8
    UInt32 = 9
    UInt16 = 10
    UInt8 = 11
    Int32 = 12
    Float64 = 13
    Int64 = 14
    UInt64 = 15
    Int16 = 16
    Int8 = 17
    Bool = 18


TORCH_DTYPES: dict[DataType, torch.dtype] = {
    kind: getattr(torch, kind.name.lower()) for kind in DataType if hasattr(torch, kind.name.lower())
}
"""Those that torch has; it has no block floats."""
OF_TORCH = {dtype: kind for kind, dtype in TORCH_DTYPES.items()}

_ON_DEVICE = {
    torch.float64: torch.float32,
    torch.float16: torch.bfloat16,
    torch.bool: torch.bfloat16,
    torch.int64: torch.int32,
    torch.uint64: torch.uint32,
    torch.int16: torch.uint16,
    torch.int8: torch.uint8,
}
"""The dtypes that no tensor of ttnn has, with those that tt-mlir gives it instead."""


def on_device(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor in the dtype that it has on a device: integers keep their low bits."""
    return tensor.to(device_dtype(tensor.dtype))


def device_dtype(dtype: torch.dtype) -> torch.dtype:
    """The dtype that a tensor has on a device."""
    return _ON_DEVICE.get(dtype, dtype)


def program_dtype(kind: DataType) -> torch.dtype:
    """The dtype in which a program takes its inputs of this one: block floats are passed as floats."""
    return TORCH_DTYPES.get(kind, torch.float32)
