"""Runs one operation in one dtype over its sample, under every mode, and compares."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
import torch

import ttnn_jit
from benchmarks.accuracy.references import error_in_ulp, in_float64, to_many_digits
from benchmarks.accuracy.sample import chunks
from ttnn_jit import ttnn
from ttnn_jit.ops import Operation, operations_on
from ttnn_jit.specs.dtypes import FLOATS
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import DataType

FLOAT32, BFLOAT16 = DataType.FLOAT32, DataType.BFLOAT16
MANTISSA_BITS = {torch.float32: 23, torch.bfloat16: 7}
RECHECKED = 24
"""The number of worst arguments that mpmath computes again."""
AT_RANDOM = 48
"""The number of arguments at which the float64 reference is compared with mpmath, at the full fraction."""
_EXPONENT = 0x7FF0_0000_0000_0000
_ROW = 1024


class Mode(Enum):
    """A way to run an operation that may affect its results."""

    CPU = "cpu target: IEEE numerics, in a jitted function"
    CHIP = "chip target: device numerics, eagerly"
    CHIP_FLOAT32_DEST = "chip target, in a jitted function with fp32_dest_acc=True"

    @property
    def numerics(self) -> Numerics:
        """How results are rounded."""
        return Numerics.IEEE if self is Mode.CPU else Numerics.DEVICE


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of one operation in one dtype and mode.

    Attributes:
        operation: Its declaration.
        dtype: Element type of operands and result.
        mode: How it was run.
        points: The number of arguments.
        max_ulp: The largest error in units of the dtype's last place, without errors within `max_absolute`.
        worst: The arguments of the largest error.
        nearest: The share of correctly rounded results.
        bound: The error that the declaration allows.
        as_on_cpu: Whether every result has the bits of the cpu target, up to a device's rules of stores.
        reference_ulp: The largest error of the float64 reference against mpmath, in the same units.
        referenced: The number of arguments of that comparison.
    """

    operation: Operation
    dtype: DataType
    mode: Mode
    points: int
    max_ulp: float
    worst: tuple[float, ...]
    nearest: float
    bound: float
    as_on_cpu: bool
    reference_ulp: float
    referenced: int


def cases() -> Iterator[tuple[Operation, DataType]]:
    """Every operation on floats in each of its float dtypes; operations on integers are exact."""
    for operation in operations_on(FLOATS):
        for dtype in sorted(FLOATS, key=lambda d: -d.itemsize):
            yield operation, dtype


def bound_of(operation: Operation, dtype: DataType) -> float:
    """The error that the declaration allows, in units in the last place."""
    probe = operation.probe
    return (probe.max_ulp if dtype is FLOAT32 else probe.max_ulp_bf16) or 0.5


def measured(
    operation: Operation,
    dtype: DataType,
    fraction: float,
    *,
    modes: Sequence[Mode] = tuple(Mode),
    step: int | None = None,
) -> list[Accuracy]:
    """Runs the sample of `fraction` under `modes` and compares: one `Accuracy` for each.

    Args:
        operation: The operation.
        dtype: Element type of its operands and result.
        fraction: The fraction of the sample (benchmarks/accuracy/sample.py).
        modes: The modes.
        step: If given, every `step`-th of all float32 numbers, instead of `fraction`.
    """
    tallies = {mode: _Tally(operation, dtype, mode) for mode in modes}
    device = ttnn.open_device(device_id=0)
    runs = {mode: _runner(operation, mode, device) for mode in modes}
    for number, tensors in enumerate(chunks(operation, dtype, fraction, step)):
        on_cpu, exact = None, in_float64(operation, operation.golden, tensors)
        for mode in modes:
            got = runs[mode](tensors)
            on_cpu = got if on_cpu is None else on_cpu
            tallies[mode].add(tensors, got, exact, on_cpu)
            if number == 0 and mode is modes[0]:
                tallies[mode].compare_reference(tensors, exact, round(AT_RANDOM * min(1.0, fraction)))
    ttnn.close_device(device)
    return [tally.result() for tally in tallies.values()]


def _runner(operation: Operation, mode: Mode, device: Any) -> Callable[[list[torch.Tensor]], torch.Tensor]:
    """A function that runs the operation in `mode`."""
    function = partial(getattr(ttnn, operation.name), **operation.fixed_keywords)
    values = operation.tested_attributes

    def call(*operands: Any) -> Any:
        return function(*operands, *values)

    if mode is Mode.CPU:
        jitted = ttnn_jit.jit(enable_cache=False)(call)
        return lambda tensors: jitted(*tensors)
    run = call if mode is Mode.CHIP else ttnn_jit.jit(enable_cache=False, fp32_dest_acc=True)(call)

    def on_chip(tensors: list[torch.Tensor]) -> torch.Tensor:
        count = len(tensors[0])
        rows = [torch.nn.functional.pad(t, (0, -count % (32 * _ROW))).reshape(-1, _ROW) for t in tensors]
        operands = [ttnn.from_torch(t, layout=ttnn.TILE_LAYOUT, device=device) for t in rows]
        result: torch.Tensor = run(*operands).to_torch()
        return result.reshape(-1)[:count]

    return on_chip


