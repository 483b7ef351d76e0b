"""Finalizers that run no Python code, so that no KeyboardInterrupt is raised, and lost, inside of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_instance_method: Any = ctypes.pythonapi.PyInstanceMethod_New
_instance_method.restype = ctypes.py_object
_instance_method.argtypes = [ctypes.py_object]


def finalizer_callback(receive: Callable[[Any], None]) -> Any:
    """A ``__del__`` that passes the dying object to `receive`, a builtin function such as the ``append`` of a list.

    The list keeps the object alive, and its finalizer does not run again. A finalizer written in Python may be
    interrupted at its first instruction: Python then prints that it ignores the KeyboardInterrupt, and nothing is
    finalized.
    """
    return _instance_method(receive)
