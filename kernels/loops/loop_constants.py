"""The vector constants of a loop's body, which are hoisted into registers before the loop.

LLVM's optimiser hoists them itself. Without it, the code generator keeps values of other blocks in registers, but loads
a constant at every use.
"""

from __future__ import annotations

from itertools import chain

from ttnn_jit.kernels.llvm.values import Block, Code, Literal

Constants = tuple[Literal, ...]


def constants_of(code: Code, most: int) -> Constants | None:
    """The distinct vector constants of `code`; None if there are more than `most`."""
    found: dict[tuple[str, str], Literal] = {}
    for item in code:
        given = chain.from_iterable(each for _, each in item.incoming) if isinstance(item, Block) else item[1]
        for each in given:
            if each.__class__ is Literal and each.type.lanes and not each.is_zero:
                found.setdefault((each.type, each), each)
        if len(found) > most:
            return None
    return tuple(found.values())
