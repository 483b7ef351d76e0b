"""Environment variables that are switches, ``TTNN_JIT_DEBUG`` among them."""

from __future__ import annotations

import os

from ttnn_jit.diagnostics.errors import ArgumentError


def debugging() -> bool:
    """Whether ``TTNN_JIT_DEBUG=1``: failing passes write reproducers, errors keep all frames, templates are checked.

    Raises:
        ArgumentError: The variable has a value that is no switch.
    """
    return switch("TTNN_JIT_DEBUG", default=False)


def switch(name: str, *, default: bool) -> bool:
    """Whether the environment variable `name` is on: 1, true, yes or on in any case of letters; unset is `default`.

    Raises:
        ArgumentError: The variable has another value.
    """
    value = os.environ.get(name, "").lower()
    if value in {"0", "false", "no", "off"}:
        return False
    if value in {"1", "true", "yes", "on"}:
        return True
    if value:
        raise ArgumentError(f"{name} is {value!r}", help="set it to 1 or 0")
    return default
