"""Coefficients of kernels/math/bfloat16_functions.py: ``python -m benchmarks.fitting.bfloat16 [NAME ...]``.

A short minimax polynomial rounds a few of the 65,536 arguments wrongly, those whose results are close to the middle of
two bfloat16 numbers. A random walk then changes its coefficients, and keeps a change if the number of wrong arguments
does not grow, until none is wrong.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

from benchmarks.fitting.minimax import fitted, fitted_quotient
from ttnn_jit.kernels.math import bfloat16_functions
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.specs.target import Numerics

Numbers = tuple[Any, ...]
"""Coefficients, or tuples of them."""

EVERY_BFLOAT16 = (np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)
_NEAR = 1e-4  # a search checks the arguments whose result is within this relative distance of a middle
_STEPS = 2_000  # per random walk
_WALKS = 40


@dataclass(frozen=True)
class Search:
    """The search for one function's coefficients.

    Attributes:
        name: Name of the float32 function in the vector math.
        constants: Names in bfloat16_functions.
        start: Gives the minimax coefficients of each constant.
    """

    name: str
    constants: tuple[str, ...]
    start: Callable[[], tuple[Numbers, ...]]

    def committed(self) -> tuple[Numbers, ...]:
        """The committed constants."""
        return tuple(getattr(bfloat16_functions, constant) for constant in self.constants)

    def found(self) -> tuple[Numbers, ...]:
        """Constants with which every bfloat16 argument gives the rounded float32 result; deterministic.

        Raises:
            ArithmeticError: None were found.
        """
        start, target = self.start(), _Target(self)
        for seed in range(_WALKS):
            best = _walked(start, target, np.random.default_rng(seed))
            if target.wrong(best) == 0 and _Target(self, near=math.inf).wrong(best) == 0:
                return best
        raise ArithmeticError(f"no coefficients of {self.name} were found")


def _walked(start: tuple[Numbers, ...], target: _Target, random: np.random.Generator) -> tuple[Numbers, ...]:
    """The best numbers of one walk from `start`."""
    best = _changed(start, start, lambda value: value)
    wrong = target.wrong(best)
    for _ in range(_STEPS):
        if not wrong:
            break
        changed = _changed(best, start, lambda value: value * (1 + random.normal() * 10 ** random.uniform(-7, -4)))
        if (count := target.wrong(changed)) <= wrong:
            best, wrong = changed, count
    return best


class _RoundingDown(NumpyVector):
    """The arithmetic of AVX-512, whose `exp2_by` rounds down."""

    def exp2_by(self, y: Any, coefficients: Sequence[float]) -> Any:
        y = np.clip(y, np.float32(-250), np.float32(250))
        n = np.floor(y)
        nearest = y - n
        fraction = np.where(nearest + n.astype(np.float64) > y, np.nextafter(nearest, np.float32(0)), nearest)
        return self.scale(self.polynomial(fraction, coefficients), n)


class _Target:
    """The bits of a function's results, with a count of those that given coefficients miss."""

    def __init__(self, search: Search, near: float = _NEAR) -> None:
        self._search = search
        self._math = NumpyVector()
        self._hosts = (self._math, _RoundingDown())
        with NumpyVector.quiet():
            exact = np.asarray(getattr(self._math, search.name)(EVERY_BFLOAT16), np.float32)
            sides = [(exact * np.float64(1 + side)).astype(np.float32) for side in (-near, near)]
            chosen = np.zeros(len(exact), bool)
            for numerics in Numerics:
                chosen |= self._bits(sides[0], numerics) != self._bits(sides[1], numerics)
            chosen |= math.isinf(near)
            self._arguments = EVERY_BFLOAT16[chosen]
            self._expected = [(numerics, self._bits(exact[chosen], numerics)) for numerics in Numerics]

    def wrong(self, constants: tuple[Numbers, ...]) -> int:
        """The number of arguments whose result has other bits."""
        before = self._search.committed()
        _set(self._search.constants, constants)
        try:
            with NumpyVector.quiet():
                results = [getattr(host, f"{self._search.name}_bfloat16")(self._arguments) for host in self._hosts]
                return sum((self._bits(y, n) != bits).sum() for n, bits in self._expected for y in results)
        finally:
            _set(self._search.constants, before)

    def _bits(self, values: Any, numerics: Numerics) -> np.ndarray:
        bits = self._math.store_bf16(np.asarray(values, np.float32), numerics)
        return np.where((bits & 0x7FFF) > 0x7F80, np.uint16(0x7FC0), bits)


def _set(names: Sequence[str], values: Sequence[Numbers]) -> None:
    for name, value in zip(names, values, strict=True):
        setattr(bfloat16_functions, name, value)


def _changed(numbers: Any, start: Any, change: Callable[[float], float]) -> Any:
    """Float32 `numbers`, each changed except those that were 1 at the start, which are no coefficients."""
    if isinstance(numbers, tuple):
        return tuple(_changed(number, first, change) for number, first in zip(numbers, start, strict=True))
    return 1.0 if start == 1.0 else float(np.float32(change(numbers)))


