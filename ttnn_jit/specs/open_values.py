"""Mutable configs, and their frozen copies.

ttnn takes configs by value: a mutation after a call affects only later calls. Here configs are parts of cache keys, so
that every key, spec and guard stores the `kept` copy of a config, which is frozen. A lookup needs no copy: equality and
hash are those of the contents.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError

V = TypeVar("V", bound="OpenValue")

_KEPT = "_is_kept"
"""The key in the ``__dict__`` of a frozen copy. A mutable value never has it, even while another thread copies it."""


class FrozenConfigError(ArgumentError, AttributeError):
    """A field of a frozen config was assigned."""


class OpenValue:
    """A mutable value with a frozen form; equality with values of its class is by contents."""

    def copied(self: V) -> V:
        """A mutable copy."""
        made: V = object.__new__(type(self))
        vars(made).update(vars(self))
        vars(made).pop(_KEPT, None)
        return made

    def kept(self: V) -> V:
        """A frozen copy; the value itself if it is frozen."""
        if self.is_kept:
            return self
        found = self.copied()
        vars(found)[_KEPT] = True
        return found

    @property
    def is_kept(self) -> bool:
        """Whether it is frozen."""
        return _KEPT in vars(self)

    def _assign(self, name: str, value: Any) -> None:
        """Assigns a field.

        Raises:
            FrozenConfigError: The value is frozen.
        """
        if self.is_kept:
            kind = type(self).__name__
            raise FrozenConfigError(
                f"this {kind} does not change: a program or a tensor is known by it",
                help=f"copy it: `copy.copy(config).{name} = ...`, or make another",
            )
        vars(self)[name] = value

    def __copy__(self: V) -> V:
        return self.copied()

    def __deepcopy__(self: V, _: object) -> V:
        return self.copied()


def kept(value: Any) -> Any:
    """The frozen copy of an `OpenValue`; any other value itself."""
    return value.kept() if isinstance(value, OpenValue) else value


def kept_within(value: Any) -> Any:
    """`kept` of values read from the user's program, nested tuples included.

    It reads ``type(value)``, never ``value.__class__``, which may be code of the user's.
    """
    if issubclass(type(value), OpenValue):
        return value.kept()
    if type(value) in {tuple, frozenset} and any(kept_within(item) is not item for item in value):
        return type(value)(map(kept_within, value))
    return value
