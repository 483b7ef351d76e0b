"""Finalizers in which no code of Python's runs, so that no interrupt is raised where nobody sees it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_bound: Any = ctypes.pythonapi.PyInstanceMethod_New
_bound.restype = ctypes.py_object
_bound.argtypes = [ctypes.py_object]


def given_to(receive: Callable[[Any], None]) -> Any:
    """A ``__del__`` that gives the dying object to `receive`, a builtin function such as the ``append`` of a list.

    There the object lives on, and its finalizer does not run again. One that is written in Python may be interrupted
    where it begins; Python then prints that it ignores the KeyboardInterrupt, and nothing is finalized.
    """
    return _bound(receive)
