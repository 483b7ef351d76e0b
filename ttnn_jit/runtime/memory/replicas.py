"""Replicas: buffers of several tensors with one block of memory, which is copied before one of them is written.

A tensor that every device of a mesh has alike is stored once. Each device has a buffer of its own with the address of
the block, and its own entry in its L1 account. The block becomes free when the last of the buffers dies.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

from ttnn_jit.process.compile_lock import interrupts_postponed
from ttnn_jit.runtime.memory.buffer import ADDRESS_IS_KNOWN, Buffer, address_of, set_address

Relocation = Callable[[Buffer], None]
"""Tells a holder of a buffer's address, such as a trace, that the buffer has another one."""

_LOCK = threading.RLock()


class Replica:
    """One buffer's part in a shared block.

    Attributes:
        relocations: Called after the buffer has got memory of its own.
    """

    __slots__ = ("relocations",)

    def __init__(self) -> None:
        self.relocations: list[Relocation] = []


def replica_of(buffer: Buffer) -> Buffer | None:
    """Another buffer with the memory of `buffer`; None if its memory cannot be shared.

    The memory cannot be shared if a trace or the user knows its address.
    """
    home = buffer.home
    with _LOCK:
        address = address_of(buffer)
        if type(address) is not home.address_type or getattr(buffer, "lease", None) is ADDRESS_IS_KNOWN:
            return None
        other = home.buffer()
        other._home = home
        other.replica = Replica()
        if replica_in(buffer) is None:
            buffer.replica = Replica()
        other.address = address
    return other


def replica_in(buffer: Buffer) -> Replica | None:
    """The buffer's part in a shared block; None if the memory is its own."""
    found: Replica | None = getattr(buffer, "replica", None)
    return found


def own_memory(buffer: Buffer) -> None:
    """Give `buffer` memory of its own with the same elements; called before a write.

    Raises:
        MemoryError: The system has no memory for it.
    """
    if replica_in(buffer) is None:
        return
    with _LOCK, interrupts_postponed():
        replica = replica_in(buffer)
        if replica is None:  # another thread was faster
            return
        own = buffer.home.take()
        ctypes.memmove(address_of(own), address_of(buffer), own.nbytes)
        set_address(buffer, address_of(own))
        del buffer.replica
        for relocate in replica.relocations:
            relocate(buffer)
