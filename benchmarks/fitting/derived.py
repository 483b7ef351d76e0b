"""Constants of kernels/ that follow from a formula, and the reasons of those that are chosen.

`DERIVED` computes constants and tables anew, bit for bit; `CHOSEN` has the reasons of chosen ones. With the polynomials
of `fits.FITS` and the coefficients of `bfloat16.SEARCHES` these are all constants of kernels/
(tests/unit/benchmarks/test_fitting.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from benchmarks.fitting.fits import DIGAMMA_ROOT, committed_constant

_DIGITS = 80


def nearest(value: mp.mpf) -> float:
    """The nearest float32."""
    return float(np.float32(float(value)))


def parts(value: mp.mpf, count: int) -> tuple[float, ...]:
    """Float32 numbers whose sum is `value`: the nearest, the nearest to the remainder, and so on."""
    found: list[float] = []
    for _ in range(count):
        found.append(nearest(value))
        value -= found[-1]
    return tuple(found)


def short(value: mp.mpf, bits: int) -> tuple[float, float]:
    """The multiple of 2**-bits nearest to `value`, and the remainder."""
    high = mp.nint(value * 2**bits) / 2**bits
    return float(high), nearest(value - high)


def interval(index: int, count: int) -> tuple[float, float]:
    """The interval number `index`, of `count`, of mantissas of [0.75, 1.5), by their leading bits."""
    low, high = 1 + index / count, 1 + (index + 1) / count
    return (low, high) if index < count // 2 else (low / 2, high / 2)


def accurate_factors(within: float = 9e-4, bits: int = 16) -> tuple[float, ...]:
    """Per interval the float32 near 1 / middle whose logarithm is nearest to a multiple of 2**-bits; 1 beside 1."""
    factors = []
    for index in range(16):
        low, high = interval(index, 16)
        if index in {0, 15}:
            factors.append(1.0)
            continue
        ends = np.array([2 / (low + high) * (1 + side) for side in (-within, within)], np.float32).view(np.int32)
        candidates = np.arange(ends[0], ends[1] + 1, dtype=np.int32).view(np.float32).astype(np.float64)
        logarithms = np.log(candidates) * 2**bits
        factors.append(float(candidates[np.abs(logarithms - np.rint(logarithms)).argmin()]))
    return tuple(factors)


def table(name: str) -> tuple[float, ...]:
    """The numbers of a committed table."""
    return tuple(np.array(committed_constant(name).entries, np.int32).view(np.float32).astype(float).tolist())


def of_factors(factors: str, logarithm: Callable[[mp.mpf], mp.mpf], bits: int, part: int) -> tuple[float, ...]:
    """Minus the logarithm of each factor of a table: part `part` of `short`."""
    return tuple(short(-logarithm(mp.mpf(factor)), bits)[part] for factor in table(factors))


def factors_from_one() -> tuple[float, ...]:
    """The factors of `log`, for mantissas of [1, 2)."""
    return tuple(factor / (1 if index < 8 else 2) for index, factor in enumerate(table("logarithm.LOG_FACTOR")))


def nearest_logarithms(logarithm: Callable[[mp.mpf], mp.mpf]) -> tuple[float, ...]:
    """Minus the logarithm of each of `factors_from_one`."""
    return tuple(nearest(-logarithm(mp.mpf(factor))) for factor in factors_from_one())


def bits_of_inverse_two_pi() -> tuple[int, ...]:
    """1 / (2 pi) in integers of 32 bits after 32 zeros."""
    scaled = int(mp.floor(mp.ldexp(1 / (2 * mp.pi), 224)))
    return tuple((scaled >> (32 * k)) & 0xFFFF_FFFF for k in reversed(range(8)))


def factor_of_powers() -> float:
    """The float f in [1.86, 1.954] with the least rounding error of 2**(j / 16) / f over all j < 16."""
    low, high = np.array([1.86, 1.954], np.float32).view(np.int32)
    candidates = np.arange(low, high, dtype=np.int32).view(np.float32).astype(np.float64)
    errors = np.zeros_like(candidates)
    for j in range(16):
        power = 2 ** (j / 16) / candidates
        np.maximum(errors, np.abs(power.astype(np.float32) / power - 1), out=errors)
    return float(candidates[errors.argmin()])


def powers_less_index(factor: float) -> tuple[float, ...]:
    """The floats with the bits of 2**(j / 16) / factor minus j << 19."""
    powers = np.array([nearest(mp.mpf(2) ** (mp.mpf(j) / 16) / factor) for j in range(16)], np.float32)
    patterns = powers.view(np.int32) - (np.arange(16, dtype=np.int32) << 19)
    return tuple(patterns.view(np.float32).astype(float).tolist())


def scale_of_sigmoid() -> float:
    """The float32 in [1.3, 1.56], times 2**-33, that minimizes the bound of sigmoid's error.

    Relative errors, in units of 2**-24: of the sum 1 / its mantissa, of exp(r) 0.577, of a table's entry its own. They
    are scaled by the quotient's mantissa, which adds half a unit in its last place. Only factors are tried for which
    the entry of whole powers of two is almost exact.
    """
    low, high = np.array([1.3, 1.56], np.float32).view(np.int32)
    every = np.arange(low, high, dtype=np.int32).view(np.float32).astype(np.float64)
    factor = committed_constant("exponential.EXP_FACTOR")
    candidates = every[_rounding(every / factor) < 0.01]
    entries = [_rounding(candidates * 2 ** (j / 16) / factor) for j in range(16)]
    worst = np.zeros_like(candidates)
    for sixteenths in np.arange(-6 * 16, 12 * 16, 1 / 8):
        power = 2 ** (sixteenths / 16)
        sums = 2 * np.frexp(candidates * (1 + power))[0]
        quotient = 2 * math.frexp(1 / (1 + power))[0]
        inexact = 1 / sums + power / (1 + power) * (0.577 + entries[round(sixteenths) % 16])
        np.maximum(worst, inexact * (2 if quotient == 1 else quotient) / 2, out=worst)
    return float(candidates[worst.argmin()]) * 2.0**-33


def _rounding(numbers: np.ndarray) -> np.ndarray:
    """The relative distance of the nearest float32, in units of 2**-24."""
    return np.abs(numbers.astype(np.float32) / numbers - 1) * 2**24


def seeds_of_inverse_roots(samples: int = 4097) -> tuple[float, ...]:
    """The floats whose bits minus half the bits of x are near those of 1 / sqrt(x), per sixteenth of two octaves."""
    seeds = []
    for index in range(16):
        first = 0x3F00_0000 + (index << 20)  # from 1/2 on, whose exponent is even
        patterns = np.linspace(first, first + (1 << 20) - 1, samples).astype(np.int32)
        roots = 1 / np.sqrt(patterns.view(np.float32).astype(np.float64))
        wanted = roots.astype(np.float32).view(np.int32) + (patterns >> 1)
        seeds.append((int(wanted.min()) + int(wanted.max())) // 2)
    return tuple(np.array(seeds, np.int32).view(np.float32).astype(float).tolist())


def centres_of_pieces(first: float) -> tuple[float, ...]:
    """The middles of four pieces to each of [1, 3], [3, 7], [7, 15] and [0, 1], but of the first piece of the last."""
    middles = [2.0**octave * (1 + (quarter + 0.5) / 4) - 1 for octave in (1, 2, 3, 0) for quarter in range(4)]
    return tuple(first if middle == 0.125 else middle for middle in middles)


def _log10(x: mp.mpf) -> mp.mpf:
    return mp.log(x, 10)


def _log2(x: mp.mpf) -> mp.mpf:
    return mp.log(x, 2)


def pi_from_below() -> tuple[float, float]:
    """Pi as the largest float32 below it and the remainder: two numbers of one sign."""
    high = float(np.nextafter(np.float32(nearest(mp.pi)), np.float32(0)))
    return high, float(mp.pi - high)


DERIVED: dict[str, Callable[[], Any]] = {
    "bfloat16_functions.LN2": lambda: float(mp.log(2)),
    "bfloat16_functions.LOG10_OF_2": lambda: float(_log10(mp.mpf(2))),
    "bfloat16_functions.FACTOR": factors_from_one,
    "bfloat16_functions.LOG_OF_FACTOR": lambda: nearest_logarithms(mp.log),
    "bfloat16_functions.LOG2_OF_FACTOR": lambda: nearest_logarithms(_log2),
    "bfloat16_functions.LOG10_OF_FACTOR": lambda: nearest_logarithms(_log10),
    "bfloat16_functions.PI": lambda: float(mp.pi),
    "bfloat16_functions.PI_BELOW": lambda: pi_from_below()[0],
    "bfloat16_functions.PI_REST": lambda: pi_from_below()[1],
    "exponential.LOG2_E": lambda: float(1 / mp.log(2)),
    "exponential.LN2_HIGH": lambda: parts(mp.log(2), 2)[0],
    "exponential.LN2_LOW": lambda: parts(mp.log(2), 2)[1],
    "exponential.GELU_LINEAR": lambda: parts(2 * mp.sqrt(2 / mp.pi), 2),
    "exponential.GELU_CUBIC": lambda: parts(2 * mp.sqrt(2 / mp.pi) * mp.mpf("0.044715"), 2),
    "exponential.EXP_FACTOR": factor_of_powers,
    "exponential.SIGMOID_SCALE": scale_of_sigmoid,
    "exponential.SIGMOID_SIXTEENTHS": lambda: powers_less_index(
        committed_constant("exponential.EXP_FACTOR") * 2.0**-33 / committed_constant("exponential.SIGMOID_SCALE")
    ),
    "exponential.POWERS_OF_SIXTEENTHS": lambda: tuple(nearest(mp.mpf(2) ** (mp.mpf(j) / 16)) for j in range(16)),
    "exponential.EXP2_SIXTEENTHS": lambda: powers_less_index(committed_constant("exponential.EXP_FACTOR")),
    "gamma.DIGAMMA_ROOT_HIGH": lambda: parts(DIGAMMA_ROOT, 2)[0],
    "gamma.DIGAMMA_ROOT_LOW": lambda: parts(DIGAMMA_ROOT, 2)[1],
    "gamma.HALF_LOG_TWO_PI": lambda: nearest(mp.log(2 * mp.pi) / 2),
    "gamma.LOG_PI": lambda: nearest(mp.log(mp.pi)),
    "logarithm.LOG_FACTOR": accurate_factors,
    "logarithm.LOG_OF_FACTOR": lambda: of_factors("logarithm.LOG_FACTOR", mp.log, 16, 0),
    "logarithm.LOG2_OF_FACTOR": lambda: of_factors("logarithm.LOG_FACTOR", _log2, 16, 0),
    "logarithm.LOG2_OF_FACTOR_LOW": lambda: of_factors("logarithm.LOG_FACTOR", _log2, 16, 1),
    "logarithm.LOG10_OF_FACTOR": lambda: of_factors("logarithm.LOG_FACTOR", _log10, 16, 0),
    "logarithm.LOG10_OF_FACTOR_LOW": lambda: of_factors("logarithm.LOG_FACTOR", _log10, 16, 1),
    "logarithm.LOG2_E": lambda: parts(1 / mp.log(2), 2),
    "logarithm.LOG10_E": lambda: parts(1 / mp.log(10), 2),
    "logarithm.LOG10_2": lambda: short(_log10(mp.mpf(2)), 16),
    "logarithm.LN2_SHORT": lambda: short(mp.log(2), 16)[0],
    "logarithm.LN2_REST": lambda: short(mp.log(2), 16)[1],
    "logarithm.RSQRT_SEED": seeds_of_inverse_roots,
    "logarithm.CBRT_2": lambda: nearest(mp.cbrt(2)),
    "logarithm.CBRT_4": lambda: nearest(mp.cbrt(4)),
    "piecewise._FROM_ONE": lambda: centres_of_pieces(0.0)[:12],
    "piecewise.CENTRES": lambda: centres_of_pieces(0.125),
    "piecewise.ODD_CENTRES": lambda: centres_of_pieces(0.0),
    "power.LOG2_OF_FACTOR": lambda: of_factors("power.LOG2_FACTOR", _log2, 15, 0),
    "power.LOG2_OF_FACTOR_LOW": lambda: of_factors("power.LOG2_FACTOR", _log2, 15, 1),
    "primitives.ROUNDING_MAGIC": lambda: 1.5 * 2**23,
    "primitives.SIXTEENTHS_MAGIC": lambda: 1.5 * 2**19 + 2 * 127,
    "primitives.SIGN_BIT": lambda: -(2**31),
    "primitives.EXPONENT_BITS": lambda: -(2**23),
    "trigonometry.INVERSE_PI": lambda: nearest(1 / mp.pi),
    "trigonometry.PI_HIGH": lambda: parts(mp.pi, 3)[0],
    "trigonometry.PI_MIDDLE": lambda: parts(mp.pi, 3)[1],
    "trigonometry.PI_LOW": lambda: parts(mp.pi, 3)[2],
    "trigonometry.INVERSE_HALF_PI": lambda: nearest(2 / mp.pi),
    "trigonometry.HALF_PI_HIGH": lambda: parts(mp.pi / 2, 3)[0],
    "trigonometry.HALF_PI_MIDDLE": lambda: parts(mp.pi / 2, 3)[1],
    "trigonometry.HALF_PI_LOW": lambda: parts(mp.pi / 2, 3)[2],
    "trigonometry._INVERSE_TWO_PI": bits_of_inverse_two_pi,
    "primitives.SMALLEST_NORMAL": lambda: 2.0**-126,
    "wide_math._TWO_OVER_ROOT_PI": lambda: float(2 / mp.sqrt(mp.pi)),
}
"""``module.NAME`` -> the constant, or the numbers of the table, computed anew; call it in `computed`."""

CHOSEN = {
    "bfloat16_functions.TANH_LIMIT": "beyond, the nearest bfloat16 is 1",
    "bfloat16_functions.ERF_LIMIT": "beyond, the nearest bfloat16 is 1",
    "bfloat16_functions.GELU_LIMIT": "beyond, on the left, the result is below half the smallest denormal",
    "bfloat16_functions.NEAR_ZERO": "1 and such a number have a factor of 1, and their sum is exact from there on",
    "bfloat16_functions.RSQRT_MAGIC": "C. Lomont's: his estimate of the inverse root is within 3.5 %",
    "bfloat16_functions.FAINT": "a numerator whose denominator holds exp(-x) of all x whose sigmoid is not 0",
    "bfloat16_powers.MANTISSA_BITS": "of the format",
    "bfloat16_powers._BIAS": "of the format's exponent",
    "exponential.LOGISTIC_LIMIT": "beyond 161 ln(2), where LOGISTIC_SCALE * exp is infinity, and short of 162 ln(2)",
    "exponential.LOGISTIC_SCALE": "with it 1 + exp(x) is finite where 1 / (1 + exp(x)) is not 0",
    "gamma.FAR": "where the pieces of [0, 15] end and the asymptotic series begins",
    "hyperbolic.LARGE": "from there on 1 is lost beside the square, in float32",
    "piecewise._FIRST": "the twelve pieces from 1 on come before it",
    "power.LOG2_FACTOR": "short factors near 1 / mantissa, the residue within LOG2_TAIL's interval and exact",
    "quotient._STEP": "bits of a quotient that float32 holds beside a rounding error",
    "quotient._STEPS": "steps for the largest difference of two exponents",
    "trigonometry.NEAR_LIMIT": "the multiple of pi has 17 bits, so that its product with PI_HIGH cancels exactly",
    "wide_math._ERFINV_NEAR": "M. Giles, Approximating the erfinv function, 2010: two steps of Halley follow",
    "wide_math._ERFINV_FAR": "M. Giles, as _ERFINV_NEAR",
    "trigonometry.INVERSE_TWO_PI": "_INVERSE_TWO_PI, at the four offsets where it is read",
}
"""``module.NAME`` -> the reason of a constant that is a choice."""


def computed(name: str) -> Any:
    """The value of a constant by `DERIVED`."""
    with mp.workdps(_DIGITS):
        return DERIVED[name]()
