"""Plain ints in place of the extents of a trace, wherever the user's program needs them.

C code sees no int in an extent, and code that runs natively may look at its class, or keep it after the compile.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import Any, SupportsIndex

from ttnn_jit.foreign.container_items import rebuilt
from ttnn_jit.foreign.values import is_a
from ttnn_jit.process.memoized import KEYS
from ttnn_jit.specs.extents.extent import is_of_trace, specialized


class SymbolicSize(tuple[int, ...]):
    """A `torch.Size` of extents of a trace: its class is `torch.Size` for `isinstance`, and so is that of its parts."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class for `isinstance`."""
        size: type = sys.modules["torch"].Size
        return size

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def specialized(self) -> Any:
        """The `torch.Size` of the ints to which this use fixes the extents."""
        return sys.modules["torch"].Size(map(specialized, self))

    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return SymbolicSize(item) if isinstance(index, slice) else item

    def __add__(self, other: Any) -> Any:
        return SymbolicSize(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return SymbolicSize(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> Any:
        return SymbolicSize(tuple.__mul__(self, count))

    __rmul__ = __mul__


def is_traced() -> bool:
    """Whether this thread compiles for many sizes."""
    return KEYS.memos is not None


def plain(value: Any) -> Any:
    """`value` with plain ints in place of extents, also within containers; lists and dicts are changed in place."""
    return _plain(value, {}) if is_traced() else value


def _plain(value: Any, seen: dict[int, Any]) -> Any:
    match value:
        case _ if is_of_trace(value):
            return specialized(value)
        case _ if type(value) is SymbolicSize:
            return value.specialized()
        case _ if type(value) is slice:
            parts = value.start, value.stop, value.step
            return slice(*(_plain(part, seen) for part in parts)) if any(map(is_of_trace, parts)) else value
        case _ if is_a(value, tuple, list, dict) and id(value) not in seen:
            seen[id(value)] = value
            return _plain_tuple(value, seen) if is_a(value, tuple) else _with_plain_items(value, seen)
        case _:
            return value


def _plain_tuple(value: Any, seen: dict[int, Any]) -> Any:
    found = [*tuple.__iter__(value)]
    items = [_plain(item, seen) for item in found]
    if all(map(operator.is_, items, found)):
        return value
    return tuple(items) if type(value) is tuple else rebuilt(value, (), items)


def _with_plain_items(container: Any, seen: dict[int, Any]) -> Any:
    native: Any = list if is_a(container, list) else dict
    items = [*enumerate(list.__iter__(container))] if native is list else [*dict.items(container)]
    for key, item in items:
        if (made := _plain(item, seen)) is not item:
            native.__setitem__(container, key, made)
    return container


def of_same_class(value: Any) -> Any:
    """A value of the class that an extent or a shape has without a trace; any other value unchanged."""
    if type(value) is SymbolicSize:
        return value.__class__()
    return value.hint if is_of_trace(value) else value
