"""The text of an activation in a property of the IR: a unary function with its arguments, ``leaky_relu(0.1)``."""

from __future__ import annotations

import difflib
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise import activations, unary
from ttnn_jit.ops.families.decomposition import Ops
from ttnn_jit.ops.families.elementwise import Elementwise
from ttnn_jit.ops.language.activation_names import ActivationText

_FUNCTIONS = (*unary.OPERATIONS, *activations.OPERATIONS)
NAMED = {one.ttnn_name: one for one in _FUNCTIONS} | {one.name: one for one in reversed(_FUNCTIONS)}
"""Name of a unary function, in Python or in the IR -> its first declaration."""


def check_activation(text: str | None) -> None:
    """Check the text of an activation.

    Raises:
        ShapeError: There is no function of that name, or the arguments do not fit.
    """
    if text is not None:
        _parse(text)


def activated(ops: Ops, x: Any, text: str | None) -> Any:
    """`x` after the activation."""
    if text is None:
        return x
    function, numbers = _parse(text)
    return ops.call(function, [x], *numbers)


def activated_in_torch(torch: Any, x: Any, text: str | None) -> Any:
    """`x` after the activation, by the golden."""
    if text is None:
        return x
    function, numbers = _parse(text)
    return function.golden(torch, x, *numbers)


def _parse(text: str) -> tuple[Elementwise, tuple[float, ...]]:
    """The function and its arguments after the tensor, defaults included."""
    name, bracket, rest = (text.function, "", "") if isinstance(text, ActivationText) else text.partition("(")
    function = NAMED.get(name)
    if function is None:
        near = difflib.get_close_matches(name, NAMED, n=3)
        raise ShapeError(
            f"{text!r} is no activation", help=f"did you mean {' or '.join(near)}?" if near else "such as 'relu'"
        )
    try:
        given = text.numbers if isinstance(text, ActivationText) else ()
        numbers = tuple(float(each) for each in rest.removesuffix(")").split(",")) if bracket else given
    except ValueError:
        raise ShapeError(f"the activation {text!r} has no numbers in its brackets") from None
    missing = [each.name for each in function.attributes[len(numbers) :] if each.is_required]
    if missing or len(numbers) > len(function.attributes):
        raise ShapeError(
            f"the activation {text!r} has {len(numbers)} numbers", help=f"it is written `{function.signature}`"
        )
    return function, (*numbers, *(each.default for each in function.attributes[len(numbers) :]))
