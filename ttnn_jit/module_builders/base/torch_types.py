"""Element types of torch and of texts."""

from __future__ import annotations

from typing import Any

import torch
from xdsl.dialects import builtin

from ttnn_jit.dialects.text_calls.tensor_types import dtype_in_text
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttmlir.dialect_attributes import attribute_wrapper
from ttnn_jit.ttmlir.mlir_attributes import DenseElementsAttr
from ttnn_jit.ttmlir.mlir_types import Type
from ttnn_jit.ttmlir.wrapping import wrapped

_UNSIGNED = builtin.Signedness.UNSIGNED
_TYPES = {
    torch.bfloat16: builtin.bf16,
    torch.float16: builtin.f16,
    torch.float32: builtin.f32,
    torch.float64: builtin.f64,
    torch.bool: builtin.i1,
    torch.complex64: builtin.ComplexType(builtin.f32),
    **{getattr(torch, f"int{bits}"): builtin.IntegerType(bits) for bits in (8, 16, 32, 64)},
    **{getattr(torch, f"uint{bits}"): builtin.IntegerType(bits, _UNSIGNED) for bits in (8, 16, 32, 64)},
}
_DTYPES = {kind: dtype for dtype, kind in _TYPES.items()} | {
    builtin.IntegerType(bits, builtin.Signedness.SIGNED): getattr(torch, f"int{bits}") for bits in (8, 16, 32, 64)
}
_QUANTIZED = (torch.qint32, torch.qint8, torch.quint8)


@dataclass(frozen=True)
class TypeInfo:
    """An element type, quantized if it has a scale.

    Attributes:
        dtype: The element type.
        scale: The distance of two neighbouring numbers.
        zero_point: The integer that stands for zero.
    """

    dtype: torch.dtype
    scale: float | None = None
    zero_point: int | None = None


def type_of(dtype: torch.dtype | TypeInfo | Type) -> Any:
    """The type of MLIR of an element type.

    Raises:
        TypeError: It has none.
    """
    if isinstance(dtype, Type):
        return dtype
    info = dtype if isinstance(dtype, TypeInfo) else TypeInfo(dtype)
    if info.dtype in _QUANTIZED:
        if info.scale is None or info.zero_point is None:
            raise TypeError(f"{info.dtype} needs the scale and the zero point of a TypeInfo")
        limits, is_signed = torch.iinfo(info.dtype), info.dtype is not torch.quint8
        storage = builtin.IntegerType(limits.bits)
        numbers = float(info.scale), int(info.zero_point), limits.min, limits.max
        kind = attribute_wrapper("quant.uniform", is_type=True)
        assert kind is not None, "the tables have it"
        return kind.get(int(is_signed), wrapped(storage), wrapped(builtin.f32), *numbers)
    if info.dtype not in _TYPES:
        raise TypeError(f"{info.dtype} is no element type of a text")
    return wrapped(_TYPES[info.dtype])


def dtype_of(kind: Type) -> torch.dtype:
    """The dtype of torch of an element type of MLIR: of a tile or a quantized one, that of its storage.

    Raises:
        TypeError: torch has none.
    """
    found: torch.dtype = _DTYPES[kind.held] if kind.held in _DTYPES else dtype_in_text(kind.held).torch
    return found


def elements_of(tensor: torch.Tensor) -> Any:
    """The elements of a tensor as an attribute; one number if all are equal."""
    tensor = tensor.detach()
    numbers = (tensor.double() if tensor.is_floating_point() else tensor.long()).flatten()
    is_splat = len(numbers) > 1 and bool((numbers == numbers[0]).all())
    shape = [*tensor.shape]
    array = (numbers[:1] if is_splat else numbers.reshape(shape)).numpy()
    return DenseElementsAttr.get(array, type=type_of(tensor.dtype), shape=shape)
