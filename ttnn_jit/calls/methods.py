"""Jitted methods: for each instance that one is called on, a jitted function of the other parameters.

What a compile reads of the instance is guarded, and no part of keys.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.arguments import is_tensor
from ttnn_jit.guards.receiver import bound_to
from ttnn_jit.runtime.generated import STALE

F = TypeVar("F", bound=Callable[..., Any])


class Methods(Generic[F]):
    """The functions of one method, by instance, none of which they keep alive.

    Args:
        function: The method's.
        jit: Makes a jitted function of a copy of `function`.

    Attributes:
        is_method: Whether the function was looked up on an instance or class.
    """

    def __init__(self, function: types.FunctionType, jit: Callable[[types.FunctionType], F]) -> None:
        self._function = function
        self._jit = jit
        self._by_instance: dict[int, tuple[weakref.ref[Any], F]] = {}
        self.is_method = False

    def have_receiver(self, args: Sequence[Any]) -> bool:
        """Whether the first argument is what a method was looked up on: an instance, or the class of a classmethod.

        A tensor is none: one function may stand in a class and by itself.
        """
        if not args or is_tensor(args[0]):
            return False
        return self.is_method or issubclass(type(args[0]), type)

    def of(self, instance: Any) -> F:
        """The function for this instance.

        Raises:
            ArgumentError: It cannot be weakly referenced.
        """
        found = self._by_instance.get(id(instance))
        return found[1] if found is not None and found[0]() is instance else self._bind(instance)

    def call(self, instance: Any, *args: Any) -> Any:
        """The `WarmCall` of a method: the instance's own function, which has a fast path of its own."""
        found = self._by_instance.get(id(instance))
        return found[1](*args) if found is not None and found[0]() is instance else STALE

    def functions(self) -> tuple[F, ...]:
        """Those of instances that are alive."""
        return tuple(function for _, function in tuple(self._by_instance.values()))

    def clear(self) -> None:
        """Forget all of them."""
        self._by_instance.clear()

    def _bind(self, instance: Any) -> F:
        key, by_instance = id(instance), self._by_instance
        try:
            reference = weakref.ref(instance, lambda _: by_instance.pop(key, None))
        except TypeError:
            raise ArgumentError(
                f"a method of {type(instance).__name__} cannot be compiled: its objects cannot be weakly referenced",
                help="add '__weakref__' to its `__slots__`, or `weakref_slot=True` to a dataclass",
            ) from None
        function = self._jit(bound_to(self._function, reference))
        by_instance[key] = reference, function
        return function
