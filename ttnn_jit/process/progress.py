"""The progress of a long command, compile or conversion, on stderr if that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

INTERVAL = 0.1  # seconds between two updates; a shorter command shows none


SHOW_AFTER = 1.0  # seconds after which a compile, or a conversion of weights, shows its progress


def with_progress(items: Iterable[Item], total: int, what: str, *, after: float = 0) -> Iterator[Item]:
    """The `items`, unchanged; on a terminal their count is shown, ``what: 12 of 300``, from `after` seconds on."""
    is_seen = sys.stderr is not None and sys.stderr.isatty()
    return _shown(items, total, what, after) if is_seen else iter(items)


def _shown(items: Iterable[Item], total: int, what: str, after: float) -> Iterator[Item]:
    width = 0
    last = time.monotonic() + after
    try:
        for number, item in enumerate(items, 1):
            yield item
            if time.monotonic() - last >= INTERVAL:
                last = time.monotonic()
                text = f"{what}: {number} of {total}"
                width = max(width, len(text))
                _overwrite(text)
    finally:
        if width:
            _overwrite(" " * width)
            _overwrite("")


def _overwrite(text: str) -> None:
    sys.stderr.write(f"\r{text}")
    sys.stderr.flush()
