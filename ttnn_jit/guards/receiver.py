"""The instance that a compiled method belongs to: part of what the compile reads, not of the call's key.

The method's function is copied for each instance, and the copy knows its own: so the guards of a program, which start
from its function, reach the instance's attributes.
"""

from __future__ import annotations

import inspect
import types
import weakref
from typing import Any

from ttnn_jit.guards.reads import ATTRIBUTE_STEP, Path, Read

RECEIVER = "__ttnn_self__"
"""The attribute of a copied function that holds its `Receiver`."""

RECEIVER_PATH: Path = ((ATTRIBUTE_STEP, RECEIVER), (ATTRIBUTE_STEP, "instance"))
"""Where a compile finds the instance."""


_COPIED = ("__code__", "__defaults__", "__kwdefaults__")
"""What may be replaced in a method's function while copies of it exist."""


class Receiver:
    """Holds an instance without keeping it alive, and the method's function that was copied for it."""

    __slots__ = ("_reference", "original")

    def __init__(self, reference: weakref.ref[Any], original: types.FunctionType) -> None:
        self._reference = reference
        self.original = original

    @property
    def instance(self) -> Any:
        """The instance; None once it is gone."""
        return self._reference()


def bound_to(function: types.FunctionType, instance: weakref.ref[Any]) -> types.FunctionType:
    """A copy of a method's function that belongs to `instance`; its signature lacks the first parameter."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    copy.__qualname__, copy.__module__, copy.__doc__ = function.__qualname__, function.__module__, function.__doc__
    setattr(copy, RECEIVER, Receiver(instance, function))
    _copy_changes(function, copy)
    return copy


def follow_original(function: types.FunctionType) -> None:
    """If `function` is such a copy, have it be what the method's function has become."""
    receiver = getattr(function, RECEIVER, None)
    if receiver is not None and any(
        getattr(receiver.original, name) is not getattr(function, name) for name in _COPIED
    ):
        _copy_changes(receiver.original, function)


def _copy_changes(function: types.FunctionType, copy: types.FunctionType) -> None:
    for name in _COPIED:
        setattr(copy, name, getattr(function, name))
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        del parameters[0]  # the instance
    copy.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # read by inspect


def reads_of_original(function: types.FunctionType) -> tuple[Read, ...]:
    """What a program of a copy depends on in the function that was copied; nothing if `function` is no copy."""
    if not hasattr(function, RECEIVER):
        return ()
    original = ((ATTRIBUTE_STEP, RECEIVER), (ATTRIBUTE_STEP, "original"))
    found = {name: getattr(function, name) for name in _COPIED}
    return tuple(Read((*original, (ATTRIBUTE_STEP, name)), value) for name, value in found.items() if value)
