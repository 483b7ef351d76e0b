"""The parameters of every function against the vendor's: names, order, and defaults.

`tests/vendor/signatures.tsv` has the vendor's signatures, as facts: names, kinds and defaults. `deviations.tsv` has
what is otherwise here on purpose, each with its reason; one that is not otherwise any more is an error too.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ttnn_jit import ttnn
from ttnn_jit.ops.language.parameter import IGNORED
from ttnn_jit.ops.result_options import GRADIENT_PARAMETERS, HARDWARE_PARAMETERS, OPERAND_PARAMETERS, RESULT_PARAMETERS
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation
from ttnn_jit.ttnn.calling.host_function import declaration_of
from ttnn_jit.ttnn.calling.host_parameters import HostParameter

FOLDER = Path(__file__).parents[2] / "vendor"
REQUIRED = inspect.Parameter.empty
GENERAL = {each.name: each for each in (*RESULT_PARAMETERS, *OPERAND_PARAMETERS, *HARDWARE_PARAMETERS)}


class VendorSignature(NamedTuple):
    """One signature of a vendor's function: its parameters, each with the text of its default, or None."""

    positional: dict[str, str | None]
    by_name: dict[str, str | None]


def rows(name: str) -> list[dict[str, str]]:
    head, *lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [dict(zip(head.split("\t"), line.split("\t"), strict=True)) for line in lines]


def parsed(text: str) -> VendorSignature:
    """The parameters of a signature; C++ allows a parameter without default after one with a default, unlike Python."""
    positional, _, by_name = text.removeprefix("(").removesuffix(")").partition("*")
    return VendorSignature(
        *({name: default or None for name, default in _PARAMETER.findall(part)} for part in (positional, by_name))
    )


_PARAMETER = re.compile(r"(\w+)(?:=((?:\[[^]]*\]|\([^)]*\)|'[^']*'|[^,'])*))?(?:, |$)")

"""A name, and a default after it."""

SIGNATURES: dict[str, list[VendorSignature]] = {}
for row in rows("signatures.tsv"):
    SIGNATURES.setdefault(row["function"], []).append(parsed(row["form"]))
DEVIATIONS = {(row["function"], row["parameter"]): row for row in rows("deviations.tsv")}


def function_of(name: str) -> Any:
    found = ttnn
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def ours(function: Any) -> dict[str, Any]:
    """Keyword -> its default, `REQUIRED`, or `IGNORED` if no value depends on it."""
    if (declared := declaration_of(function)) is not None:
        return {name: _of_host(each) for each in declared.parameters for name in (each.name, *each.aliases)}
    if not isinstance(function, TtnnOperation):
        return {name: each.default for name, each in inspect.signature(function).parameters.items()}
    found = {name: (each.kind is IGNORED and IGNORED) or None for name, each in GENERAL.items()}
    overloads = [*function.__ttnn_overloads__]
    own = {keyword for operation in overloads for keyword in operation.keyword_parameters}
    return {**found, **{keyword: _default(overloads, keyword) for keyword in own}}


def _of_host(parameter: HostParameter) -> Any:
    return REQUIRED if parameter.is_required else parameter.default


def _default(overloads: list[Any], keyword: str) -> Any:
    """The default of the first declaration that has the parameter; one that lacks it may be called without."""
    named = [{each.name: each for each in operation.parameters} for operation in overloads]
    meant = [
        parameters[operation.keyword_parameters[keyword][0]]
        for operation, parameters in zip(overloads, named, strict=True)
        if keyword in operation.keyword_parameters
    ]
    if any(each.kind is IGNORED for each in meant):
        return IGNORED
    given = [each for each in meant if not each.is_required]
    if given:
        return given[0].default
    return REQUIRED if len(meant) == len(overloads) else OMITTED


OMITTED = object()
"""The default of a parameter that only some declarations of a name have: a call without it selects another."""


def equals_default(text: str, value: Any) -> bool:
    """Whether the vendor's default equals `value`."""
    if value is IGNORED or value is OMITTED:
        return True
    if isinstance(value, enum.Enum):
        return text.rpartition(".")[2].lower() in {value.name.lower(), f"{value.name}_layout".lower()}
    try:
        said = ast.literal_eval(text)
    except ValueError:
        return text.rpartition(".")[2] in {name for name in dir(ttnn) if getattr(ttnn, name, None) is value}
    if said in ([], ()):
        return value is None or value == type(value)()
    return said == value and isinstance(said, bool) == isinstance(value, bool)


def differences(name: str) -> Iterator[tuple[str, str]]:
    """Parameters that differ here, and how."""
    function, seen = function_of(name), set()
    here = ours(function)
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in _parameters(function))
    for signature in SIGNATURES[name]:
        for parameter, default in (signature.positional | signature.by_name).items():
            if parameter in seen:
                continue
            if parameter not in here:
                if not takes_any:
                    seen.add(parameter)
                    yield parameter, "absent"
            elif default is not None and not equals_default(default, here[parameter]):
                seen.add(parameter)
                wanted = "required" if here[parameter] is REQUIRED else repr(here[parameter])
                yield parameter, f"{default} -> {wanted}"

    yield from ((parameter, "added") for parameter in added(function, SIGNATURES[name]))
    if not all(any(fits(signature, names) for names in orders(function)) for signature in SIGNATURES[name]):
        yield "(order)", "otherwise"


def added(function: Any, signatures: list[VendorSignature]) -> list[str]:
    """Parameters whose name no signature of the vendor has."""
    known = {parameter for signature in signatures for parameter in signature.positional | signature.by_name}
    if isinstance(function, TtnnOperation):
        parameters = (each for one in function.__ttnn_overloads__ for each in one.parameters)
        own = {each.name: {each.name, *each.aliases} for each in parameters if each not in GRADIENT_PARAMETERS}
    else:
        of_any = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
        aliases = _aliases(function)
        own = {
            each.name: {each.name, *aliases.get(each.name, ())}
            for each in _parameters(function)
            if each.kind not in of_any
        }
    return [name for name, names in own.items() if not names & known]


def orders(function: Any) -> Iterator[list[set[str]]]:
    """The name of each positional parameter, for every declaration."""
    if not isinstance(function, TtnnOperation):
        positional = (each for each in _parameters(function) if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD)
        yield [{each.name, *_aliases(function).get(each.name, ())} for each in positional]
        return
    for operation in function.__ttnn_overloads__:
        yield [{each.name, *each.aliases} for each in operation.parameters if each.is_positional]


def fits(signature: VendorSignature, names: list[set[str]]) -> bool:
    """Whether every parameter with a position in both has the same one."""
    return all(
        parameter in names[index] or not any(parameter in each for each in names)
        for index, parameter in enumerate(signature.positional)
        if index < len(names)
    )


def _aliases(function: Any) -> Mapping[str, tuple[str, ...]]:
    declared = declaration_of(function)
    return {} if declared is None else declared.aliases


def _parameters(function: Any) -> list[inspect.Parameter]:
    return [] if isinstance(function, TtnnOperation) else [*inspect.signature(function).parameters.values()]


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_function_has_the_vendors_parameters_and_defaults(name):
    found = dict(differences(name))
    stated = {parameter: row["here"] for (function, parameter), row in DEVIATIONS.items() if function == name}
    assert found == stated


def test_every_deviation_has_a_reason():
    assert all(len(row["reason"].split()) > 2 for row in DEVIATIONS.values())
    assert {function for function, _ in DEVIATIONS} <= {*SIGNATURES}


def test_the_table_has_most_public_functions():
    assert len(SIGNATURES) > 450
