"""What a kernel that sweeps over rows or columns keeps on the stack."""

from __future__ import annotations

import enum

from ttnn_jit.ops.families.reduction import BLOCK, CHAINS, SHORT_ROW
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType

MAX_STACK_BYTES = 1 << 19
"""Of the buffers of a kernel: they are on the stack of the thread that runs it."""

LEVELS = 52
"""Of neighbouring blocks: more than 2**63 elements have."""

COLUMNS = 512
"""Columns of a block in a kernel of columns: 64 KB of chains."""

LEVEL_BYTES = 4 * LEVELS * COLUMNS
"""Of the results of blocks of columns that wait for their neighbours, for every reduction."""


class BufferKind(enum.Enum):
    """What a buffer of a kernel holds: values of a row, one of a row, a block of what is reduced, or its result."""

    ROW = SHORT_ROW, "a row"
    ELEMENT = 1, "an element"
    TERMS = BLOCK, "a block to reduce"
    FOLDED = 1, "the result of a block"

    @property
    def count(self) -> int:
        """Elements of a buffer in a kernel of rows."""
        return self.value[0]

    @property
    def text(self) -> str:
        """For a reader."""
        return self.value[1]


@dataclass(frozen=True)
class Buffer:
    """Memory of a kernel's own, on the stack."""

    kind: BufferKind
    dtype: DataType

    @property
    def row_bytes(self) -> int:
        """Its size in a kernel of rows."""
        return self.kind.count * self.dtype.itemsize

    @property
    def column_bytes(self) -> int:
        """Its size in a kernel of columns."""
        return COLUMNS * (CHAINS if self.kind is BufferKind.TERMS else 1) * self.dtype.itemsize
