"""Elementwise ops of texts that are no call of one declared operation, and random numbers."""

from __future__ import annotations

import math
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops.elementwise.binary import DIVIDE, TRUNC_OF_INTEGERS
from ttnn_jit.ops.elementwise.bitwise import LOGICAL_RIGHT_SHIFT
from ttnn_jit.ops.families.decomposition import Ops, Value
from ttnn_jit.ops.families.text_operation import REQUIRED, OpInText, TextCall, TextOperation, dtype_of_element, text
from ttnn_jit.ops.movement.sequences import ARANGE
from ttnn_jit.specs.dtypes import COMPUTE_TYPE, INTEGERS, WIDE_FLOATS, WIDE_INTEGERS
from ttnn_jit.specs.tensor_spec import DataType


def _gelu_bw(ops: Ops, call: TextCall) -> Value:
    """The gradient of gelu at the second operand, times the first."""
    x = call.rhs
    if call.approximate == "tanh":
        cube = x * x * x
        inner = ops.tanh((x + cube * 0.044715) * math.sqrt(2 / math.pi))
        slope = (x * x * (3 * 0.044715) + 1.0) * math.sqrt(2 / math.pi)
        gradient = (inner + 1.0) * 0.5 + x * (ops.neg(inner * inner) + 1.0) * slope * 0.5
    else:
        density = ops.exp(x * x * -0.5) * (1.0 / math.sqrt(2.0 * math.pi))
        gradient = ops.erfc(x * (-1.0 / math.sqrt(2.0))) * 0.5 + x * density
    result: Value = gradient * call.lhs
    return result


def _gelu_bw_in_torch(torch: Any, call: TextCall) -> Any:
    gradient, x = torch.broadcast_tensors(call.lhs, call.rhs)
    x = x.clone().requires_grad_()
    with torch.enable_grad():
        torch.nn.functional.gelu(x, approximate=call.approximate).backward(gradient)
    return x.grad


class _Division(TextOperation):
    """A quotient; of integers the whole part, 0 where the divisor is 0."""

    def stated_ulp(self, call: TextCall) -> float | None:
        """The bound of the declaration."""
        return None if call.result.dtype.is_integer else DIVIDE.max_ulp(COMPUTE_TYPE, call.result.dtype)


def _divided(ops: Ops, call: TextCall) -> Value:
    if not call.lhs.spec.dtype.is_integer:
        return ops.divide(call.lhs, call.rhs)
    found: Value = ops.divide(call.lhs, call.rhs, rounding_mode="trunc")
    return found


def _divided_in_torch(torch: Any, call: TextCall) -> Any:
    if call.lhs.is_floating_point():
        return call.lhs / call.rhs
    return TRUNC_OF_INTEGERS(torch, call.lhs, call.rhs)


DIV = _Division(("ttir.div",), OpInText(("lhs", "rhs")), _divided, _divided_in_torch, is_elementwise=True)
GELU_BW = text(
    "ttir.gelu_bw ttnn.gelu_bw",
    "lhs rhs",
    _gelu_bw,
    _gelu_bw_in_torch,
    approximate="none",
    in_float32=True,
    is_elementwise=True,
)


GELU = text(
    "ttir.gelu ttnn.gelu",
    "input",
    lambda ops, call: ops.gelu(call.input, approximate=call.approximate),
    lambda torch, call: torch.nn.functional.gelu(call.input, approximate=call.approximate),
    approximate="none",
    is_elementwise=True,
)
POW_SCALAR = text(
    "ttnn.pow_scalar",
    "lhs",
    lambda ops, call: ops.pow(call.lhs, float(call.rhs)),
    lambda torch, call: torch.pow(call.lhs, call.rhs),
    rhs=REQUIRED,
    is_elementwise=True,
)


def uniform_numbers(ops: Ops, call: TextCall) -> Value:
    """Numbers by a hash of the seed and the index (lowbias32), uniform in [0, 1)."""
    shape = tuple(call.result.shape)
    count = math.prod(shape)
    index = ops.call(ARANGE, [], 0, count, 1, DataType.UINT32, call.result.layout)
    word = index + ((call.seed * 0x9E3779B9) & 0xFFFFFFFF)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        word = ops.bitwise_xor(word, ops.logical_right_shift(word, shift)) * factor
    word = ops.bitwise_xor(word, ops.logical_right_shift(word, 16))
    return ops.reshaped(ops.typecast(ops.logical_right_shift(word, 8), DataType.FLOAT32) * 2.0**-24, shape)


def _rand(ops: Ops, call: TextCall) -> Value:
    found: Value = uniform_numbers(ops, call) * (call.high - call.low) + call.low
    return found


RAND = text(
    "ttir.rand ttnn.rand",
    "",
    _rand,
    lambda torch, call: torch.zeros(tuple(call.result.shape)),
    is_random=True,
    size=None,
    shape=None,
    low=0.0,
    high=1.0,
    seed=0,
)


