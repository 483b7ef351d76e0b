"""An allocator of equal banks of memory: a buffer takes the same bytes at the same address of every bank."""

from __future__ import annotations

from typing import Any

from ttnn_jit.process.dataclass import dataclass

NONE = -1
"""The id of no block."""


@dataclass
class Block:
    """A range of addresses.

    Attributes:
        identity: Its number; a block keeps it while it lives.
        address: Its first byte.
        size: Its bytes.
        is_allocated: Whether a buffer has it.
    """

    identity: int
    address: int
    size: int
    is_allocated: bool = False


class BankAllocator:
    """Places buffers first fit, and joins neighbours that are free.

    Args:
        num_banks: The banks.
        bytes_per_bank: The bytes of each.
    """

    def __init__(self, num_banks: int, bytes_per_bank: int) -> None:
        self.num_banks = num_banks
        self.bytes_per_bank = bytes_per_bank
        self._blocks = [Block(0, 0, bytes_per_bank)]
        self._made = 1

    def allocate(self, nbytes: int) -> int | None:
        """The address of `nbytes` of every bank; None if no free block has as many."""
        for index, block in enumerate(self._blocks):
            if not block.is_allocated and block.size >= nbytes > 0:
                if rest := block.size - nbytes:
                    self._blocks.insert(index + 1, Block(self._made, block.address + nbytes, rest))
                    self._made += 1
                    block.size = nbytes
                block.is_allocated = True
                return block.address
        return None

    def free(self, address: int) -> None:
        """Frees the buffer at an address."""
        index = next(at for at, each in enumerate(self._blocks) if each.is_allocated and each.address == address)
        self._blocks[index].is_allocated = False
        for first in (index, index - 1):
            if 0 <= first < len(self._blocks) - 1 and not any(
                each.is_allocated for each in self._blocks[first : first + 2]
            ):
                self._blocks[first].size += self._blocks.pop(first + 1).size

    @property
    def allocated(self) -> int:
        """The bytes of every bank that buffers have."""
        return sum(each.size for each in self._blocks if each.is_allocated)

    @property
    def largest_free(self) -> int:
        """The bytes of the largest free block."""
        return max((each.size for each in self._blocks if not each.is_allocated), default=0)

    def as_dict(self) -> dict[str, Any]:
        """The state by the names of a memory report; free bytes are the total less those that buffers have."""
        return {
            "num_banks": self.num_banks,
            "total_bytes_per_bank": self.bytes_per_bank,
            "total_bytes_allocated_per_bank": self.allocated,
            "total_bytes_free_per_bank": self.bytes_per_bank - self.allocated,
            "largest_contiguous_bytes_free_per_bank": self.largest_free,
            "block_table": self._table(),
        }

    def _table(self) -> list[dict[str, str]]:
        ids = [NONE, *(each.identity for each in self._blocks), NONE]
        return [
            {
                "allocated": "yes" if block.is_allocated else "no",
                "nextID": str(ids[at + 2]),
                "prevID": str(ids[at]),
                "size": str(block.size),
                "address": str(block.address),
                "blockID": str(block.identity),
            }
            for at, block in enumerate(self._blocks)
        ]