@dataclass
class _Tally:
    """The accumulated comparison of the chunks of one mode."""

    operation: Operation
    dtype: DataType
    mode: Mode
    points: int = 0
    nearest: int = 0
    as_on_cpu: bool = True
    reference_ulp: float = 0.0
    referenced: int = 0
    candidates: list[tuple[float, tuple[float, ...], float]] = field(default_factory=list)

    def add(self, tensors: list[torch.Tensor], got: torch.Tensor, exact: torch.Tensor, on_cpu: torch.Tensor) -> None:
        """Counts a chunk."""
        errors = ulp_errors(got, exact)
        if self.mode.numerics is Numerics.DEVICE and self.dtype is BFLOAT16:
            errors[as_stored(got, exact)] = 0.0
        if self.operation.probe.max_absolute:
            errors[(got.double() - exact).abs() <= self.operation.probe.max_absolute] = 0.0
        self.points += len(errors)
        self.nearest += int((errors <= 0.5).sum())
        self.as_on_cpu &= bool(_same(got, on_cpu, self.mode).all())
        worst = errors.topk(min(RECHECKED + 1, len(errors))).indices.tolist()
        found = [(float(errors[i]), tuple(float(t[i]) for t in tensors), float(got[i])) for i in worst]
        self.candidates = heapq.nlargest(RECHECKED + 1, [*self.candidates, *found], key=lambda entry: entry[0])

    def compare_reference(self, tensors: list[torch.Tensor], exact: torch.Tensor, count: int) -> None:
        """Compares the float64 reference with mpmath at evenly spaced arguments of a chunk."""
        digits = 23 if self.dtype is FLOAT32 else 7
        for i in np.linspace(0, len(exact) - 1, count).astype(int).tolist():
            many = to_many_digits(self.operation, [float(t[i]) for t in tensors])
            if many is not None and 2.0**-149 <= abs(float(exact[i])) < 2.0**128:
                self.reference_ulp = max(self.reference_ulp, error_in_ulp(float(exact[i]), many, digits))
                self.referenced += 1

    def result(self) -> Accuracy:
        """The accuracy: the largest errors against mpmath if it has the function, the rest against float64."""
        rechecked = [(self._by_mpmath(*entry), entry[1]) for entry in self.candidates[:RECHECKED]]
        rest = [(error, values) for error, values, _ in self.candidates[RECHECKED:]]
        max_ulp, worst = max([*rechecked, *rest], default=(0.0, ()), key=lambda entry: entry[0])
        return Accuracy(
            self.operation, self.dtype, self.mode, self.points, max_ulp, worst,
            self.nearest / max(1, self.points), bound_of(self.operation, self.dtype), self.as_on_cpu,
            self.reference_ulp, self.referenced,
        )  # fmt: skip

    def _by_mpmath(self, error: float, values: tuple[float, ...], got: float) -> float:
        if error == 0 or not math.isfinite(got):
            return error
        exact = to_many_digits(self.operation, values)
        return error if exact is None else error_in_ulp(got, exact, 23 if self.dtype is FLOAT32 else 7)


def ulp_errors(result: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Distance in units in the last place of the result's dtype; 0 where both are NaN or the same infinity."""
    bits = MANTISSA_BITS[result.dtype]
    got = result.double()
    unit = (exact.view(torch.int64) & _EXPONENT).view(torch.float64).clamp_(min=2.0**-126).mul_(2.0**-bits)
    errors = (got - exact).abs_().div_(unit)
    odd = ~(errors < math.inf) | (exact.abs() >= 2.0**127)
    if bool(odd.any()):
        errors[odd] = _odd_errors(got[odd], exact[odd], unit[odd], bits)
    return errors


def _odd_errors(got: torch.Tensor, exact: torch.Tensor, unit: torch.Tensor, bits: int) -> torch.Tensor:
    """Errors of NaN, infinities, and results that may round to an infinity."""
    beyond = exact.abs() >= (2 - 2.0 ** (-1 - bits)) * 2.0**127
    expected = torch.where(beyond, torch.copysign(torch.full_like(exact, math.inf), exact), exact)
    same = (got == expected) | (got.isnan() & expected.isnan())
    return torch.where(same, torch.zeros_like(exact), ((got - exact).abs() / unit).nan_to_num(nan=math.inf))


def as_stored(got: torch.Tensor, exact: torch.Tensor) -> torch.Tensor:
    """Where the rules of a device's stores explain the result: NaN becomes infinity, denormals become zero."""
    infinite = exact.isnan() & (got == math.inf)
    return infinite | ((exact.abs() < 2.0**-126) & (got == 0)) | ((exact.abs() <= 2.0**-126) & (got.abs() == 2.0**-126))


def _same(got: torch.Tensor, on_cpu: torch.Tensor, mode: Mode) -> torch.Tensor:
    """Where bits are equal (any NaN equals any NaN), or, for bfloat16 on a chip, a rule of its stores applies."""
    integer = torch.int32 if got.dtype == torch.float32 else torch.int16
    same = (got.view(integer) == on_cpu.view(integer)) | (got.isnan() & on_cpu.isnan())
    if mode is Mode.CPU or got.dtype == torch.float32:
        return same
    return same | on_cpu.isnan() & (got == math.inf) | (on_cpu.abs() <= 2.0**-126) & (got == 0)
