"""What numbers of a trace ask of it (trace.py)."""

from __future__ import annotations

from typing import Any, Protocol

from ttnn_jit.specs.extents.polynomials import Terms


class Recording(Protocol):
    """A trace, as its numbers see it."""

    def extent(self, terms: Terms) -> Any:
        """The number of a polynomial: an int if it is constant."""

    def quotient(self, dividend: Terms, divisor: Terms) -> Any:
        """The quotient of two numbers, rounded down."""

    def call(self, function: str, arguments: tuple[Terms, ...]) -> Any:
        """The value of one of `FUNCTIONS`."""

    def applied(self, function: str, *values: Any) -> Any:
        """The value of one of `FLOAT_FUNCTIONS` for numbers of the trace, ints and floats."""

    def is_zero(self, terms: Terms) -> bool:
        """Whether a polynomial is 0, recorded."""

    def is_at_least_zero(self, terms: Terms) -> bool:
        """Whether a polynomial is at least 0, recorded."""

    def specialize(self, extent: Any, use: str) -> int:
        """The hint of an extent, to which a guard fixes it from now on."""

    def specialize_float(self, number: Any, use: str) -> float:
        """The hint of a float, to whose bits a guard fixes it from now on."""
