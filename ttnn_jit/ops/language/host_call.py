"""How Python calls an operation that a function of the host API gives, whose parameters differ from its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class HostCall:
    """The call of a function of the host API that gives an operation.

    Attributes:
        keywords: ``keywords(given)``: the keywords of the function, from the operation's parameters by name; one that
            is None is left out.
        takes_device: Whether the function has a keyword `device`.
        result: Which of the results of the function it is; None if there is one.
    """

    keywords: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    takes_device: bool = False
    result: int | None = None


def renamed(given: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The parameters by the function's names."""
    return {names.get(name, name): value for name, value in given.items()}


def flat(pairs: Sequence[Sequence[int]]) -> list[int]:
    """Padding as ttnn writes it: before and after, dimension by dimension."""
    return [each for pair in pairs for each in pair]


def same_on_both_sides(pairs: Sequence[Sequence[int]]) -> list[int]:
    """Padding of a function that pads both ends of a dimension alike.

    Raises:
        ShapeError: Two ends differ.
    """
    if any(before != after for before, after in pairs):
        raise ShapeError(f"its call in ttnn pads both ends of a dimension alike, and the padding is {flat(pairs)}")
    return [before for before, _ in pairs]
