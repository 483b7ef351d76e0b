"""User functions that are called before or after every operation, such as `ttnn.register_pre_operation_hook`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.observers import Observer, observing
from ttnn_jit.ttnn.calling.host_function import host_function

PreHook = Callable[[Any, Sequence[Any], dict[str, Any]], None]
"""Called with the operation, its arguments, and its keywords, which it may change."""
PostHook = Callable[[Any, Sequence[Any], Mapping[str, Any], Any], None]
"""Called with the operation, its arguments, its keywords, and its result."""


class HookError(ArgumentError, RuntimeError):
    """A hook returned a value other than None (a RuntimeError in ttnn)."""


class _PreHookObserver(Observer):
    def __init__(self, hook: PreHook) -> None:
        self._hook = hook

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        _require_none("Pre", self._hook, self._hook(operation, args, kwargs))


class _PostHookObserver(Observer):
    def __init__(self, hook: PostHook) -> None:
        self._hook = hook

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        _require_none("Post", self._hook, self._hook(operation, args, kwargs, result))


@host_function(observed=False)
@contextmanager
def register_pre_operation_hook(hook: PreHook) -> Iterator[None]:
    """Call ``hook(operation, args, kwargs)`` before each operation in the body of a ``with``.

    Operations are those of the namespace, host functions that move or make tensors, and jitted functions; each has a
    `python_fully_qualified_name`. Operations that a hook calls are not observed.
    Source: ttnn.register_pre_operation_hook.

    Raises:
        ArgumentError: The hook is not callable, or returned a value other than None.
    """
    with observing(_PreHookObserver(hook)):
        yield


@host_function(observed=False)
@contextmanager
def register_post_operation_hook(hook: PostHook) -> Iterator[None]:
    """Call ``hook(operation, args, kwargs, output)`` after each operation in the body of a ``with``.

    Source: ttnn.register_post_operation_hook.

    Raises:
        ArgumentError: The hook is not callable, or returned a value other than None.
    """
    with observing(_PostHookObserver(hook)):
        yield


def _require_none(when: str, hook: object, returned: object) -> None:
    if returned is not None:
        raise HookError(f"{when}-operation hook {hook} returned {returned} but must return None")
