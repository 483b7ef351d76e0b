"""Compound statements, and generator functions of the user's.

Python generators execute both, so that the interpreter can suspend at a ``yield`` of the program. This file holds the
statements that may contain a ``yield``; statements.py holds the others.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Generator, Sequence
from functools import lru_cache, partial
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.python.assignment import assign, iterate
from ttnn_jit.frontend.python.contexts import enter_context
from ttnn_jit.frontend.python.exception_handling import handler_of, raised_by_program
from ttnn_jit.frontend.python.frame import Frame, generator_part
from ttnn_jit.frontend.python.interpreter import Checkpoint, FunctionReturn, Interpreter
from ttnn_jit.frontend.python.signals import Execute, LoopBreak, Signal

Steps = Generator[Any, Any, Signal]
"""Executes a block: yields the values of its ``yield`` expressions, and returns how control leaves it."""


def generator(
    interpreter: Interpreter, frame: Frame, body: Sequence[ast.stmt], identity: object, execute: Execute
) -> Generator[Any, Any, Any]:
    """The generator of a function with ``yield``, whose `body` runs in `frame`; `identity` detects recursion."""
    running = _Activation(interpreter, frame, identity, execute)
    steps = running.block(body)
    resume = partial(next, steps)
    while True:
        consumer = interpreter.checkpoint()
        running.enter()
        try:
            yielded = resume()
        except StopIteration as end:
            interpreter.return_to(consumer)
            return end.value.value if isinstance(end.value, FunctionReturn) else None
        # After an error the state is kept, for the error's location.
        running.leave(consumer)
        try:
            sent = yield yielded
        except CompileError as error:
            resume = partial(steps.throw, error)
        except GeneratorExit:
            running.close(steps)
            raise
        else:
            resume = partial(steps.send, sent)


def execute_compound(interpreter: Interpreter, statement: ast.stmt, execute: Execute) -> Signal:
    """Execute a compound statement without ``yield``; returns how control leaves it."""
    try:
        next(_Activation(interpreter, interpreter.frame, None, execute).block([statement]))
    except StopIteration as end:
        signal: Signal = end.value
        return signal
    raise AssertionError


class _Activation:
    """One activation of a function, or of a generator function, running or suspended."""

    def __init__(self, interpreter: Interpreter, frame: Frame, identity: object, execute: Execute) -> None:
        self._interpreter = interpreter
        self._frame = frame
        self._identity = identity
        self._execute = execute
        self._at: ast.AST = frame.source.node
        self._handled: list[CompileError] = []
        self._depth = len(interpreter.active)
        self._handling = len(interpreter.handled)

    # --- suspended and resumed ----------------------------------------------------------------------------------

    def enter(self) -> None:
        """Resume the generator at its suspended ``yield``."""
        interpreter = self._interpreter
        self._handling = len(interpreter.handled)
        interpreter.active.append(self._identity)
        interpreter.handled += self._handled
        self._depth = len(interpreter.active)
        interpreter.frame, interpreter.at = self._frame, self._at

    def leave(self, consumer: Checkpoint) -> None:
        """Suspend the generator, and return to the checkpoint `consumer`."""
        self._at = self._interpreter.at
        self._handled = self._interpreter.handled[self._handling :]
        self._interpreter.return_to(consumer)

    def close(self, steps: Steps) -> None:
        """Close the generator: its ``finally`` blocks run, and their exceptions are lost, as in Python."""
        consumer = self._interpreter.checkpoint()
        self.enter()
        try:
            steps.close()
        except CompileError:
            pass
        finally:
            self._interpreter.return_to(consumer)

    def _checkpoint(self, at: ast.AST, handling: int) -> Checkpoint:
        """The checkpoint at which a caught exception continues; the resuming caller may differ from that at entry."""
        return Checkpoint(self._frame, at, self._depth, self._handling + handling)

    # --- statements ---------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> Steps:
        """Execute a block."""
        for statement in statements:
            if (compound := COMPOUND.get(type(statement))) is not None:
                signal = yield from compound(self, statement)
            elif _yields(statement):
                signal = yield from _YIELDING.get(type(statement), _Activation._refuse)(self, statement)
            else:
                signal = self._execute([statement])
            if signal is not None:
                return signal
        return None

    def _value(self, node: ast.expr | None) -> Generator[Any, Any, Any]:
        """The value of an expression, which may be a ``yield`` itself."""
        interpreter = self._interpreter
        if isinstance(node, ast.Yield):
            value = None if node.value is None else interpreter.evaluate(node.value)
            interpreter.at = node
            return (yield value)
        if isinstance(node, ast.YieldFrom):
            items = interpreter.evaluate(node.value)
            interpreter.at = node
            items = interpreter.python(iter, items)
            if isinstance(items, types.GeneratorType):
                return (yield from items)
            yield from iterate(interpreter, node, items)
            return None
        if node is not None and _yields(node):
            interpreter.refuse(
                "`yield` inside an expression cannot be compiled", "give it a name: `sent = yield x`", _part(node)
            )
        return None if node is None else interpreter.evaluate(node)

    def _expression(self, node: ast.Expr) -> Steps:
        yield from self._value(node.value)
        return None

    def _return(self, node: ast.Return) -> Steps:
        return FunctionReturn((yield from self._value(node.value)))

    def _assign(self, node: ast.Assign | ast.AnnAssign) -> Steps:
        value = yield from self._value(node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            assign(self._interpreter, target, value)
        return None

    def _if(self, node: ast.If) -> Steps:
        value = yield from self._value(node.test)
        chosen = self._interpreter.truth(node.test, value)
        return (yield from self.block(node.body if chosen else node.orelse))

    def _while(self, node: ast.While) -> Steps:
        while self._interpreter.truth(node.test, (yield from self._value(node.test))):
            self._interpreter.count_iteration(node.test)
            signal = yield from self.block(node.body)
            if isinstance(signal, LoopBreak):
                return None
            if isinstance(signal, FunctionReturn):
                return signal
        return (yield from self.block(node.orelse))

    def _for(self, node: ast.For) -> Steps:
        interpreter = self._interpreter
        iterable = yield from self._value(node.iter)
        interpreter.at = node.iter
        for item in iterate(interpreter, node.iter, interpreter.python(iter, iterable)):
            assign(interpreter, node.target, item)
            signal = yield from self.block(node.body)
            if isinstance(signal, LoopBreak):
                return None
            if isinstance(signal, FunctionReturn):
                return signal
        return (yield from self.block(node.orelse))

    def _try(self, node: ast.Try) -> Steps:
        handling = len(self._interpreter.handled) - self._handling
        try:
            signal = yield from self._with_handlers(node, handling)
        except (CompileError, GeneratorExit) as error:
            if isinstance(error, CompileError) and raised_by_program(error) is None:
                raise
            self._interpreter.return_to(self._checkpoint(node, handling))
            signal = yield from self.block(node.finalbody)
            if signal is None:
                raise
            return signal
        at_end = yield from self.block(node.finalbody)
        return signal if at_end is None else at_end

    def _with_handlers(self, node: ast.Try, handling: int) -> Steps:
        interpreter = self._interpreter
        try:
            signal = yield from self.block(node.body)
        except CompileError as error:
            entered_at = self._checkpoint(node, handling)
            handler = handler_of(interpreter, node.handlers, error, entered_at)
            interpreter.handled.append(error)
            if handler.name is not None:
                interpreter.frame.variables[handler.name] = raised_by_program(error)
            signal = yield from self.block(handler.body)
            interpreter.handled.pop()
            if handler.name is not None:
                self._frame.variables.pop(handler.name, None)
            return signal
        return (yield from self.block(node.orelse)) if signal is None else signal

    def _with(self, node: ast.With) -> Steps:
        return (yield from self._within(node, node.items))

    def _within(self, node: ast.With, items: Sequence[ast.withitem]) -> Steps:
        if not items:
            return (yield from self.block(node.body))
        (item, *inner) = items
        value, leave = enter_context(self._interpreter, item.context_expr, node)
        if item.optional_vars is not None:
            assign(self._interpreter, item.optional_vars, value)
        handling = len(self._interpreter.handled) - self._handling
        try:
            signal = yield from self._within(node, inner)
        except CompileError as error:
            if raised_by_program(error) is None:
                raise
            self._interpreter.return_to(self._checkpoint(node, handling))
            if not leave(error):
                raise
            return None
        except GeneratorExit:
            leave(None)
            raise
        leave(None)
        return signal

    def _refuse(self, node: ast.stmt) -> Steps:
        self._interpreter.refuse(
            "`yield` cannot be compiled here", "write it as a statement of its own, or as the value of an assignment",
            _part(node),
        )  # fmt: skip
        yield


COMPOUND: dict[type[ast.stmt], Callable[[_Activation, Any], Steps]] = {
    ast.If: _Activation._if,
    ast.While: _Activation._while,
    ast.For: _Activation._for,
    ast.Try: _Activation._try,
    ast.With: _Activation._with,
}
"""Statements that contain statements."""

_YIELDING: dict[type[ast.stmt], Callable[[_Activation, Any], Steps]] = {
    ast.Expr: _Activation._expression,
    ast.Return: _Activation._return,
    ast.Assign: _Activation._assign,
    ast.AnnAssign: _Activation._assign,
}
"""Other statements that may contain a ``yield``."""


@lru_cache(maxsize=4096)
def _yields(node: ast.AST) -> bool:
    return generator_part([node]) is not None


def _part(node: ast.AST) -> ast.AST:
    return generator_part([node]) or node
