"""The data flow graph of a kernel's tiles, for scheduling, slot allocation and fusion."""

from __future__ import annotations

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TileGraph:
    """Ops over tiles; values are integers.

    Attributes:
        inputs: Number of input tiles; they are the values 0 to ``inputs - 1``.
        operands: For op number i, whose result is value ``inputs + i``, the tiles that it reads in operand order.
            Scalars are left out. The order is topological.
        result: The value that the kernel stores.
    """

    inputs: int
    operands: tuple[tuple[int, ...], ...]
    result: int

    @property
    def is_unary_chain(self) -> bool:
        """Whether each op reads only the tile of the previous one, so that a kernel can process blocks of tiles."""
        first, *rest = self.operands or ((0,),)
        expected = [(self.inputs + op,) for op in range(len(rest))]
        return len(first) == 1 and rest == expected

    @property
    def source_order(self) -> tuple[int, ...]:
        """The ops in the user's order."""
        return tuple(range(len(self.operands)))

    def use_counts(self) -> list[int]:
        """For every value, the number of ops that read it, and one more for the result."""
        counts = [0] * (self.inputs + len(self.operands))
        for operands in self.operands:
            for value in set(operands):
                counts[value] += 1
        counts[self.result] += 1
        return counts
