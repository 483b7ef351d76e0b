"""Stack buffers of kernels that sweep over rows or columns."""

from __future__ import annotations

import enum

from ttnn_jit.ops.families.reduction import BLOCK, CHAINS, SHORT_ROW
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType

MAX_STACK_BYTES = 1 << 19
"""Limit for all buffers of a kernel; they lie on the stack of the thread that runs it."""

LEVELS = 52
"""Levels of the pairwise fold over blocks: enough for 2**63 elements."""

COLUMNS = 512
"""Columns of a block in a column kernel: 64 KB of chains."""

LEVEL_BYTES = 4 * LEVELS * COLUMNS
"""Bytes per reduction for block results of columns that wait for their partner in the pairwise fold."""


class BufferKind(enum.Enum):
    """Contents of a buffer: a row of values, one value per row, a block of terms to reduce, or a block's result."""

    ROW = SHORT_ROW, "a row"
    ELEMENT = 1, "an element"
    TERMS = BLOCK, "a block to reduce"
    FOLDED = 1, "the result of a block"

    @property
    def count(self) -> int:
        """Elements of a buffer in a row kernel."""
        return self.value[0]

    @property
    def text(self) -> str:
        """The name shown in dumps."""
        return self.value[1]


@dataclass(frozen=True)
class Buffer:
    """Kernel-local memory on the stack."""

    kind: BufferKind
    dtype: DataType

    @property
    def row_bytes(self) -> int:
        """Bytes in a row kernel."""
        return self.kind.count * self.dtype.itemsize

    @property
    def column_bytes(self) -> int:
        """Bytes in a column kernel."""
        return COLUMNS * (CHAINS if self.kind is BufferKind.TERMS else 1) * self.dtype.itemsize
