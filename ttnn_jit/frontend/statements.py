"""What each kind of statement does in the interpreter."""

from __future__ import annotations

import ast
import contextlib
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.frontend.assignment import assign, iterate
from ttnn_jit.frontend.call_expressions import InterpretedFunction
from ttnn_jit.frontend.expressions import OPERATORS
from ttnn_jit.frontend.interpreter import Interpreter, Returned, failure_text


class Broken:
    """The innermost loop is left."""


class Continued:
    """The innermost loop goes to its next turn."""


Signal = Returned | Broken | Continued | None
"""How control leaves a block: None is by its end."""


def execute(interpreter: Interpreter, statements: Sequence[ast.stmt]) -> Signal:
    """Carry out a block."""
    for statement in statements:
        signal = STATEMENTS.get(type(statement), _refuse_statement)(interpreter, statement)
        if signal is not None:
            return signal
    return None


def _expression(interpreter: Interpreter, node: ast.Expr) -> None:
    interpreter.evaluate(node.value)


def _pass(_interpreter: Interpreter, _node: ast.Pass) -> None:
    return None


def _return(interpreter: Interpreter, node: ast.Return) -> Returned:
    value = None if node.value is None else interpreter.evaluate(node.value)
    return Returned(value)


def _break(_interpreter: Interpreter, _node: ast.Break) -> Broken:
    return Broken()


def _continue(_interpreter: Interpreter, _node: ast.Continue) -> Continued:
    return Continued()


# --- Assignment -----------------------------------------------------------------------------------------------------


def _assign(interpreter: Interpreter, node: ast.Assign) -> None:
    value = interpreter.evaluate(node.value)
    for target in node.targets:
        assign(interpreter, target, value)


