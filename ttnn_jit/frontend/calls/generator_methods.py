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
    """`advance` for generators; Python handles other objects itself."""

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
    """``generator.throw(raised)``: raises at the suspended ``yield``."""
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
    """The next value of `generator` after `raised` is raised at its ``yield``, as a CompileError with that cause."""
    error = CompileError(failure_text(raised), location=interpreter.location())
    error.__cause__ = raised
    return interpreter.natively(generator.throw, error)
