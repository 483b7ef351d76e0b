"""Locations of operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from xdsl.dialects import builtin

from ttnn_jit.dialects.locations import UNKNOWN
from ttnn_jit.ttmlir.mlir_contexts import Context, Scope
from ttnn_jit.ttmlir.wrapping import text_of


class Location(Scope):
    """Where an operation comes from.

    Args:
        held: The location of xDSL.
    """

    def __init__(self, held: builtin.LocationAttr) -> None:
        self.held = held

    @classmethod
    def unknown(cls, context: Context | None = None) -> Self:  # noqa: ARG003 - there is one context
        """``loc(unknown)``."""
        return cls(UNKNOWN)

    @classmethod
    def name(
        cls,
        name: str,
        childLoc: Location | None = None,  # noqa: N803 - MLIR's name
        context: Context | None = None,  # noqa: ARG003 - there is one context
    ) -> Self:
        """``loc("name"(child))``."""
        return cls(builtin.NameLoc(builtin.StringAttr(name), UNKNOWN if childLoc is None else childLoc.held))

    @classmethod
    def file(cls, filename: str, line: int, col: int, context: Context | None = None) -> Self:  # noqa: ARG003
        """``loc("file":line:col)``."""
        return cls(builtin.FileLineColLoc(builtin.StringAttr(filename), builtin.IntAttr(line), builtin.IntAttr(col)))

    @classmethod
    def fused(
        cls,
        locations: Sequence[Location],
        metadata: Any = None,
        context: Context | None = None,  # noqa: ARG003 - there is one context
    ) -> Self:
        """``loc(fused[...])``."""
        about = builtin.NoneAttr() if metadata is None else metadata.held
        return cls(builtin.FusedLoc(builtin.ArrayAttr([each.held for each in locations]), about))

    @classmethod
    def current_or_unknown(cls) -> Location:
        """The current location."""
        return cls.current_or_none() or cls.unknown()

    @property
    def context(self) -> Context:
        """The context."""
        return Context()

    @property
    def name_str(self) -> str:
        """The name of a location that has one.

        Raises:
            AttributeError: It has none.
        """
        if not isinstance(self.held, builtin.NameLoc):
            raise AttributeError(f"{self} has no name")
        return str(self.held.desc.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Location) and bool(self.held == other.held)

    def __hash__(self) -> int:
        return hash(self.held)

    def __str__(self) -> str:
        return text_of(self.held)

    def __repr__(self) -> str:
        return str(self)
