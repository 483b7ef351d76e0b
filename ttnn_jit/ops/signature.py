"""Python signatures of operations, for `inspect` and for stubs, from the parameters of their declarations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from ttnn_jit.ops.operation import HARDWARE_PARAMETERS, OPERAND_PARAMETERS, RESULT_PARAMETERS, Operation
from ttnn_jit.ops.parameter import Parameter
from ttnn_jit.ops.shorthand import Shorthand

KEYWORDS = (*RESULT_PARAMETERS, *OPERAND_PARAMETERS, *HARDWARE_PARAMETERS)
"""What every operation takes besides its own parameters, by keyword."""


def signature_of(overloads: Sequence[Operation]) -> inspect.Signature:
    """One signature for declarations that share a name: a parameter is of every type that one of them gives it."""
    same_name: dict[str, list[Parameter]] = {}
    for parameter in (*(each for operation in overloads for each in operation.parameters), *KEYWORDS):
        same_name.setdefault(parameter.name, []).append(parameter)
    merged = sorted(map(_merged, same_name.values()), key=lambda each: (each.kind, each.default is not each.empty))
    return inspect.Signature(merged, return_annotation=result_annotation(overloads))


def result_annotation(overloads: Sequence[Operation]) -> str:
    """The Python type of what declarations that share a name result in."""
    first = overloads[0]
    if first.gives_one_tensor:
        return "Tensor"
    is_list = isinstance(first, Shorthand) and first.is_list
    return "list[Tensor]" if is_list else f"tuple[{', '.join(['Tensor'] * first.result_count)}]"


def _merged(parameters: Sequence[Parameter]) -> inspect.Parameter:
    first = parameters[0]
    types = dict.fromkeys(part for each in parameters for part in each.annotation.split(" | "))
    return inspect.Parameter(
        first.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD if first.is_positional else inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if first.is_required else first.default,
        annotation=" | ".join(sorted(types, key="None".__eq__)),
    )


def call_stubs(overloads: Sequence[Operation]) -> Iterator[str]:
    """The parameters of ``__call__`` in a stub, one text for every way to write a call."""
    defaulted: set[str] = set()
    for operation in overloads:
        yield _stub(operation, defaulted, aliased=False)
        if operation.has_aliases:
            yield _stub(operation, defaulted, aliased=True)
        defaulted.update(operation.chosen_by)


def _stub(operation: Operation, defaulted: set[str], *, aliased: bool) -> str:
    """The parameters, renamed to their first aliases where `aliased`; what must be given behind defaults, by name.

    A choice has its default in the first declaration only, which is the one that is meant without it.
    """
    positional: list[str] = []
    by_name: list[str] = []
    for parameter in operation.parameters:
        name = parameter.aliases[0] if aliased and parameter.aliases else parameter.name
        needed = parameter.is_required or (parameter.is_choice and name in defaulted)
        behind_defaults = needed and bool(positional) and positional[-1].endswith(_DEFAULT)
        own = positional if parameter.is_positional and not behind_defaults else by_name
        own.append(f"{name}: {parameter.annotation}{'' if needed else _DEFAULT}")
    return ", ".join(["self", *positional, *(["*", *by_name] if by_name else []), "**keywords: Unpack[Keywords]"])


_DEFAULT = " = ..."
