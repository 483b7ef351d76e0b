"""Who takes a call, of an operation, of a jitted function or of one of the host API, that belongs to a program.

An argument may say so by `__ttnn_call__`. In a trace those do not that are tensors of the user's world.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

Tracer = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""From what is called and its arguments to what it gives; NotImplemented leaves it to what is called."""

_TRACER: ContextVar[Tracer | None] = ContextVar("tracer of eager operations", default=None)
_CLASSES: list[Any] = []
TRACERS: list[Tracer] = []
"""Of whatever context: without one, functions of the host API need not look."""


def traceable(cls: T) -> T:
    """A class of objects that a trace takes the calls of."""
    _CLASSES.append(cls)
    return cls


@contextmanager
def tracing(tracer: Tracer) -> Iterator[None]:
    """In its body, and this context, calls of such objects ask `tracer` first.

    Their classes have another ``__call__`` meanwhile, so that other calls pay nothing for it; one thread traces at a
    time.
    """
    token = _TRACER.set(tracer)
    TRACERS.append(tracer)
    classes = classes_of_calls()
    own = [vars(cls).get("__call__") for cls in classes]
    for cls in classes:
        cls.__call__ = _asking(cls.__call__)
    try:
        yield
    finally:
        for cls, call in zip(classes, own, strict=True):
            if call is None:
                del cls.__call__
            else:
                cls.__call__ = call
        TRACERS.remove(tracer)
        _TRACER.reset(token)


def classes_of_calls() -> list[Any]:
    """The classes of such objects that have a ``__call__`` of their own, or whose instances have the base's."""
    return [cls for root in _CLASSES for cls in _with_own_call(root)]


def _with_own_call(root: Any) -> Iterator[Any]:
    """`root`, and the classes made of it that have a ``__call__`` of their own."""
    yield root
    for cls in root.__subclasses__():
        yield from (found for found in _with_own_call(cls) if found is not cls or "__call__" in vars(cls))


def _asking(call: Callable[..., Any]) -> Callable[..., Any]:
    def asking(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = in_trace(self, args, kwargs)
        return call(self, *args, **kwargs) if result is NotImplemented else result

    return asking


def in_trace(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call is in the trace of this context; NotImplemented where there is none, or it leaves the call alone."""
    tracer = _TRACER.get()
    return NotImplemented if tracer is None else tracer(function, args, kwargs)


def in_program(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call is in the program that an argument, or an element of one, says; NotImplemented where none does."""
    for argument in with_elements((*args, *kwargs.values())):
        caller = getattr(argument, "__ttnn_call__", None)
        if caller is not None:
            return caller(function, args, kwargs)
    return NotImplemented


def with_elements(values: Iterable[Any]) -> Iterator[Any]:
    """Each value, but of a list or tuple its elements."""
    for value in values:
        if type(value) in {list, tuple}:
            yield from value
        else:
            yield value
