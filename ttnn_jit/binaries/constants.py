"""Elements of constants as bytes, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type, splat_number
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr

_TORCH = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i1": torch.bool,
} | {f"{sign}{bits}": getattr(torch, f"int{bits}") for sign in ("i", "si") for bits in (8, 16, 32, 64)} | {
    f"ui{bits}": getattr(torch, f"uint{bits}") for bits in (8, 16, 32, 64)
}  # fmt: skip
"""Element type -> dtype of torch."""


def raw_elements(value: Attribute) -> bytes:
    """The elements of a constant in row-major order, in the bytes of its element type.

    Raises:
        CompileError: Its elements have no bytes.
    """
    if isinstance(value, SplatElementsAttr):
        assert isinstance(value.type, TensorType)
        number = splat_number(value.element)
        count = math.prod(value.type.get_shape())
        return _bytes([number], str(value.type.element_type)) * count
    if isinstance(value, DenseIntOrFPElementsAttr):
        element = str(value.type.element_type)
        if element == "i1":
            numbers = [bool(each) for each in value.get_values()]
            shape = math.prod(value.type.get_shape())
            return _bytes(numbers * (shape if len(numbers) == 1 else 1), element)
        width = _dtype(element).itemsize
        count = math.prod(value.type.get_shape())
        data = bytes(value.data.data)
        return data if len(data) == count * width else data * count
    raise CompileError(f"a binary has no constant of {str(value)[:60]}")


def _dtype(element: str) -> torch.dtype:
    found: torch.dtype | None = _TORCH.get(element)
    if found is None:
        raise CompileError(f"a binary has no constant of {element}")
    return found


def _bytes(numbers: list[Any], element: str) -> bytes:
    tensor = torch.tensor(numbers).to(_dtype(element))
    return tensor.view(torch.uint8).numpy().tobytes()


def elements_attribute(data: bytes, element: str, shape: tuple[int, ...]) -> Attribute:
    """The constant of these bytes; one of a single element if all are equal.

    Raises:
        ShapeError: There are more or fewer bytes than the shape takes.
    """
    dtype, count = _dtype(element), math.prod(shape)
    if len(data) != count * dtype.itemsize:
        raise ShapeError(f"a constant of {count:,} elements of {element} has {len(data):,} bytes")
    type_: Any = TensorType(parsed_type(element), [*shape])
    if count == 0:
        return DenseIntOrFPElementsAttr(type_, BytesAttr(b""))
    if data == data[: dtype.itemsize] * count:
        number = torch.frombuffer(bytearray(data[: dtype.itemsize]), dtype=dtype)[0].item()
        kind: Any = FloatAttr if dtype.is_floating_point else IntegerAttr
        return SplatElementsAttr(type_, kind(-1 if number is True else number, type_.element_type))
    if element == "i1":
        return DenseIntOrFPElementsAttr.from_list(type_, [int(each) for each in np.frombuffer(data, np.bool_)])
    return DenseIntOrFPElementsAttr(type_, BytesAttr(data))


_KEEPS_NUMBERS = {
    "ttnn.to_device", "ttnn.to_layout", "ttnn.to_memory_config", "ttnn.typecast", "ttnn.reshape", "ttnn.from_device",
}  # fmt: skip


def number_of_chain(value: SSAValue) -> float | int | None:
    """The number of all elements of a tensor that the text makes of one number; None if it does not."""
    owner = value.owner
    while isinstance(owner, Operation) and owner.name in _KEEPS_NUMBERS:
        owner = owner.operands[0].owner
    if not isinstance(owner, Operation) or owner.name not in {"ttnn.full", "ttnn.constant"}:
        return None
    return splat_number(owner.properties.get("fill_value") or owner.properties.get("value"))
