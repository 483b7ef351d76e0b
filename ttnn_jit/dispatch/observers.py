"""Observers of the operations that run: hooks, tracers, comparisons.

While there is an observer, operations and jitted functions have another ``__call__``, and functions of the host API
other code; without observers calls cost nothing more. Operations inside an observed operation are not observed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from ttnn_jit.diagnostics.tracebacks import keep_user_frames_of_call
from ttnn_jit.dispatch.call_events import measured_call
from ttnn_jit.events.listeners import LISTENERS
from ttnn_jit.ops.traced_calls import flat_arguments, traceable_classes
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.runtime.tensors.tensor import Tensor

_TENSOR_METHODS = ("cpu", "to", "to_torch")
"""Methods of tensors that are operations too."""


class Observer:
    """The base of observers, which are notified before and after every call of an operation, from any thread."""

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """A call begins with these arguments; changes of `kwargs` reach the operation."""

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """A call has returned `result`."""

    def failed(self, operation: Any, error: BaseException) -> None:
        """A call has raised `error`."""

    def looks_inside(self, operation: Any) -> bool:  # noqa: ARG002 - what an observer overrides
        """Whether the observer is also notified of operations inside calls of this operation."""
        return False


OBSERVERS: list[Observer] = []
ON_FIRST_OBSERVER: list[Callable[[], None]] = []
"""Callbacks of functions of the host API that cache the absence of observers: called when the first one starts."""
_REPLACED: list[tuple[type, str, Any]] = []  # replaced members of classes; None: the class had no member of that name
_INSIDE: ContextVar[bool] = ContextVar("inside of an observed call", default=False)
_ONLY: ContextVar[tuple[Observer, ...] | None] = ContextVar("the notified observers, if not all", default=None)


def is_observed_inside() -> bool:
    """Whether an observed call is in progress."""
    return _INSIDE.get()


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """A block in which `observer` is notified of calls."""
    start(observer)
    try:
        yield
    finally:
        stop(observer)


def only_observer(observer: Observer) -> AbstractContextManager[None]:
    """A block, possibly inside an observed call, in which only `observer` is notified."""
    return _only_observers((observer,))


@contextmanager
def _only_observers(observers: tuple[Observer, ...]) -> Iterator[None]:
    """A block inside an observed call in which only `observers` are notified."""
    inside, only = _INSIDE.set(not observers), _ONLY.set(observers)
    try:
        yield
    finally:
        _ONLY.reset(only)
        _INSIDE.reset(inside)


def start(observer: Observer) -> None:
    """Notify `observer` of calls from now on."""
    with compiling():  # a trace of a function changes these classes too
        if not OBSERVERS:
            observe_classes(traceable_classes())
            for name in _TENSOR_METHODS:
                _replace(Tensor, name, _observed(getattr(Tensor, name), f"ttnn.Tensor.{name}"))
        OBSERVERS.append(observer)
        while ON_FIRST_OBSERVER:
            ON_FIRST_OBSERVER.pop()()


def stop(observer: Observer) -> None:
    """Stop notifying `observer`."""
    with compiling():
        OBSERVERS.remove(observer)
        while _REPLACED and not OBSERVERS:
            cls, name, own = _REPLACED.pop()
            if own is None:
                delattr(cls, name)
            else:
                setattr(cls, name, own)


def observe_classes(classes: Iterable[Any]) -> None:
    """Replace ``__call__`` of these classes by one that notifies observers."""
    for cls in classes:
        _replace(cls, "__call__", _notifying(cls.__call__))


def observe_new_class(cls: Any) -> None:
    """Observe a new class of jitted functions, if there are observers."""
    if OBSERVERS and "__call__" in vars(cls):
        observe_classes([cls])


def _replace(cls: Any, name: str, function: Callable[..., Any]) -> None:
    _REPLACED.append((cls, name, vars(cls).get(name)))
    setattr(cls, name, function)


def _notifying(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def notifying(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if LISTENERS:
                self._forget()  # native calls of remembered calls emit no events
            return call_with_observers(functools.partial(call, self), self, args, kwargs)
        except BaseException as error:
            keep_user_frames_of_call(error)
            raise

    return notifying


def _observed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A method of tensors that notifies observers, as an operation of this name."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return call_with_observers(function, call, args, kwargs)
        except BaseException as error:
            keep_user_frames_of_call(error)
            raise

    vars(call)["python_fully_qualified_name"] = name
    return call


def call_with_observers(call: Callable[..., Any], operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``call(*args, **kwargs)``, with notification of the observers; `operation` is the operation that is called."""
    if _INSIDE.get() or any(map(_is_proxy, flat_arguments([*args, *kwargs.values()]))):
        return call(*args, **kwargs)
    only = _ONLY.get()
    observers = tuple(OBSERVERS) if only is None else only
    token = _INSIDE.set(True)
    try:
        for observer in observers:
            observer.before(operation, args, kwargs)
        try:
            with _only_observers(tuple(each for each in observers if each.looks_inside(operation))):
                result = measured_call(call, operation, args, kwargs) if LISTENERS else call(*args, **kwargs)
        except BaseException as error:
            for observer in observers:
                observer.failed(operation, error)
            raise
        for observer in observers:
            observer.after(operation, args, kwargs, result)
        return result
    finally:
        _INSIDE.reset(token)


def is_compiled(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether an argument is a proxy of a tensor, of a function that is being compiled or traced."""
    kinds = map(type, flat_arguments([*args, *kwargs.values()]))
    return any(hasattr(kind, "__ttnn_call__") and not issubclass(kind, Tensor) for kind in kinds)


def _is_proxy(value: Any) -> bool:
    """Whether a value is a proxy of a function that is being compiled; proxies of a trace count as tensors."""
    return not isinstance(value, Tensor) and hasattr(type(value), "__ttnn_call__")
