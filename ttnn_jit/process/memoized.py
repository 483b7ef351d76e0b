"""Functions that keep what they gave: the one decorator of the rooms whose arguments may be extents."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, Protocol, TypeVar, overload

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Memoized(Protocol[P, R_co]):
    """A function that computes what it gives for equal arguments once."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """What the function gives."""

    def cache_clear(self) -> None:
        """Forget what it gave."""


@overload
def memoized(function: Callable[P, R_co], /) -> Memoized[P, R_co]: ...


@overload
def memoized(*, maxsize: int) -> Callable[[Callable[P, R_co]], Memoized[P, R_co]]: ...


def memoized(function: Callable[..., R_co] | None = None, /, *, maxsize: int | None = None) -> object:
    """A decorator of a pure function of hashable arguments: what it gave is kept, of `maxsize` calls or of all."""
    kept = lru_cache(maxsize)
    return kept if function is None else kept(function)