def _exp2(degree: int) -> Numbers:
    return fitted(lambda f: mp.mpf(2) ** f, lambda f: 2**-f, (0.0, 1.0), degree).coefficients


def _ratio(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """f(x) / x as a function of x**2."""
    return lambda square: function(mp.sqrt(square)) / mp.sqrt(square)


def _after_one(function: Callable[[Any], Any], interval: tuple[float, float], degree: int) -> Numbers:
    """A polynomial for `function` whose constant term is 1."""
    rest = fitted(lambda t: (function(t) - 1) / t, lambda t: abs(t / function(t)), interval, degree - 1)
    return (1.0, *rest.coefficients)


def _relative(function: Callable[[Any], Any], interval: tuple[float, float], degree: int) -> Numbers:
    return fitted(function, lambda t: 1 / abs(function(t)), interval, degree).coefficients


def _tanh() -> Numbers:
    found = fitted_quotient(_ratio(mp.tanh), (1e-9, bfloat16_functions.TANH_LIMIT**2), (2, 2))
    return (1.0, *found.numerator[1:]), found.denominator


def _gelu() -> Numbers:
    complement = lambda z: mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2)) / 2  # noqa: E731 - used once, named
    found = fitted_quotient(complement, (0.0, bfloat16_functions.GELU_LIMIT), (3, 3))
    return found.numerator, found.denominator


def _sine() -> Numbers:
    return _after_one(_ratio(mp.sin), (1e-9, (1.01 * math.pi / 2) ** 2), 3)


SEARCHES = (
    Search("exp", ("EXP",), lambda: (_exp2(4),)),
    Search("sigmoid", ("SIGMOID",), lambda: (_exp2(4),)),
    Search("silu", ("SILU",), lambda: (_exp2(5),)),
    Search("tanh", ("TANH",), lambda: (_tanh(),)),
    Search(
        "erf",
        ("ERF",),
        lambda: (
            fitted(
                _ratio(mp.erf),
                lambda s: 1 / _ratio(mp.erf)(s),
                (1e-9, bfloat16_functions.ERF_LIMIT**2),
                7,
            ).coefficients,
        ),
    ),
    Search("gelu", ("GELU_EXP", "GELU_COMPLEMENT"), lambda: (_exp2(4), _gelu())),
    Search("log", ("LOG",), lambda: (_after_one(lambda r: mp.log1p(r) / r, (-1 / 32, 1 / 16), 2),)),
    Search("log2", ("LOG2",), lambda: (_relative(lambda r: mp.log1p(r) / r / mp.log(2), (-1 / 32, 1 / 16), 2),)),
    Search("log10", ("LOG10",), lambda: (_relative(lambda r: mp.log1p(r) / r / mp.log(10), (-1 / 32, 1 / 16), 2),)),
    Search("log1p", ("LOG1P",), lambda: (_after_one(lambda r: mp.log1p(r) / r, (-1 / 32, 1 / 16), 2),)),
    Search(
        "softplus",
        ("SOFTPLUS_EXP", "SOFTPLUS"),
        lambda: (_exp2(4), _after_one(lambda e: mp.log1p(e) / e, (1e-9, 1.0), 6)),
    ),
    Search("cosh", ("COSH",), lambda: (tuple(c / 2 for c in _exp2(4)),)),
    Search("expm1", ("EXPM1",), lambda: (_after_one(lambda r: mp.expm1(r) / r, (-0.3466, 0.3466), 4),)),
    Search(
        "sinh",
        ("SINH_EXP", "SINH"),
        lambda: (tuple(c / 2 for c in _exp2(4)), _after_one(_ratio(mp.sinh), (1e-9, 1.0), 3)),
    ),
    Search("exp2", ("EXP2",), lambda: (_exp2(4),)),
    Search("gelu_tanh", ("GELU_TANH",), lambda: (_exp2(5),)),
    Search("rsqrt", ("RSQRT",), lambda: (_relative(lambda v: (1 - v) ** -0.5, (-0.0703, 0.0703), 3),)),
    Search("sin", ("SIN",), lambda: (_sine(),)),
    Search("cos", ("COS",), lambda: (_sine(),)),
    Search("tan", ("TAN",), lambda: (_after_one(_ratio(mp.tan), (1e-9, (1.01 * math.pi / 4) ** 2), 5),)),
    Search("atan", ("ATAN",), lambda: (_after_one(_ratio(mp.atan), (1e-9, 1.0), 5),)),
    Search("acos", ("ACOS",), lambda: (_relative(lambda x: mp.acos(x) / mp.sqrt(1 - x), (0.0, 1 - 1e-9), 5),)),
)


def main(names: list[str]) -> None:
    """Prints the constants of a new search."""
    for search in SEARCHES:
        if not names or search.name in names:
            for constant, numbers in zip(search.constants, search.found(), strict=True):
                print(f"{constant} = {numbers}")


if __name__ == "__main__":
    main(sys.argv[1:])
