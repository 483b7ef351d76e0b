"""Memoized functions: the one decorator of functions whose arguments may be extents."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache, wraps
from typing import Any, ParamSpec, Protocol, TypeVar, overload

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class Keys(threading.local):
    """How extents of a trace (specs/extents/extent.py) are hashed and compared.

    Attributes:
        memos: The results of memoized functions in this trace, by function; None without a trace. Guards that a result
            for extents depends on are in the trace already.
        as_expressions: Extents are equal if their expressions are, which records no guard. Nothing but what is kept
            may depend on it.
        have_extents: An extent was hashed so.
    """

    memos: dict[Any, dict[Any, Any]] | None = None
    as_expressions = False
    have_extents = False


KEYS = Keys()


class _AsExpressions:
    """Faster than a generator: a compile enters it thousands of times."""

    def __enter__(self) -> None:
        KEYS.as_expressions = True

    def __exit__(self, *_: object) -> None:
        KEYS.as_expressions = False


_AS_EXPRESSIONS = _AsExpressions()


def keys_as_expressions() -> AbstractContextManager[None]:
    """Extents are hashed and compared as expressions: for what only saves work, and changes no result."""
    return _AS_EXPRESSIONS


def hash_of(*numbers: Any) -> int:
    """The hash of numbers in a key; in a trace 0, so that keys are compared, and the trace records it."""
    return hash(numbers) if KEYS.memos is None or KEYS.as_expressions else 0


class Memoized(Protocol[P, R_co]):
    """A function that computes its result for equal arguments once."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """The result of the function."""

    def cache_clear(self) -> None:
        """Clear the cache."""


@overload
def memoized(function: Callable[P, R_co], /) -> Memoized[P, R_co]: ...


@overload
def memoized(*, maxsize: int, typed: bool = False) -> Callable[[Callable[P, R_co]], Memoized[P, R_co]]: ...


def memoized(
    function: Callable[..., R_co] | None = None, /, *, maxsize: int | None = None, typed: bool = False
) -> object:
    """A decorator that memoizes a pure function of hashable arguments, for the last `maxsize` calls or for all.

    Results for extents are kept for their trace alone, which has recorded the comparisons that they depend on.
    """
    if function is None:
        return lambda own: _memoized(own, maxsize, typed=typed)
    return _memoized(function, maxsize, typed=typed)


def _memoized(function: Callable[..., Any], maxsize: int | None, *, typed: bool) -> Any:
    kept = lru_cache(maxsize, typed)(function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return kept(*args, **kwargs) if KEYS.memos is None else _in_trace(function, kept, args, kwargs, typed=typed)

    call.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
    return call


_UNKNOWN = object()


def _in_trace(function: Any, kept: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, typed: bool) -> Any:
    """The result of a memoized function, from the trace's own if that has it; without extents, from all calls."""
    memos = KEYS.memos
    assert memos is not None
    own = memos.get(function)
    if own is None:
        own = memos[function] = {}
    key = (args, *kwargs.items()) if kwargs else args
    if typed:
        key = key, *map(type, args), *map(type, kwargs.values())
    KEYS.as_expressions, KEYS.have_extents = True, False  # as `keys_as_expressions`, in less time
    try:
        found = own.get(key, _UNKNOWN)
    finally:
        KEYS.as_expressions = False
    if found is not _UNKNOWN:
        return found
    if KEYS.have_extents:
        found = function(*args, **kwargs)
    else:
        KEYS.memos = None
        try:
            found = kept(*args, **kwargs)
        finally:
            KEYS.memos = memos
    KEYS.as_expressions = True
    try:
        own[key] = found
    finally:
        KEYS.as_expressions = False
    return found
