"""Functions that are written as text when they are first wanted: what they share."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from types import FunctionType
from typing import Any


class _Stale(enum.Enum):
    STALE = "stale"


STALE = _Stale.STALE
"""What a generated call returns where it does not apply to its arguments, or not any more."""


def define(name: str, lines: Iterable[str], scope: dict[str, Any], shown: str | None = None) -> FunctionType:
    """The function `name` that `lines` define over the names of `scope`; a traceback has it in a file named `shown`."""
    exec(compile("\n".join(lines), f"<ttnn_jit {shown or name}>", "exec"), scope)  # text of our own making
    function: FunctionType = scope[name]
    return function
