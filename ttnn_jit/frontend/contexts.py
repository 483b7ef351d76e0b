"""``with`` in the interpreter: contexts without effect on a program, and those whose class is the user's own Python."""

from __future__ import annotations

import ast
import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.foreign.values import python_member
from ttnn_jit.frontend.assignment import assign
from ttnn_jit.frontend.exception_handling import raised_by_program
from ttnn_jit.frontend.interpreter import Interpreter


def carry_out_with(
    interpreter: Interpreter,
    node: ast.With,
    items: Sequence[ast.withitem],
    execute: Callable[[Sequence[ast.stmt]], Any],
) -> Any:
    """How control leaves a ``with`` of `items`, outermost first."""
    if not items:
        return execute(node.body)
    (item, *inner) = items
    entered, leave = _entered(interpreter, item.context_expr, node)
    if item.optional_vars is not None:
        assign(interpreter, item.optional_vars, entered)

    place = interpreter.place()
    try:
        signal = carry_out_with(interpreter, node, inner, execute)
    except CompileError as error:
        raised = raised_by_program(error)
        if raised is None:
            raise
        interpreter.return_to(place)
        if not leave(raised):
            raise
        return None
    leave(None)
    return signal


_Leave = Callable[[BaseException | None], Any]
"""What leaving a context does, with the exception that the block raised, if it did: true keeps it inside."""


def _entered(interpreter: Interpreter, context: ast.expr, node: ast.With) -> tuple[Any, _Leave]:
    """What a context gives, and how it is left."""
    called = interpreter.evaluate(context.func) if isinstance(context, ast.Call) else None
    if isinstance(context, ast.Call) and any(called is each for each in (contextlib.nullcontext, contextlib.suppress)):
        given = [interpreter.evaluate(argument) for argument in context.args]
        if called is contextlib.suppress:
            return None, lambda raised: isinstance(raised, tuple(given))
        return (given[0] if given else None), lambda _: False
    torch = sys.modules.get("torch")
    if torch is not None and any(called is each for each in (torch.no_grad, torch.inference_mode)):
        return None, lambda _: False  # a program keeps nothing for gradients
    if called is open or hasattr(called, "__wrapped__"):  # a generator behind `contextlib.contextmanager`
        _refuse(interpreter, node)
    return _entered_object(interpreter, interpreter.evaluate(context), node)


def _entered_object(interpreter: Interpreter, manager: Any, node: ast.With) -> tuple[Any, _Leave]:
    """The same of an object whose class has both methods in Python."""
    if any(python_member(type(manager), name) is None for name in ("__enter__", "__exit__")):
        _refuse(interpreter, node)
    interpreter.at = node
    enter, leave = (interpreter.class_member(manager, name) for name in ("__enter__", "__exit__"))

    def left(raised: BaseException | None) -> Any:
        interpreter.at = node
        given = (None, None, None) if raised is None else (type(raised), raised, raised.__traceback__)
        return interpreter.python(bool, interpreter.call_with(leave, (manager, *given), {}))

    return interpreter.call_with(enter, (manager,), {}), left


def _refuse(interpreter: Interpreter, node: ast.With) -> NoReturn:
    interpreter.refuse("`with` cannot be compiled", "enter the context around the call of the jitted function", node)
