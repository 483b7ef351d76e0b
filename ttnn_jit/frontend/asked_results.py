"""What a call asks of its result besides the operation: an element type, and unary operations behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.module_builder import ModuleBuilder, Operand, TensorOperand
from ttnn_jit.ops import COPY, RESULT_PARAMETERS, Composite, Contraction, Movement, Operation, Reduction, Shorthand
from ttnn_jit.ops.applied_unary import AppliedUnary, activations_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType


@dataclass(frozen=True)
class Asked:
    """What is asked of a result; None leaves it to the operation.

    Attributes:
        dtype: Its element type, to which it is rounded once.
        activations: Unary operations that are applied before it is rounded.
    """

    dtype: DataType | None = None
    activations: tuple[AppliedUnary, ...] = ()


NOTHING = Asked()
"""What most calls ask."""


def asked_by(name: str, kwargs: Mapping[str, Any], location: Callable[[], Location]) -> Asked:
    """What the keywords of a call of `name` ask of its result.

    Raises:
        CompileError: A value is of another kind.
    """
    given = [parameter for parameter in RESULT_PARAMETERS if kwargs.get(parameter.name) is not None]
    if not given:
        return NOTHING
    try:
        values = {each.name: each.kind.bind(kwargs[each.name], None, f"`{each.name}`") for each in given}
        activations = activations_of(name, "activations", values.get("activations"))
    except ArgumentError as error:
        raise CompileError(error.message, location=location(), help=error.help) from None
    return Asked(values.get("dtype"), activations)


def results_as_asked(
    builder: ModuleBuilder,
    operation: Operation,
    operands: Sequence[Operand],
    attributes: Sequence[Any],
    location: Location | None,
    asked: Asked,
) -> tuple[TensorOperand, ...]:
    """The results of `operation`.

    Raises:
        CompileError: The operands do not fit the operation or each other, an activation does not fit the result, or it
            is asked of one result, and there are several.
    """
    if not operation.gives_one_tensor:
        refuse_for_several(operation, asked.dtype, asked.activations, location)
        results = builder.results(operation, operands, attributes, location)
    elif asked.dtype is None and not asked.activations:
        results = (builder.operation(operation, operands, attributes, location),)
    else:
        results = (result_of(builder, operation, operands, attributes, location, asked.dtype, asked.activations),)
    return results


def result_of(
    builder: ModuleBuilder,
    operation: Operation,
    operands: Sequence[Operand],
    attributes: Sequence[Any],
    location: Location | None,
    dtype: DataType | None,
    activations: Sequence[AppliedUnary],
) -> TensorOperand:
    """The one result of `operation`, through `activations`, of element type `dtype` if that is given."""
    if isinstance(operation, Movement | Shorthand):  # what computes nothing rounds nothing either
        result = builder.operation(operation, operands, attributes, location)
        if dtype not in {None, result[1].dtype}:
            result = builder.operation(COPY, [result], (), location, dtype=dtype)
        return activated(builder, result, activations, None, location)
    if activations and isinstance(operation, Composite | Contraction | Reduction):
        first = next(each[1].dtype for each in operands if isinstance(each, tuple))
        unrounded = None if first.is_integer else COMPUTE_TYPE
        result = builder.operation(operation, operands, attributes, location, dtype=unrounded)
        return activated(builder, result, activations, dtype or first, location)
    result = builder.operation(operation, operands, attributes, location, dtype=dtype)
    return activated(builder, result, activations, None, location)


def activated(
    builder: ModuleBuilder,
    value: TensorOperand,
    activations: Sequence[AppliedUnary],
    dtype: DataType | None,
    location: Location | None,
) -> TensorOperand:
    """`value` through unary operations, the last of which results in `dtype` if it is given."""
    for place, activation in enumerate(activations):
        bound = activation.bound(value, value[1].dtype)
        wanted = dtype if place == len(activations) - 1 else None
        value = builder.operation(bound.operation, bound.operands, bound.attributes, location, dtype=wanted)
    return value


def refuse_for_several(
    operation: Operation,
    dtype: DataType | None,
    activations: Sequence[AppliedUnary],
    location: Location | None = None,
) -> None:
    """Refuses what says nothing of several results.

    Raises:
        CompileError: An element type or an activation is asked for.
    """
    for name, asked in (("dtype", dtype), ("activations", activations)):
        if asked:
            message = f"`{name}` says nothing of `{operation.name}`, which has several results"
            raise CompileError(message, location=location)
