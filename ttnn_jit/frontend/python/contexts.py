"""``with`` in the interpreter: contexts without effect on a program, and contexts written in the user's Python."""

from __future__ import annotations

import ast
import contextlib
import sys
import types
from collections.abc import Callable
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.diagnostics.origin import is_of_this_package
from ttnn_jit.foreign.torch_autocast import CAST_HELP
from ttnn_jit.foreign.values import is_a, python_member
from ttnn_jit.frontend.python.exception_handling import raised_by_program
from ttnn_jit.frontend.python.interpreter import Interpreter
from ttnn_jit.frontend.unsupported import NO_AUTOCAST
from ttnn_jit.process.dataclass import dataclass

_Leave = Callable[[CompileError | None], Any]
"""Leaves a context, with the error of the block if it raised; a true result suppresses the error."""


def enter_context(interpreter: Interpreter, context: ast.expr, node: ast.With) -> tuple[Any, _Leave]:
    """Enter a context: its value, and the function that leaves it."""
    called: Any = interpreter.evaluate(context.func) if isinstance(context, ast.Call) else None
    if isinstance(context, ast.Call) and any(called is each for each in (contextlib.nullcontext, contextlib.suppress)):
        given = [interpreter.evaluate(argument) for argument in context.args]
        if called is contextlib.suppress:
            return None, lambda error: error is not None and isinstance(raised_by_program(error), tuple(given))
        return (given[0] if given else None), lambda _: False
    torch = sys.modules.get("torch")
    if torch is not None and any(called is each for each in (torch.no_grad, torch.inference_mode)):
        return None, lambda _: False  # a program keeps nothing for gradients
    if torch is not None and is_a(called, type) and issubclass(called, torch.autocast):
        raise interpreter.unsupported(NO_AUTOCAST, location=interpreter.location_of(context), help=CAST_HELP)
    if called is open or is_of_this_package(getattr(called, "__wrapped__", None)):
        _refuse(interpreter, node)
    manager = interpreter.evaluate(context)
    if isinstance(manager, GeneratorContext):
        return _enter_generator(interpreter, manager, node)
    return _enter_object(interpreter, manager, node)


@dataclass(frozen=True, eq=False)
class GeneratorContext:
    """The context that a function under `contextlib.contextmanager` returns: its generator."""

    steps: Any


def is_context_function(function: Any) -> bool:
    """Whether `function` is a generator function under `contextlib.contextmanager`."""
    return type(function) is types.FunctionType and function.__code__ is _CONTEXT_MANAGER_CODE


_CONTEXT_MANAGER_CODE = contextlib.contextmanager(lambda: iter(())).__code__
_END = object()


def _enter_generator(interpreter: Interpreter, manager: GeneratorContext, node: ast.With) -> tuple[Any, _Leave]:
    """As `enter_context`, for a generator: it yields once, and an error of the block is raised at that ``yield``."""
    interpreter.at = node
    value = interpreter.python(next, manager.steps, _END)
    if value is _END:
        interpreter.fail(RuntimeError("generator didn't yield"), node)

    def left(error: CompileError | None) -> Any:
        interpreter.at = node
        if error is None:
            if interpreter.python(next, manager.steps, _END) is not _END:
                interpreter.fail(RuntimeError("generator didn't stop"), node)
            return False
        checkpoint = interpreter.checkpoint()
        try:
            manager.steps.throw(error)
        except StopIteration:
            return True
        except CompileError as raised:
            if raised is not error:
                raise
            interpreter.return_to(checkpoint)
            return False
        return interpreter.fail(RuntimeError("generator didn't stop after throw()"), node)

    return value, left


def _enter_object(interpreter: Interpreter, manager: Any, node: ast.With) -> tuple[Any, _Leave]:
    """As `enter_context`, for an object whose class defines both methods in Python."""
    if any(python_member(type(manager), name) is None for name in ("__enter__", "__exit__")):
        _refuse(interpreter, node)
    interpreter.at = node
    enter, leave = (interpreter.class_member(manager, name) for name in ("__enter__", "__exit__"))

    def left(error: CompileError | None) -> Any:
        interpreter.at = node
        raised = None if error is None else raised_by_program(error)
        given = (None, None, None) if raised is None else (type(raised), raised, raised.__traceback__)
        return interpreter.python(bool, interpreter.call_with(leave, (manager, *given), {}))

    return interpreter.call_with(enter, (manager,), {}), left


def _refuse(interpreter: Interpreter, node: ast.With) -> NoReturn:
    interpreter.refuse("`with` cannot be compiled", "enter the context around the call of the jitted function", node)
