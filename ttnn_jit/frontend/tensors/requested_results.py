"""Operations with result options: a result dtype, activations of operands and results, a requested memory config.

Inside a jitted function a kernel's result has its operands' layout, whatever the options (the ttnn.jit document). So a
tensor keeps the layout that it has eagerly, and is laid out so for an operation whose numbers depend on the layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.tensors.program_tensor import AbstractEmitter, ProgramTensor
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder, TensorOperand
from ttnn_jit.frontend.writing.promotion import Operand
from ttnn_jit.ops import COPY, BoundCall, Composite, Contraction, MacroOperation, Movement, Operation, Reduction
from ttnn_jit.ops.applied_unary import AppliedUnary
from ttnn_jit.ops.result_options import ResultOptions
from ttnn_jit.process.dataclass import replace
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.tensor_spec import HOST_MEMORY_CONFIG, DataType


def activate_operands(
    builder: ModuleBuilder, operands: Sequence[Operand], location: Location | None, options: ResultOptions
) -> tuple[Sequence[Operand], ResultOptions]:
    """The operands with their activations applied, unrounded, and the remaining result options."""
    if not options.operand_activations:
        return operands, options
    changed = list(operands)
    for index, activations in enumerate(options.operand_activations):
        operand = operands[index]
        if isinstance(operand, tuple):
            unrounded = None if operand[1].dtype.is_integer else COMPUTE_TYPE
            changed[index] = activated(builder, operand, activations, unrounded, location)
    return changed, replace(options, dtype=options.dtype or _first_dtype(operands))


def results_of(
    builder: ModuleBuilder,
    operation: Operation,
    operands: Sequence[Operand],
    attributes: Sequence[Any],
    location: Location | None,
    options: ResultOptions,
) -> tuple[TensorOperand, ...]:
    """The results of `operation`; a single result has the activations applied and the requested element type.

    Raises:
        CompileError: The operands do not fit the operation or each other.
        ArgumentError: The numbers of an activation do not fit it.
    """
    dtype, activations = options.dtype, options.activations
    if not operation.gives_one_tensor:
        return builder.results(operation, operands, attributes, location)
    if isinstance(operation, MacroOperation | Movement):  # a movement computes nothing, so it does not round
        result = builder.operation(operation, operands, attributes, location)
        if dtype not in {None, result[1].dtype}:
            result = builder.operation(COPY, [result], (), location, dtype=dtype)
        return (activated(builder, result, activations, None, location),)
    of_last = None
    if activations and isinstance(operation, Composite | Contraction | Reduction):
        first = _first_dtype(operands)
        dtype, of_last = None if first.is_integer else COMPUTE_TYPE, dtype or first
    result = builder.operation(operation, operands, attributes, location, dtype=dtype)
    return (activated(builder, result, activations, of_last, location),)


def activated(
    builder: ModuleBuilder,
    value: TensorOperand,
    activations: Sequence[AppliedUnary],
    dtype: DataType | None,
    location: Location | None,
) -> TensorOperand:
    """`value` with the unary operations applied; the last one results in `dtype`, if it is given."""
    for index, activation in enumerate(activations):
        bound = activation.bound(value, value[1].dtype)
        wanted = dtype if index == len(activations) - 1 else None
        value = builder.operation(bound.operation, bound.operands, bound.attributes, location, dtype=wanted)
    return value


def note_layouts(
    emitter: AbstractEmitter, bound: BoundCall, results: Sequence[ProgramTensor], options: ResultOptions
) -> None:
    """Note the eager layout of each result of a call, unless the eager call would be refused."""
    given = [value for value in bound.operands if hasattr(type(value), "__ttnn_call__")]
    if options.memory_config is None and all(value.requested is None for value in given):
        return
    operands = [value.spec if hasattr(type(value), "__ttnn_call__") else value for value in bound.operands]
    grid = emitter.builder.target.grid
    try:
        by_rule = bound.operation.results(operands, bound.attributes)
        wanted = [options.spec(spec, bound.operation, given[0].spec, grid) for spec in by_rule]
    except TtnnJitError:
        return
    for result, spec in zip(results, wanted, strict=True):
        held = result.cached_operand[1]
        result.requested = None if spec == held or held.memory_config == HOST_MEMORY_CONFIG else spec


def relaid_out(emitter: AbstractEmitter, tensor: ProgramTensor, held: TensorOperand) -> TensorOperand:
    """The value of `tensor`, in its requested layout if it has one."""
    return held if tensor.requested is None else emitter.builder.with_layout(held, tensor.requested, emitter.location())


def _first_dtype(operands: Sequence[Operand]) -> DataType:
    return next(each[1].dtype for each in operands if isinstance(each, tuple))
