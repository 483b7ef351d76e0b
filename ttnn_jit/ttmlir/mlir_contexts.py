"""Contexts, which are all one, and the stack of what ``with`` made current in a thread."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

Scoped = TypeVar("Scoped", bound="Scope")


class Scope:
    """Something that ``with`` makes current in this thread, until the block ends."""

    _stacks: ClassVar[threading.local] = threading.local()

    @classmethod
    def _stack(cls) -> list[Any]:
        stacks: dict[type, list[Any]] = Scope._stacks.__dict__.setdefault("by_class", {})
        return stacks.setdefault(cls, [])

    @classmethod
    def current_or_none(cls) -> Self | None:
        """What is current; None outside of any block."""
        stack = cls._stack()
        return stack[-1] if stack else None

    def __enter__(self) -> Self:
        self._stack().append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack().pop()


class Context(Scope):
    """A context. All are equal: attributes and types are values, which belong to none.

    Attributes:
        allow_unregistered_dialects: Whether texts may have unknown operations.
    """

    allow_unregistered_dialects = False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context)

    def __hash__(self) -> int:
        return hash(Context)

    current: ClassVar[Any]

    def append_dialect_registry(self, registry: object) -> None:
        """Nothing: all dialects are known."""

    def load_all_available_dialects(self) -> None:
        """Nothing: all dialects are known."""

    def enable_multithreading(self, enabled: bool) -> None:
        """Nothing: passes run in one thread."""


class _CurrentContext:
    def __get__(self, instance: object, owner: type[Context]) -> Context:
        return owner.current_or_none() or owner()


Context.current = _CurrentContext()
