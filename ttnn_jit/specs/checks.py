"""Type checks of arguments."""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterable
from typing import TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.specs.extents.extent import is_extent

_MAX_LISTED = 12
"""The most members of an enumeration that an error lists."""


T = TypeVar("T")


def check_kind(value: object, kind: type[T], what: str) -> T:
    """Returns `value` if it is of class `kind`; errors call it `what`.

    Raises:
        ArgumentError: It is of another class.
    """
    if not isinstance(value, kind):
        raise ArgumentError(f"{what} must be a ttnn.{kind.__name__}, got {shown(value)}", help=members_of(kind))
    return value


def shown(value: object) -> str:
    """A value's text in an error: the repr of a simple value, the class name of others."""
    simple = isinstance(value, (str, int, float, enum.Enum, type(None)))
    return repr(value) if simple else f"a {type_name(value)}"


def members_of(kind: type) -> str | None:
    """The help text that lists an enumeration's members; None for other classes."""
    members = [str(member) for member in kind][:_MAX_LISTED] if issubclass(kind, enum.Enum) else []
    return f"it takes {', '.join(f'ttnn.{member}' for member in members)}" if members else None


def whole_numbers(values: Iterable[object], what: str) -> tuple[int, ...]:
    """`values` as ints, numpy integers included, or extents of a trace; errors call them `what`.

    Raises:
        GridError: One is no whole number.
    """
    if not isinstance(values, Iterable):
        raise GridError(f"{what} is a tuple of whole numbers, got {values!r}")
    given = list(values)
    try:
        return tuple(each if is_extent(each) else operator.index(each) for each in given)  # type: ignore[arg-type, misc]  # what has no index raises
    except TypeError:
        raise GridError(f"{what} is of whole numbers, got {given}") from None


def check_whole_number(value: object, what: str) -> None:
    """Requires `value` to be an int; errors call it `what`.

    Raises:
        ArgumentError: It is no int.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentError(f"{what} must be a whole number, got {value!r}")
