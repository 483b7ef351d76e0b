"""Exceptions in the interpreter that a program raises and catches while it is compiled.

A program catches the exceptions of its own Python code. Errors of this compiler are not caught and reach the user.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import CompileError, NoSuchAttribute, TtnnJitError
from ttnn_jit.frontend.python.interpreter import Checkpoint, Interpreter


def raised_by_program(error: CompileError) -> BaseException | None:
    """The exception that the program would raise in Python; None for an error of this compiler."""
    if isinstance(error, NoSuchAttribute):
        return error
    cause = error.__cause__
    return None if cause is None or isinstance(cause, (TtnnJitError, RecursionError)) else cause


def execute_raise(interpreter: Interpreter, node: ast.Raise) -> None:
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


def handler_of(
    interpreter: Interpreter, handlers: Sequence[ast.ExceptHandler], error: CompileError, entered: Checkpoint
) -> ast.ExceptHandler:
    """The handler that catches `error`; the interpreter returns to the checkpoint `entered` of the ``try``.

    Raises:
        CompileError: No handler catches `error`, which is raised again.
    """
    raised = raised_by_program(error)
    if raised is None:
        raise error
    failed_at = interpreter.checkpoint()
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
