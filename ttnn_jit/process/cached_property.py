"""A property that is computed once per object, without a lock.

`functools.cached_property` holds a lock while it computes, until Python 3.12 one for all objects of the class. In a
process that is forked while another thread holds it, nobody will ever release it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801 - it is used as `property` is
    """Computes at the first look, keeps the value in the object's ``__dict__``; two threads may both compute it."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        """The value; `vars` of the object is asked before this is, from the second look on."""
        if instance is None:
            return self
        value = vars(instance)[self._compute.__name__] = self._compute(instance)
        return value
