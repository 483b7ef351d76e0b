"""The operands of a kernel, as its loops access them."""

from __future__ import annotations

import enum

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import DataType


class InnerAccess(enum.Enum):
    """How a stream is accessed along the innermost dimension."""

    CONTIGUOUS = "contiguous"  # stride 1: vector loads and stores
    SCALAR = "scalar"  # stride 0: one load per row, broadcast to all lanes; a write has rows of one element
    STRIDED = "strided"  # any other stride: one load and one store per element
    FOLDED = "folded"  # written: the one number that a row is reduced to

    __hash__ = object.__hash__  # members are singletons, and Enum hashes their names in Python


@dataclass(frozen=True, slots=True)
class Stream:
    """One operand of a kernel.

    Attributes:
        dtype: Element type.
        access: Along the innermost dimension.
        written: Whether the kernel writes it.
        nontemporal: Its stores bypass the caches, which saves reading each line before it is written and does not evict
            other data. Only for a contiguous stream each of whose rows begins at a multiple of 64 bytes: an unaligned
            store faults. Code generators ignore it on aarch64 unless two stores make a pair.
        forwarded: Scratch memory between two stages that holds registers unchanged: both sides use chunks of the same
            size, and lanes keep the body's order. Only for a contiguous stream.
        is_ordinary: Whether it is one number that is neither 0, 1, -1, infinite, NaN, denormal, nor the largest float32
            or its negative, so that an operation need not treat these.
    """

    dtype: DataType
    access: InnerAccess
    written: bool = False
    nontemporal: bool = False
    forwarded: bool = False
    is_ordinary: bool = False