def _annotated_assign(interpreter: Interpreter, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(interpreter, node.target, interpreter.evaluate(node.value))


def _augmented_assign(interpreter: Interpreter, node: ast.AugAssign) -> None:
    function = getattr(operator, f"i{OPERATORS[type(node.op)].__name__.rstrip('_')}")
    if isinstance(node.target, ast.Subscript):
        container = interpreter.evaluate(node.target.value)
        index = interpreter.evaluate(node.target.slice)
        interpreter.at = node.target
        old = interpreter.python(operator.getitem, container, index)
        new = _in_place(interpreter, node, function, old)
        interpreter.python(operator.setitem, container, index, new)
    elif isinstance(node.target, ast.Name):
        old = interpreter.evaluate(ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        assign(interpreter, node.target, _in_place(interpreter, node, function, old))
    else:
        assign(interpreter, node.target, None)


def _in_place(interpreter: Interpreter, node: ast.AugAssign, function: Callable[[Any, Any], Any], old: Any) -> Any:
    right = interpreter.evaluate(node.value)
    interpreter.at = node
    return interpreter.python(function, old, right)


def _delete(interpreter: Interpreter, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            owner = interpreter.frame.owner_of(target.id)
            if owner is None or target.id not in owner.variables:
                interpreter.refuse(f"`{target.id}` has no value here", node=target)
            del owner.variables[target.id]
        elif isinstance(target, ast.Subscript):
            container = interpreter.evaluate(target.value)
            index = interpreter.evaluate(target.slice)
            interpreter.at = target
            interpreter.python(operator.delitem, container, index)
        else:
            interpreter.refuse("`del` of this cannot be compiled", node=target)


# --- Control flow ---------------------------------------------------------------------------------------------------


def _if(interpreter: Interpreter, node: ast.If) -> Signal:
    chosen = interpreter.truth(node.test, interpreter.evaluate(node.test))
    return execute(interpreter, node.body if chosen else node.orelse)


def _while(interpreter: Interpreter, node: ast.While) -> Signal:
    while interpreter.truth(node.test, interpreter.evaluate(node.test)):
        interpreter.count_iteration(node.test)
        signal = execute(interpreter, node.body)
        if isinstance(signal, Broken):
            return None
        if isinstance(signal, Returned):
            return signal
    return execute(interpreter, node.orelse)


def _for(interpreter: Interpreter, node: ast.For) -> Signal:
    iterable = interpreter.evaluate(node.iter)
    interpreter.at = node.iter
    for item in iterate(interpreter, node.iter, interpreter.python(iter, iterable)):
        assign(interpreter, node.target, item)
        signal = execute(interpreter, node.body)
        if isinstance(signal, Broken):
            return None
        if isinstance(signal, Returned):
            return signal
    return execute(interpreter, node.orelse)


def _assert(interpreter: Interpreter, node: ast.Assert) -> None:
    if __debug__ and not interpreter.truth(node.test, interpreter.evaluate(node.test)):
        message = "" if node.msg is None else interpreter.evaluate(node.msg)
        interpreter.refuse(failure_text(AssertionError(message)), node=node)


def _raise(interpreter: Interpreter, node: ast.Raise) -> None:
    raised = RuntimeError("no active exception to reraise") if node.exc is None else interpreter.evaluate(node.exc)
    interpreter.at = node
    if isinstance(raised, type):
        raised = interpreter.python(raised)
    if not isinstance(raised, BaseException):
        interpreter.refuse("TypeError: exceptions must derive from BaseException", node=node)
    interpreter.refuse(failure_text(raised), node=node)


def _with(interpreter: Interpreter, node: ast.With) -> Signal:
    for item in node.items:
        entered = _entered(interpreter, item.context_expr, node)
        if item.optional_vars is not None:
            assign(interpreter, item.optional_vars, entered)
    return execute(interpreter, node.body)


def _entered(interpreter: Interpreter, context: ast.expr, node: ast.With) -> Any:
    """What a context without effect on a program gives."""
    called = interpreter.evaluate(context.func) if isinstance(context, ast.Call) else None
    if called is contextlib.nullcontext and isinstance(context, ast.Call):
        return interpreter.evaluate(context.args[0]) if context.args else None
    torch = sys.modules.get("torch")
    if torch is None or not any(called is each for each in (torch.no_grad, torch.inference_mode)):
        help_text = "enter the context around the call of the jitted function"
        interpreter.refuse("`with` cannot be compiled", help_text, node)
    return None  # a program keeps nothing for gradients


def _match(interpreter: Interpreter, node: ast.Match) -> Signal:
    interpreter.refuse("`match` cannot be compiled", "write `if` and `elif`", node)


def _function(interpreter: Interpreter, node: ast.FunctionDef) -> None:
    function: Any = InterpretedFunction.define(interpreter, node, node.name)
    for decorator in reversed(node.decorator_list):
        wrapper = interpreter.evaluate(decorator)
        interpreter.at = decorator
        function = interpreter.call_with(wrapper, (function,), {})
    interpreter.frame.variables[node.name] = function


# --- Outside the language -------------------------------------------------------------------------------------------

_OUTSIDE: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.Try: ("`try` cannot be compiled", "check with `if` before the call, or call the jitted function inside `try`"),
    ast.TryStar: ("`try` cannot be compiled", "call the jitted function inside `try`"),
    ast.AsyncWith: ("`async with` cannot be compiled", None),
    ast.AsyncFor: ("`async for` cannot be compiled", None),
    ast.AsyncFunctionDef: ("an `async` function cannot be compiled", None),
    ast.ClassDef: ("a class cannot be defined in a compiled function", "define it outside"),
    ast.Global: ("`global` cannot be compiled: a compiled function changes nothing outside itself", "return the value"),
    ast.Nonlocal: (
        "`nonlocal` cannot be compiled: a compiled function changes nothing outside itself",
        "return the value",
    ),
    ast.Import: ("`import` cannot be compiled", "import at the top of the file"),
    ast.ImportFrom: ("`import` cannot be compiled", "import at the top of the file"),
}

STATEMENTS: dict[type[ast.stmt], Callable[[Interpreter, Any], Signal]] = {
    ast.Expr: _expression,
    ast.Pass: _pass,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated_assign,
    ast.AugAssign: _augmented_assign,
    ast.Delete: _delete,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.With: _with,
    ast.Match: _match,
    ast.FunctionDef: _function,
}


def _refuse_statement(interpreter: Interpreter, node: ast.stmt) -> Signal:
    message, help_text = _OUTSIDE.get(type(node), (f"this statement ({type(node).__name__}) cannot be compiled", None))
    interpreter.refuse(message, help_text, node)
