"""The verdict on a result of several operations, from the bounds of each of them.

An operation may be off by the bound of its declaration. How far that moves the result is measured: the goldens of the
whole chain are evaluated again while every operation is off by its bound, upwards, downwards, in turns, towards and
away from zero, and several times with a sign of its own for each element. The largest change of an element is
what a right program may be off by there. Where goldens jump, at comparisons and roundings, changes are as large as the
jump, for the elements near it alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count

import torch
from xdsl.ir import Operation, SSAValue

from ttnn_jit.golden.distances import elements_at, unit_in_last_place, unit_of_block
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, judge, root_mean_square
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.op_goldens import OpGolden
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.sessions.text_goldens import bound_of
from ttnn_jit.specs.tensor_spec import TensorSpec

_RANDOM, _RANDOM_OF_MANY = 8, 2
"""Evaluations whose elements have signs of their own; of chains with many elements."""
_MANY_ELEMENTS = 1 << 22
_SMALLEST_NORMAL = 2.0**-126  # smaller values may be flushed to zero
Sign = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class ChainStep:
    """An operation of a chain.

    Attributes:
        golden: Its golden.
        results: The values that it writes.
    """

    golden: OpGolden
    results: tuple[SSAValue, ...]


class GoldenChain:
    """The operations from which a value is computed, and their goldens.

    Args:
        steps: The operations, in an order in which they can run.
        value: The value, which one of them writes.
        aliases: See `chain_of`.
    """

    def __init__(self, steps: Sequence[ChainStep], value: SSAValue, aliases: Mapping[SSAValue, SSAValue]) -> None:
        self._steps = [*steps]
        self._value = value
        self._aliases = aliases

    @property
    def is_random(self) -> bool:
        """Whether an operation draws its results."""
        return any(each.golden.read.operation.is_random for each in self._steps)

    def verdict(self, device: int, golden: torch.Tensor, got: torch.Tensor, *, as_ttnn: bool = False) -> Verdict:
        """The verdict on the result of a device.

        Args:
            device: The device.
            golden: The golden there, rounded after each operation.
            got: The result, in the shape of the golden.
            as_ttnn: Whether products have the fewer bits that calls of ttnn have by default.
        """
        dtype = self._spec().dtype
        exact = golden.double() if golden.is_floating_point() else golden
        found: list[torch.Tensor] = []

        def changes() -> torch.Tensor:
            if not found:
                found.append(self._changes(device, golden, on_chip=as_ttnn))
            return found[0]

        if not golden.is_floating_point() and not torch.equal(golden, got.to(golden.dtype)):
            got = torch.where(changes() > 0, golden, got.to(golden.dtype))
        tolerance = Tolerance(1.0, noise=lambda places=None: [elements_at(changes(), places)])
        return judge(got, exact, ResultFormat(dtype, as_ttnn), tolerance)

    def _spec(self) -> TensorSpec:
        last = next(each for each in self._steps if self._value in each.results)
        return last.golden.read.results[last.results.index(self._value)]

    def _changes(self, device: int, golden: torch.Tensor, *, on_chip: bool) -> torch.Tensor:
        """Per element, the largest change; infinite where one has NaN or an infinity and the golden has not."""
        evaluated = [self._evaluated(sign, on_chip).shard_at(device).double() for sign in self._signs()]
        exact, moved = golden.double(), torch.stack(evaluated)
        away = (moved - exact).abs().amax(0)
        undefined = (moved.isnan() != exact.isnan()).any(0) | (moved.isinf() & (moved != exact)).any(0)
        return away.nan_to_num(nan=0.0, posinf=0.0).masked_fill(undefined, math.inf)

    def _signs(self) -> Iterable[Callable[[], Sign]]:
        """What gives, for each evaluation, the signs of the errors of one operation after the other."""
        total = sum(each.numel() * len(each.shard_map) for step in self._steps for each in step.golden.values.values())
        for direction in (1.0, -1.0):
            yield partial(_constant, direction)
            yield partial(_outwards, direction)
            yield partial(_in_turns, direction, count())
        for seed in range(_RANDOM_OF_MANY if total > _MANY_ELEMENTS else _RANDOM):
            yield partial(_drawn, torch.Generator().manual_seed(seed))

    def _evaluated(self, sign_of: Callable[[], Sign], on_chip: bool) -> GoldenMapTensor:
        """The value, where each operation is off by its bound."""
        values: dict[SSAValue, GoldenMapTensor] = {}
        for step in self._steps:
            read, sign = step.golden.read, sign_of()
            given = step.golden.values.items()
            operands = {each: values.get(_source(self._aliases, each), known) for each, known in given}
            bounds = [bound_of(read, spec, on_chip=on_chip) for spec in read.results]
            error = max(each.error for each in bounds)
            if error:
                operands = {
                    each: tensor.apply_shardwise(partial(_moved, sign, error)) for each, tensor in operands.items()
                }
            results = step.golden.on(operands).results()
            for value, parts, spec, index in zip(step.results, results, read.results, count(), strict=False):
                bound = bounds[index]
                units = bound.units if read.operation.stated_ulp(read.call(lambda _: None)) != 0 else 0.0
                held = {at: _off(each, spec, sign, units, bound.relative) for at, each in parts.items()}
                values[value] = GoldenMapTensor(held, step.golden.mesh)
        return values[self._value]


def chain_of(
    value: SSAValue,
    computed: Mapping[SSAValue, OpGolden],
    aliases: Mapping[SSAValue, SSAValue],
    inputs: Container[SSAValue],
) -> GoldenChain | None:
    """The chain of a value; None if something on the way was not computed by the golden of an operation.

    Args:
        value: The value.
        computed: Value -> the golden by which it was computed, in the order of the program.
        aliases: Result of a call, or argument of what is called -> the value that it is.
        inputs: The arguments of programs, whose goldens are exact.
    """
    value = _source(aliases, value)
    needed, waiting = {value}, [value]
    while waiting:
        each = waiting.pop()
        if each in computed:
            read = {_source(aliases, operand) for operand in computed[each].values}
            waiting += read - needed
            needed |= read
        elif each not in inputs:
            return None
    if value not in computed:
        return None
    steps: dict[int, ChainStep] = {}
    for each, golden in computed.items():
        if each in needed:
            owner = each.owner
            written = golden.read.written(owner) if isinstance(owner, Operation) else [each]
            steps.setdefault(id(golden), ChainStep(golden, tuple(written)))
    return GoldenChain([*steps.values()], value, aliases)


def _source(aliases: Mapping[SSAValue, SSAValue], value: SSAValue) -> SSAValue:
    """The value that was computed or given."""
    while value in aliases:
        value = aliases[value]
    return value


def _constant(direction: float) -> Sign:
    return lambda x: torch.full_like(x, direction)


def _outwards(direction: float) -> Sign:
    return lambda x: torch.where(x < 0, -direction, direction).to(x.dtype)


def _in_turns(direction: float, numbers: Iterator[int]) -> Sign:
    return _constant(direction * (-1) ** next(numbers))


def _drawn(generator: torch.Generator) -> Sign:
    return lambda x: torch.randint(0, 2, x.shape, generator=generator).to(x.dtype) * 2 - 1


def _moved(sign: Sign, error: float, x: torch.Tensor) -> torch.Tensor:
    """Operands that are off by a relative error."""
    if not x.is_floating_point():
        return x
    wide = x.double()
    by = sign(wide)
    return wide * (1.0 + error * by) + _SMALLEST_NORMAL * by


def _off(x: torch.Tensor, spec: TensorSpec, sign: Sign, units: float, relative: float) -> torch.Tensor:
    """A result that is off by its bound, in its type and wide again."""
    if not x.is_floating_point():
        return x
    dtype = spec.dtype
    wide = x.double()
    if dtype.is_block_float:
        unit = unit_of_block(wide, dtype.traits.magnitude_bits)
    else:
        unit = unit_in_last_place(wide.nan_to_num(), dtype.mantissa_bits, dtype.smallest_normal)
    by = units * unit + (relative * (wide.abs() + root_mean_square(wide)) if relative else 0.0)
    moved = wide + sign(wide) * by.nan_to_num(nan=0.0, posinf=0.0)
    return moved.to(dtype.torch).double()
