"""Quantized tensors: integers q that stand for the numbers (q - zero point) * scale."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import DenseNumbers, TextCall, TextOps, text
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import TensorSpec

_QUANTIZED = re.compile(r"!quant\.uniform<([iu])(\d+)(?:<(-?\d+):(-?\d+)>)?:\w+(?::(\d+))?,\s*\{?([^}>]*)\}?>")


def levels_of_storage(sign: str, width: int) -> tuple[int, int]:
    """The least and the largest integer of a storage type: ``i`` or ``u``, and its bits."""
    return (0, 2**width - 1) if sign == "u" else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)


@dataclass(frozen=True)
class Quantization:
    """The scales, zero points and levels of a type.

    Attributes:
        scales: One, or one for each index along `axis`.
        zeros: The zero points, as many.
        axis: The dimension; None for one scale.
        levels: The least and the largest integer that an element may be: those that the type states, ``i8<-127:127>``,
            or those of its storage type.
    """

    scales: tuple[float, ...]
    zeros: tuple[int, ...]
    axis: int | None
    levels: tuple[int, int]

    @staticmethod
    def of(element_type: str) -> Quantization:
        """The quantization that a type in a text names.

        Raises:
            DTypeError: It is no quantized type.
        """
        found = _QUANTIZED.fullmatch(element_type)
        if found is None:
            raise DTypeError(f"{element_type} is no quantized type that is known here")
        sign, width, low, high, axis, numbers = found.groups()
        pairs = [each.strip().partition(":") for each in numbers.split(",")]
        scales, zeros = (float(scale) for scale, _, _ in pairs), (int(zero or 0) for _, _, zero in pairs)
        levels = levels_of_storage(sign, int(width)) if low is None else (int(low), int(high))
        return Quantization(tuple(scales), tuple(zeros), None if axis is None else int(axis), levels)

    def along(self, numbers: Sequence[float], rank: int) -> tuple[int, ...]:
        """The shape of `numbers` that broadcasts to a tensor."""
        return tuple(len(numbers) if axis == self.axis else 1 for axis in range(rank))


def _vector(ops: TextOps, own: Quantization, numbers: Sequence[float], x: Value) -> Value | float:
    if own.axis is None:
        return float(numbers[0])
    shape = own.along(numbers, len(x.shape))
    spec = TensorSpec(shape, COMPUTE_TYPE, x.spec.layout, x.spec.memory_config)
    return ops.constant(DenseNumbers(shape, tuple(map(float, numbers))), spec)


def _vector_in_torch(torch: Any, own: Quantization, numbers: Sequence[float], x: Any) -> Any:
    return torch.tensor(numbers, dtype=torch.float64).reshape(own.along(numbers, x.dim()))


def _dequantized(ops: TextOps, x: Value, own: Quantization) -> Value:
    numbers = ops.typecast(x, COMPUTE_TYPE)
    found: Value = (numbers - _vector(ops, own, own.zeros, x)) * _vector(ops, own, own.scales, x)
    return found


def _quantized(ops: TextOps, x: Value, own: Quantization, spec: TensorSpec) -> Value:
    q = ops.round(x / _vector(ops, own, own.scales, x)) + _vector(ops, own, own.zeros, x)
    return _as_levels(ops, q, own.levels, spec)


def _as_levels(ops: Ops, q: Value, levels: tuple[int, int], spec: TensorSpec) -> Value:
    """Whole numbers as integers; those beyond the levels become the nearest one, whatever type holds them."""
    numbers = spec.dtype.values
    if levels[0] > numbers[0] or levels[1] < numbers[-1]:  # a cast clips to the numbers of the type
        q = ops.maximum(ops.minimum(q, float(levels[1])), float(levels[0]))
    return ops.typecast(q, spec.dtype)


def _dequantized_in_torch(torch: Any, x: Any, own: Quantization) -> Any:
    return (x.double() - _vector_in_torch(torch, own, own.zeros, x)) * _vector_in_torch(torch, own, own.scales, x)


def _quantized_in_torch(torch: Any, x: Any, own: Quantization) -> Any:
    """By a quotient in float32, which is what is rounded."""
    scale = _vector_in_torch(torch, own, own.scales, x)
    levels = torch.round(x.float() / scale.float()).double() + _vector_in_torch(torch, own, own.zeros, x)
    return levels.clamp(*own.levels)


_LEVELS = {"input": lambda _: 256}
"""Drawn integers are those of 8 bits: wider ones are rounded to float32."""

QUANTIZE = text(
    "ttir.quantize",
    "input",
    lambda ops, call: _quantized(ops, call.input, Quantization.of(call.element_types["result"]), call.result),
    lambda torch, call: _quantized_in_torch(torch, call.input, Quantization.of(call.element_types["result"])),
    takes_quantized=True,
    in_float32=True,
)
DEQUANTIZE = text(
    "ttir.dequantize",
    "input",
    lambda ops, call: _dequantized(ops, call.input, Quantization.of(call.element_types["input"])),
    lambda torch, call: _dequantized_in_torch(torch, call.input, Quantization.of(call.element_types["input"])),
    takes_quantized=True,
    index_limits=_LEVELS,
)


def _requantize(ops: TextOps, call: TextCall) -> Value:
    wide = _dequantized(ops, call.input, Quantization.of(call.element_types["input"]))
    return _quantized(ops, wide, Quantization.of(call.element_types["result"]), call.result)


def _requantize_in_torch(torch: Any, call: TextCall) -> Any:
    own = Quantization.of(call.element_types["input"])
    scale = _vector_in_torch(torch, own, own.scales, call.input).float()
    wide = (call.input.float() - _vector_in_torch(torch, own, own.zeros, call.input).float()) * scale
    return _quantized_in_torch(torch, wide, Quantization.of(call.element_types["result"]))


REQUANTIZE = text(
    "ttir.requantize",
    "input",
    _requantize,
    _requantize_in_torch,
    takes_quantized=True,
    index_limits=_LEVELS,
)


def _beside(x: Any, call: TextCall, numbers: Any) -> tuple[int, ...]:
    count = math.prod(numbers.shape)
    return tuple(count if axis == call.axis else 1 for axis in range(len(x.shape)))


def _unrolled(ops: Ops, call: TextCall, name: str) -> Value:
    numbers = getattr(call, name)
    return ops.reshaped(ops.rounded(numbers, COMPUTE_TYPE), _beside(call.input, call, numbers))


def _levels_of_result(call: TextCall) -> tuple[int, int]:
    """The levels of the type of the result; of one that is no quantized type, its integers."""
    element = call.element_types["result"]
    if element.startswith("!quant"):
        return Quantization.of(element).levels
    numbers = call.result.dtype.values
    return numbers[0], numbers[-1]


def _quantize_unrolled(ops: Ops, call: TextCall) -> Value:
    q = ops.round(call.input / _unrolled(ops, call, "scale")) + _unrolled(ops, call, "zero_point")
    return _as_levels(ops, q, _levels_of_result(call), call.result)


def _dequantize_unrolled(ops: Ops, call: TextCall) -> Value:
    numbers = ops.typecast(call.input, COMPUTE_TYPE) - _unrolled(ops, call, "zero_point")
    found: Value = numbers * _unrolled(ops, call, "scale")
    return found


def _unrolled_in_torch(call: TextCall, name: str) -> Any:
    numbers = getattr(call, name)
    return numbers.double().reshape(_beside(call.input, call, numbers))


QUANTIZE_UNROLLED = text(
    "ttir.quantize_unrolled ttnn.quantize",
    "input scale zero_point",
    _quantize_unrolled,
    lambda torch, call: (
        torch.round(call.input.float() / _unrolled_in_torch(call, "scale").float()).double()
        + _unrolled_in_torch(call, "zero_point")
    ).clamp(*_levels_of_result(call)),
    axis=None,
    takes_quantized=True,
)
DEQUANTIZE_UNROLLED = text(
    "ttir.dequantize_unrolled ttnn.dequantize",
    "input scale zero_point",
    _dequantize_unrolled,
    lambda _, call: (call.input.double() - _unrolled_in_torch(call, "zero_point")) * _unrolled_in_torch(call, "scale"),
    axis=None,
    takes_quantized=True,
    index_limits=_LEVELS,
)


def _requantize_unrolled(ops: Ops, call: TextCall) -> Value:
    numbers = ops.typecast(call.input, COMPUTE_TYPE) - _unrolled(ops, call, "in_zero_point")
    wide = numbers * _unrolled(ops, call, "in_scale")
    q = ops.round(wide / _unrolled(ops, call, "out_scale")) + _unrolled(ops, call, "out_zero_point")
    return _as_levels(ops, q, _levels_of_result(call), call.result)


def _requantize_unrolled_in_torch(torch: Any, call: TextCall) -> Any:
    """By products and quotients in float32, which are what is rounded."""
    scale, zero = (_unrolled_in_torch(call, f"in_{name}").float() for name in ("scale", "zero_point"))
    wide = (call.input.float() - zero) * scale
    rounded = torch.round(wide / _unrolled_in_torch(call, "out_scale").float())
    return (rounded.double() + _unrolled_in_torch(call, "out_zero_point")).clamp(*_levels_of_result(call))


REQUANTIZE_UNROLLED = text(
    "ttir.requantize_unrolled ttnn.requantize",
    "input in_scale in_zero_point out_scale out_zero_point",
    _requantize_unrolled,
    _requantize_unrolled_in_torch,
    axis=None,
    takes_quantized=True,
    index_limits=_LEVELS,
)

TEXTS = (QUANTIZE, DEQUANTIZE, REQUANTIZE, QUANTIZE_UNROLLED, DEQUANTIZE_UNROLLED, REQUANTIZE_UNROLLED)
