"""Memoized functions: the one decorator of functions whose arguments may be extents."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, Protocol, TypeVar, overload

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Memoized(Protocol[P, R_co]):
    """A function that computes its result for equal arguments once."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """The result of the function."""

    def cache_clear(self) -> None:
        """Clear the cache."""


@overload
def memoized(function: Callable[P, R_co], /) -> Memoized[P, R_co]: ...


@overload
def memoized(*, maxsize: int) -> Callable[[Callable[P, R_co]], Memoized[P, R_co]]: ...


def memoized(function: Callable[..., R_co] | None = None, /, *, maxsize: int | None = None) -> object:
    """A decorator that memoizes a pure function of hashable arguments, for the last `maxsize` calls or for all."""
    kept = lru_cache(maxsize)
    return kept if function is None else kept(function)
