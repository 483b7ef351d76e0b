"""Elementwise ops of StableHLO that compute otherwise with integers than with floats, and those on bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import DTypeError
from ttnn_jit.ops.conversions import complex_functions, sharding_rules
from ttnn_jit.ops.conversions.complex_functions import of_both
from ttnn_jit.ops.families.conversion_protocol import ConversionCall, Tensor, TtirOps
from ttnn_jit.ops.families.dialect_conversion import Conversion, conversion
from ttnn_jit.ops.families.text_operation import REQUIRED, TextCall, dtype_of_element

# --- Division ---------------------------------------------------------------------------------------------------------


def _quotient(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Of integers rounded toward zero; x / 0 has all bits set."""
    x, y = call.lhs, call.rhs
    if x.is_float:
        return ops.same("ttir.div", x, y)
    by_zero = ops.compared("ttir.eq", y, ops.like(y, 0))
    rest = _remainder_of_integers(ops, x, y)
    exact = ops.same("ttir.subtract", x, rest)
    found = ops.same("ttir.div", exact, ops.select(by_zero, ops.like(y, 1), y))
    return ops.select(by_zero, ops.like(x, 2**x.bits - 1 if x.is_unsigned else -1), found)


def _remainder_of_integers(ops: TtirOps, x: Tensor, y: Tensor) -> Tensor:
    """The remainder with the sign of `x`; `x` where `y` is 0."""
    zero = ops.like(y, 0)
    by_zero = ops.compared("ttir.eq", y, zero)
    safe = ops.select(by_zero, ops.like(y, 1), y)
    rest = ops.same("ttir.remainder", x, safe)
    if not x.is_unsigned:
        # The remainder of TTIR has the sign of the divisor.
        signs = ops.compared("ttir.lt", ops.same("ttir.bitwise_xor", x, safe), zero)
        differs = ops.op("ttir.logical_and", [signs, ops.compared("ttir.ne", rest, zero)], x.shape, "i1")
        rest = ops.select(differs, ops.same("ttir.subtract", rest, safe), rest)
    return ops.select(by_zero, x, rest)


def _remainder(ops: TtirOps, call: ConversionCall) -> Tensor:
    x, y = call.lhs, call.rhs
    if not x.is_float:
        return _remainder_of_integers(ops, x, y)
    rest = ops.same("ttir.remainder", ops.same("ttir.abs", x), ops.same("ttir.abs", y))
    return ops.select(ops.compared("ttir.lt", x, ops.like(x, 0)), ops.same("ttir.neg", rest), rest)


def _quotient_in_torch(torch: Any, call: TextCall) -> Any:
    x, y = call.lhs, call.rhs
    if x.is_floating_point() or x.is_complex():
        return x / y
    safe = torch.where(y == 0, 1, y)
    return torch.where(y == 0, -1, torch.div(x, safe, rounding_mode="trunc"))


def _remainder_in_torch(torch: Any, call: TextCall) -> Any:
    x, y = call.lhs, call.rhs
    if x.is_floating_point():
        return torch.fmod(x, y)
    return torch.where(y == 0, x, torch.fmod(x, torch.where(y == 0, 1, y)))


DIVIDE = conversion(
    "stablehlo.divide",
    "lhs rhs",
    _quotient,
    _quotient_in_torch,
    is_elementwise=True,
    of_complex=of_both(complex_functions.quotient),
)
REMAINDER = conversion(
    "stablehlo.remainder", "lhs rhs", _remainder, _remainder_in_torch, is_elementwise=True, in_float32=True
)

# --- Powers -----------------------------------------------------------------------------------------------------------


