"""Extents that the user marks as dynamic: calls with these tensors compile a program for many sizes at once."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

_MARKED: dict[int, tuple[weakref.ref[Any], frozenset[int]]] = {}
"""By the id of a tensor, since libraries compare tensors element by element."""


def mark_axes(tensor: Any, axes: Iterable[int]) -> None:
    """Mark extents of a tensor, by axis, in addition to those that are marked already."""
    key = id(tensor)
    _MARKED[key] = weakref.ref(tensor, lambda _: _MARKED.pop(key, None)), marked_axes(tensor) | {*axes}


def marked_axes(tensor: Any) -> frozenset[int]:
    """The axes of a tensor's marked extents."""
    found = _MARKED.get(id(tensor)) if _MARKED else None
    return found[1] if found is not None and found[0]() is tensor else frozenset()
