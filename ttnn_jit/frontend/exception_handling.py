"""Exceptions in the interpreter: what a program raises and catches while it is compiled.

Caught is what the program's own Python raises. What this compiler says of a program is no part of it, and is shown.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError, NoSuchAttribute, TtnnJitError
from ttnn_jit.frontend.interpreter import Interpreter, Place


def raised_by_program(error: CompileError) -> BaseException | None:
    """The exception that the program would have met in Python; None if the program is outside the language."""
    if isinstance(error, NoSuchAttribute):
        return error
    cause = error.__cause__
    return None if cause is None or isinstance(cause, (TtnnJitError, RecursionError)) else cause


def carry_out_raise(interpreter: Interpreter, node: ast.Raise) -> None:
    """``raise``, with or without an exception.

    Raises:
        CompileError: Always.
    """
    if node.exc is None and interpreter.handled:
        raise interpreter.handled[-1]
    raised = RuntimeError("No active exception to reraise") if node.exc is None else interpreter.evaluate(node.exc)
    interpreter.at = node
    if isinstance(raised, type):
        raised = interpreter.python(raised)
    if not isinstance(raised, BaseException):
        raised = TypeError("exceptions must derive from BaseException")
    interpreter.fail(raised)


def carry_out_try(interpreter: Interpreter, node: ast.Try, execute: Callable[[Sequence[ast.stmt]], Any]) -> Any:
    """``try``: how control leaves it."""
    place = interpreter.place()
    try:
        signal = _with_handlers(interpreter, node, place, execute)
    except CompileError as error:
        if raised_by_program(error) is None:
            raise
        interpreter.return_to(place)
        signal = execute(node.finalbody)
        if signal is None:
            raise
        return signal
    at_end = execute(node.finalbody)
    return signal if at_end is None else at_end


def _with_handlers(
    interpreter: Interpreter, node: ast.Try, place: Place, execute: Callable[[Sequence[ast.stmt]], Any]
) -> Any:
    try:
        signal = execute(node.body)
    except CompileError as error:
        return _handled(interpreter, node.handlers, error, place, execute)
    return execute(node.orelse) if signal is None else signal


def _handled(
    interpreter: Interpreter,
    handlers: Sequence[ast.ExceptHandler],
    error: CompileError,
    entered: Place,
    execute: Callable[[Sequence[ast.stmt]], Any],
) -> Any:
    handler = handler_of(interpreter, handlers, error, entered)
    variables = interpreter.frame.variables
    if handler.name is not None:
        variables[handler.name] = raised_by_program(error)
    interpreter.handled.append(error)
    signal = execute(handler.body)
    interpreter.handled.pop()
    if handler.name is not None:
        variables.pop(handler.name, None)
    return signal


def handler_of(
    interpreter: Interpreter, handlers: Sequence[ast.ExceptHandler], error: CompileError, entered: Place
) -> ast.ExceptHandler:
    """Which of the `handlers` of a ``try`` that was `entered` there catches `error`; the program stands there then.

    Raises:
        CompileError: None does: it is the error.
    """
    raised = raised_by_program(error)
    if raised is None:
        raise error
    failed_at = interpreter.place()
    interpreter.return_to(entered)
    for handler in handlers:
        if _catches(interpreter, handler, raised):
            return handler
    interpreter.return_to(failed_at)
    raise error


def _catches(interpreter: Interpreter, handler: ast.ExceptHandler, raised: BaseException) -> bool:
    if handler.type is None:
        return True
    kinds = interpreter.evaluate(handler.type)
    interpreter.at = handler.type
    return bool(interpreter.natively(isinstance, raised, kinds))