def _power(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Of integers by squaring, modulo 2**bits; below exponent 0 it is 0, but 1 and -1 have inverses."""
    x, y = call.lhs, call.rhs
    if x.is_float:
        return ops.same("ttir.pow", x, y)
    zero, one = ops.like(x, 0), ops.like(x, 1)
    found, square, rest = one, x, y
    for _ in range(x.bits):
        odd = ops.compared("ttir.ne", ops.same("ttir.bitwise_and", rest, one), zero)
        found = ops.select(odd, ops.same("ttir.multiply", found, square), found)
        square = ops.same("ttir.multiply", square, square)
        rest = ops.same("ttir.logical_right_shift", rest, one)
    if x.is_unsigned:
        return found
    odd = ops.compared("ttir.ne", ops.same("ttir.bitwise_and", y, one), zero)
    is_one, is_minus = (ops.compared("ttir.eq", x, ops.like(x, each)) for each in (1, -1))
    inverse = ops.select(is_minus, ops.select(odd, ops.like(x, -1), one), ops.select(is_one, one, zero))
    return ops.select(ops.compared("ttir.lt", y, zero), inverse, found)


def _power_in_torch(torch: Any, call: TextCall) -> Any:
    x, y = call.lhs, call.rhs
    if x.is_floating_point() or x.is_complex():
        return torch.pow(x, y)
    found, square, rest = torch.ones_like(x), x, y.clamp(min=0)
    for _ in range(call.result.dtype.itemsize * 8):
        found = torch.where(rest % 2 == 1, found * square, found)
        square, rest = square * square, rest // 2
    inverse = torch.where(x == -1, torch.where(y % 2 == 1, -1, 1), torch.where(x == 1, 1, 0))
    return torch.where(y < 0, inverse, found)


POWER = conversion(
    "stablehlo.power",
    "lhs rhs",
    _power,
    _power_in_torch,
    is_elementwise=True,
    of_complex=of_both(complex_functions.power),
)

# --- Bits -------------------------------------------------------------------------------------------------------------


def _bitwise(names: str, logical: str, bitwise: str, golden: Callable[..., Any], **options: Any) -> Conversion:
    return conversion(
        names,
        "lhs rhs",
        lambda ops, call: ops.same(logical if call.lhs.is_bool else bitwise, call.lhs, call.rhs),
        golden,
        is_elementwise=True,
        **options,
    )


AND = _bitwise(
    "stablehlo.and",
    "ttir.logical_and",
    "ttir.bitwise_and",
    lambda _, call: call.lhs & call.rhs,
    reduction="ttir.reduce_and",
    neutral=lambda x: 2**x.bits - 1 if x.is_unsigned else -1,
)
OR = _bitwise(
    "stablehlo.or",
    "ttir.logical_or",
    "ttir.bitwise_or",
    lambda _, call: call.lhs | call.rhs,
    reduction="ttir.reduce_or",
    neutral=lambda _: 0,
)
XOR = _bitwise("stablehlo.xor", "ttir.logical_xor", "ttir.bitwise_xor", lambda _, call: call.lhs ^ call.rhs)
NOT = conversion(
    "stablehlo.not",
    "operand",
    lambda ops, call: ops.same("ttir.logical_not" if call.operand.is_bool else "ttir.bitwise_not", call.operand),
    lambda _, call: ~call.operand,
    is_elementwise=True,
)


def _in_range(ops: TtirOps, x: Tensor, amount: Tensor) -> tuple[Tensor, Tensor]:
    """Whether an amount is a number of bits of `x`, and the amount, 0 where it is not."""
    is_less = ops.compared("ttir.lt", amount, ops.like(amount, x.bits))
    if not amount.is_unsigned:
        is_least = ops.compared("ttir.ge", amount, ops.like(amount, 0))
        is_less = ops.op("ttir.logical_and", [is_least, is_less], x.shape, "i1")
    return is_less, ops.select(is_less, amount, ops.like(amount, 0))


def _shifted(ttir: str) -> Callable[[TtirOps, ConversionCall], Tensor]:
    """A shift; by as many bits as there are, or more, it is 0."""

    def convert(ops: TtirOps, call: ConversionCall) -> Tensor:
        x = call.lhs
        fits, amount = _in_range(ops, x, call.rhs)
        return ops.select(fits, ops.same(ttir, x, amount), ops.like(x, 0))

    return convert


def _shifted_with_sign(ops: TtirOps, call: ConversionCall) -> Tensor:
    """X >> n of x >= 0, and ~(~x >> n) of x < 0: the copies of the sign come in from the left."""
    x = call.lhs
    if x.is_unsigned:
        negative = ops.compared("ttir.ge", x, ops.like(x, 1 << (x.bits - 1)))
    else:
        negative = ops.compared("ttir.lt", x, ops.like(x, 0))
    fits, amount = _in_range(ops, x, call.rhs)
    positive = ops.select(negative, ops.same("ttir.bitwise_not", x), x)
    found = ops.select(fits, ops.same("ttir.logical_right_shift", positive, amount), ops.like(x, 0))
    return ops.select(negative, ops.same("ttir.bitwise_not", found), found)


def _shift_in_torch(shift: Callable[[Any, Any, Any, int], Any]) -> Callable[[Any, TextCall], Any]:
    def golden(torch: Any, call: TextCall) -> Any:
        bits = call.result.dtype.itemsize * 8
        fits = (call.rhs >= 0) & (call.rhs < bits)
        return shift(torch, call.lhs, torch.where(fits, call.rhs, bits), bits)

    return golden


def _left_in_torch(torch: Any, x: Any, amount: Any, bits: int) -> Any:
    return torch.where(amount < bits, x << amount.clamp(max=bits - 1), 0)


def _right_in_torch(torch: Any, x: Any, amount: Any, bits: int) -> Any:
    if bits < 64:
        return torch.where(amount < bits, (x & (2**bits - 1)) >> amount.clamp(max=bits - 1), 0)
    count = amount.clamp(max=63).as_subclass(torch.Tensor)
    kept = torch.where(count == 0, -1, (1 << (64 - count).clamp(max=63)) - 1)
    return torch.where(amount < bits, (x.as_subclass(torch.Tensor) >> count) & kept, 0)


def _arithmetic_in_torch(torch: Any, x: Any, amount: Any, bits: int) -> Any:
    signed = x.as_subclass(torch.Tensor) if bits == 64 else torch.where(x >= 2 ** (bits - 1), x - 2**bits, x)
    return signed >> amount.clamp(max=bits - 1).as_subclass(torch.Tensor)


SHIFT_LEFT = conversion(
    "stablehlo.shift_left",
    "lhs rhs",
    _shifted("ttir.logical_left_shift"),
    _shift_in_torch(_left_in_torch),
    is_elementwise=True,
)
SHIFT_RIGHT = conversion(
    "stablehlo.shift_right_logical",
    "lhs rhs",
    _shifted("ttir.logical_right_shift"),
    _shift_in_torch(_right_in_torch),
    is_elementwise=True,
)
SHIFT_RIGHT_WITH_SIGN = conversion(
    "stablehlo.shift_right_arithmetic",
    "lhs rhs",
    _shifted_with_sign,
    _shift_in_torch(_arithmetic_in_torch),
    is_elementwise=True,
)


def _ones_among_bits(ops: TtirOps, x: Tensor) -> Tensor:
    """The number of bits that are set, one by one."""
    one = ops.like(x, 1)
    found, rest = ops.like(x, 0), x
    for _ in range(x.bits):
        found = ops.same("ttir.add", found, ops.same("ttir.bitwise_and", rest, one))
        rest = ops.same("ttir.logical_right_shift", rest, one)
    return found


def _leading_zeros(ops: TtirOps, call: ConversionCall) -> Tensor:
    """The number of bits minus those at and below the highest one, which are all set first."""
    x = call.operand
    distance = 1
    while distance < x.bits:
        shifted = ops.same("ttir.logical_right_shift", x, ops.like(x, distance))
        x = ops.same("ttir.bitwise_or", x, shifted)
        distance *= 2
    return ops.same("ttir.subtract", ops.like(x, x.bits), _ones_among_bits(ops, x))


def _bits_in_torch(torch: Any, x: Any, bits: int) -> Any:
    return torch.stack([(x >> each) & 1 for each in range(bits)])


def _ones_in_torch(torch: Any, call: TextCall) -> Any:
    return _bits_in_torch(torch, call.operand, call.result.dtype.itemsize * 8).sum(0)


def _leading_zeros_in_torch(torch: Any, call: TextCall) -> Any:
    bits = _bits_in_torch(torch, call.operand, call.result.dtype.itemsize * 8)
    return (bits.flip(0).cumsum(0) == 0).sum(0)


POPCNT = conversion(
    "stablehlo.popcnt",
    "operand",
    lambda ops, call: _ones_among_bits(ops, call.operand),
    _ones_in_torch,
    is_elementwise=True,
)
LEADING_ZEROS = conversion(
    "stablehlo.count_leading_zeros", "operand", _leading_zeros, _leading_zeros_in_torch, is_elementwise=True
)


def _same_bits(ops: TtirOps, call: ConversionCall) -> Tensor:
    x: Tensor = call.operand
    kind = call.result
    if x.bits != kind.bits:
        raise DTypeError(f"bits of {x.element} are not read as {kind.element}: they are not as many")
    return x if x.element == kind.element else ops.op("ttir.bitcast_convert", [x], kind.shape, kind.element)


def _bitcast_in_torch(_: Any, call: TextCall) -> Any:
    # Operands of goldens are wider than in the text.
    source = dtype_of_element(call.element_types["operand"])
    return call.operand.to(source.torch).view(call.result.dtype.torch)


BITCAST = conversion(
    "stablehlo.bitcast_convert",
    "operand",
    _same_bits,
    _bitcast_in_torch,
    sharded_by=sharding_rules.same_rank,
    is_elementwise=True,
    moves=True,
)


def _reduced_precision(ops: TtirOps, call: ConversionCall) -> Tensor:
    """Only to the format of bfloat16, which a cast there and back rounds to."""
    x: Tensor = call.operand
    if (call.exponent_bits, call.mantissa_bits) == (8, 23) or x.element == "bf16":
        return x
    if (call.exponent_bits, call.mantissa_bits) != (8, 7):
        raise DTypeError(f"numbers of {call.exponent_bits} and {call.mantissa_bits} bits are not rounded to")
    return ops.cast(ops.cast(x, "bf16"), x.element)


REDUCE_PRECISION = conversion(
    "stablehlo.reduce_precision",
    "operand",
    _reduced_precision,
    lambda torch, call: call.operand if call.mantissa_bits == 23 else call.operand.to(torch.bfloat16).double(),
    is_elementwise=True,
    exponent_bits=REQUIRED,
    mantissa_bits=REQUIRED,
)

TEXTS = (
    DIVIDE,
    REMAINDER,
    POWER,
    AND,
    OR,
    XOR,
    NOT,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    SHIFT_RIGHT_WITH_SIGN,
    POPCNT,
    LEADING_ZEROS,
    BITCAST,
    REDUCE_PRECISION,
)
