"""numpy's scalars, which count as numbers wherever Python's do; numpy is not imported for it."""

from __future__ import annotations

import sys
from functools import partial
from operator import is_
from typing import Any


def is_numpy_scalar(value: object) -> bool:
    """Whether `value` is a ``numpy.float32(2)`` or its like, a number or a bool."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), (numpy.number, numpy.bool_))


def is_numpy_scalar_class(cls: type) -> bool:
    """Whether `cls` is ``numpy.float32`` or its like."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and cls.__module__ == "numpy" and issubclass(cls, (numpy.number, numpy.bool_))


def is_numpy_function(value: Any) -> bool:
    """Whether `value` is a ``numpy.sqrt`` or a ``numpy.prod``: of numbers it gives numbers, and does nothing else."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return False
    if type(value) is numpy.ufunc:
        return getattr(numpy, value.__name__, None) is value
    if type(value) is not type(numpy.prod):
        return False
    of_sequences = (numpy.prod, numpy.sum, numpy.max, numpy.min, numpy.mean)
    return any(map(partial(is_, value), of_sequences))


def python_number(value: Any) -> Any:
    """The Python number that a numpy scalar, or an instance of a subclass, is made of; every other value as it is."""
    if type(value) in {int, float, bool}:
        return value
    if issubclass(type(value), (int, float)):  # numpy's float64 is a float
        return int.__int__(value) if issubclass(type(value), int) else float.__float__(value)
    return value.item() if is_numpy_scalar(value) else value
