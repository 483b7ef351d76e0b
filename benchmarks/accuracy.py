"""How accurate every operation is, in every dtype and under both numerics, against float64 and mpmath.

    python -m benchmarks.accuracy [--fraction F] [--write docs/accuracy.md]

Operations run as users run them: alone in a jitted function on the cpu target (IEEE numerics), and eagerly on a
wormhole_b0 device (device numerics). The reference is the declaration's golden in float64; where mpmath has the
function, the worst arguments are computed again with it to 200 bits, and that error is the one that counts.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.ops import OPERATIONS, Operation
from ttnn_jit.target import Numerics
from ttnn_jit.tensor_spec import DataType

FLOAT32, BFLOAT16 = DataType.FLOAT32, DataType.BFLOAT16
TORCH_DTYPE = {FLOAT32: torch.float32, BFLOAT16: torch.bfloat16}
MANTISSA_BITS = {torch.float32: 23, torch.bfloat16: 7}
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, math.inf, -math.inf, math.nan, 1e-45, -1e-40, 1.2e-38, 3.3e38, -3.3e38)
BITS_STEP = 997  # every so many-th float32 of all 2**32, at the full fraction
POINTS = 2_000_000  # random arguments, likewise
RECHECKED = 24  # worst arguments that mpmath computes again
MPMATH: dict[str, Callable[..., Any]] = {
    "exp": mpmath.exp,
    "exp2": lambda x: mpmath.power(2, x),
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": lambda x: mpmath.log(x, 10),
    "log1p": mpmath.log1p,
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfinv": mpmath.erfinv,
    "i0": lambda x: mpmath.besseli(0, x),
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if abs(x) < 1e4 else mpmath.re(mpmath.loggamma(x)),
    "digamma": mpmath.digamma,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "log_sigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "tanhshrink": lambda x: x - mpmath.tanh(x),
    "pow": mpmath.power,
    "atan2": mpmath.atan2,
    "hypot": mpmath.hypot,
    "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
}


@dataclass(frozen=True)
class Accuracy:
    """What was found of one operation in one dtype under one numerics.

    Attributes:
        operation: Its declaration.
        dtype: Of operands and result.
        numerics: How results are rounded.
        points: How many arguments were tried.
        max_ulp: The largest error in units of the dtype's last place, arguments within `max_absolute` left out.
        worst: The arguments of the largest error.
        nearest: Share of the results that are the nearest number of the dtype.
        bound: The error that the declaration allows.
    """

    operation: Operation
    dtype: DataType
    numerics: Numerics
    points: int
    max_ulp: float
    worst: tuple[float, ...]
    nearest: float
    bound: float


def arguments(operation: Operation, dtype: DataType, fraction: float) -> list[torch.Tensor]:
    """The sample: all of bfloat16 or a share of all float32 for one operand, special values and random ones for more.

    The sample is fixed: it depends on nothing but the arguments of this function.
    """
    rng = np.random.default_rng(len(operation.name))
    count, arity = max(2048, int(POINTS * fraction / operation.arity)), operation.arity
    low, high = operation.probe.domain
    parts = [np.stack(np.meshgrid(*[np.array(SPECIALS)] * arity), axis=-1).reshape(-1, arity)]
    parts.append(rng.uniform(low, high, (count, arity)))
    patterns = rng.integers(0, 2**32, (count, arity), dtype=np.uint64).astype(np.uint32).view(np.float32)
    if arity > 1:
        parts.append(patterns)
    elif dtype is BFLOAT16:
        parts = [(np.arange(2**16, dtype=np.uint32) << 16).view(np.float32)[:, None]]
    else:
        parts.append(
            np.arange(3, 2**32, int(BITS_STEP / fraction), dtype=np.uint64).astype(np.uint32).view(np.float32)[:, None]
        )
    with np.errstate(over="ignore"):
        columns = np.concatenate([part.astype(np.float32) for part in parts]).T
    return [torch.from_numpy(np.ascontiguousarray(column)).to(TORCH_DTYPE[dtype]) for column in columns]


def results(operation: Operation, tensors: list[torch.Tensor], numerics: Numerics, device: Any) -> torch.Tensor:
    """What this library computes."""
    function = partial(getattr(ttnn, operation.name), **operation.chosen_by)
    values = operation.tested_attributes
    if numerics is Numerics.IEEE:
        return ttnn_jit.jit(enable_cache=False)(lambda *xs: function(*xs, *values))(*tensors)
    on_device = [ttnn.from_torch(t.reshape(1, -1), layout=ttnn.TILE_LAYOUT, device=device) for t in tensors]
    return function(*on_device, *values).to_torch().reshape(-1)


def reference(operation: Operation, tensors: list[torch.Tensor], numerics: Numerics) -> torch.Tensor:
    """The golden in float64."""
    golden = operation.golden_under(numerics)
    exact: torch.Tensor = golden(torch, *[t.double() for t in tensors], *operation.tested_attributes)
    return exact.double()


def ulp_errors(result: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Distance in units in the last place of the result's dtype; 0 where both are NaN or the same infinity."""
    bits = MANTISSA_BITS[result.dtype]
    _, exponent = torch.frexp(exact.abs())
    ulp = torch.ldexp(torch.ones_like(exact), (exponent - 1 - bits).clamp(min=-126 - bits))
    got = result.double()
    beyond = exact.abs() >= (2 - 2.0 ** (-1 - bits)) * 2.0**127
    expected = torch.where(beyond, torch.copysign(torch.full_like(exact, math.inf), exact), exact)
    same = (got == expected) | (got.isnan() & expected.isnan())
    return torch.where(same, torch.zeros_like(exact), ((got - exact).abs() / ulp).nan_to_num(nan=math.inf))


