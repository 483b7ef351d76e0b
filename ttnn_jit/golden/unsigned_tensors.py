"""Tensors of unsigned 64-bit integers for goldens: torch has the type and nearly no function of it.

A tensor holds the bits in int64, whose sums, products, shifts to the left and movements are those of unsigned numbers.
Functions that depend on the order or the size of numbers are computed by numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import torch

Array = np.ndarray[Any, Any]


class Unsigned(torch.Tensor):
    """A tensor of int64 whose elements are the bits of unsigned numbers."""

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """The function, by numpy where its signed one is another."""
        own = _functions().get(getattr(func, "__name__", ""))
        if own is not None:
            return own(*args, **(kwargs or {}))
        with torch._C.DisableTorchFunctionSubclass():
            found = func(*args, **(kwargs or {}))
        return _as_unsigned(found)


def unsigned(bits: torch.Tensor) -> Unsigned:
    """The tensor of uint64 or int64 `bits` as unsigned numbers."""
    whole = bits if bits.dtype is torch.int64 else bits.view(torch.int64)
    return whole.as_subclass(Unsigned)


def plain(x: Any) -> Any:
    """The int64 bits of unsigned numbers; other values as they are."""
    return x.as_subclass(torch.Tensor) if isinstance(x, Unsigned) else x


def _as_unsigned(found: Any) -> Any:
    if isinstance(found, tuple | list):
        return (
            type(found)(map(_as_unsigned, found)) if type(found) in {tuple, list} else tuple(map(_as_unsigned, found))
        )
    if not isinstance(found, torch.Tensor):
        return found
    bits = plain(found)
    return bits.as_subclass(Unsigned) if bits.dtype is torch.int64 else bits


def _numbers(x: Any) -> Any:
    """Unsigned numbers in numpy; a negative number of Python stays one."""
    if isinstance(x, torch.Tensor):
        whole = plain(x)
        return whole.detach().numpy().view(np.uint64) if whole.dtype is torch.int64 else whole.detach().numpy()
    return x


def _made(array: Any) -> torch.Tensor:
    """A torch tensor of numpy's result."""
    whole = np.ascontiguousarray(array)
    if whole.dtype != np.uint64:
        return torch.from_numpy(whole)
    return torch.from_numpy(whole.view(np.int64)).as_subclass(Unsigned)


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[..., torch.Tensor]:
    def call(x: Any, y: Any) -> torch.Tensor:
        first, second = (np.asarray(_numbers(each)) for each in (x, y))
        wide = [each if each.dtype == np.uint64 else each.astype(object) for each in (first, second)]
        return _made(compare(*wide).astype(bool))

    return call


def _computed(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def call(x: Any, y: Any) -> torch.Tensor:
        first, second = (np.asarray(_numbers(each)).astype(np.uint64) for each in (x, y))
        with np.errstate(all="ignore"):
            return _made(function(first, second))

    return call


def _divided(x: Any, y: Any, *, rounding_mode: str | None = None) -> torch.Tensor:
    return _computed(np.true_divide if rounding_mode is None else np.floor_divide)(x, y)


def _shifted(x: Any, count: Any) -> torch.Tensor:
    numbers, counts = (np.asarray(_numbers(each)).astype(np.uint64) for each in (x, count))
    return _made(np.where(counts < 64, numbers >> np.minimum(counts, 63).astype(np.uint64), np.uint64(0)))


def _clamped(x: Any, min: Any = None, max: Any = None) -> torch.Tensor:  # noqa: A002 - as torch names them
    found = x if min is None else _computed(np.maximum)(x, min)
    return found if max is None else _computed(np.minimum)(found, max)


def _reduced(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def call(x: Any, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
        axes = tuple(dim) if isinstance(dim, list | tuple) else dim
        return _made(function(_numbers(x), axis=axes or None if axes != 0 else 0, keepdims=keepdim))

    return call


def _sorted(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    biased = plain(x) ^ torch.iinfo(torch.int64).min
    values, indices = torch.sort(biased, dim=dim, descending=descending, stable=stable)
    return (values ^ torch.iinfo(torch.int64).min).as_subclass(Unsigned), indices


def _as_float(x: Any) -> torch.Tensor:
    return torch.from_numpy(_numbers(x).astype(np.float64))


def _to(x: Any, *args: Any, **kwargs: Any) -> Any:
    target = next((each for each in (*args, *kwargs.values()) if isinstance(each, torch.dtype)), None)
    if target is torch.int64:
        return x
    if target is torch.uint64:
        return plain(x).view(torch.uint64)
    if target is not None and target.is_floating_point:
        return _as_float(x).to(target)
    return plain(x).to(*args, **kwargs)


@cache
def _functions() -> Mapping[str, Callable[..., Any]]:
    """Name of a function or method of torch -> what computes it."""
    own = torch.Tensor
    table: tuple[tuple[tuple[Any, ...], Callable[..., Any]], ...] = (
        ((torch.lt, torch.less, own.__lt__), _compared(np.less)),
        ((torch.le, torch.less_equal, own.__le__), _compared(np.less_equal)),
        ((torch.gt, torch.greater, own.__gt__), _compared(np.greater)),
        ((torch.ge, torch.greater_equal, own.__ge__), _compared(np.greater_equal)),
        ((torch.eq, own.__eq__), _compared(np.equal)),
        ((torch.ne, torch.not_equal, own.__ne__), _compared(np.not_equal)),
        ((torch.maximum,), _computed(np.maximum)),
        ((torch.minimum,), _computed(np.minimum)),
        ((torch.remainder, torch.fmod, own.__mod__), _computed(np.remainder)),
        ((torch.floor_divide, own.__floordiv__), _computed(np.floor_divide)),
        ((torch.div, torch.divide, torch.true_divide, own.__truediv__), _divided),
        ((torch.bitwise_right_shift, own.__rshift__), _shifted),
        ((torch.clamp, torch.clip), _clamped),
        ((torch.amax,), _reduced(np.max)),
        ((torch.amin,), _reduced(np.min)),
        ((torch.sort,), _sorted),
        ((own.double,), _as_float),
        ((own.float,), lambda x: _as_float(x).float()),
        ((own.long, torch.abs, own.__abs__), lambda x: x),
        ((torch.sign,), lambda x: unsigned((plain(x) != 0).long())),
        ((own.to,), _to),
        ((own.as_subclass,), lambda x, cls: plain(x) if cls is torch.Tensor else x),
        ((torch.is_floating_point,), lambda _: False),
    )
    return {each.__name__: function for named, function in table for each in named}
