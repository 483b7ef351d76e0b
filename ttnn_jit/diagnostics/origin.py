"""The package of a class, function, instance or frame: ttnn_jit, another library, or the user's code."""

from __future__ import annotations

import sys
import types
from pathlib import PurePath
from typing import Any

THIS_PACKAGE = __name__.partition(".")[0]
_GENERATED = f"<{THIS_PACKAGE} "


def library_of(value: Any) -> str:
    """The top-level package of a class or function, else of the value's class; "" if it has no ``__module__``."""
    named = issubclass(type(value), (type, types.FunctionType))  # isinstance would read the object's `__class__`
    # A class may have any object, or a property, under this name.
    module = getattr(value if named else type(value), "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else ""


def is_of_this_package(value: Any) -> bool:
    """Whether a function, class or instance belongs to ttnn_jit: its attributes never change.

    The ``__module__`` of an operation is ``ttnn.decorators``; that of its class is not.
    """
    return library_of(value) == THIS_PACKAGE


_STANDARD_LIBRARY = sys.stdlib_module_names - {"__main__", "builtins"}  # code of `exec` may belong to builtins
_INSTALLED = ("site-packages", "dist-packages")


def is_of_the_standard_library(value: Any) -> bool:
    """Whether a class or function belongs to Python's standard library."""
    return library_of(value) in _STANDARD_LIBRARY


def is_of_a_library(function: types.FunctionType) -> bool:
    """Whether a function belongs to an installed package or the standard library: the user does not edit it."""
    return is_of_the_standard_library(function) or is_code_of_a_library(function.__code__)


def is_code_of_a_library(code: types.CodeType) -> bool:
    """Whether code lies in a file of an installed package."""
    parts = PurePath(code.co_filename).parts
    return any(folder in parts for folder in _INSTALLED)


def library_of_frame(frame: types.FrameType) -> str:
    """The top-level package whose code a frame runs; ttnn_jit for code that it generated."""
    if frame.f_code.co_filename.startswith(_GENERATED):
        return THIS_PACKAGE
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def type_name(value: Any) -> str:
    """The name of a value's class, with the name of its library unless that is Python: several have a `Tensor`."""
    library = library_of(type(value))
    if library in {"", "builtins"}:
        return type(value).__name__
    return f"{'ttnn' if library == THIS_PACKAGE else library}.{type(value).__name__}"
