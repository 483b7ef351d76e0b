"""Signatures of builder methods: derived from the rows of operations, or stated where callers use another order."""

from __future__ import annotations

import ast
import inspect
import keyword
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.tables import OperationRow
from ttnn_jit.ops.public_names import did_you_mean
from ttnn_jit.process.dataclass import dataclass

MISSING = inspect.Parameter.empty
"""The default of a parameter that has none."""
TRAILING = ("output_type", "loc", "unit_attrs", "sharding_attr", "result_types")
"""What every method takes besides: an element type, a location, names of unit attributes, a sharding, result types."""


@dataclass(frozen=True)
class MethodParameter:
    """A parameter of a builder method.

    Attributes:
        name: Its name.
        part: The operand or attribute that it gives, by its name in ODS.
        default: Its default; `MISSING` if it has none.
    """

    name: str
    part: str
    default: Any = MISSING


@dataclass(frozen=True)
class MethodSignature:
    """How a builder method is called.

    Attributes:
        method: Its name.
        operation: The operation that it makes, ``ttir.add``.
        parameters: Its parameters, without those of `TRAILING`.
        dtypes: The element type of each result, or the operand that has it; "" for that of the first operand or of
            ``output_type``.
    """

    method: str
    operation: str
    parameters: tuple[MethodParameter, ...]
    dtypes: tuple[str, ...] = ()

    @property
    def row(self) -> OperationRow:
        """The newest row of the operation."""
        return tables.operation_rows(self.operation)[0]

    @property
    def python(self) -> inspect.Signature:
        """The signature in Python."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        given = [inspect.Parameter(each.name, kind, default=each.default) for each in self.parameters]
        trailing = [name for name in TRAILING if name not in {each.name for each in self.parameters}]
        return inspect.Signature(
            [inspect.Parameter("self", kind), *given]
            + [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in trailing]
        )

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Operands and attributes by their names in ODS, and what is trailing.

        Operands are also known as ``in0``, ``in1``, and attributes by their names in ODS.

        Raises:
            TypeError: Arguments do not fit.
        """
        names = {each.part: each.name for each in self.parameters}
        operands = [each for each in self.parameters if each.part in {value.name for value in self.row.operands}]
        names |= {f"in{index}": each.name for index, each in enumerate(operands)}
        parameter_names = [each.name for each in self.parameters]
        own = {*parameter_names, *TRAILING}
        given = {key if key in own else names.get(key, key): value for key, value in kwargs.items()}
        extra = len(args) - len(self.parameters)
        if extra > 0:  # what is trailing may be given by position, as its order is known
            given |= dict(zip(TRAILING, args[len(self.parameters) :], strict=False))
        try:
            found = self.python.bind(None, *args[: len(self.parameters)], **given)
        except TypeError as error:
            unknown = next((key for key in given if key not in own), "")
            hint = did_you_mean(unknown, {*own, *names}) if unknown else f"; it takes {', '.join(parameter_names)}"
            raise TypeError(f"{self.method}(): {error}{hint}") from None
        found.apply_defaults()
        parts = {each.name: each.part for each in self.parameters}
        return {parts.get(key, key): value for key, value in found.arguments.items() if key != "self"}


def derived_signature(operation: str, method: str = "") -> MethodSignature:
    """The signature that follows from the row of an operation: its operands, then its attributes."""
    row = tables.operation_rows(operation)[0]
    operands = [
        MethodParameter(_python_name(each.name), each.name, None if each.count == "?" else MISSING)
        for each in row.operands
    ]
    attributes = [MethodParameter(_python_name(each.name), each.name, _default(each)) for each in row.attributes]
    everything = operands + attributes
    ordered = [each for each in everything if each.default is MISSING]
    ordered += [each for each in everything if each.default is not MISSING]
    return MethodSignature(method or operation.partition(".")[2], operation, tuple(ordered))


def _python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _default(attribute: tables.Attribute) -> Any:
    if attribute.kind == "UnitAttr":
        return False
    # A default of ODS is that of an attribute that is absent.
    return None if attribute.is_optional or attribute.default else MISSING


def stated_signature(line: str, dialect: str) -> MethodSignature:
    """The signature of a line: ``method=operation: name:part=default name -> , int32``.

    An operation is named where its name is not that of the method, a part where its name is not that of the parameter.
    """
    head, _, rest = line.partition(": ")
    method, _, operation = head.strip().partition("=")
    given, _, results = rest.partition("->")
    parameters = []
    for word in given.split():
        names, _, default = word.partition("=")
        name, _, part = names.partition(":")
        parameters.append(MethodParameter(name, part or name, ast.literal_eval(default) if default else MISSING))
    dtypes = tuple(each.strip() for each in results.split(",")) if results else ()
    return MethodSignature(method, f"{dialect}.{operation or method}", tuple(parameters), dtypes)


@cache
def signatures(dialect: str, stated: str) -> Mapping[str, MethodSignature]:
    """Method -> signature, of every operation of a dialect that has a result and no region.

    Args:
        dialect: The dialect.
        stated: The lines of `stated_signature`.
    """
    by_hand = [stated_signature(line, dialect) for line in stated.splitlines() if line.strip()]
    found = {each.method: each for each in by_hand}
    named = {each.operation for each in by_hand}
    for name in tables.operation_names():
        if name.startswith(f"{dialect}.") and name not in named:
            row = tables.operation_rows(name)[0]
            method = name.partition(".")[2]
            if not row.regions and not row.successors and method.isidentifier() and method not in found:
                found[method] = derived_signature(name)
    return found


def method_of(signature: MethodSignature) -> Callable[..., Any]:
    """The method of a builder with a signature; the builder makes the operation."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.make_operation(signature, signature.bound(args, kwargs))

    method.__name__ = signature.method
    method.__doc__ = f"The results of ``{signature.operation}``."
    method.__signature__ = signature.python  # type: ignore[attr-defined]
    return method
