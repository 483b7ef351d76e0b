"""What a function has in memory of its calls, up to a limit: what was not used for longest goes first.

A call whose program is remembered (`ttnn_jit.dispatch.warm_calls`) does not come here, and nothing notes that it was
used. So before something goes that was used since calls were last forgotten, all remembered calls are forgotten: the
next one of each comes here, once, and shows that its program is in use.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from typing import Generic, TypeVar

from ttnn_jit.diagnostics.changing_arguments import ChangingArguments

T = TypeVar("T")
Key = tuple[Hashable, ...]

PROGRAMS_KEPT = 256
"""Keys of one function for devices of one target: of these are the 6 MB that a new number at each call comes to keep,
at 25 KB a program. What goes is on disk, and a call or a trace that runs holds what it runs."""


class KeptPrograms(Generic[T]):
    """Values by key, whose first part is the target.

    Args:
        changing: Is told of values that go.
    """

    def __init__(self, changing: ChangingArguments) -> None:
        self._changing = changing
        self._of: dict[Hashable, OrderedDict[Key, T]] = {}
        self._used: set[Key] | None = None  # since calls were forgotten last; None: all, for they never were

    def __len__(self) -> int:
        return sum(map(len, tuple(self._of.values())))

    def values(self) -> Iterator[T]:
        """All of them."""
        return (value for kept in tuple(self._of.values()) for value in tuple(kept.values()))

    def get(self, key: Key) -> T | None:
        """The value of `key`, which is in use; None if there is none."""
        kept = self._of.get(key[0])
        found = None if kept is None else kept.get(key)
        if found is not None and kept is not None and len(kept) > PROGRAMS_KEPT // 2:
            with suppress(KeyError):  # another thread let it go meanwhile
                kept.move_to_end(key)
            if self._used is not None:
                self._used.add(key)
        return found

    def put(self, key: Key, value: T, forget_calls: Callable[[], None]) -> None:
        """Keep `value`, and let others go that there is no room for.

        Args:
            key: Whose value.
            value: What to keep.
            forget_calls: Forgets every call that goes straight to a value.
        """
        kept = self._of.setdefault(key[0], OrderedDict())
        while key not in kept and len(kept) >= PROGRAMS_KEPT:
            self._let_one_go(kept, forget_calls)
        kept[key] = value
        if self._used is not None:
            self._used.add(key)

    def clear(self) -> None:
        """Forget all of them."""
        self._of.clear()
        self._used = None

    def _let_one_go(self, kept: OrderedDict[Key, T], forget_calls: Callable[[], None]) -> None:
        oldest = next(iter(kept))
        if self._used is None or oldest in self._used:
            forget_calls()
            self._used = set()
        del kept[oldest]
        self._changing.tell_of_eviction(PROGRAMS_KEPT)
