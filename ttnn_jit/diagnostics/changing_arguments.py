"""Warnings of arguments whose values are part of the cache key and keep changing, so that every call compiles."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ttnn_jit.diagnostics.tracebacks import warn_user

VALUES_BEFORE_WARNING = 16
STEPS_BEFORE_WARNING = 4
"""Steps of integers that increase by one: a position in a sequence, which takes as many values as there are tokens."""
MAX_COUNTED_VALUES = 256
"""The number of values of one argument that are counted; an argument with more keeps changing."""


class ChangingArguments:
    """The values for which the programs of a function were compiled, by argument; `function` is its name."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._keys: dict[str, set[int]] = {}
        self._numbers: dict[str, set[Hashable]] = {}  # keys of arguments that could be tensors
        self._steps: dict[str, tuple[list[int], int]] = {}
        self._warned: set[str] = set()

    def count(self, argument: str, key: Hashable) -> None:
        """Count a value of `argument`, identified by its `key`."""
        keys = self._keys.setdefault(argument, set())
        if len(keys) < MAX_COUNTED_VALUES:
            keys.add(hash(key))

    def count_number(self, argument: str, key: Hashable) -> None:
        """Count a value of an `argument` that is a constant of its program; warn once if it keeps changing."""
        self.count(argument, key)
        if argument in self._warned:
            return
        numbers = self._numbers.setdefault(argument, set())
        if len(numbers) < VALUES_BEFORE_WARNING:
            numbers.add(key)
        if self._counts_up(argument, key):
            advice = (
                "pass a position that grows as a tensor of integers, which `cur_pos_tensor` and `update_idxs_tensor`"
            )
            self._warn_of_number(argument, f"{advice} accept")
        elif len(numbers) >= VALUES_BEFORE_WARNING and not _is_tuple_key(key):
            self._warn_of_number(argument, "pass a value that changes as a tensor of shape (1, 1)")

    def warn_of_temporaries(self, argument: str, kind: str) -> None:
        """Warn once of objects that are built for one call each."""
        self._warn_once(
            argument,
            f"{self._function} was compiled for {VALUES_BEFORE_WARNING} objects of {kind} that were each "
            f"built for one call, as {argument}; build one, keep it, and change its attributes",
        )

    def warn_of_eviction(self, limit: int) -> None:
        """Warn once that programs are evicted, and name the argument that had most values."""
        if not self._keys:
            return
        argument = max(self._keys, key=lambda name: len(self._keys[name]))
        values = len(self._keys[argument])
        many = f"{values} and more" if values == MAX_COUNTED_VALUES else str(values)
        self._warn_once(
            "",
            f"{self._function} keeps {limit} programs, and from now on evicts the least recently used; "
            f"{argument} keeps changing: it had {many} values",
        )

    def _counts_up(self, argument: str, key: object) -> bool:
        """Whether the last values were integers, or tuples of integers, that each increased by one."""
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
        if topic not in self._warned:
            self._warned.add(topic)
            warn_user(text)


def _is_tuple_key(key: object) -> bool:
    return isinstance(key, tuple) and key[0] is tuple


def _integers(key: object) -> Iterator[int]:
    """The integers in the key of an atom (`foreign.values.atom_key`) that is an integer or a tuple of integers."""
    match key:
        case (kind, int(number)) if kind is int:
            yield number
        case (kind, tuple(inner)) if kind is tuple:
            for each in inner:
                yield from _integers(each)
        case _:
            return
