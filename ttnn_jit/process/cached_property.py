"""A property that is computed once per object, without a lock.

Before Python 3.12 `functools.cached_property` holds a lock while it computes, one for all objects of the class. If a
process is forked while another thread holds the lock, the child never releases it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - it is used as `property` is
    """Computes the value at the first access and stores it in the object's ``__dict__``; two threads may compute it."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        """The value; from the second access on, Python finds it in the object's ``__dict__`` first."""
        if instance is None:
            return self
        value = vars(instance)[self._compute.__name__] = self._compute(instance)
        return value
