"""Values whose fields users assign after they made them. What is kept of one is a copy that refuses changes.

ttnn takes configs by value: a config that changes after a call changes later calls alone. Here programs are known by
what a config says, so that whatever is stored, in a key, a spec or a guard, is the value's `kept` copy. Looking a key
up needs none: equality and hash are those of the contents.
"""

from __future__ import annotations

from typing import Any, TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError

V = TypeVar("V", bound="OpenValue")

_KEPT = "_is_kept"
"""What the ``__dict__`` of a value has that is kept. Nothing else is: another thread may assign while one is copied."""


class FrozenConfigError(ArgumentError, AttributeError):
    """A field of a config that is kept was assigned."""


class OpenValue:
    """A value whose fields are assigned until it is kept; equal to others of its class by its contents."""

    def copied(self: V) -> V:
        """Another one of the same contents, whose fields may be assigned."""
        made: V = object.__new__(type(self))
        vars(made).update(vars(self))
        vars(made).pop(_KEPT, None)
        return made

    def kept(self: V) -> V:
        """A copy that refuses changes; of such a copy, itself."""
        if self.is_kept:
            return self
        found = self.copied()
        vars(found)[_KEPT] = True
        return found

    @property
    def is_kept(self) -> bool:
        """Whether it refuses changes."""
        return _KEPT in vars(self)

    def _assign(self, name: str, value: Any) -> None:
        """Give a field a value.

        Raises:
            FrozenConfigError: It is kept.
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
    """What a key or a spec may hold of `value`: of a value that users may change, a copy that they cannot."""
    return value.kept() if isinstance(value, OpenValue) else value


def kept_within(value: Any) -> Any:
    """The same of what is found in the user's world, where such values are in tuples too.

    Classes are asked, never a value for its class.
    """
    if issubclass(type(value), OpenValue):
        return value.kept()
    if type(value) in {tuple, frozenset} and any(kept_within(item) is not item for item in value):
        return type(value)(map(kept_within, value))
    return value