def bound_of(operation: Operation, dtype: DataType) -> float:
    """The error that the declaration allows, in units in the last place."""
    probe = operation.probe
    return (probe.max_ulp if dtype is FLOAT32 else probe.max_ulp_bf16) or 0.5


def measured(
    operation: Operation, dtype: DataType, numerics: Numerics, fraction: float, device: Any = None
) -> Accuracy:
    """Runs the sample of `fraction` and compares; under device numerics in bfloat16, as a device stores it."""
    tensors = arguments(operation, dtype, fraction)
    if operation.on_device is not None and numerics is Numerics.DEVICE:
        low, high = operation.on_device.domain
        tensors = [t[(t >= low) & (t <= high)] for t in tensors]
    got, exact = results(operation, tensors, numerics, device), reference(operation, tensors, numerics)
    errors = ulp_errors(got, exact)
    if numerics is Numerics.DEVICE and dtype is BFLOAT16:
        errors[_as_stored(got, exact)] = 0.0
    errors[(got.double() - exact).abs() <= operation.probe.max_absolute] = 0.0
    if numerics is Numerics.IEEE or operation.on_device is None:
        _recheck(operation, tensors, got, errors)
    worst = int(errors.argmax())
    return Accuracy(
        operation,
        dtype,
        numerics,
        points=len(errors),
        max_ulp=float(errors[worst]),
        worst=tuple(float(t[worst]) for t in tensors),
        nearest=float((errors <= 0.5).double().mean()),
        bound=bound_of(operation, dtype),
    )


