"""Calls of operations and jitted functions in a trace whose arguments do not say so: tensors of the user's world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T", bound=type)

Tracer = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""From what is called and its arguments to what it gives; NotImplemented leaves it to what is called."""

_TRACER: ContextVar[Tracer | None] = ContextVar("tracer of eager operations", default=None)
_CLASSES: list[Any] = []


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
        tracer = _TRACER.get()
        result = NotImplemented if tracer is None else tracer(self, args, kwargs)
        return call(self, *args, **kwargs) if result is NotImplemented else result

    return asking
