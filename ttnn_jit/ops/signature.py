"""Python signatures of operations, for `inspect` and for stubs, from the parameters of their declarations."""

from __future__ import annotations

import inspect
from collections.abc import Container, Iterator, Sequence

from ttnn_jit.ops.families.decomposition import MacroOperation
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.ops.language.parameter import Parameter
from ttnn_jit.ops.result_options import HARDWARE_PARAMETERS, OPERAND_PARAMETERS, RESULT_PARAMETERS

KEYWORDS = (*RESULT_PARAMETERS, *OPERAND_PARAMETERS, *HARDWARE_PARAMETERS)
"""Keywords that every operation takes besides its own parameters."""


def signature_of(overloads: Sequence[Operation]) -> inspect.Signature:
    """One signature that accepts the calls of all declarations that share a name.

    The annotation of a parameter is the union of its types; it is required if every declaration requires it.
    """
    same_name: dict[str, list[Parameter]] = {}
    for parameter in (*(each for operation in overloads for each in operation.parameters), *KEYWORDS):
        same_name.setdefault(parameter.name, []).append(parameter)
    by_position = {name for operation in overloads for name in _by_position(operation)}
    of_all = {name for name in same_name if all(name in operation.parameter_names for operation in overloads)}
    given = (_merged(parameters, by_position, of_all) for parameters in same_name.values())
    merged = sorted(given, key=lambda each: (each.kind, each.default is not each.empty))
    return inspect.Signature(merged, return_annotation=result_annotation(overloads))


def result_annotation(overloads: Sequence[Operation]) -> str:
    """The Python type that calls of declarations of one name return."""
    first = overloads[0]
    if first.gives_one_tensor:
        return "Tensor"
    if isinstance(first, MacroOperation) and first.result_container is not None:
        return "list[Tensor]" if first.result_container is list else "tuple[Tensor, ...]"
    return f"tuple[{', '.join(['Tensor'] * first.result_count)}]"


def _by_position(operation: Operation) -> set[str]:
    """The positional parameters in Python's sense: those before a required one that follows an optional one."""
    positional = [each for each in operation.parameters if each.is_positional]
    optional = next((index for index, each in enumerate(positional) if not each.is_required), len(positional))
    behind = (index for index, each in enumerate(positional) if index > optional and each.is_required)
    return {each.name for each in positional[: next(behind, len(positional))]}


def _merged(parameters: Sequence[Parameter], by_position: Container[str], of_all: Container[str]) -> inspect.Parameter:
    first = parameters[0]
    types = dict.fromkeys(part for each in parameters for part in each.annotation.split(" | "))
    return inspect.Parameter(
        first.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD if first.name in by_position else inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if first.is_required and first.name in of_all else first.default,
        annotation=" | ".join(sorted(types, key="None".__eq__)),
    )


def call_stubs(overloads: Sequence[Operation]) -> Iterator[str]:
    """The parameter lists of the overloads of ``__call__`` in a stub."""
    defaulted: set[str] = set()
    for operation in overloads:
        yield _stub(operation, defaulted, aliased=False)
        if operation.has_aliases:
            yield _stub(operation, defaulted, aliased=True)
        defaulted.update(name for each in operation.parameters if each.is_choice for name in (each.name, *each.aliases))


def _stub(operation: Operation, defaulted: set[str], *, aliased: bool) -> str:
    """The parameter list of one overload; `aliased` uses the first alias of each parameter.

    Required parameters after defaults are keyword-only. A choice has its default only in the first declaration, which
    a call without the choice selects.
    """
    own, by_position = [], _by_position(operation)
    of_all = {each.name for each in HARDWARE_PARAMETERS}
    for parameter in operation.parameters:
        if parameter.name in of_all:
            continue
        name = parameter.aliases[0] if aliased and parameter.aliases else parameter.name
        needed = parameter.is_required or (parameter.is_choice and name in defaulted)
        own.append((parameter.name in by_position, f"{name}: {parameter.annotation}{'' if needed else ' = ...'}"))
    positional = [text for is_positional, text in own if is_positional]
    choices = [text for is_positional, text in own if not is_positional]
    return ", ".join(["self", *positional, *(["*", *choices] if choices else []), "**keywords: Unpack[Keywords]"])
