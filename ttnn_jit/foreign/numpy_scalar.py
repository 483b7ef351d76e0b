"""numpy's scalars, which are accepted wherever Python's numbers are; this file never imports numpy."""

from __future__ import annotations

import sys
from functools import partial
from operator import is_
from typing import Any

from ttnn_jit.specs.extents.extent import is_of_trace


def is_numpy_scalar(value: object) -> bool:
    """Whether `value` is a numpy scalar, such as ``numpy.float32(2)``: a number or a bool."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and issubclass(type(value), (numpy.number, numpy.bool_))


def is_numpy_scalar_class(cls: type) -> bool:
    """Whether `cls` is a class of numpy scalars, such as ``numpy.float32``."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and cls.__module__ == "numpy" and issubclass(cls, (numpy.number, numpy.bool_))


def is_numpy_function(value: Any) -> bool:
    """Whether `value` is a pure function of numbers in numpy: a ufunc such as ``numpy.sqrt``, or ``numpy.prod``."""
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
    """The Python number of a numpy scalar or of an instance of a subclass of int or float; other values unchanged."""
    if type(value) in {int, float, bool} or is_of_trace(value):
        return value
    if issubclass(type(value), (int, float)):  # numpy's float64 is a float
        return int.__int__(value) if issubclass(type(value), int) else float.__float__(value)
    return value.item() if is_numpy_scalar(value) else value
