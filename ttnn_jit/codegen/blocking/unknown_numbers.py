"""Operations that have the same instructions for any value of a number: a kernel may load such a number."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ttnn_jit.codegen.bodies.body_analysis import OPERATION_OF_TILE
from ttnn_jit.codegen.bodies.steps import Apply
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.kernels.llvm.llvm_module import ModuleText
from ttnn_jit.kernels.llvm.types import FLOAT
from ttnn_jit.kernels.llvm.values import Block, OrdinaryParameter, Value, operand, ordinary
from ttnn_jit.kernels.numba.python_scalar import PythonScalar
from ttnn_jit.kernels.vectors.llvm_vector import LlvmVector
from ttnn_jit.ops.families.elementwise import Implementations
from ttnn_jit.process.memoized import memoized


@memoized(maxsize=1024)
def takes_any_number(step: Apply, number: int, isa: HostIsa | None) -> bool:
    """Whether an operation, of any operands, has the same instructions if the operand `number` is not known.

    Without `isa`, numba compiles the kernel.
    """
    operation = OPERATION_OF_TILE.get(step.tile_name)
    if operation is None:
        return False
    if isa is None:
        return _is_any_of_numba(step, operation.emit_numbers, number)
    emits = [operation.emit_numbers]
    if operation.implementations.bfloat16 is not None and number >= len(step.operands):  # which keeps the choice
        emits.append(operation.implementations.bfloat16)
    elif operation.implementations != Implementations():
        return False
    try:
        unknown = [_emitted(step, emit, number, isa, known=False) for emit in emits]
    except TypeError:
        return False  # it computes with a parameter, or decides by it
    return [_emitted(step, emit, number, isa, known=True) for emit in emits] == unknown


def _is_any_of_numba(step: Apply, emit: Callable[..., Any], number: int) -> bool:
    try:
        unknown = _statements(step, emit, number, known=False)
    except TypeError:
        return False
    return unknown == _statements(step, emit, number, known=True) and not any(map(_IN_POWER.search, unknown))


_NUMBER = "number"
_IN_POWER = re.compile(rf"pow\(.*\b{_NUMBER}\b")
"""LLVM replaces a power by another function for some constants, whose bits may differ."""


def _statements(step: Apply, emit: Callable[..., Any], number: int, *, known: bool) -> list[str]:
    """The statements of an operation for numba, in which the number has a name, even if it is `known`."""
    builder = PythonScalar()
    arithmetic = builder.arithmetic(step.dtype.compute)
    operands: list[Any] = [f"operand{k}" for k, _ in enumerate(step.operands)]
    numbers: list[Any] = [3.0 if isinstance(each, int) else each.value for each in step.numbers]
    constant = str(arithmetic.const(3))
    if number < len(operands):
        operands[number] = constant if known else _NUMBER
    elif not known:
        numbers[number - len(operands)] = OrdinaryParameter(ordinary(operand(_NUMBER, FLOAT)))
    result = emit(arithmetic, *operands, *numbers)
    return [line.replace(constant, _NUMBER) for line in (*builder.lines, f"return {result}")]


class _OneExtremum(LlvmVector):
    """Writes the minimum and maximum of any operands as the same instruction, since their results are the same."""

    def _extremum(self, function: str, kind: int, a: Value, b: Value) -> Value:  # noqa: ARG002 - as there
        return self.intrinsic(self._float, function, a, b)


def _emitted(step: Apply, emit: Callable[..., Any], number: int, isa: HostIsa, *, known: bool) -> list[object]:
    """The instructions of an operation, whose operand `number` is a constant if it is `known`."""
    builder = _OneExtremum(isa, ModuleText())
    arithmetic = builder.arithmetic(step.dtype.compute)
    constant: Value = arithmetic.const(3)
    unknown = ordinary(operand("%number", constant.type))
    operands = [operand(f"%operand{k}", constant.type) for k, _ in enumerate(step.operands)]
    numbers: list[Any] = [3.0 if isinstance(each, int) else each.value for each in step.numbers]
    if number < len(operands):
        operands[number] = constant if known else unknown
    elif not known:
        numbers[number - len(operands)] = OrdinaryParameter(unknown)
    emit(arithmetic, *operands, *numbers)
    return [len(item.arguments) if isinstance(item, Block) else item[0] for item in builder.body.code]
