"""What an attribute means in the interpreter, and which part of it is read from the user's world."""

from __future__ import annotations

import ast
import inspect
import types
from itertools import pairwise
from typing import Any

from ttnn_jit.errors import CompileError
from ttnn_jit.frontend.interpreter import Interpreter
from ttnn_jit.frontend.language import is_namespace
from ttnn_jit.frontend.proxy import ProxyTensor, unsupported_function
from ttnn_jit.frontend.read_recorder import holds_attribute
from ttnn_jit.nests import fields_of, is_record
from ttnn_jit.reads import ATTRIBUTE_STEP, Path


def evaluate_attribute(interpreter: Interpreter, node: ast.Attribute) -> Any:
    """The value of ``base.name``; only the end of a chain ``a.b.c`` counts as read."""
    value, path = _follow_chain(interpreter, node)
    if path is not None:
        interpreter.recorder.use(value, path)
    return value


def _follow_chain(interpreter: Interpreter, node: ast.expr) -> tuple[Any, Path | None]:
    if isinstance(node, ast.Attribute):
        base, path = _follow_chain(interpreter, node.value)
        interpreter.at = node
        return read_attribute(interpreter, base, path, _mangled(interpreter.frame.function, node.attr))
    if isinstance(node, ast.Name):
        value, path = interpreter.lookup(node)
    else:
        value, path = interpreter.evaluate(node), None
    return value, path or interpreter.recorder.path_of(value)


def _mangled(function: types.FunctionType, name: str) -> str:
    """The name of a private attribute as the class around `function` sees it."""
    if not name.startswith("__") or name.endswith("__"):
        return name
    parts = function.__qualname__.split(".")
    classes = [part for part, after in pairwise(parts) if "<locals>" not in {part, after}]
    return f"_{classes[-1].lstrip('_')}{name}" if classes else name


def read_attribute(interpreter: Interpreter, base: Any, path: Path | None, name: str) -> tuple[Any, Path | None]:
    """The attribute `name` of `base`, found at `path`, and where it stands if it is part of the user's world.

    Raises:
        CompileError: There is no such attribute.
    """
    recorder = interpreter.recorder
    if holds_attribute(base, name):
        if path is not None:
            recorder.use(base, path)
        return interpreter.python(getattr, base, name), None
    if is_namespace(base) and not hasattr(base, name):
        raise unsupported_function(name, interpreter.location())
    if path is None and is_record(base) and name in fields_of(base):
        # An argument's fields stand in the call's key; the other records are the program's own.
        return interpreter.python(getattr, base, name), None
    if path is None:
        # An object of the caller's, which may change between calls without a trace.
        recorder.unguardable = True
    else:
        recorder.found(base, path)
    owner_property = property_of(base, name)
    if owner_property is not None:
        return _property_value(interpreter, base, path, name, owner_property), None
    value = interpreter.python(getattr, base, name)
    return value, None if path is None else (*path, (ATTRIBUTE_STEP, name))


def property_of(base: Any, name: str) -> property | None:
    """The property of `base`'s class that serves `name`, if one does."""
    if isinstance(base, (type, types.ModuleType, ProxyTensor)):
        return None
    found = inspect.getattr_static(type(base), name, None)
    return found if isinstance(found, property) else None


def _property_value(interpreter: Interpreter, base: Any, path: Path | None, name: str, found: property) -> Any:
    getter = found.fget
    if not isinstance(getter, types.FunctionType):
        raise CompileError(f"`{name}` cannot be read at compile time", location=interpreter.location())
    if path is not None:
        steps = ((ATTRIBUTE_STEP, "__class__"), (ATTRIBUTE_STEP, name), (ATTRIBUTE_STEP, "fget"))
        interpreter.recorder.found(getter, (*path, *steps))
    return interpreter.call_with(getter, (base,), {})
