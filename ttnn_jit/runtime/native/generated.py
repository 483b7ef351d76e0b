"""Functions that are written as text when they are first wanted: what they share."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from types import FunctionType
from typing import Any


class _Miss(enum.Enum):
    MISS = "miss"


MISS = _Miss.MISS
"""A cache miss: what a generated call returns where a guard fails, or where it was not made for these arguments."""


def define(name: str, lines: Iterable[str], scope: dict[str, Any], shown: str | None = None) -> FunctionType:
    """The function `name` that `lines` define over the names of `scope`; a traceback has it in a file named `shown`."""
    exec(compile("\n".join(lines), f"<ttnn_jit {shown or name}>", "exec"), scope)  # text of our own making
    function: FunctionType = scope[name]
    return function
