"""Prints, logs and warnings of a program: shown once, when it is compiled, as under other tracing compilers.

Elements are unknown at compile time: a tensor is shown by its shape, dtype and device.
"""

from __future__ import annotations

import inspect
import logging
import pprint
import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ttnn_jit.frontend.plain_numbers import plain
from ttnn_jit.frontend.python.interpreter import Interpreter

_MODULES = frozenset({"logging", "loguru", "pprint", "warnings", "_warnings"})
_FUNCTIONS = (
    logging.critical, logging.debug, logging.error, logging.exception, logging.getLogger, logging.info, logging.log,
    logging.warning, pprint.pp, pprint.pprint, warnings.warn,
)  # fmt: skip
_NAMES = frozenset({*(function.__name__ for function in _FUNCTIONS), "success", "trace"})  # the last two are loguru's


def is_message(function: Any) -> bool:
    """Whether `function` prints, logs or warns, or returns a logger."""
    if function is print:
        return True
    if not isinstance(function, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
        return False
    return getattr(function, "__name__", None) in _NAMES and str(function.__module__).partition(".")[0] in _MODULES


_PRINTING = (print, pprint.pp, pprint.pprint)


def _warn_printed_once(interpreter: Interpreter, function: Any) -> None:
    """Warn the user that the text is printed only when the function is compiled."""
    interpreter.recorder.warnings[
        f"`{function.__name__}` at {interpreter.callee_location()} prints when the function is compiled, and not at "
        "each call; of a tensor it shows shape and dtype: print what the function returns"
    ] = None


def show(interpreter: Interpreter, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Show the message; under `observes` nothing is shown, as the trace shows it."""
    if function is logging.getLogger:
        return interpreter.natively(function, *args, **kwargs)
    if any(function is each for each in _PRINTING):
        _warn_printed_once(interpreter, function)
    if interpreter.observes:
        return None
    args, kwargs = [*map(plain, args)], {name: plain(value) for name, value in kwargs.items()}
    if function is not warnings.warn:
        return interpreter.natively(function, *args, **kwargs)
    location = interpreter.location()
    arguments = inspect.signature(warnings.warn).bind(*args, **kwargs).arguments
    kind = arguments.get("category") or UserWarning
    return interpreter.natively(warnings.warn_explicit, arguments["message"], kind, location.file, location.line)
