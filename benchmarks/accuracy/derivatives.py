"""The derivatives of elementwise functions to any number of digits, and the errors of gradients against them.

    python -m benchmarks.accuracy.derivatives [--step N] [--only NAME,NAME]

prints the largest error of each gradient over every N-th number that bfloat16 has, or over pairs and triples of numbers
of all sizes. All 65,536 take some twenty minutes. Fails if a bound is broken.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import torch

from benchmarks.accuracy.measure import ulp_errors
from benchmarks.accuracy.references import derivative_of_digamma
from ttnn_jit import ops, ttnn
from ttnn_jit.ops.gradients import backward_unary
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.language.parameter import CHOICE
from ttnn_jit.ttnn.functions.gradients import GRADIENTS

_BITS = 160
_MAX_BITS = 4000

OF_ELEMENTS = tuple(
    operation
    for operation in ops.declared_in(ops.GRADIENTS)
    if operation.name not in {"repeat_bw", "prod_bw", "concat_bw"}
)
"""Gradients of elementwise functions."""


def _normal(x: Any) -> Any:
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _gelu(x: Any, approximate: Any = None) -> Any:
    if approximate != "tanh":
        return mpmath.erfc(-x / mpmath.sqrt(2)) / 2 + x * _normal(x)
    cubic = mpmath.mpf("0.044715")
    root = mpmath.sqrt(8 / mpmath.pi)
    rising = _sigmoid(root * (x + cubic * x**3))
    return rising + x * rising * _sigmoid(-root * (x + cubic * x**3)) * root * (1 + 3 * cubic * x**2)


def _digamma(x: Any) -> Any:
    if x > 0:
        return mpmath.digamma(x)
    return mpmath.digamma(1 - x) - mpmath.pi * mpmath.cot(mpmath.pi * (x - mpmath.nint(x)))


def _multigammaln(x: Any) -> Any:
    if x <= 1.5:
        return -mpmath.inf if x == 1.5 else mpmath.nan
    return sum(mpmath.digamma(x - mpmath.mpf(index) / 2) for index in range(4))


def _silu(x: Any) -> Any:
    return _sigmoid(x) * (1 + x * _sigmoid(-x))


DERIVATIVES: dict[str, Callable[..., Any]] = {
    "acos": lambda x: -1 / mpmath.sqrt(1 - x * x) if abs(x) < 1 else None,
    "acosh": lambda x: 1 / mpmath.sqrt(x * x - 1) if abs(x) > 1 else None,
    "asin": lambda x: 1 / mpmath.sqrt(1 - x * x) if abs(x) < 1 else None,
    "asinh": lambda x: 1 / mpmath.sqrt(1 + x * x),
    "atan": lambda x: 1 / (1 + x * x),
    "atanh": lambda x: 1 / (1 - x * x),
    "celu": lambda x, alpha: mpmath.mpf(1) if x > 0 else mpmath.exp(x / alpha),
    "cos": lambda x: -mpmath.sin(x),
    "cosh": mpmath.sinh,
    "deg2rad": lambda _: mpmath.pi / 180,
    "rad2deg": lambda _: 180 / mpmath.pi,
    "elu": lambda x, alpha: mpmath.mpf(1) if x > 0 else alpha * mpmath.exp(x),
    "erf": lambda x: 2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
    "erfc": lambda x: -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-x * x),
    "erfinv": lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(mpmath.erfinv(x) ** 2) if abs(x) < 1 else None,
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x) * mpmath.log(2),
    "expm1": mpmath.exp,
    "gelu": _gelu,
    "hardswish": lambda x: mpmath.mpf((x > 0) if abs(x) >= 3 else x / 3 + mpmath.mpf(1) / 2),
    "lgamma": _digamma,
    "log": lambda x: 1 / x,
    "log10": lambda x: 1 / (x * mpmath.log(10)),
    "log1p": lambda x: 1 / (1 + x),
    "log2": lambda x: 1 / (x * mpmath.log(2)),
    "log_sigmoid": lambda x: _sigmoid(-x),
    "logit": lambda x: 1 / (x * (1 - x)) if 0 < x < 1 else None,
    "reciprocal": lambda x: -1 / (x * x),
    "rsqrt": lambda x: -mpmath.power(x, -1.5) / 2 if x > 0 else None,
    "selu": lambda x: mpmath.mpf(backward_unary.SELU_SCALE) * (1 if x > 0 else _selu_below(x)),
    "sigmoid": lambda x: _sigmoid(x) * _sigmoid(-x),
    "silu": _silu,
    "sin": mpmath.cos,
    "sinh": mpmath.cosh,
    "softplus": lambda x, beta, threshold: mpmath.mpf(1) if x * beta > threshold else _sigmoid(x * beta),
    "softsign": lambda x: 1 / (1 + abs(x)) ** 2,
    "sqrt": lambda x: 1 / (2 * mpmath.sqrt(x)) if x > 0 else None,
    "tan": lambda x: 1 / mpmath.cos(x) ** 2,
    "tanh": lambda x: mpmath.sech(x) ** 2,
    "tanhshrink": lambda x: mpmath.tanh(x) ** 2,
    "bias_gelu": lambda x, bias, approximate: _gelu(x + bias, approximate),
    "rpow": lambda x, base: mpmath.power(base, x) * mpmath.log(base),
    "pow": lambda x, exponent: exponent * mpmath.power(x, exponent - 1) if x > 0 else None,
    "rdiv": lambda x, scalar: -scalar / (x * x),
    "digamma": lambda x: derivative_of_digamma(x, 1),
    "polygamma": lambda x, n: derivative_of_digamma(x, int(n) + 1),
    "multigammaln": _multigammaln,
    "logiteps": lambda x, eps: 1 / (x * (1 - x)) if eps <= x <= 1 - eps else mpmath.mpf(0),
}
"""Function of one tensor -> its derivative; None if it has none. The other functions are piecewise linear."""


def _selu_below(x: Any) -> Any:
    return mpmath.mpf(backward_unary.SELU_ALPHA) * mpmath.exp(x)


PARTIAL: dict[str, Callable[..., tuple[Any, ...]]] = {
    "div": lambda a, b: (1 / b, -a / (b * b)),
    "atan2": lambda a, b: (b / (a * a + b * b), -a / (a * a + b * b)),
    "hypot": lambda a, b: (a / mpmath.hypot(a, b), b / mpmath.hypot(a, b)),
    "ldexp": lambda a, b: (mpmath.power(2, b), a * mpmath.power(2, b) * mpmath.log(2)),
    "logaddexp": lambda a, b: (_sigmoid(a - b), _sigmoid(b - a)),
    "logaddexp2": lambda a, b: (_sigmoid((a - b) * mpmath.log(2)), _sigmoid((b - a) * mpmath.log(2))),
    "squared_difference": lambda a, b: (2 * (a - b), 2 * (b - a)),
    "xlogy": lambda a, b: (mpmath.log(b) if b > 0 else None, a / b if b > 0 else None),
    "bias_gelu": lambda a, b, approximate: (_gelu(a + b, approximate),) * 2,
    "addcdiv": lambda _, b, c, value: (mpmath.mpf(1), value / c, -value * b / (c * c)),
    "addcmul": lambda _, b, c, value: (mpmath.mpf(1), value * c, value * b),
    "lerp": lambda a, b, weight: (1 - weight, weight, b - a),
}
"""Function of several tensors -> its partial derivatives."""


def name_of(operation: Operation) -> str:
    """The function that it is the gradient of."""
    return operation.name.removesuffix("_bw")


def statics_of(operation: Operation) -> tuple[Any, ...]:
    """The attributes of its test."""
    return operation.examples[0][1]


def exactly(operation: Operation, values: Sequence[float]) -> tuple[float, ...] | None:
    """The derivatives at a point, rounded to float64; None if mpmath has no reference."""
    table = DERIVATIVES if len(values) == 1 else PARTIAL
    function = table.get(name_of(operation))
    is_rounded = any(each.kind is CHOICE and each.default for each in operation.parameters)
    if function is None or is_rounded or not all(map(math.isfinite, values)):
        return None
    apart = max((abs(math.frexp(value)[1]) for value in values if value), default=0)
    with mpmath.workprec(min(_BITS + 4 * apart, _MAX_BITS)):
        statics = [mpmath.mpf(each) if isinstance(each, float | int) else each for each in statics_of(operation)]
        try:
            found = function(*map(mpmath.mpf, values), *statics)
            listed = found if isinstance(found, tuple) else (found,)
            return None if None in listed else tuple(map(float, listed))
        except (ZeroDivisionError, ValueError):
            return None


def call_of(operation: Operation) -> Callable[..., list[Any]]:
    """The function of ttnn, with the attributes of its test."""
    named = zip((each.name for each in operation.attributes), statics_of(operation), strict=True)
    chosen = {each.name: each.default for each in operation.parameters if each.kind is CHOICE}
    keywords = {**dict(named), **chosen}
    return lambda *tensors: GRADIENTS[operation.name](*tensors, **keywords)


def errors_of(operation: Operation, tensors: Sequence[torch.Tensor], device: Any) -> list[torch.Tensor]:
    """Per derivative, its errors in units in the last place, at points in rows of 32.

    Errors up to the declaration's `max_absolute` count as 0, unless the derivative itself is smaller. Without a
    reference by mpmath it is autograd's in float64.
    """
    gradient = torch.ones_like(tensors[0])
    on_device = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (gradient, *tensors)]
    found = [ttnn.to_torch(each) for each in call_of(operation)(*on_device)]
    doubles = [each.double() for each in tensors]
    wanted = [each.clone() for each in operation.golden(torch, gradient.double(), *doubles, *statics_of(operation))]
    points = zip(*(each.flatten().tolist() for each in tensors), strict=True)
    for index, values in enumerate(points):
        exact = exactly(operation, values)
        for want, each in zip(wanted, exact or (), strict=False):  # `lerp` by a number has one input less
            want.view(-1)[index] = each
    errors = []
    for got, want in zip(found, wanted, strict=True):
        error = ulp_errors(got, want)
        absolute = operation.probe.max_absolute
        error[((got.double() - want).abs() <= absolute) & (want.abs() >= absolute)] = 0
        errors.append(error)
    return errors


def numbers(step: int) -> torch.Tensor:
    """Every `step`-th bfloat16 number, in float32."""
    patterns = torch.arange(-(2**15), 2**15, step, dtype=torch.int32).to(torch.int16)
    found = patterns.view(torch.bfloat16).float()
    return found[torch.isfinite(found)]


def of_all_magnitudes(step: int) -> torch.Tensor:
    """Zero, and numbers of every `step`-th exponent, of both signs."""
    sizes = [2.0**exponent for exponent in range(-132, 128, step)]
    of_each = [sign * mantissa * size for size in sizes for mantissa in (1.0, 1.5, 1.9921875) for sign in (1.0, -1.0)]
    return torch.tensor([0.0, *of_each, 0.5, -3.0, 80.0, -80.0, 20.0]).bfloat16().float()


def points_of(operation: Operation, step: int) -> list[torch.Tensor]:
    """Tensors in rows of 32, for each input of a gradient; the number of points depends little on that of inputs."""
    inputs = len(operation.operands) - 1
    each = numbers(step) if inputs == 1 else of_all_magnitudes(max(1, round((8 if inputs == 2 else 33) * step**0.5)))
    combined = [tensor.flatten() for tensor in torch.meshgrid(*[each] * inputs, indexing="ij")]
    whole = len(combined[0]) // 32 * 32
    return [tensor[:whole].reshape(-1, 32) for tensor in combined]


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--step", type=int, default=1, help="of the numbers (default: all)")
    parser.add_argument("--only", default="", help="gradients that are measured, instead of all")
    options = parser.parse_args()
    is_broken = False
    with ttnn.open_device(device_id=0, target="cpu") as device:
        for operation in OF_ELEMENTS:
            if options.only and operation.name not in options.only.split(","):
                continue
            tensors = points_of(operation, options.step)
            bound = operation.probe.max_ulp or 0.5
            for index, errors in enumerate(errors_of(operation, tensors, device)):
                worst = int(errors.argmax())
                point = ", ".join(f"{float(tensor.flatten()[worst]):.9g}" for tensor in tensors)
                print(f"{operation.name} {index}: {errors.max():.3g} of {bound} at {point}", flush=True)
                is_broken |= bool(errors.max() > bound)
    raise SystemExit(is_broken)


if __name__ == "__main__":
    main()
