"""Arguments for whose values programs are compiled: one that keeps changing compiles anew each time, which is told."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ttnn_jit.diagnostics.tracebacks import warn_the_user

VALUES_BEFORE_WARNING = 16
STEPS_BEFORE_WARNING = 4
"""Integers each one more than the last: a position in a sequence, which takes as many values as there are tokens."""
VALUES_COUNTED = 256
"""Of one argument; beyond, it is one that keeps changing."""


class ChangingArguments:
    """What the programs of `function`, a name, were compiled for, by argument."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._seen: dict[str, set[int]] = {}
        self._numbers: dict[str, set[Hashable]] = {}  # of what is a tensor in other calls, those that are none
        self._steps: dict[str, tuple[list[int], int]] = {}
        self._told: set[str] = set()

    def count(self, argument: str, key: Hashable) -> None:
        """Note a value of `argument`, told from others by its `key`."""
        seen = self._seen.setdefault(argument, set())
        if len(seen) < VALUES_COUNTED:
            seen.add(hash(key))

    def count_number(self, argument: str, key: Hashable) -> None:
        """Note a value of an `argument` that is a constant of its program; warn once if it takes value after value."""
        self.count(argument, key)
        if argument in self._told:
            return
        numbers = self._numbers.setdefault(argument, set())
        if len(numbers) < VALUES_BEFORE_WARNING:
            numbers.add(key)
        if self._counts_up(argument, key):
            advice = (
                "a position that grows is given as a tensor of integers, as `cur_pos_tensor` or `update_idxs_tensor`"
            )
            self._warn_of_number(argument, f"{advice} take it")
        elif len(numbers) >= VALUES_BEFORE_WARNING and not _is_of_several(key):
            self._warn_of_number(argument, "pass a value that changes as a tensor of shape (1, 1)")

    def tell_of_short_lives(self, argument: str, kind: str) -> None:
        """Warn once of objects that are built anew for each call."""
        self._warn_once(
            argument,
            f"{self._function} was compiled for {VALUES_BEFORE_WARNING} objects of {kind} that were each "
            f"built for one call, as {argument}; build one, keep it, and change its attributes",
        )

    def tell_of_eviction(self, limit: int) -> None:
        """Warn once that programs go, and name the argument that had most values."""
        if not self._seen:
            return
        argument = max(self._seen, key=lambda name: len(self._seen[name]))
        values = len(self._seen[argument])
        many = f"{values} and more" if values == VALUES_COUNTED else str(values)
        self._warn_once(
            "",
            f"{self._function} keeps {limit} programs, and those that were not used for longest go from now on; "
            f"{argument} keeps changing: it had {many} values",
        )

    def _counts_up(self, argument: str, key: object) -> bool:
        """Whether these were integers, or tuples of them, each of which is one more than that of the time before."""
        numbers = list(_integers(key))
        before, steps = self._steps.get(argument, ([], 0))
        is_step = bool(numbers) and numbers == [number + 1 for number in before]
        self._steps[argument] = numbers, steps + 1 if is_step else 0
        return self._steps[argument][1] == STEPS_BEFORE_WARNING

    def _warn_of_number(self, argument: str, advice: str) -> None:
        self._warn_once(
            argument,
            f"{self._function} was compiled for {len(self._numbers.pop(argument))} values of {argument}, which is a "
            f"constant of each program; {advice}",
        )

    def _warn_once(self, topic: str, text: str) -> None:
        if topic not in self._told:
            self._told.add(topic)
            warn_the_user(text)


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
