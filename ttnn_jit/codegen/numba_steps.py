"""The steps of a body as Python statements for one element."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ttnn_jit.codegen.body_analysis import operation_of_tile
from ttnn_jit.codegen.steps import (
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
from ttnn_jit.kernels.python_scalar import PythonScalar


def statements(builder: PythonScalar, write: Callable[[], None]) -> list[str]:
    """The statements that `write` adds to the builder, which does not keep them."""
    before, builder.lines = builder.lines, []
    write()
    written, builder.lines = builder.lines, before
    return written


class StepWriter:
    """Writes a body's steps for one element.

    Args:
        body: The steps.
        builder: Gets the statements.
        places: By stream, the element that is loaded or stored.
    """

    def __init__(self, body: KernelBody, builder: PythonScalar, places: Sequence[str]) -> None:
        self._body = body
        self._builder = builder
        self._places = places

    def write(self) -> None:
        """Writes the statements."""
        values: list[str] = []
        for step in self._body.steps:
            values.append(self._step(step, values))

    def _step(self, step: Step, values: Sequence[str]) -> str:
        assert not isinstance(step, LookUp | Accumulate | Product), "no steps of one element"
        builder, body = self._builder, self._body
        match step:
            case Load():
                return str(builder.loaded(self._places[step.stream], body.streams[step.stream].dtype))
            case Cast():
                source, value = body.dtype_of(step.operand), values[step.operand]
                if step.dtype is source:
                    return value
                return str(builder.typecast(value, source, step.dtype, body.numerics))
            case Apply():
                return self._applied(step, values)
            case Store():
                value = builder.stored(values[step.operand], body.streams[step.stream].dtype)
                builder.lines.append(f"{self._places[step.stream]} = {value}")
                return ""

    def _applied(self, step: Apply, values: Sequence[str]) -> str:
        builder = self._builder
        arithmetic = builder.arithmetic(step.dtype.compute)
        operation = operation_of_tile(step.tile_name)
        builder.lines.append(f"# tile_op {operation.name}" if operation.body else f"# {step.tile_name}")
        operands = [
            arithmetic.const(operand.in_type(step.dtype.compute)) if isinstance(operand, Constant) else values[operand]
            for operand in step.operands
        ]
        numbers = [number.value for number in step.numbers]
        exact = operation.emit(arithmetic, *operands, *numbers)
        return str(builder.round_to(exact, step.dtype, self._body.numerics))
