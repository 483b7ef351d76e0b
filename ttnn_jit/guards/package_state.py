"""What this package keeps between calls, and programs read anew at each: paths start at it by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_KEPT: dict[str, Callable[[], Any]] = {}


def keep(name: str, value: Callable[[], Any]) -> None:
    """Have paths that start at `name` lead to what `value` gives."""
    _KEPT[name] = value


def kept(name: str) -> Any:
    """What is kept under `name`."""
    return _KEPT[name]()
