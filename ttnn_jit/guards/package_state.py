"""State of this package that programs read at each call: a path of a read may start from it, by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_STATES: dict[str, Callable[[], Any]] = {}


def register(name: str, value: Callable[[], Any]) -> None:
    """Register the state `name`, whose current value is ``value()``."""
    _STATES[name] = value


def state(name: str) -> Any:
    """The current value of the state `name`."""
    return _STATES[name]()
