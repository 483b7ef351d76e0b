"""Jitted functions that are bound to objects: each object has a jitted function of the other parameters.

The objects are the instance of a method, and arguments that are objects of the user's. Their attributes are guarded and
are not in the cache key.
"""

from __future__ import annotations

import inspect
import types
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from ttnn_jit.diagnostics.changing_arguments import VALUES_BEFORE_WARNING, ChangingArguments
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.arguments import is_tensor
from ttnn_jit.guards.bound_objects import bound_copy
from ttnn_jit.runtime.native.generated import MISS

F = TypeVar("F", bound=Callable[..., Any])


class Bindable(Protocol):
    """A jitted function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""

    @property
    def served_one_call(self) -> bool:
        """Whether every program of it was called once."""


B = TypeVar("B", bound=Bindable)


class _CallQuery:
    """The descriptor of `call_query`: if the jitted function is a method, it passes the instance first."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, function: Any, owner: type) -> Any:
        if function is None:
            return self._method
        query = types.MethodType(self._method, function)
        instance = function.receiver()
        return query if instance is None else types.MethodType(query, instance)


def call_query(method: F) -> F:
    """A decorator of methods of `JitFunction` that take the arguments of a call: bound methods supply the instance."""
    return cast(F, _CallQuery(method))


class BoundFunctions(Generic[B]):
    """The bound copies of one function, by objects, which they do not keep alive.

    Args:
        function: The function.
        jit: Makes a jitted function from a copy of `function`.
        changing: Warns of objects that are built for one call each.

    Attributes:
        is_method: Whether the function was looked up on an instance or class.
    """

    def __init__(
        self, function: types.FunctionType, jit: Callable[[types.FunctionType], B], changing: ChangingArguments
    ) -> None:
        self._function = function
        self._jit = jit
        self._changing = changing
        # The last objects that served one call. They are recorded in weakref callbacks, where no warning can be issued.
        self._short_lived: deque[tuple[str, str]] = deque(maxlen=VALUES_BEFORE_WARNING)
        self._first = next(iter(inspect.signature(function).parameters), "")
        # By the id of the object of the first parameter, if no other parameter has an object.
        self._by_first: dict[int, tuple[weakref.ref[Any], B]] = {}
        # By parameters and the ids of their objects.
        self._by_objects: dict[tuple[tuple[str, int], ...], tuple[tuple[weakref.ref[Any], ...], B]] = {}
        self.is_method = False

    def has_receiver(self, args: Sequence[Any]) -> bool:
        """Whether the first argument is the receiver of a method call: an instance, or the class of a classmethod.

        A tensor is not: a function of a class may also be called by itself.
        """
        if not args or is_tensor(args[0]):
            return False
        return self.is_method or issubclass(type(args[0]), type)

    def of(self, objects: Mapping[str, Any]) -> B:
        """The jitted function for these objects, by parameter.

        Raises:
            ArgumentError: An object cannot be weakly referenced.
        """
        if [*objects] == [self._first]:
            return self.of_first(objects[self._first])
        key = tuple((name, id(value)) for name, value in objects.items())
        found = self._by_objects.get(key)
        if found is not None and all(
            reference() is value for reference, value in zip(found[0], objects.values(), strict=True)
        ):
            return found[1]
        function, references = self._bound_to(objects, self._by_objects, key)
        self._by_objects[key] = tuple(references.values()), function
        return function

    def of_first(self, instance: Any) -> B:
        """The jitted function for this object of the first parameter.

        Raises:
            ArgumentError: The object cannot be weakly referenced.
        """
        found = self._by_first.get(id(instance))
        return found[1] if found is not None and found[0]() is instance else self._bind_first(instance)

    def call(self, instance: Any, *args: Any) -> Any:
        """The `WarmCall` of a method: it calls the jitted function of the instance, which has its own fast path."""
        found = self._by_first.get(id(instance))
        return found[1](*args) if found is not None and found[0]() is instance else MISS

    def functions(self) -> tuple[B, ...]:
        """The jitted functions of objects that are alive."""
        return tuple(function for _, function in (*tuple(self._by_first.values()), *tuple(self._by_objects.values())))

    def clear(self) -> None:
        """Forget all jitted functions."""
        self._by_first.clear()
        self._by_objects.clear()

    def _bind_first(self, instance: Any) -> B:
        key = id(instance)
        function, references = self._bound_to({self._first: instance}, self._by_first, key)
        self._by_first[key] = references[self._first], function
        return function

    def _bound_to(
        self, objects: Mapping[str, Any], table: dict[Any, tuple[Any, B]], key: Any
    ) -> tuple[B, dict[str, weakref.ref[Any]]]:
        """The jitted function for these objects, and weak references to them; when one dies, `table` drops `key`."""
        if len(self._short_lived) == VALUES_BEFORE_WARNING:
            self._changing.warn_of_temporaries(*self._short_lived[-1])
        short_lived = self._short_lived

        def forget(name: str, kind: str) -> None:
            _, function = table.pop(key, (None, None))
            if function is not None and function.served_one_call:
                short_lived.append((f"`{name}`", kind))

        references = _references(objects, forget)
        return self._jit(bound_copy(self._function, references)), references


def _references(objects: Mapping[str, Any], forget: Callable[[str, str], None]) -> dict[str, weakref.ref[Any]]:
    """Weak references to the objects; when one dies, `forget` gets its name and the name of its class."""

    def forgetting(name: str, kind: str) -> Callable[[object], None]:
        return lambda _: forget(name, kind)

    try:
        return {name: weakref.ref(each, forgetting(name, type(each).__qualname__)) for name, each in objects.items()}
    except TypeError:
        kinds = " and ".join(sorted({type(value).__name__ for value in objects.values()}))
        raise ArgumentError(
            f"a function of {kinds} objects cannot be compiled: they cannot be weakly referenced",
            help="add '__weakref__' to its `__slots__`, or `weakref_slot=True` to a dataclass",
        ) from None
