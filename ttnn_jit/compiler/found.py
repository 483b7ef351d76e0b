"""The compilation of a call with its guard, and what makes guards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ttnn_jit.compiler.request import Compilation
from ttnn_jit.guards.reads import Read
from ttnn_jit.process.dataclass import dataclass


class GuardedReads(Protocol):
    """What decides whether the reads of a compilation have their current values."""

    @property
    def reads(self) -> Sequence[Read]:
        """The reads, without references to tensors."""


FetchHidden = Callable[[Any], "Sequence[Any] | None"]
"""The hidden inputs of a call by the guard of a compilation; None if a value that was read has changed."""

GuardOf = Callable[[Compilation], GuardedReads]
"""Makes the guard of a compilation."""


@dataclass(frozen=True)
class Found:
    """The compilation of a call.

    Attributes:
        compilation: The compilation.
        guard: Its guard.
        hidden: The hidden inputs of the call; None if a compile has taken place since they were fetched.
    """

    compilation: Compilation
    guard: Any
    hidden: Sequence[Any] | None = None