def _as_stored(got: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Where a device's rules explain the result: NaN is infinity, and what is below the normal numbers is zero."""
    infinite = exact.isnan() & (got == math.inf)
    return infinite | ((exact.abs() < 2.0**-126) & (got == 0)) | ((exact.abs() <= 2.0**-126) & (got.abs() == 2.0**-126))


def _recheck(operation: Operation, tensors: list[torch.Tensor], got: torch.Tensor, errors: torch.Tensor) -> None:
    """Replaces the largest errors by those against mpmath."""
    function = MPMATH.get(operation.ttnn_name if operation.chosen_by else operation.name)
    if function is None or operation.attributes:
        return
    bits = MANTISSA_BITS[got.dtype]
    for i in map(int, errors.topk(min(RECHECKED, len(errors))).indices):
        values = [float(t[i]) for t in tensors]
        if errors[i] == 0 or not all(map(math.isfinite, [*values, float(got[i])])):
            continue
        with mpmath.workprec(400):
            exact = function(*map(mpmath.mpf, values))
            if isinstance(exact, mpmath.mpf) and mpmath.isfinite(exact) and exact != 0:
                unit = mpmath.ldexp(1, max(mpmath.frexp(exact)[1] - 1, -126) - bits)
                errors[i] = float(abs(mpmath.mpf(float(got[i])) - exact) / unit)


def cases() -> Iterator[tuple[Operation, DataType, Numerics]]:
    """Every operation, dtype and numerics; float32 under device numerics where its formula is another."""
    for operation in OPERATIONS:
        yield operation, FLOAT32, Numerics.IEEE
        if operation.on_device is not None:
            yield operation, FLOAT32, Numerics.DEVICE
        yield operation, BFLOAT16, Numerics.IEEE
        yield operation, BFLOAT16, Numerics.DEVICE


def table(rows: list[Accuracy]) -> str:
    """Markdown: a line per operation, a group of columns per dtype and numerics."""
    found = {(row.operation, row.dtype, row.numerics): row for row in rows}
    lines = [
        "| operation | f32, ulp | bound | worst argument | bf16, ulp | bound | nearest "
        "| bf16 on a chip target, ulp | nearest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for operation in dict.fromkeys(row.operation for row in rows):
        single, half, chip = (
            found[operation, dtype, numerics]
            for dtype, numerics in (
                (FLOAT32, Numerics.IEEE), (BFLOAT16, Numerics.IEEE), (BFLOAT16, Numerics.DEVICE)
            )
        )  # fmt: skip
        worst = ", ".join(f"{value:.9g}" for value in single.worst) if single.max_ulp > 0.5 else ""
        cells = [f"`{operation.signature}`", _ulp(single.max_ulp), _allowed(single), worst]
        cells += [_ulp(half.max_ulp), _allowed(half), _share(half), _ulp(chip.max_ulp), _share(chip)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _ulp(value: float) -> str:
    return "0" if value == 0 else f"{value:.3f}"


def _allowed(row: Accuracy) -> str:
    absolute = row.operation.probe.max_absolute
    return f"{row.bound:g}" + (f" or {absolute:.1g}" if absolute else "")


def _share(row: Accuracy) -> str:
    return "all" if row.nearest == 1 else f"{100 * row.nearest:.4f} %"


HEAD = """# Accuracy of every operation

Generated by `make accuracy` (`benchmarks/accuracy.py`), not written by hand; this one on {day}, {points:,} arguments in
all. Errors are in units of the last place of the result's dtype, against the declared golden in float64; where
mpmath has the function, the {rechecked} worst arguments of each are computed again to 400 bits, and that error counts.
0 means that every result was the very number; up to 0.5 the nearest one.

- *f32*: one in {step} of all 2^32 float32 (NaN, infinities and denormals among them), and {random:,} random arguments
  of the operation's domain; of two operands and more, random bit patterns, pairs of special values, and the domain.
  The same bits on AVX-512, AVX2 and NEON. Chip targets compute the same in f32, but for the operations named below.
- *bf16*: all 65,536 arguments of one operand, the samples of f32 rounded for more. *nearest* is the share of results
  that are the nearest bfloat16.
- *bf16 on a chip target*: device numerics, where NaN is stored as infinity and denormal results as zero; those are
  counted as right.
- *bound* is what the declaration states and the tests enforce; "or 1e-06" means that an absolute error up to that is
  within it whatever its units, near zeros of a function that are no floats.

"""


def page(rows: list[Accuracy], fraction: float) -> str:
    """The whole of docs/accuracy.md."""
    head = HEAD.format(
        day=date.today().isoformat(),
        points=sum(row.points for row in rows),
        rechecked=RECHECKED,
        step=int(BITS_STEP / fraction),
        random=int(POINTS * fraction),
    )
    notes = "\n".join(
        f"- `{row.operation.name}` in f32 on a chip target: {row.operation.on_device.summary} Against that formula in "
        f"float64: {_ulp(row.max_ulp)} ulp."
        for row in rows
        if row.operation.on_device is not None and row.numerics is Numerics.DEVICE and row.dtype is FLOAT32
    )
    return f"{head}{table(rows)}\n\n## Other formulas on chip targets\n\n{notes}\n"


def main() -> None:
    """Measures all cases behind a progress bar, prints or writes the table, and fails if a bound is broken."""
    from rich.progress import track

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fraction", type=float, default=1.0, help="of the full sample (default: all of it)")
    parser.add_argument("--write", type=Path, help="where the page goes; printed if not given")
    options = parser.parse_args()
    device = ttnn.open_device(device_id=0)
    rows = [measured(*case, options.fraction, device) for case in track(list(cases()), description="operations")]
    text = page(rows, options.fraction)
    if options.write:
        options.write.write_text(text)
    else:
        print(text)
    broken = [row for row in rows if row.max_ulp > row.bound]
    for row in broken:
        where = f"{row.operation.signature} {row.dtype.name} {row.numerics.name}"
        print(f"beyond its bound: {where}: {row.max_ulp} at {row.worst}")
    raise SystemExit(bool(broken))


if __name__ == "__main__":
    main()
