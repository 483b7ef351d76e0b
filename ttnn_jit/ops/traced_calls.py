"""Redirection of calls (of operations, jitted functions and host functions) to the program that they belong to.

An argument of a program has a method `__ttnn_call__` that takes the call. In a trace of eager code, whose arguments are
ordinary tensors, the tracer of the context takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

Tracer = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""From a called object, its arguments and keywords to the result; NotImplemented: the object is called as usual."""

_TRACER: ContextVar[Tracer | None] = ContextVar("tracer of eager operations", default=None)
_CLASSES: list[Any] = []
TRACERS: list[Tracer] = []
"""The active tracers of all contexts; host functions skip the look-up while it is empty."""


def traceable(cls: T) -> T:
    """Class decorator: a trace intercepts the calls of its instances."""
    _CLASSES.append(cls)
    return cls


@contextmanager
def tracing(tracer: Tracer) -> Iterator[None]:
    """Within the body, and in this context, calls of objects of traceable classes go to `tracer` first.

    The classes have another ``__call__`` meanwhile, so that calls outside traces cost nothing; one thread traces at a
    time.
    """
    token = _TRACER.set(tracer)
    TRACERS.append(tracer)
    classes = traceable_classes()
    own = [vars(cls).get("__call__") for cls in classes]
    for cls in classes:
        cls.__call__ = _intercepted(cls.__call__)
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


def traceable_classes() -> list[Any]:
    """The traceable classes, and their subclasses with a ``__call__`` of their own."""
    return [cls for root in _CLASSES for cls in _overriding_classes(root)]


def _overriding_classes(root: Any) -> Iterator[Any]:
    """`root`, and its subclasses with a ``__call__`` of their own."""
    yield root
    for cls in root.__subclasses__():
        yield from (found for found in _overriding_classes(cls) if found is not cls or "__call__" in vars(cls))


def _intercepted(call: Callable[..., Any]) -> Callable[..., Any]:
    def intercepted(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = redirect_to_trace(self, args, kwargs)
        return call(self, *args, **kwargs) if result is NotImplemented else result

    return intercepted


def redirect_to_trace(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call in the trace of this context; NotImplemented without a trace, or if the tracer declines."""
    tracer = _TRACER.get()
    return NotImplemented if tracer is None else tracer(function, args, kwargs)


def redirect_to_program(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call in the program of an argument, or of an element of one; NotImplemented without a program."""
    for argument in flat_arguments((*args, *kwargs.values())):
        caller = getattr(argument, "__ttnn_call__", None)
        if caller is not None:
            return caller(function, args, kwargs)
    return NotImplemented


def flat_arguments(values: Iterable[Any]) -> Iterator[Any]:
    """The values, with lists and tuples replaced by their elements."""
    for value in values:
        if type(value) in {list, tuple}:
            yield from value
        else:
            yield value
