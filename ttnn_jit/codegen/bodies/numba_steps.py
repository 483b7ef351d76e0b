"""The steps of a body as Python statements for one element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttnn_jit.codegen.bodies.body_analysis import operation_of_tile
from ttnn_jit.codegen.bodies.steps import (
    Accumulate,
    Apply,
    Cast,
    Constant,
    KernelBody,
    Load,
    LookUp,
    Product,
    Step,
    Store,
)
from ttnn_jit.kernels.llvm.types import FLOAT
from ttnn_jit.kernels.llvm.values import OrdinaryParameter, operand, ordinary
from ttnn_jit.kernels.numba.python_scalar import INDENT, PythonScalar


def statements(builder: PythonScalar, write: Callable[[], None]) -> list[str]:
    """The statements that `write` emits, removed from the builder."""
    before, builder.lines = builder.lines, []
    write()
    written, builder.lines = builder.lines, before
    return written


def in_loops(loops: Sequence[int], lines: Sequence[str]) -> list[str]:
    """`lines` within loops; `loops` lists the innermost one first."""
    heads = [f"{INDENT * depth}for i{loop} in range(n{loop}):" for depth, loop in enumerate(reversed(loops))]
    return [*heads, *(INDENT * len(heads) + line for line in lines)]


def write_steps(body: KernelBody, builder: PythonScalar, elements: Sequence[str]) -> None:
    """Writes a body's steps for one element.

    Args:
        body: The steps.
        builder: Gets the statements.
        elements: By stream, the element that is loaded or stored.
    """
    values: list[str] = []
    for step in body.steps:
        values.append(_written(step, values, body, builder, elements))


def _written(
    step: Step, values: Sequence[str], body: KernelBody, builder: PythonScalar, elements: Sequence[str]
) -> str:
    assert not isinstance(step, LookUp | Accumulate | Product), "no steps of one element"
    match step:
        case Load():
            return str(builder.loaded(elements[step.stream], body.streams[step.stream].dtype))
        case Cast():
            source, value = body.dtype_of(step.operand), values[step.operand]
            return value if step.dtype is source else str(builder.typecast(value, source, step.dtype, body.numerics))
        case Apply():
            return str(builder.round_to(_applied(step, values, builder), step.dtype, body.numerics))
        case Store():
            value = builder.stored(values[step.operand], body.streams[step.stream].dtype)
            builder.lines.append(f"{elements[step.stream]} = {value}")
            return ""


def _applied(step: Apply, values: Sequence[str], builder: PythonScalar) -> Any:
    """The result of an op before rounding."""
    arithmetic = builder.arithmetic(step.dtype.compute)
    operation = operation_of_tile(step.tile_name)
    builder.lines.append(f"# tile_op {operation.name}" if operation.body else f"# {step.tile_name}")
    operands = [
        arithmetic.const(operand.in_type(step.dtype.compute)) if isinstance(operand, Constant) else values[operand]
        for operand in step.operands
    ]
    return operation.emit_numbers(arithmetic, *operands, *(_parameter(each, values) for each in step.numbers))


def _parameter(number: int | Constant, values: Sequence[str]) -> float | OrdinaryParameter:
    if isinstance(number, Constant):
        return number.value
    return OrdinaryParameter(ordinary(operand(values[number], FLOAT)))
