"""The common parts of Python functions that are generated as text on first use."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any


class _Miss(enum.Enum):
    MISS = "miss"


MISS = _Miss.MISS
"""A cache miss: the return value of a generated call if a guard fails or the arguments have other metadata."""


def define(name: str, lines: Iterable[str], scope: dict[str, Any], shown: str | None = None) -> FunctionType:
    """Compile `lines`, which define the function `name`, with `scope` as globals; `shown` is its file in tracebacks."""
    exec(_compiled("\n".join(lines), f"<ttnn_jit {shown or name}>"), scope)  # text of our own making
    function: FunctionType = scope[name]
    return function


@lru_cache(maxsize=128)
def _compiled(text: str, file: str) -> CodeType:
    """The code of a text. Programs that differ in their sizes alone have one text, whose names stand for the sizes."""
    return compile(text, file, "exec")
