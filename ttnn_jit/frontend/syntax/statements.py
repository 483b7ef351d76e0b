"""The execution of each kind of statement in the interpreter."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ttnn_jit.frontend.calls.call_expressions import InterpretedFunction
from ttnn_jit.frontend.python.assignment import assign, assign_attribute
from ttnn_jit.frontend.python.attributes import attribute_name
from ttnn_jit.frontend.python.exception_handling import execute_raise
from ttnn_jit.frontend.python.frame import Frame
from ttnn_jit.frontend.python.generators import COMPOUND, execute_compound, generator
from ttnn_jit.frontend.python.imports import execute_import, execute_import_from
from ttnn_jit.frontend.python.interpreter import FunctionReturn, Interpreter
from ttnn_jit.frontend.python.signals import LoopBreak, LoopContinue, Signal
from ttnn_jit.frontend.syntax.expressions import OPERATORS
from ttnn_jit.frontend.syntax.matching import matches


def execute(interpreter: Interpreter, statements: Sequence[ast.stmt]) -> Signal:
    """Execute a block."""
    for statement in statements:
        if type(statement) in COMPOUND:
            signal = execute_compound(interpreter, statement, partial(execute, interpreter))
        else:
            signal = STATEMENTS.get(type(statement), _refuse_statement)(interpreter, statement)
        if signal is not None:
            return signal
    return None


def generate(interpreter: Interpreter, frame: Frame, node: ast.FunctionDef, identity: object) -> Iterator[Any]:
    """The generator that a call of a function with ``yield`` returns."""
    return generator(interpreter, frame, node.body, identity, partial(execute, interpreter))


def _expression(interpreter: Interpreter, node: ast.Expr) -> None:
    interpreter.evaluate(node.value)


def _pass(_interpreter: Interpreter, _node: ast.Pass) -> None:
    return None


def _return(interpreter: Interpreter, node: ast.Return) -> FunctionReturn:
    value = None if node.value is None else interpreter.evaluate(node.value)
    return FunctionReturn(value)


def _break(_interpreter: Interpreter, _node: ast.Break) -> LoopBreak:
    return LoopBreak()


def _continue(_interpreter: Interpreter, _node: ast.Continue) -> LoopContinue:
    return LoopContinue()


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
        name = attribute_name(interpreter, node.target)
        assign_attribute(
            interpreter,
            node.target,
            lambda owner: _in_place(interpreter, node, function, interpreter.attribute(owner, name)),
        )


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


def _assert(interpreter: Interpreter, node: ast.Assert) -> None:
    if __debug__ and not interpreter.truth(node.test, interpreter.evaluate(node.test)):
        message = () if node.msg is None else (interpreter.evaluate(node.msg),)
        interpreter.fail(AssertionError(*message), node)


def _match(interpreter: Interpreter, node: ast.Match) -> Signal:
    subject = interpreter.evaluate(node.subject)
    for case in node.cases:
        if not matches(interpreter, case.pattern, subject):
            continue
        if case.guard is None or interpreter.truth(case.guard, interpreter.evaluate(case.guard)):
            return execute(interpreter, case.body)
    return None


def _nonlocal(interpreter: Interpreter, node: ast.Nonlocal) -> None:
    if any(interpreter.frame.owner_of(name) is None for name in node.names):
        interpreter.refuse_change(_OUTSIDE_ITSELF.format("nonlocal"), "return the value", node)


def _global(interpreter: Interpreter, node: ast.Global) -> None:
    if interpreter.frame.local_names.intersection(node.names):
        interpreter.refuse_change(_OUTSIDE_ITSELF.format("global"), "return the value", node)


_OUTSIDE_ITSELF = "`{}` cannot be compiled: a compiled function changes nothing outside itself"


def _function(interpreter: Interpreter, node: ast.FunctionDef) -> None:
    function: Any = InterpretedFunction.define(interpreter, node, node.name)
    for decorator in reversed(node.decorator_list):
        wrapper = interpreter.evaluate(decorator)
        interpreter.at = decorator
        function = interpreter.call_with(wrapper, (function,), {})
    interpreter.frame.variables[node.name] = function


# --- Outside the language -------------------------------------------------------------------------------------------

_OUTSIDE: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.TryStar: ("`except*` cannot be compiled", "write `except`, or call the jitted function inside `try`"),
    ast.AsyncWith: ("`async with` cannot be compiled", None),
    ast.AsyncFor: ("`async for` cannot be compiled", None),
    ast.AsyncFunctionDef: ("an `async` function cannot be compiled", None),
    ast.ClassDef: ("a class cannot be defined in a compiled function", "define it outside"),
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
    ast.Assert: _assert,
    ast.Raise: execute_raise,
    ast.Nonlocal: _nonlocal,
    ast.Global: _global,
    ast.Match: _match,
    ast.FunctionDef: _function,
    ast.Import: execute_import,
    ast.ImportFrom: execute_import_from,
}


def _refuse_statement(interpreter: Interpreter, node: ast.stmt) -> Signal:
    message, help_text = _OUTSIDE.get(type(node), (f"this statement ({type(node).__name__}) cannot be compiled", None))
    interpreter.refuse(message, help_text, node)
