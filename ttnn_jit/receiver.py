"""The instance that a compiled method belongs to: part of what the compile reads, not of the call's key.

The method's function is copied for each instance, and the copy knows its own: so the guards of a program, which start
from its function, reach the instance's attributes.
"""

from __future__ import annotations

import inspect
import types
import weakref
from typing import Any

from ttnn_jit.reads import ATTRIBUTE_STEP, Path

RECEIVER = "__ttnn_self__"
"""The attribute of a copied function that holds its `Receiver`."""

RECEIVER_PATH: Path = ((ATTRIBUTE_STEP, RECEIVER), (ATTRIBUTE_STEP, "instance"))
"""Where a compile finds the instance."""


class Receiver:
    """Holds an instance without keeping it alive."""

    __slots__ = ("_reference",)

    def __init__(self, reference: weakref.ref[Any]) -> None:
        self._reference = reference

    @property
    def instance(self) -> Any:
        """The instance; None once it is gone."""
        return self._reference()


def bound_to(function: types.FunctionType, instance: weakref.ref[Any]) -> types.FunctionType:
    """A copy of a method's function that belongs to `instance`; its signature lacks the first parameter."""
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__, copy.__module__, copy.__doc__ = function.__qualname__, function.__module__, function.__doc__
    signature = inspect.signature(function)
    _, *others = signature.parameters.values()
    copy.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]  # read by inspect
    setattr(copy, RECEIVER, Receiver(instance))
    return copy
