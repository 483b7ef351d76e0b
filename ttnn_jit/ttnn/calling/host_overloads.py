"""Functions of the host API with several signatures: a declaration of each, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ttnn.calling.eager_ops import EAGER
from ttnn_jit.ttnn.calling.host_function import HostFunction


def host_overload(**aliases: str) -> Callable[[Callable[..., Any]], HostFunction]:
    """The decorator of one overload for `call_overload`, with these `aliases`."""
    return lambda function: HostFunction(
        function, function.__name__, aliases={own: tuple(names.split()) for own, names in aliases.items()}
    )


def call_overload(
    called: str, overloads: Sequence[HostFunction], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of the first overload that accepts the arguments of a call of `called`.

    Raises:
        ArgumentError: No overload accepts them; the error is that of the overload that accepts most of the positional
            arguments.
    """
    refused: list[tuple[int, ArgumentError]] = []
    for each in overloads:
        try:
            named = each.without_aliases(kwargs)
            each.signature.bind(*args, **named)
            own, by_name = each.arguments(EAGER, called, args, named)
        except ArgumentError as error:
            refused.append((_accepted_arguments(each, args), error))
        except TypeError as error:
            help_ = f"it is written {' or '.join(one.call_text(called) for one in overloads)}"
            refused.append((_accepted_arguments(each, args), ArgumentError(f"{called}: {error}", help=help_)))
        else:
            return each.function(*own, **by_name)
    raise max(refused, key=lambda one: one[0])[1].with_traceback(None)


def _accepted_arguments(declared: HostFunction, args: Sequence[Any]) -> int:
    """The number of leading positional arguments that an overload accepts."""
    for count in range(len(args)):
        try:
            declared.arguments(EAGER, "", args[: count + 1], {})
        except ArgumentError:
            return count
    return len(args)
