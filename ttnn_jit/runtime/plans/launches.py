"""The launches of a program: runs of kernels on numbered buffers, and repeats of launches."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ttnn_jit.process.cached_property import cached_property
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.runtime.plans.spec_json import numbers, text_of

MAX_REPEAT_DEPTH = 8
"""The most repeats that may be nested."""


@dataclass(frozen=True)
class Launch:
    """A run of a kernel.

    Attributes:
        kernel: Symbol of the native function ``void kernel(ptr pointers, ptr params)``.
        operands: Index of the buffer, or of the constant, of each of its pointers, in order (`ProgramPlan`).
        params: The i64 numbers of its second argument: extents and strides (codegen/schedules/launch.py).
        picoseconds: Predicted arithmetic per element on one thread; 0 for a kernel that must run whole.
        written: How many of its operands, the last ones, it writes; it reads the others.
        offsets: Per operand, the elements from the start of its buffer to its first element; () means zeros.
        reduced: Which of its loops are reduced; 0 is the innermost.
        panels: Which operand may be packed in panels (runtime/native/panels.py), the columns of a panel, and the terms
            of a word; () if none may.
        steps: Per enclosing repeat, outermost first, and per operand: the elements by which its offset moves from one
            round to the next.
        whole: Further loops that threads do not cut: those of a block, of a tile, of a routine.
        growth: Per enclosing repeat and per loop: the growth of its extent from one round to the next; () means zeros.
    """

    kernel: str
    operands: tuple[int, ...]
    params: tuple[int, ...]
    picoseconds: int = 0
    written: int = 1
    offsets: tuple[int, ...] = ()
    reduced: tuple[int, ...] = ()
    panels: tuple[int, ...] = ()
    steps: tuple[tuple[int, ...], ...] = ()
    whole: tuple[int, ...] = ()
    growth: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def uncut(self) -> tuple[int, ...]:
        """The loops that are not cut among threads."""
        return (*self.reduced, *self.whole)

    @cached_property
    def loops(self) -> int:
        """The number of loops."""
        return len(self.params) // (1 + len(self.operands))

    def __post_init__(self) -> None:
        if not self.offsets:
            object.__setattr__(self, "offsets", (0,) * len(self.operands))

    def offsets_in(self, rounds: Sequence[int]) -> tuple[int, ...]:
        """The offsets in a round, given by the round number of each enclosing repeat, outermost first."""
        return _moved(self.offsets, self.steps, rounds)

    def params_in(self, rounds: Sequence[int]) -> tuple[int, ...]:
        """The params in a round."""
        if not self.growth:
            return self.params
        return (*_moved(self.params[: self.loops], self.growth, rounds), *self.params[self.loops :])

    def in_round(self, rounds: Sequence[int]) -> Launch:
        """The launch of a round, outside of any repeat."""
        return replace(self, params=self.params_in(rounds), offsets=self.offsets_in(rounds), steps=(), growth=())

    def ends(self, counts: Sequence[int]) -> Iterator[tuple[Launch, tuple[int, ...]]]:
        """The launches of the first and last rounds of repeats with growing loops, each with the other repeats' counts.

        Extents grow linearly, so these bound the accesses of all rounds.
        """
        grows = [any(own) for own in self.growth] or [False] * len(counts)
        kept = [index for index, own in enumerate(grows) if not own]
        steps = tuple(self.steps[index] for index in kept)
        ends = ({0, count - 1} if own else {0} for own, count in zip(grows, counts, strict=True))
        for rounds in itertools.product(*ends):
            yield replace(self.in_round(rounds), steps=steps), tuple(counts[index] for index in kept)


def _moved(numbers: tuple[int, ...], steps: Sequence[tuple[int, ...]], rounds: Sequence[int]) -> tuple[int, ...]:
    """`numbers` in a round of nested repeats, from whose rounds to the next they move by `steps`."""
    for round_, own in zip(rounds, steps, strict=True):
        numbers = tuple(each + round_ * step for each, step in zip(numbers, own, strict=True))
    return numbers


@dataclass(frozen=True)
class Repeat:
    """A loop over launches: every round runs all of them in order, on one block of the data.

    Attributes:
        count: Number of rounds, at least one.
        launches: The launches of a round, in order.
    """

    count: int
    launches: tuple[Launch | Repeat, ...]


def launches_in(
    launches: Sequence[Launch | Repeat], counts: tuple[int, ...] = ()
) -> Iterator[tuple[Launch, tuple[int, ...]]]:
    """Every launch once, with `counts` followed by the counts of its enclosing repeats, outermost first."""
    for each in launches:
        if isinstance(each, Repeat):
            yield from launches_in(each.launches, (*counts, each.count))
        else:
            yield each, counts


def runs_of(
    launches: Sequence[Launch | Repeat], rounds: tuple[int, ...] = ()
) -> Iterator[tuple[Launch, tuple[int, ...]]]:
    """Every run of a launch in order, with `rounds` followed by the round numbers of its enclosing repeats."""
    for each in launches:
        if isinstance(each, Repeat):
            for number in range(each.count):
                yield from runs_of(each.launches, (*rounds, number))
        else:
            yield each, rounds


def launch_to_json(each: Launch | Repeat) -> list[Any]:
    """A launch or a repeat as JSON values; equal ones give equal values."""
    if isinstance(each, Repeat):
        return [each.count, [*map(launch_to_json, each.launches)]]
    starts = list(each.offsets) if any(each.offsets) else []
    fields = [each.kernel, list(each.operands), list(each.params), each.picoseconds, each.written, starts]
    more = list(each.panels), [*map(list, each.steps)], list(each.whole), [*map(list, each.growth)]
    return without_empty_tail([*fields, list(each.reduced)], *more)


def without_empty_tail(fields: list[Any], *more: list[Any]) -> list[Any]:
    """`fields` followed by `more`, without its trailing empty lists."""
    kept = len(more)
    while kept and not more[kept - 1]:
        kept -= 1
    return [*fields, *more[:kept]]


def launch_from_json(fields: Sequence[Any], around: int = 0) -> Launch | Repeat:
    """The inverse of `launch_to_json`, for fields nested in `around` repeats.

    Raises:
        LookupError, TypeError, ValueError: The fields describe neither a launch nor a repeat.
    """
    if isinstance(fields[0], str):
        return _launch(fields)
    if around == MAX_REPEAT_DEPTH:
        raise ValueError(f"more than {MAX_REPEAT_DEPTH} repeats are nested")
    count, launches = fields
    (rounds,) = numbers([count])
    return Repeat(rounds, tuple(launch_from_json(each, around + 1) for each in launches))


def _launch(fields: Sequence[Any]) -> Launch:
    kernel, operands, params, picoseconds, written, offsets, reduced, *more = fields
    absent: list[Any] = [[], [], [], []]
    panels, steps, whole, growth = [*more, *absent[len(more) :]]
    operands, params, offsets, reduced = map(numbers, (operands, params, offsets, reduced))
    time, outputs = numbers([picoseconds, written])
    own = numbers(panels), tuple(map(numbers, steps)), numbers(whole), tuple(map(numbers, growth))
    return Launch(text_of(kernel), operands, params, time, outputs, offsets, reduced, *own)
