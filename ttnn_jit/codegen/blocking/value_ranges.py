"""Value-range analysis: bounds of what launches load and compute over a part of their loops, for all arguments.

The results of routines without operands are known, such as the positions of a causal mask. A monotone operation on
them is evaluated at the ends of its operands' ranges. This is interval arithmetic (Moore, "Interval Analysis", 1966)
over the operations' own bodies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ttnn_jit.codegen.bodies.body_analysis import operation_of_tile
from ttnn_jit.codegen.bodies.steps import Apply, Cast, Constant, Load, Step, Store, operands_of
from ttnn_jit.codegen.schedules.host_plan import HostLaunch
from ttnn_jit.codegen.schedules.launch import LaunchLoops
from ttnn_jit.codegen.schedules.plan_value import PlanValue
from ttnn_jit.dialects.declared_ops import RoutineOp
from ttnn_jit.interpreters.tensor_interpreter import results_of
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics

_MOST = float(np.finfo(np.float32).max)
_LEAST = float(np.finfo(np.float32).smallest_subnormal)


@dataclass(frozen=True, slots=True)
class Range:
    """A closed interval of numbers, infinities included.

    Attributes:
        low: The least number; above `high` if the interval is empty.
        high: The largest number.
        nan: Whether NaN is possible.
        zero: Whether 0 is possible, if it lies within the interval.
    """

    low: float
    high: float
    nan: bool = False
    zero: bool = True

    def is_only(self, number: float) -> bool:
        """Whether `number` is the only possible value."""
        return self.low == self.high == number and not self.nan

    @property
    def ends(self) -> list[float]:
        """The points at which a monotone operation takes its extremes: the ends on either side of 0, 0, and NaN."""
        inner = [each for each in (-_LEAST, 0.0, _LEAST) if self.low < each < self.high]
        return [self.low, *(each for each in inner if each or self.zero), self.high, *([math.nan] * self.nan)]


ANYTHING = Range(-math.inf, math.inf, nan=True)
FINITE_NOT_ZERO = Range(-_MOST, _MOST, zero=False)

Box = Sequence[tuple[int, int]]
"""The first and the last index of every loop, outermost first."""


class ValueRanges:
    """The ranges of values that launches compute.

    Args:
        launches: The launches whose results others read.
        numerics: The rounding of results.
    """

    def __init__(self, launches: Iterable[HostLaunch], numerics: Numerics) -> None:
        self._writers = {each.bound.outputs[0].value: each for each in launches if len(each.bound.outputs) == 1}
        self._numerics = numerics
        self._math = NumpyVector()
        self._constants: dict[PlanValue, Any] = {}
        self._results: dict[tuple[Step, tuple[Range, ...]], Range] = {}

    def stored(self, launch: HostLaunch, box: Box, known: Mapping[PlanValue, Range]) -> Range:
        """The range of the elements that a launch with one output stores."""
        own = self.steps(launch, box, known, lambda _: None)
        stores = [step for step in launch.bound.steps if isinstance(step, Store)]
        return own[stores[0].operand] if stores else ANYTHING  # a repacking copy has no body

    def steps(
        self,
        launch: HostLaunch,
        box: Box,
        known: Mapping[PlanValue, Range],
        assumed: Callable[[int], Range | None],
    ) -> list[Range]:
        """The range of every step of a launch.

        Args:
            launch: A launch.
            box: The part of its loops.
            known: Ranges of tensors that it reads.
            assumed: From the index of a step to its assumed range; None: the range is computed.
        """
        found: list[Range] = []
        for index, step in enumerate(launch.bound.steps):
            found.append(assumed(index) or self._step(step, found, launch, box, known))
        return found

    def _step(
        self, step: Step, found: Sequence[Range], launch: HostLaunch, box: Box, known: Mapping[PlanValue, Range]
    ) -> Range:
        match step:
            case Load():
                return self._loaded(launch, step.stream, box, known)
            case Apply() | Cast() if not step.dtype.is_integer:
                return self._computed(step, tuple(found[each] for each in operands_of(step)))
            case _:
                return ANYTHING

    def _computed(self, step: Apply | Cast, operands: tuple[Range, ...]) -> Range:
        key = step, operands
        if key not in self._results:
            function = self._function(step)
            self._results[key] = ANYTHING if function is None else _of_ends(function, operands)
        return self._results[key]

    def _function(self, step: Apply | Cast) -> Callable[..., Any] | None:
        """The operation with its rounding as a function of tiles; None if it is not monotone."""

        def rounded(value: Any) -> Any:
            return self._math.round_to(value, step.dtype, self._numerics)

        if isinstance(step, Cast):
            return rounded
        operation, numbers = operation_of_tile(step.tile_name), step.constant_numbers
        if not operation.algebra.monotone:
            return None

        def applied(*tiles: Any) -> Any:
            rest = iter(tiles)
            operands = [np.float32(each.value) if isinstance(each, Constant) else next(rest) for each in step.operands]
            return rounded(operation.emit_numbers(self._math, *operands, *numbers))

        return applied

    def _loaded(self, launch: HostLaunch, stream: int, box: Box, known: Mapping[PlanValue, Range]) -> Range:
        bound = launch.bound
        value = bound.inputs[stream].value
        if value in known:
            return known[value]
        writer = self._writers.get(value)
        if writer is None:
            return ANYTHING
        outputs = len(writer.bound.inputs)
        region = _same_elements(bound.loops, stream, box, writer.bound.loops, outputs)
        if region is None:
            return ANYTHING
        if isinstance(writer.ops[-1], RoutineOp):
            return self._of_routine(writer.ops[-1], value, region)
        return self.stored(writer, region, {}) if writer.bound.is_map else ANYTHING

    def _of_routine(self, op: RoutineOp, value: PlanValue, region: Box) -> Range:
        if op.operands or len(op.results) != 1 or len(region) != 1:
            return ANYTHING
        if value not in self._constants:
            (self._constants[value],) = results_of(op, (), self._math, self._numerics)
        (first, last), values = region[0], self._constants[value]
        part = values.reshape(-1)[first : last + 1]
        return Range(float(part.min()), float(part.max())) if np.isfinite(part).all() else ANYTHING


def _of_ends(function: Callable[..., Any], operands: Sequence[Range]) -> Range:
    """The range of a monotone function's results."""
    ends = np.meshgrid(*(np.array(each.ends, np.float32) for each in operands), indexing="ij")
    with NumpyVector.quiet():
        results = np.asarray(function(*ends), np.float32)
    numbers = results[~np.isnan(results)]
    if not numbers.size:
        return Range(math.inf, -math.inf, nan=True)
    return Range(float(numbers.min()), float(numbers.max()), numbers.size < results.size)