def _where(ops: Ops, call: TextCall) -> Value:
    """A condition of another type than the elements, as chips have it, is compared with 0 first."""
    condition, dtype = call.first, call.second.spec.dtype
    if condition.spec.dtype is not dtype and dtype is call.third.spec.dtype:
        condition = ops.typecast(ops.ne(condition, 0), dtype)
    return ops.where(condition, call.second, call.third)


WHERE = text(
    "ttnn.where",
    "first second third",
    _where,
    lambda torch, call: torch.where(call.first != 0, call.second, call.third),
    is_elementwise=True,
)
DROPOUT = text(
    "ttir.dropout ttnn.dropout",
    "input",
    lambda ops, call: ops.where(
        _flags(ops, ops.ge(uniform_numbers(ops, call), call.prob)), call.input * call.scale, 0.0
    ),
    lambda torch, call: torch.zeros_like(call.input),
    is_random=True,
    in_float32=True,
    prob=0.0,
    scale=1.0,
    seed=0,
    use_per_device_seed=True,
)
RIGHT_SHIFT = text(
    "ttir.right_shift",
    "lhs rhs",
    lambda ops, call: ops.bitwise_right_shift(call.lhs, call.rhs),
    lambda torch, call: torch.bitwise_right_shift(call.lhs, call.rhs),
)


def _shifted_right(ops: Ops, call: TextCall) -> Value:
    """Zeros are shifted in: narrow signed integers, whose sign kernels extend, are unsigned meanwhile."""
    x, count = call.lhs, call.rhs
    own = x.spec.dtype
    if not own.is_integer:
        raise DTypeError(f"bits of integers are shifted, and its operand has {own.mlir}")
    if own in LOGICAL_RIGHT_SHIFT.dtypes:
        return ops.logical_right_shift(x, count)
    bare = next(each for each in INTEGERS if each.itemsize == own.itemsize and not each.compute.is_signed)
    return ops.logical_right_shift(ops.typecast(x, bare), ops.typecast(count, bare))


def _shifted_right_in_torch(torch: Any, call: TextCall) -> Any:
    x, count, bits = call.lhs, call.rhs, 8 * call.result.dtype.itemsize
    within = (count >= 0) & (count < bits)
    count = torch.where(within, count, 0)
    if bits < 64:
        found = (x.long() & (2**bits - 1)) >> count
    else:
        kept = torch.where(count == 0, -1, (1 << (64 - count).clamp(max=63)) - 1)
        found = (x.as_subclass(torch.Tensor) >> count) & kept
    return torch.where(within, found, 0)


LOGICAL_SHIFT = text(
    "ttir.logical_right_shift ttnn.logical_right_shift", "lhs rhs", _shifted_right, _shifted_right_in_torch
)


def _embedding_backward(ops: Ops, call: TextCall) -> Value:
    from ttnn_jit.ops.selection.embedding_gradient import EMBEDDING_BW

    index = ops.typecast(call.input, DataType.UINT32)
    rows, width = math.prod(call.weight.shape[:-1]), call.weight.shape[-1]
    count = math.prod(index.shape)
    gradient = ops.reshaped(call.in_gradient, (1, 1, count, width))
    given = [ops.reshaped(index, (1, count)), ops.reshaped(call.weight, (rows, width)), gradient]
    return ops.reshaped(ops.call(EMBEDDING_BW, given), call.result.shape)


def _embedding_backward_in_torch(torch: Any, call: TextCall) -> Any:
    rows, width = math.prod(call.weight.shape[:-1]), call.weight.shape[-1]
    found = torch.zeros((rows, width), dtype=torch.float64)
    index = call.input.reshape(-1).long()
    return call.in_result_shape(found.index_add(0, index, call.in_gradient.reshape(-1, width)))


EMBEDDING_BACKWARD = text(
    "ttir.embedding_backward ttnn.embedding_bw",
    "input weight in_gradient",
    _embedding_backward,
    _embedding_backward_in_torch,
    index_limits={"input": lambda call: math.prod(call.weight.shape[:-1])},
)


def _powers(dtype: DataType) -> tuple[float, ...]:
    """Powers of two, descending, whose sum reaches every exponent of a float type."""
    return tuple(1 << each for each in reversed(range(dtype.traits.exponent_bits - 1)))


