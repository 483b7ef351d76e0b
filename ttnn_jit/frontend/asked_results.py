"""What a call asks of its result besides the operation: an element type, and unary operations behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.module_builder import ModuleBuilder, TensorOperand
from ttnn_jit.frontend.promotion import Operand
from ttnn_jit.ops import (
    COPY,
    OPERAND_PARAMETERS,
    RESULT_PARAMETERS,
    Composite,
    Contraction,
    Elementwise,
    MacroOperation,
    Movement,
    Operation,
    Reduction,
)
from ttnn_jit.ops.applied_unary import AppliedUnary, activations_of
from ttnn_jit.ops.operation import PLACE_KEYWORDS
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import DataType, MemoryConfig


@dataclass(frozen=True)
class Asked:
    """What is asked of a result; None leaves it to the operation.

    Attributes:
        dtype: Its element type, to which it is rounded once.
        activations: Unary operations that are applied before it is rounded.
        operand_activations: Those that are applied to each of the first operands, before the operation.
        memory_config: Where it lies (asked_layouts.py).
    """

    dtype: DataType | None = None
    activations: tuple[AppliedUnary, ...] = ()
    operand_activations: tuple[tuple[AppliedUnary, ...], ...] = ()
    memory_config: MemoryConfig | None = None


NOTHING = Asked()
"""What most calls ask."""


def asked_by(name: str, kwargs: Mapping[str, Any], location: Callable[[], Location]) -> Asked:
    """What the keywords of a call of `name` ask of its result.

    Raises:
        CompileError: A value is of another kind.
    """
    parameters = (*RESULT_PARAMETERS, *OPERAND_PARAMETERS)
    given = [parameter for parameter in parameters if kwargs.get(parameter.name) is not None]
    if not given:
        return NOTHING
    try:
        values = {each.name: each.kind.bind(kwargs[each.name], None, f"`{each.name}`") for each in given}
        activations = activations_of(name, "activations", values.get("activations"))
        operands = [activations_of(name, each.name, values.get(each.name)) for each in OPERAND_PARAMETERS]
    except ArgumentError as error:
        raise CompileError(error.message, location=location(), help=error.help) from None
    config = next((values[each] for each in PLACE_KEYWORDS if each in values), None)
    return Asked(values.get("dtype"), activations, tuple(operands) if any(operands) else (), config)


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
    if asked.operand_activations:
        operands, asked = _activated_operands(builder, operation, operands, location, asked)
    if not operation.gives_one_tensor:
        refuse_for_several(operation, asked.dtype, asked.activations, location)
        results = builder.results(operation, operands, attributes, location)
    elif asked.dtype is None and not asked.activations:
        results = (builder.operation(operation, operands, attributes, location),)
    else:
        results = (result_of(builder, operation, operands, attributes, location, asked.dtype, asked.activations),)
    return results


def _activated_operands(
    builder: ModuleBuilder,
    operation: Operation,
    operands: Sequence[Operand],
    location: Location | None,
    asked: Asked,
) -> tuple[Sequence[Operand], Asked]:
    """The operands through what is asked of them, unrounded, and what is asked of the result then."""
    changed = list(operands)
    takes = isinstance(operation, Elementwise) and operation.arity > 1
    for place, activations in enumerate(asked.operand_activations):
        operand = operands[place] if place < len(operands) else None
        if activations and not (takes and isinstance(operand, tuple)):
            raise CompileError(
                f"`{OPERAND_PARAMETERS[place].name}` applies to a tensor of an elementwise operation of two",
                location=location,
                help="apply the operation yourself, before the call",
            )
        if activations and isinstance(operand, tuple):
            unrounded = None if operand[1].dtype.is_integer else COMPUTE_TYPE
            changed[place] = activated(builder, operand, activations, unrounded, location)
    first = next(each[1].dtype for each in operands if isinstance(each, tuple))
    return changed, Asked(asked.dtype or first, asked.activations)


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
    if isinstance(operation, MacroOperation | Movement):  # what computes nothing rounds nothing either
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
