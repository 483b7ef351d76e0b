"""Objects that wrap a Python function: jitted functions, cached functions, a user's tile operations."""

from __future__ import annotations

import functools
from typing import Any

from ttnn_jit.foreign.values import ABSENT, own_attribute

TILE_FUNCTION = "__ttnn_tile_function__"
"""The attribute of a user's tile operation that holds its Python function."""


def wrapped_attribute(function: Any) -> str | None:
    """The attribute that holds the function inside a jitted or cached one; None for everything else."""
    if own_attribute(function, "__ttnn_jit_wrapped__") is not ABSENT:
        return "__ttnn_jit_wrapped__"
    return "__wrapped__" if type(function) is functools._lru_cache_wrapper else None
