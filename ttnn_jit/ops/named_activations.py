"""Operations of one tensor that a call applies to what it computes, by any of their names."""

from __future__ import annotations

from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops import ALIASES, OVERLOADS, overloads_of
from ttnn_jit.ops.applied_unary import AppliedUnary, of_type


def activation_named(activation: Any) -> AppliedUnary:
    """The unary operation that a name, a type of ttnn's, one with numbers, or an operation stands for.

    Raises:
        ArgumentError: It stands for none.
    """
    typed = of_type(activation, OVERLOADS)
    if typed is not None:
        return typed
    overloads = overloads_of(activation) or ()
    if isinstance(activation, str):
        overloads = OVERLOADS.get(ALIASES.get(activation, activation), ())
    unary = next((operation for operation in overloads if operation.arity == 1), None)
    if unary is None:
        raise ArgumentError(
            f"{activation!r} is no activation", help="give names of unary operations, as `activations=['relu']`"
        )
    return AppliedUnary((unary,))
