"""Functions of the user's that are told of every operation: `ttnn.register_pre_operation_hook` and its kin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.observers import Observer, observing
from ttnn_jit.ttnn.calling.host_function import host_function

PreHook = Callable[[Any, Sequence[Any], dict[str, Any]], None]
"""Of the operation, its arguments, and its keywords, which it may change."""
PostHook = Callable[[Any, Sequence[Any], Mapping[str, Any], Any], None]
"""Of the operation, its arguments and keywords, and what it gave."""


class HookError(ArgumentError, RuntimeError):
    """A hook returned something (a RuntimeError in ttnn)."""


class _Before(Observer):
    def __init__(self, hook: PreHook) -> None:
        self._hook = hook

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        _require_none("Pre", self._hook, self._hook(operation, args, kwargs))


class _After(Observer):
    def __init__(self, hook: PostHook) -> None:
        self._hook = hook

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        _require_none("Post", self._hook, self._hook(operation, args, kwargs, result))


@host_function(observed=False)
@contextmanager
def register_pre_operation_hook(hook: PreHook) -> Iterator[None]:
    """In the body of a ``with`` call ``hook(operation, args, kwargs)`` before each operation (ttnn's name).

    Operations are those of the namespace, functions of it that move or make tensors, and jitted functions, each with
    a `python_fully_qualified_name`. What a hook calls is not told to hooks.

    Raises:
        ArgumentError: The hook cannot be called, or returned something.
    """
    with observing(_Before(hook)):
        yield


@host_function(observed=False)
@contextmanager
def register_post_operation_hook(hook: PostHook) -> Iterator[None]:
    """In the body of a ``with`` call ``hook(operation, args, kwargs, output)`` after each operation (ttnn's name).

    Raises:
        ArgumentError: The hook cannot be called, or returned something.
    """
    with observing(_After(hook)):
        yield


def _require_none(when: str, hook: object, returned: object) -> None:
    if returned is not None:
        raise HookError(f"{when}-operation hook {hook} returned {returned} but must return None")
