"""The vector constants of a loop's body, which are hoisted into registers before the loop.

LLVM's optimiser hoists them itself. Without it, the code generator keeps values of other blocks in registers, but loads
a constant at every use.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_jit.kernels.llvm.values import Block, Code, Instruction, Literal, Value

Constants = tuple[Literal, ...]


def constants_of(code: Code, most: int) -> Constants | None:
    """The distinct vector constants of `code`; None if there are more than `most`."""
    found: dict[tuple[str, str], Literal] = {}
    for item in code:
        for each in _operands(item):
            if isinstance(each, Literal) and each.type.lanes and not each.is_zero:
                found.setdefault((each.type, each), each)
        if len(found) > most:
            return None
    return tuple(found.values())


def _operands(item: Instruction | Block) -> Sequence[Value]:
    if isinstance(item, Block):
        return [each for _, given in item.incoming for each in given]
    _, _, operands, _ = item
    return operands
