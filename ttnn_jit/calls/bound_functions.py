"""What a jitted function is for the objects that a call has: a jitted function of the other parameters.

The objects are the instance of a method, and arguments that are objects of the user's. What a compile reads of them is
guarded, and no part of keys.
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
from ttnn_jit.guards.bound_objects import bound_to
from ttnn_jit.runtime.native.generated import MISS

F = TypeVar("F", bound=Callable[..., Any])


class Bindable(Protocol):
    """A jitted function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run its program."""

    @property
    def served_one_call(self) -> bool:
        """Whether no program of it was called again."""


B = TypeVar("B", bound=Bindable)


class _CallQuery:
    """A method of jitted functions that takes the arguments of a call: of methods, those behind the instance."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def __get__(self, function: Any, owner: type) -> Any:
        if function is None:
            return self._method
        query = types.MethodType(self._method, function)
        instance = function.receiver()
        return query if instance is None else types.MethodType(query, instance)


def call_query(method: F) -> F:
    """`method` of a jitted function that takes the arguments of a call; of a bound one those behind the instance."""
    return cast(F, _CallQuery(method))


class BoundFunctions(Generic[B]):
    """The functions of one function, by objects, none of which they keep alive.

    Args:
        function: Theirs.
        jit: Makes a jitted function of a copy of `function`.
        changing: Is told of objects that are built anew for each call.

    Attributes:
        is_method: Whether the function was looked up on an instance or class.
    """

    def __init__(
        self, function: types.FunctionType, jit: Callable[[types.FunctionType], B], changing: ChangingArguments
    ) -> None:
        self._function = function
        self._jit = jit
        self._changing = changing
        # Of objects that were built for one call, the last ones; noted where they die, which is no place for a warning.
        self._short_lived: deque[tuple[str, str]] = deque(maxlen=VALUES_BEFORE_WARNING)
        self._first = next(iter(inspect.signature(function).parameters), "")
        # By the object of the first parameter, which alone has one.
        self._by_first: dict[int, tuple[weakref.ref[Any], B]] = {}
        # By parameters and their objects.
        self._by_objects: dict[tuple[tuple[str, int], ...], tuple[tuple[weakref.ref[Any], ...], B]] = {}
        self.is_method = False

    def have_receiver(self, args: Sequence[Any]) -> bool:
        """Whether the first argument is what a method was looked up on: an instance, or the class of a classmethod.

        A tensor is none: one function may stand in a class and by itself.
        """
        if not args or is_tensor(args[0]):
            return False
        return self.is_method or issubclass(type(args[0]), type)

    def of(self, objects: Mapping[str, Any]) -> B:
        """The function for these objects, by parameter.

        Raises:
            ArgumentError: One cannot be weakly referenced.
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
        """The function for this object of the first parameter.

        Raises:
            ArgumentError: It cannot be weakly referenced.
        """
        found = self._by_first.get(id(instance))
        return found[1] if found is not None and found[0]() is instance else self._bind_first(instance)

    def call(self, instance: Any, *args: Any) -> Any:
        """The `WarmCall` of a method: the instance's own function, which has a fast path of its own."""
        found = self._by_first.get(id(instance))
        return found[1](*args) if found is not None and found[0]() is instance else MISS

    def functions(self) -> tuple[B, ...]:
        """Those of objects that are alive."""
        return tuple(function for _, function in (*tuple(self._by_first.values()), *tuple(self._by_objects.values())))

    def clear(self) -> None:
        """Forget all of them."""
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
        """The function for these objects, and references to them; once one dies, `table` has nothing for `key`."""
        if len(self._short_lived) == VALUES_BEFORE_WARNING:
            self._changing.tell_of_short_lives(*self._short_lived[-1])
        short_lived = self._short_lived

        def forget(name: str, kind: str) -> None:
            _, function = table.pop(key, (None, None))
            if function is not None and function.served_one_call:
                short_lived.append((f"`{name}`", kind))

        references = _references(objects, forget)
        return self._jit(bound_to(self._function, references)), references


def _references(objects: Mapping[str, Any], forget: Callable[[str, str], None]) -> dict[str, weakref.ref[Any]]:
    """References to the objects, of which each that dies is given to `forget`: its name and that of its class."""

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