def _bits_of(ops: Ops, x: Value, form: DataType, words: DataType) -> Value:
    """The bits of numbers of `form`, which `x` holds in a type that it computes in, as integers of `words`.

    Exponent and mantissa are found by scaling with powers of two, which is exact.
    """
    wide, digits = x.spec.dtype, form.mantissa_bits
    magnitude = ops.abs(x)
    significand, exponent = magnitude, magnitude * 0.0
    for power in _powers(wide):
        big = _flags(ops, significand >= 2.0**power)
        significand = ops.where(big, significand * 2.0**-power, significand)
        exponent = ops.where(big, exponent + float(power), exponent)
    for power in _powers(wide):
        small = _flags(ops, significand < 2.0 ** (1 - power))
        significand = ops.where(small, significand * 2.0**power, significand)
        exponent = ops.where(small, exponent - float(power), exponent)
    bias, largest = (1 << form.traits.exponent_bits - 1) - 1, (1 << form.traits.exponent_bits) - 1
    fraction = ops.typecast((significand - 1.0) * 2.0**digits, words)
    normal = ops.bitwise_or(ops.logical_left_shift(ops.typecast(exponent + float(bias), words), digits), fraction)
    # In two steps: the whole factor may be beyond the largest float.
    unit = digits + bias - 1
    denormal = ops.typecast(magnitude * 2.0 ** (unit // 2) * 2.0 ** (unit - unit // 2), words)
    bits = ops.where(_flags(ops, magnitude < form.smallest_normal), denormal, normal)
    bits = ops.where(_flags(ops, ops.eq(magnitude, math.inf)), _word(ops, largest << digits, bits), bits)
    bits = ops.where(_flags(ops, ops.isnan(x)), _word(ops, 2 * largest + 1 << digits - 1, bits), bits)
    sign = _word(ops, -1 << 8 * form.itemsize - 1, bits)
    return ops.where(_flags(ops, ops.signbit(x)), ops.bitwise_or(bits, sign), bits)


def _word(ops: Ops, number: int, beside: Value) -> Value:
    """An integer as a tensor of one element, for numbers beside tensors have 32 bits."""
    return ops.filled(number, beside.spec.with_(shape=(1,) * len(beside.shape)))


def _flags(ops: Ops, x: Value) -> Value:
    """The result of a comparison as flags."""
    return ops.rounded(x, DataType.BOOL)


def _number_of(ops: Ops, bits: Value, form: DataType, wide: DataType) -> Value:
    """The number of `form` of these bits, in a type that computes with it; bits above its sign do not count."""
    digits, largest = form.mantissa_bits, (1 << form.traits.exponent_bits) - 1
    exponent = ops.bitwise_and(ops.logical_right_shift(bits, digits), largest)
    fraction = ops.bitwise_and(bits, _word(ops, 2**digits - 1, bits))
    is_normal = _flags(ops, ops.gt(exponent, 0))
    significand = ops.typecast(
        ops.where(is_normal, ops.bitwise_or(fraction, _word(ops, 1 << digits, bits)), fraction), wide
    )
    scale = ops.typecast(ops.where(is_normal, exponent, 1), wide) - float((largest >> 1) + digits)
    half = ops.floor(scale * 0.5)
    magnitude = ops.ldexp(ops.ldexp(significand, half), scale - half)
    infinite = ops.where(_flags(ops, ops.eq(fraction, 0)), significand + math.inf, significand + math.nan)
    magnitude = ops.where(_flags(ops, ops.eq(exponent, largest)), infinite, magnitude)
    negative = ops.bitwise_and(ops.logical_right_shift(bits, 8 * form.itemsize - 1), 1)
    return ops.where(_flags(ops, ops.eq(negative, 1)), ops.neg(magnitude), magnitude)


def _same_bits(ops: Ops, call: TextCall) -> Value:
    x: Value = call.input
    target = call.result.dtype
    source = dtype_of_element(call.element_types["input"]) if call.element_types else x.spec.dtype
    if source.itemsize != target.itemsize:
        raise DTypeError(f"bits of {source.mlir} are not read as {target.mlir}")
    (words,) = (each for each in WIDE_INTEGERS if each.compute.is_signed)
    words = words if source.itemsize == 8 else DataType.INT32
    computed = next(iter(WIDE_FLOATS)) if source.itemsize == 8 else COMPUTE_TYPE
    if source.is_integer and target.is_integer:
        return x
    found: Value = (
        _number_of(ops, ops.rounded(x, words), target, computed)
        if source.is_integer
        else _bits_of(ops, ops.rounded(x, computed), source, words)
    )
    return found


def _same_bits_in_torch(_: Any, call: TextCall) -> Any:
    # Operands of goldens are wider than in the text.
    source = dtype_of_element(call.element_types["input"])
    return call.input.to(source.torch).view(call.result.dtype.torch)


BITCAST = text("ttir.bitcast_convert ttnn.bitcast_convert", "input", _same_bits, _same_bits_in_torch, moves=True)

TEXTS = (DIV, BITCAST, LOGICAL_SHIFT, GELU, GELU_BW, POW_SCALAR, WHERE, RAND, DROPOUT, RIGHT_SHIFT, EMBEDDING_BACKWARD)
