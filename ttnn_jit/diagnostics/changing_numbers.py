"""Numbers that are constants of programs: one that keeps changing compiles anew each time, which its caller is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from ttnn_jit.diagnostics.tracebacks import level_of_the_user

VALUES_BEFORE_WARNING = 16
STEPS_BEFORE_WARNING = 4
"""Integers each one more than the last: a position in a sequence, which takes as many values as there are words."""


class ChangingNumbers:
    """The numbers that programs of `function`, a name, were compiled for."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._seen: dict[str, set[object]] = {}
        self._steps: dict[str, tuple[list[int], int]] = {}
        self._told: set[str] = set()

    def count(self, argument: str, key: object) -> None:
        """Warn once about an `argument` that takes value after value, each told from others by its `key`."""
        if argument in self._told:
            return
        seen = self._seen.setdefault(argument, set())
        seen.add(key)
        if self._counts_up(argument, key):
            advice = (
                "a position that grows is given as a tensor of integers, as `cur_pos_tensor` or `update_idxs_tensor`"
            )
            self._warn(argument, f"{advice} take it")
        elif len(seen) >= VALUES_BEFORE_WARNING and not _is_of_several(key):
            self._warn(argument, "pass a value that changes as a tensor of shape (1, 1)")

    def _counts_up(self, argument: str, key: object) -> bool:
        """Whether these were integers, or tuples of them, each of which is one more than that of the time before."""
        numbers = list(_integers(key))
        before, steps = self._steps.get(argument, ([], 0))
        is_step = bool(numbers) and numbers == [number + 1 for number in before]
        self._steps[argument] = numbers, steps + 1 if is_step else 0
        return self._steps[argument][1] == STEPS_BEFORE_WARNING

    def _warn(self, argument: str, advice: str) -> None:
        self._told.add(argument)
        warnings.warn(
            f"{self._function} was compiled for {len(self._seen.pop(argument))} values of {argument}, which is a "
            f"constant of each program; {advice}",
            stacklevel=level_of_the_user(),
        )


def _is_of_several(key: object) -> bool:
    return isinstance(key, tuple) and key[0] is tuple


def _integers(key: object) -> Iterator[int]:
    """Those in the key of an atom (`foreign.values.atom_key`) that is one, or a tuple of them."""
    match key:
        case (kind, int(number)) if kind is int:
            yield number
        case (kind, tuple(inner)) if kind is tuple:
            for each in inner:
                yield from _integers(each)
        case _:
            return
