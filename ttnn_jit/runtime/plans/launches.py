"""The launches of a program: runs of kernels on numbered buffers, and repeats of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.spec_json import numbers, text_of

MOST_AROUND = 8
"""Repeats that may stand in each other."""


@dataclass(frozen=True)
class Launch:
    """A run of a kernel.

    Attributes:
        kernel: Symbol of the native function ``void kernel(ptr pointers, ptr params)``.
        operands: Buffer index of each of its pointers, in order.
        params: The i64 numbers of its second argument: extents and strides (codegen/schedules/launch.py).
        picoseconds: Predicted arithmetic per element on one thread; 0 for a kernel that must run whole.
        written: How many of its operands, the last ones, it writes; it reads the others.
        offsets: Per operand, the elements from the start of its buffer to the first one that it meets; given as (),
            zeros.
        reduced: Which of its loops are reduced, 0 being the innermost: several of their elements make one of a result.
        panels: Which operand may come packed in panels (runtime/native/panels.py), the columns of one, and the terms of
            a word; () where none may.
        steps: Per repeat that it stands in, outermost first, and per operand: the elements from where it meets the
            operand in one round to where in the next.
        whole: Which other loops the kernel walks as they are: those of a block, of a tile, of a routine.
        growth: As `steps`, per loop: how much longer it is in the next round; given as (), loops are as long in all.
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

    @property
    def uncut(self) -> tuple[int, ...]:
        """The loops that are not cut among threads."""
        return (*self.reduced, *self.whole)

    @property
    def loops(self) -> int:
        """How many loops there are."""
        return len(self.params) // (1 + len(self.operands))

    def __post_init__(self) -> None:
        if not self.offsets:
            object.__setattr__(self, "offsets", (0,) * len(self.operands))

    def offsets_in(self, rounds: Sequence[int]) -> tuple[int, ...]:
        """The offsets in one round of each repeat that it stands in, outermost first."""
        return _moved(self.offsets, self.steps, rounds)

    def params_in(self, rounds: Sequence[int]) -> tuple[int, ...]:
        """Likewise, the params."""
        if not self.growth:
            return self.params
        return (*_moved(self.params[: self.loops], self.growth, rounds), *self.params[self.loops :])

    def in_round(self, rounds: Sequence[int]) -> Launch:
        """The launch as it is there, in no repeat."""
        return replace(self, params=self.params_in(rounds), offsets=self.offsets_in(rounds), steps=(), growth=())

    def ends(self, counts: Sequence[int]) -> Iterator[tuple[Launch, tuple[int, ...]]]:
        """With the repeats of these counts in which extents differ only in their first and last rounds.

        What it meets, reads and writes in all of their rounds lies between these, for extents grow evenly.
        """
        grows = [any(own) for own in self.growth] or [False] * len(counts)
        kept = [index for index, own in enumerate(grows) if not own]
        steps = tuple(self.steps[index] for index in kept)
        ends = ({0, count - 1} if own else {0} for own, count in zip(grows, counts, strict=True))
        for rounds in itertools.product(*ends):
            yield replace(self.in_round(rounds), steps=steps), tuple(counts[index] for index in kept)


def _moved(numbers: tuple[int, ...], steps: Sequence[tuple[int, ...]], rounds: Sequence[int]) -> tuple[int, ...]:
    """Numbers in one round of each of some repeats, from one of which to the next they move by `steps`."""
    for round_, own in zip(rounds, steps, strict=True):
        numbers = tuple(each + round_ * step for each, step in zip(numbers, own, strict=True))
    return numbers


@dataclass(frozen=True)
class Repeat:
    """Launches that run one after the other, all of them in each of several rounds: blocks of what they compute.

    Attributes:
        count: Of rounds, at least one.
        launches: Of a round, in order.
    """

    count: int
    launches: tuple[Launch | Repeat, ...]


def launches_in(
    launches: Sequence[Launch | Repeat], counts: tuple[int, ...] = ()
) -> Iterator[tuple[Launch, tuple[int, ...]]]:
    """Every launch once, with the rounds of each repeat that it stands in, outermost first, behind `counts`."""
    for each in launches:
        if isinstance(each, Repeat):
            yield from launches_in(each.launches, (*counts, each.count))
        else:
            yield each, counts


def runs_of(
    launches: Sequence[Launch | Repeat], rounds: tuple[int, ...] = ()
) -> Iterator[tuple[Launch, tuple[int, ...]]]:
    """Every launch as often as it runs, in order, with the number of the round of each repeat, behind `rounds`."""
    for each in launches:
        if isinstance(each, Repeat):
            for number in range(each.count):
                yield from runs_of(each.launches, (*rounds, number))
        else:
            yield each, rounds


def launch_to_json(each: Launch | Repeat) -> list[Any]:
    """A launch, or a repeat, as JSON values; equal ones give equal values."""
    if isinstance(each, Repeat):
        return [each.count, [*map(launch_to_json, each.launches)]]
    starts = list(each.offsets) if any(each.offsets) else []
    fields = [each.kernel, list(each.operands), list(each.params), each.picoseconds, each.written, starts]
    more = list(each.panels), [*map(list, each.steps)], list(each.whole), [*map(list, each.growth)]
    return with_given([*fields, list(each.reduced)], *more)


def with_given(fields: list[Any], *more: list[Any]) -> list[Any]:
    """JSON values, and `more` of them up to the last that is not empty."""
    given = len(more)
    while given and not more[given - 1]:
        given -= 1
    return [*fields, *more[:given]]


def launch_from_json(fields: Sequence[Any], around: int = 0) -> Launch | Repeat:
    """The inverse of `launch_to_json`, of what stands in so many repeats.

    Raises:
        LookupError, TypeError, ValueError: The fields describe neither.
    """
    if isinstance(fields[0], str):
        return _launch(fields)
    if around == MOST_AROUND:
        raise ValueError(f"more than {MOST_AROUND} repeats stand in each other")
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
