"""Mutable configs, and their frozen copies.

ttnn takes configs by value: a mutation after a call affects only later calls. Here configs are parts of cache keys, so
that every key, spec and guard stores a frozen copy of a config. A lookup needs no copy: equality and hash are those of
the contents.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError

V = TypeVar("V", bound="MutableValue")

_FROZEN = "_is_frozen"
"""The key in the ``__dict__`` of a frozen copy. A mutable value never has it, even while another thread copies it."""


class FrozenConfigError(ArgumentError, AttributeError):
    """A field of a frozen config was assigned."""


class MutableValue:
    """A mutable value with a frozen form; equality with values of its class is by contents."""

    def mutable_copy(self: V) -> V:
        """A mutable copy."""
        made: V = object.__new__(type(self))
        vars(made).update(vars(self))
        vars(made).pop(_FROZEN, None)
        return made

    def frozen(self: V) -> V:
        """A frozen copy; the value itself if it is frozen."""
        if self.is_frozen:
            return self
        found = self.mutable_copy()
        vars(found)[_FROZEN] = True
        return found

    @property
    def is_frozen(self) -> bool:
        """Whether it is frozen."""
        return _FROZEN in vars(self)

    def _assign(self, name: str, value: Any) -> None:
        """Assigns a field.

        Raises:
            FrozenConfigError: The value is frozen.
        """
        if self.is_frozen:
            kind = type(self).__name__
            raise FrozenConfigError(
                f"this {kind} does not change: a program or a tensor is known by it",
                help=f"copy it: `copy.copy(config).{name} = ...`, or make another",
            )
        vars(self)[name] = value

    def __copy__(self: V) -> V:
        return self.mutable_copy()

    def __deepcopy__(self: V, _: object) -> V:
        return self.mutable_copy()


def frozen(value: Any) -> Any:
    """The frozen copy of a `MutableValue`; any other value itself."""
    return value.frozen() if isinstance(value, MutableValue) else value


def frozen_within(value: Any) -> Any:
    """`frozen` of values read from the user's program, nested tuples included.

    It reads ``type(value)``, never ``value.__class__``, which may be code of the user's.
    """
    if issubclass(type(value), MutableValue):
        return value.frozen()
    if type(value) in {tuple, frozenset} and any(frozen_within(item) is not item for item in value):
        return type(value)(map(frozen_within, value))
    return value
