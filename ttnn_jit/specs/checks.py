"""Refusals of arguments that are of another kind than their parameter."""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterable
from typing import TypeVar

from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.diagnostics.origin import type_name

_MOST_LISTED = 12
"""Members of an enumeration that an error lists."""


T = TypeVar("T")


def check_kind(value: object, kind: type[T], what: str) -> T:
    """The `value` itself; refused where it is no `kind`, named `what` in the text.

    Raises:
        ArgumentError: It is something else.
    """
    if not isinstance(value, kind):
        raise ArgumentError(f"{what} must be a ttnn.{kind.__name__}, got {shown(value)}", help=members_of(kind))
    return value


def shown(value: object) -> str:
    """What an error says that it got: a simple value itself, and of what class any other is."""
    simple = isinstance(value, (str, int, float, enum.Enum, type(None)))
    return repr(value) if simple else f"a {type_name(value)}"


def members_of(kind: type) -> str | None:
    """The members of an enumeration, as help; None of any other class."""
    members = [str(member) for member in kind][:_MOST_LISTED] if issubclass(kind, enum.Enum) else []
    return f"it takes {', '.join(f'ttnn.{member}' for member in members)}" if members else None


def whole_numbers(values: Iterable[object], what: str) -> tuple[int, ...]:
    """`values`, named `what` in the text, as ints; numpy's are whole numbers too.

    Raises:
        GridError: They are no whole numbers.
    """
    if not isinstance(values, Iterable):
        raise GridError(f"{what} is a tuple of whole numbers, got {values!r}")
    given = list(values)
    try:
        return tuple(map(operator.index, given))  # type: ignore[arg-type]  # what has no index raises
    except TypeError:
        raise GridError(f"{what} is of whole numbers, got {given}") from None


def check_whole_number(value: object, what: str) -> None:
    """Refuse a `value` that is no int, named `what` in the text.

    Raises:
        ArgumentError: It is something else.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentError(f"{what} must be a whole number, got {value!r}")
