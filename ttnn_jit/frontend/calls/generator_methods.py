"""``send``, ``throw`` and ``close`` of generators that the program made."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.foreign.values import is_a
from ttnn_jit.frontend.python.containers import refuse_foreign_iterator
from ttnn_jit.frontend.python.interpreter import Interpreter, failure_text
from ttnn_jit.frontend.python.special_methods import NATIVE

Advance = Callable[..., Any]


def _of_generators(advance: Advance) -> Advance:
    """`advance`, which Python does itself of what is no generator."""

    def method(interpreter: Interpreter, owner: Any, *args: Any) -> Any:
        if not is_a(owner, types.GeneratorType):
            return NATIVE
        refuse_foreign_iterator(interpreter, owner)
        return advance(interpreter, owner, *args)

    return method


@_of_generators
def send(interpreter: Interpreter, generator: Any, value: Any) -> Any:
    """``generator.send(value)``."""
    return interpreter.natively(generator.send, value)


@_of_generators
def throw(interpreter: Interpreter, generator: Any, raised: Any) -> Any:
    """``generator.throw(raised)``: the generator meets what a ``raise`` where it waits would be."""
    if isinstance(raised, type):
        raised = interpreter.python(raised)
    if not isinstance(raised, BaseException):
        kind = type(raised).__name__
        interpreter.fail(TypeError(f"exceptions must be classes or instances deriving from BaseException, not {kind}"))
    return _thrown(interpreter, generator, raised)


@_of_generators
def close(interpreter: Interpreter, generator: Any) -> None:
    """``generator.close()``."""
    checkpoint = interpreter.checkpoint()
    try:
        _thrown(interpreter, generator, GeneratorExit())
    except CompileError as error:
        if not isinstance(error.__cause__, GeneratorExit | StopIteration):
            raise
        interpreter.return_to(checkpoint)
        return
    interpreter.fail(RuntimeError("generator ignored GeneratorExit"))


def _thrown(interpreter: Interpreter, generator: Any, raised: BaseException) -> Any:
    """What `generator` yields next that meets the exception where it waits, as its statements know exceptions."""
    error = CompileError(failure_text(raised), location=interpreter.location())
    error.__cause__ = raised
    return interpreter.natively(generator.throw, error)
