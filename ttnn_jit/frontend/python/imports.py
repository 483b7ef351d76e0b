"""``import`` in the interpreter: it runs when the function is compiled, and the modules are recorded as read.

A guard finds the modules in `sys.modules`; another process that loads the program from disk imports them.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from typing import Any

from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.python.language import PYTHON_FAILURES
from ttnn_jit.guards.reads import ATTRIBUTE_STEP, MODULE_STEP, Path


def execute_import(interpreter: Interpreter, node: ast.Import) -> None:
    """``import a.b as c``."""
    interpreter.at = node
    for name in node.names:
        module = _module(interpreter, name.name)
        top = name.name.partition(".")[0]
        bound = _module(interpreter, top) if name.asname is None else module
        interpreter.frame.bind(name.asname or top, bound)


def execute_import_from(interpreter: Interpreter, node: ast.ImportFrom) -> None:
    """``from .a import b as c``."""
    interpreter.at = node
    source = _absolute_name(interpreter, node)
    module = _module(interpreter, source)
    for name in node.names:
        interpreter.frame.bind(name.asname or name.name, _part(interpreter, source, module, name.name))


def _absolute_name(interpreter: Interpreter, node: ast.ImportFrom) -> str:
    written = f"{'.' * node.level}{node.module or ''}"
    if not node.level:
        return written
    package = interpreter.frame.function.__globals__.get("__package__") or ""
    try:
        return importlib.util.resolve_name(written, package)
    except ImportError as error:
        interpreter.fail(error)


def _module(interpreter: Interpreter, name: str) -> Any:
    """The module of that name.

    Raises:
        CompileError: There is no such module, or its import fails.
    """
    path: Path = ((MODULE_STEP, name),)
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        interpreter.recorder.record_absence(path)
        interpreter.fail(error)
    except PYTHON_FAILURES as error:
        interpreter.fail(error)
    interpreter.recorder.use(module, path)
    return module


def _part(interpreter: Interpreter, source: str, module: Any, name: str) -> Any:
    """The value of ``from source import name``: an attribute of the module, or else a submodule."""
    if hasattr(module, name):
        return interpreter.attribute(module, name)
    interpreter.recorder.record_absence(((MODULE_STEP, source), (ATTRIBUTE_STEP, name)))
    if hasattr(module, "__path__"):
        return _module(interpreter, f"{source}.{name}")
    return interpreter.fail(ImportError(f"cannot import name {name!r} from {source!r}"))