def _same_elements(nest: LaunchLoops, stream: int, box: Box, other: LaunchLoops, written: int) -> Box | None:
    """The part of another nest's loops that writes what a stream reads in `box`; None if it is not known."""
    strides = other.strides[written]
    order = sorted(range(len(strides)), key=lambda loop: -strides[loop])
    digits = [loop for loop in order if other.extents[loop] > 1]
    weights, extents = [strides[loop] for loop in digits], [other.extents[loop] for loop in digits]
    spans = [weight * extent for weight, extent in zip(weights, extents, strict=True)]
    inner = zip(weights, [*weights, 1][1:], [*spans, 1][1:], strict=True)
    if min(spans, default=1) < 1 or any(weight % next_one or weight < span for weight, next_one, span in inner):
        return None  # its indices are not the digits of an address
    start = nest.offsets[stream] - other.offsets[written]
    moves = [(1, start, start)]
    moves += [(step, first * step, last * step) for step, (first, last) in zip(nest.strides[stream], box, strict=True)]
    region = [(0, 0)] * len(digits)
    for step, first, last in moves:
        part = _digits(step, first, last, weights, extents)
        if part is None:
            return None
        region = [(a + c, b + d) for (a, b), (c, d) in zip(region, part, strict=True)]
    if any(last >= extent for (_, last), extent in zip(region, extents, strict=True)):
        return None
    found = dict(zip(digits, region, strict=True))
    return [found.get(loop, (0, 0)) for loop in range(len(strides))]


def _digits(
    step: int, first: int, last: int, weights: Sequence[int], extents: Sequence[int]
) -> list[tuple[int, int]] | None:
    """The first and last digits of the multiples of `step` between two numbers; None if others lie between.

    A digit beyond its extent belongs to padding.
    """
    if min(step, first) < 0 or (weights and last >= weights[0] * extents[0]) or (last and not weights):
        return None
    found: list[tuple[int, int]] = []
    for index, (weight, extent) in enumerate(zip(weights, extents, strict=True)):
        before = weights[index - 1] if index else weight * extent
        if all(low == high for low, high in found):
            found.append((first % before // weight, last % before // weight))
        elif step % before == 0:
            found.append((0, 0))
        elif before == weight * extent:
            found.append((0, extent - 1))
        else:
            return None
    return found
