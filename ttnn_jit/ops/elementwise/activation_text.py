"""The text of an activation in a property of the IR: a unary function with its arguments, ``leaky_relu(0.1)``."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ShapeError
from ttnn_jit.ops.elementwise import activations, unary
from ttnn_jit.ops.families.decomposition import Ops
from ttnn_jit.ops.families.elementwise import Elementwise, TurningPoints
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


def extremes_in_torch(torch: Any, low: Any, high: Any, text: str | None) -> tuple[Any, Any]:
    """The least and the largest value of an activation from `low` to `high`, element by element, in float64.

    They are among its values at both ends, at its turning points and on either side of these, where it may jump. Both
    are NaN if the declaration states no turning points.
    """
    if text is None:
        return low, high
    function, numbers = _parse(text)
    if function.turns is None:
        return low * torch.nan, high * torch.nan
    least = largest = function.golden(torch, low, *numbers)
    for point in (high, *_candidates(torch, function.turns, numbers, low, high)):
        value = function.golden(torch, point, *numbers)
        inside = (low <= point) & (point <= high)
        least = torch.where(inside, torch.fmin(least, value), least)
        largest = torch.where(inside, torch.fmax(largest, value), largest)
    return least, largest


def _candidates(torch: Any, turns: TurningPoints, numbers: Sequence[Any], low: Any, high: Any) -> Iterator[Any]:
    """Turning points, of a period the first and the last one between `low` and `high`, and their neighbours."""
    given = (each for number in numbers if isinstance(number, int | float) for each in (number, -number))
    for number in {-1.0, 0.0, 1.0, *turns.points, *given}:
        points = [low.new_tensor(number)]
        if turns.period:
            points = [
                number + ((low - number) / turns.period).ceil() * turns.period,
                number + ((high - number) / turns.period).floor() * turns.period,
            ]
        for point in points:
            yield from (point, *(torch.nextafter(point, point.new_tensor(side)) for side in (-torch.inf, torch.inf)))


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
