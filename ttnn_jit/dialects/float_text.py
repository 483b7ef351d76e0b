"""Floating point numbers as MLIR prints them (`APFloat::toString`, `printFloatValue`)."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import AnyFloat

_DEFAULT_PADDING = 3  # zeros that the plain notation may add before it gives way to the scientific one


def float_text(value: float, type_: AnyFloat) -> str:
    """``5.000000e-01`` where six digits are exact, else all digits, else (also NaN and infinity) hexadecimal."""
    if math.isfinite(value):
        six_digits = f"{value:.5e}"
        mantissa, exponent = six_digits.split("e")
        if _rounded(float(six_digits), type_) == value:
            return f"{mantissa}0e{exponent}"
        all_digits = _shortest_plain(value, 2 + _precision(type_) * 59 // 196)
        if "." in all_digits:
            return all_digits
    return "0x" + type_.pack((value,))[::-1].hex().upper().lstrip("0")


def _rounded(value: float, type_: AnyFloat) -> float:
    return float(type_.unpack(type_.pack((value,)), 1)[0])


def _precision(type_: AnyFloat) -> int:
    """Bits of the significand, the hidden one included."""
    return {"bf16": 8, "f16": 11, "f32": 24}.get(type_.name, 53)


def _shortest_plain(value: float, digits: int) -> str:
    mantissa, exponent_text = f"{abs(value):.{digits - 1}e}".split("e")
    significant = mantissa.replace(".", "").rstrip("0") or "0"
    leading = int(exponent_text)
    last = leading - len(significant) + 1
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    return sign + _placed(significant, leading, last, digits)


def _placed(significant: str, leading: int, last: int, digits: int) -> str:
    """The digits with their point; `leading` and `last` are the powers of ten of the first and last digit."""
    scientific = last > _DEFAULT_PADDING or leading + 1 > digits if last >= 0 else -leading > _DEFAULT_PADDING
    if scientific:
        return f"{significant[0]}.{significant[1:] or '0'}E{'+' if leading >= 0 else '-'}{abs(leading)}"
    if last >= 0:
        return significant + "0" * last
    if leading >= 0:
        return f"{significant[: leading + 1]}.{significant[leading + 1 :]}"
    return f"0.{'0' * (-leading - 1)}{significant}"
