"""Floating point numbers as MLIR prints them: LLVM's `APFloat::toString` as `printFloatValue` calls it.

LLVM's algorithm truncates before it rounds: 1e-5 in f32 prints as 9.99999974E-6.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import AnyFloat

_SIGNIFICAND_BITS = {"bf16": 8, "f16": 11, "f32": 24}  # f64 has 53
_PLAIN_ZEROS = 3  # the most zeros that plain notation adds; beyond that the notation is scientific


def float_text(value: float, type_: AnyFloat) -> str:
    """``5.000000e-01`` if six digits are exact, else all digits, else (also NaN and infinity) hexadecimal."""
    if math.isfinite(value):
        sign = "-" if math.copysign(1.0, value) < 0 else ""
        six_digits = sign + _six_digits(abs(value))
        if type_.unpack(type_.pack((float(six_digits),)), 1)[0] == value:
            return six_digits
        precision = _SIGNIFICAND_BITS.get(type_.name, 53)
        all_digits = sign + _all_digits(abs(value), 2 + precision * 59 // 196)
        if "." in all_digits:
            return all_digits
    return "0x" + type_.pack((value,))[::-1].hex().upper().lstrip("0")


def _six_digits(value: float) -> str:
    digits, exponent = _decimal(value, 6) if value else ("0", 0)
    power = exponent + len(digits) - 1
    return f"{digits[0]}.{digits[1:]:0<6}e{'-' if power < 0 else '+'}{abs(power):02}"


def _all_digits(value: float, precision: int) -> str:
    """Plain notation, or scientific notation if plain would need many zeros or show digits beyond `precision`."""
    digits, exponent = _decimal(value, precision)
    power = exponent + len(digits) - 1
    if exponent >= 0:
        scientific = exponent > _PLAIN_ZEROS or len(digits) + exponent > precision
    else:
        scientific = power < 0 and -power > _PLAIN_ZEROS
    if scientific:
        return f"{digits[0]}.{digits[1:] or '0'}E{'-' if power < 0 else '+'}{abs(power)}"
    if exponent >= 0:
        return digits + "0" * exponent
    if power >= 0:
        return f"{digits[: power + 1]}.{digits[power + 1 :]}"
    return f"0.{'0' * (-power - 1)}{digits}"


def _decimal(value: float, precision: int) -> tuple[str, int]:
    """The digits of positive `value` without trailing zeros, and the power of ten of the last digit."""
    numerator, denominator = value.as_integer_ratio()
    # Times 5**k, a multiple of 2**-k is a multiple of 10**-k.
    exponent = -(denominator.bit_length() - 1)
    significand = numerator * 5**-exponent
    # LLVM first truncates surplus digits, whose number it estimates from the bits.
    surplus = (significand.bit_length() - (precision * 196 + 58) // 59) * 59 // 196
    if surplus > 0:
        significand //= 10**surplus
        exponent += surplus
    digits = str(significand)
    if len(digits) > precision:
        exponent += len(digits) - precision
        kept = int(digits[:precision]) + (digits[precision] >= "5")
        digits = str(kept)
    stripped = digits.rstrip("0")
    return stripped, exponent + len(digits) - len(stripped)
