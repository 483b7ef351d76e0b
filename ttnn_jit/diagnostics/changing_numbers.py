"""Numbers that are constants of programs: one that keeps changing compiles anew each time, which its caller is told."""

from __future__ import annotations

import warnings

from ttnn_jit.diagnostics.tracebacks import level_of_the_user

VALUES_BEFORE_WARNING = 16


class ChangingNumbers:
    """The numbers that programs of `function`, a name, were compiled for."""

    def __init__(self, function: str) -> None:
        self._function = function
        self._seen: dict[str, set[object]] = {}

    def count(self, argument: str, key: object) -> None:
        """Warn once about an `argument` that takes value after value, each told from others by its `key`."""
        seen = self._seen.setdefault(argument, set())
        if len(seen) == VALUES_BEFORE_WARNING:
            return
        seen.add(key)
        if len(seen) == VALUES_BEFORE_WARNING:
            warnings.warn(
                f"{self._function} was compiled for {len(seen)} values of {argument}, which is a constant of each "
                "program; pass a value that changes as a tensor of shape (1, 1)",
                stacklevel=level_of_the_user(),
            )
