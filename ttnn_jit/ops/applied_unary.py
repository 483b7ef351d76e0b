"""A unary operation that a call fuses with its result or an operand, and the ways in which programs name it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.foreign.values import atom_key
from ttnn_jit.ops.language.activation_names import function_named, function_of_type
from ttnn_jit.ops.language.binding import BoundCall, bind
from ttnn_jit.ops.language.operation import Operation
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType

_FORMULAS = {"gelu_tanh": "gelu"}
"""The IR's name of one of several formulas -> the function with these formulas."""


@dataclass(frozen=True)
class AppliedUnary:
    """An operation of one tensor, and its other arguments.

    Attributes:
        overloads: The declarations that share its name.
        numbers: The arguments after the tensor, in order.
    """

    overloads: tuple[Operation, ...]
    numbers: tuple[float, ...] = ()

    def bound(self, operand: Any, dtype: DataType) -> BoundCall:
        """The call on the tensor `operand`, of element type `dtype`.

        Raises:
            ArgumentError: The numbers do not fit.
        """
        return bind(self.overloads, (operand, *self.numbers), {}, lambda value: dtype if value is operand else None)

    def with_numbers(self, numbers: Iterator[float]) -> AppliedUnary:
        """The operation with the next numbers of an iterator, as many as it has."""
        return replace(self, numbers=tuple(itertools.islice(numbers, len(self.numbers))))

    @property
    def form(self) -> tuple[object, ...]:
        """Its part of a cache key without its numbers, which a template may leave open."""
        return tuple(each.fingerprint for each in self.overloads), len(self.numbers)

    @property
    def key(self) -> tuple[object, ...]:
        """Its part of a cache key, equal in every process."""
        return tuple(each.fingerprint for each in self.overloads), atom_key(self.numbers)


def of_type(activation: Any, overloads: Mapping[str, Sequence[Operation]]) -> AppliedUnary | None:
    """The operation of a `UnaryOpType` or a `UnaryWithParam`, among `overloads` by name; None for other values.

    Raises:
        ArgumentError: ttnn has the operation, and it is not supported here.
    """
    from ttnn_jit.specs.configs.unary_op_type import UnaryOpType, UnaryWithParam

    if isinstance(activation, UnaryOpType):
        activation = UnaryWithParam(activation)
    if not isinstance(activation, UnaryWithParam):
        return None
    kind = activation.op_type.name
    name, numbers = function_of_type(activation)
    named = tuple(overloads.get(_FORMULAS.get(name, name), ()))
    if not named:
        raise ArgumentError(
            f"`ttnn.UnaryOpType.{kind}` is not supported here",
            help="give another, or the name of one of `ttnn_jit.supported_ops()`",
        )
    meant = tuple(operation for operation in named if operation.ttnn_name == kind.lower())
    return AppliedUnary(meant or named, numbers)


def activations_of(name: str, keyword: str, value: Any) -> tuple[AppliedUnary, ...]:
    """The operations in the list `value` of argument `keyword` of a call of `name`; none if it is None.

    Raises:
        ArgumentError: `value` is no list, or an element of it is no unary operation.
    """
    if not isinstance(value, (list, tuple, type(None))):
        raise ArgumentError(
            f"{name}: `{keyword}` must be a list of unary operations, got {value!r}",
            help=f"give their names, as `{keyword}=['relu']`",
        )
    return tuple(map(activation_of, value or ()))


def activation_of(value: Any) -> AppliedUnary:
    """The operation of a name, a function, a `UnaryOpType` or a `UnaryWithParam`.

    Raises:
        ArgumentError: `value` names no unary operation.
    """
    from ttnn_jit.ops import ALIASES, OVERLOADS, overloads_of

    typed = of_type(value, OVERLOADS)
    if typed is not None:
        return typed
    overloads = overloads_of(value) or ()
    if isinstance(value, str):
        name = function_named(value)
        overloads = OVERLOADS.get(ALIASES.get(name, name), ())
    unary = next((operation for operation in overloads if operation.arity == 1), None)
    if unary is None:
        raise ArgumentError(
            f"{value!r} is no activation", help="give names of unary operations, as `activations=['relu']`"
        )
    return AppliedUnary((unary,))
