"""Hoists the constants of a loop's body into values that are defined in front of the loop.

LLVM's optimiser does so itself. Without it, the code generator keeps values of other blocks in registers, but loads a
constant at every use.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm_line import Line, Literal


def hoisted(lines: Sequence[Line], most: int) -> tuple[list[str], list[str]] | None:
    """Definitions of the constants of `lines`, and the lines with their values; None if there are more than `most`."""
    names: dict[tuple[str, str], str] = {}  # type and constant -> name

    def value(operand: str) -> str:
        if not isinstance(operand, Literal) or operand.is_zero:
            return operand
        return names.setdefault((operand.vector, operand), f"%constant{len(names)}")

    inside = []
    for line in lines:
        inside.append(line.text_of(tuple(map(value, line.operands))))
        if len(names) > most:
            return None
    # Any other instruction would be folded into a constant again.
    return [f"  {name} = freeze {vector} {constant}" for (vector, constant), name in names.items()], inside
