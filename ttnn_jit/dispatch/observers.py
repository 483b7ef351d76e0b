"""Who wants to know of the operations that run: hooks, tracers, comparisons.

Operations and jitted functions have another ``__call__`` for as long as somebody observes, so that other calls pay
nothing for it; functions of the host API have other code. An operation that runs inside another one is none of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from ttnn_jit.diagnostics.tracebacks import keep_frames_of_a_call
from ttnn_jit.ops.traced_calls import flat_arguments, traceable_classes
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.runtime.tensors.tensor import Tensor

_TENSOR_METHODS = ("cpu", "to", "to_torch")
"""Methods of tensors that are operations too."""


class Observer:
    """Is told of every call of an operation, from any thread, before it runs and afterwards. Does nothing by itself."""

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """A call begins; `kwargs` are those that it gets."""

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """It gave `result`."""

    def failed(self, operation: Any, error: BaseException) -> None:
        """It raised `error`."""

    def looks_inside(self, operation: Any) -> bool:  # noqa: ARG002 - what an observer overrides
        """Whether it is told of the operations inside of a call of this one too."""
        return False


OBSERVERS: list[Observer] = []
UNOBSERVED: list[Callable[[], None]] = []
"""What has a function of the host API ask again whether somebody observes, which asks once until somebody begins."""
_OWN: list[tuple[type, str, Any]] = []  # what classes had before somebody observed; None: nothing of their own
_INSIDE: ContextVar[bool] = ContextVar("inside of an observed call", default=False)
_ONLY: ContextVar[tuple[Observer, ...] | None] = ContextVar("the observers that are told, if not all", default=None)


def name_of(operation: Any) -> str:
    """What an operation, a function of the host API or a jitted function is called."""
    return str(getattr(operation, "python_fully_qualified_name", None) or operation.__name__)


def is_observed_inside() -> bool:
    """Whether this is inside of a call that is told."""
    return _INSIDE.get()


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """In its body `observer` is told of calls."""
    start(observer)
    try:
        yield
    finally:
        stop(observer)


def telling_only(observer: Observer) -> AbstractContextManager[None]:
    """In its body, which may be inside of a call, `observer` alone is told of calls."""
    return _telling_inside((observer,))


@contextmanager
def _telling_inside(observers: tuple[Observer, ...]) -> Iterator[None]:
    """In its body, which is inside of a call, these alone are told of calls."""
    inside, only = _INSIDE.set(not observers), _ONLY.set(observers)
    try:
        yield
    finally:
        _ONLY.reset(only)
        _INSIDE.reset(inside)


def start(observer: Observer) -> None:
    """Tell `observer` of calls from now on."""
    with compiling():  # a trace of a function changes these classes too
        if not OBSERVERS:
            observe_classes(traceable_classes())
            for name in _TENSOR_METHODS:
                _replace(Tensor, name, _observed(getattr(Tensor, name), f"ttnn.Tensor.{name}"))
        OBSERVERS.append(observer)
        while UNOBSERVED:
            UNOBSERVED.pop()()


def stop(observer: Observer) -> None:
    """Tell it no more."""
    with compiling():
        OBSERVERS.remove(observer)
        while _OWN and not OBSERVERS:
            cls, name, own = _OWN.pop()
            if own is None:
                delattr(cls, name)
            else:
                setattr(cls, name, own)


def observe_classes(classes: Iterable[Any]) -> None:
    """Have calls of instances told."""
    for cls in classes:
        _replace(cls, "__call__", _telling(cls.__call__))


def observe_new_class(cls: Any) -> None:
    """A class of jitted functions was made: somebody may observe."""
    if OBSERVERS and "__call__" in vars(cls):
        observe_classes([cls])


def _replace(cls: Any, name: str, function: Callable[..., Any]) -> None:
    _OWN.append((cls, name, vars(cls).get(name)))
    setattr(cls, name, function)


def _telling(call: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(call)
    def telling(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return told(functools.partial(call, self), self, args, kwargs)
        except BaseException as error:
            keep_frames_of_a_call(error)
            raise

    return telling


def _observed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A method of tensors that is an operation of this name too."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return told(function, call, args, kwargs)
        except BaseException as error:
            keep_frames_of_a_call(error)
            raise

    vars(call)["python_fully_qualified_name"] = name
    return call


def told(call: Callable[..., Any], operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``call(*args, **kwargs)`` gives, a call of `operation` of which the observers are told."""
    if _INSIDE.get() or any(map(_is_proxy, flat_arguments([*args, *kwargs.values()]))):
        return call(*args, **kwargs)
    only = _ONLY.get()
    observers = tuple(OBSERVERS) if only is None else only
    token = _INSIDE.set(True)
    try:
        for observer in observers:
            observer.before(operation, args, kwargs)
        try:
            with _telling_inside(tuple(each for each in observers if each.looks_inside(operation))):
                result = call(*args, **kwargs)
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
    """Whether a call has a tensor of a function that is being compiled, one of a trace included."""
    kinds = map(type, flat_arguments([*args, *kwargs.values()]))
    return any(hasattr(kind, "__ttnn_call__") and not issubclass(kind, Tensor) for kind in kinds)


def _is_proxy(value: Any) -> bool:
    """Whether it stands for a tensor of a function that is being compiled; those of a trace say that they are one."""
    return not isinstance(value, Tensor) and hasattr(type(value), "__ttnn_call__")
