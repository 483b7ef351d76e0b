"""The record that a checked run of a function of the host shares with its native code: words of 64 bits."""

from __future__ import annotations

from enum import IntEnum


class Word(IntEnum):
    """Which word of the record."""

    ERROR = 0
    """An `Error`, or 0."""
    SITE = 1
    """The number of the operation that failed."""
    ADDRESS = 2
    """The first byte of the access that failed."""
    BYTES = 3
    """How many bytes it has."""
    STEPS = 4
    """How many branches and calls may be taken before `EXTEND` is asked for more."""
    GENERATION = 5
    """Begins at 1 and changes when memory is released."""
    RANGES = 6
    """How many ranges of memory there are."""
    TABLE = 7
    """The address of the table of ranges: pairs of the first byte and the one after the last."""
    ALLOCATE = 8
    """The address of a function that allocates, or fails: (record, bytes, site) -> address."""
    RELEASE = 9
    """The address of a function that releases what the other one allocated: (record, address, site)."""
    COPY = 10
    """The address of a function that copies strided memory: (record, element bytes, source, destination, site)."""
    GLOBALS = 11
    """The address of the addresses of the globals."""
    RESULT = 12
    """What the function returned."""
    SEEN = 13
    """The address of `SEEN_WORDS` words for each operation that may fail."""
    EXTEND = 14
    """The address of a function that grants more steps, or fails: (record, site)."""


SEEN_WORDS = 3
"""The words of an access: the first byte of the range in which the last one lay, the last byte at which one may begin
in it, the generation. Zeros are a range that no access finds, because the first generation is 1."""


class Error(IntEnum):
    """Why a run stopped."""

    OUT_OF_RANGE = 1
    """An access outside of the operands, the globals and what the function has allocated."""
    TOO_LONG = 2
    """No steps are left."""
    DIVISION = 3
    """A quotient by zero, or one that its type does not have."""
    UNREACHABLE = 4
    """`llvm.unreachable` was reached."""
    NO_MEMORY = 5
    """More memory than the run may have."""
    RELEASED = 6
    """What is released is not allocated."""
    RAISED = 7
    """A function of the run raised an error."""


ENTRY = "run"
"""The symbol of the function: (record, array of wrapped tensors)."""
