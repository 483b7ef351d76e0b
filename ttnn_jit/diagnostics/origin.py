"""Whose code a class, function, instance or frame is: ttnn_jit's own, another library's or the user's."""

from __future__ import annotations

import sys
import types
from pathlib import PurePath
from typing import Any

THIS_PACKAGE = __name__.partition(".")[0]
_GENERATED = f"<{THIS_PACKAGE} "


def library_of(value: Any) -> str:
    """The top-level package of a class or function, else of the value's class; "" where it names none."""
    named = issubclass(type(value), (type, types.FunctionType))  # isinstance asks an object for its class
    # A class may have anything, or a property, under this name.
    module = getattr(value if named else type(value), "__module__", None)
    return module.partition(".")[0] if isinstance(module, str) else ""


def is_of_this_package(value: Any) -> bool:
    """Whether a function, class or instance belongs to ttnn_jit: its attributes never change.

    An operation calls itself one of ``ttnn.decorators``; its class does not.
    """
    return library_of(value) == THIS_PACKAGE


_STANDARD_LIBRARY = sys.stdlib_module_names - {"__main__", "builtins"}  # where `exec` gives no name, it is builtins'
_INSTALLED = ("site-packages", "dist-packages")


def is_of_the_standard_library(value: Any) -> bool:
    """Whether a class or function comes with Python, written in Python."""
    return library_of(value) in _STANDARD_LIBRARY


def is_of_a_library(function: types.FunctionType) -> bool:
    """Whether a function was installed, or comes with Python: its text is not the user's to change."""
    parts = PurePath(function.__code__.co_filename).parts
    return is_of_the_standard_library(function) or any(folder in parts for folder in _INSTALLED)


def library_of_frame(frame: types.FrameType) -> str:
    """The top-level package whose code a frame runs; of a function that ttnn_jit generated, ttnn_jit."""
    if frame.f_code.co_filename.startswith(_GENERATED):
        return THIS_PACKAGE
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def type_name(value: Any) -> str:
    """The name of a value's class, with its library's where that is not Python: torch and numpy have tensors too."""
    library = library_of(type(value))
    if library in {"", "builtins"}:
        return type(value).__name__
    return f"{'ttnn' if library == THIS_PACKAGE else library}.{type(value).__name__}"
