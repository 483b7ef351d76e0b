"""Immutable values of torch and numpy: element types, their limits, devices."""

from __future__ import annotations

import sys
from typing import Any

_CLASSES = {"torch": ("dtype", "device", "finfo", "iinfo", "Size"), "numpy": ("finfo", "iinfo")}


def is_library_value_class(cls: type) -> bool:
    """Whether `cls` is ``torch.dtype``, ``numpy.finfo`` or their like."""
    names = _CLASSES.get(cls.__module__, ())
    return cls.__name__ in names and getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls


def is_library_value(value: Any) -> bool:
    """Whether `value` is an instance of such a class, or an element type of numpy's."""
    return is_library_value_class(type(value)) or is_numpy_dtype(value)


def is_numpy_dtype(value: Any) -> bool:
    """Whether `value` is an element type of numpy's without fields."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), numpy.dtype) and value.fields is None
