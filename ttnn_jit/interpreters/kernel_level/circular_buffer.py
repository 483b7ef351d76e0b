"""A circular buffer of a core: pages that a producer reserves and pushes, and a consumer waits for and pops."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from ttnn_jit.interpreters.kernel_level.faults import Place, Wait, fail
from ttnn_jit.interpreters.kernel_level.memory import TileFormat

Array = np.ndarray[Any, Any]


class CircularBuffer:
    """The state of a circular buffer.

    Args:
        port: Its number.
        address: Where it lies in L1.
        data: Its bytes: pages, bytes of a page.
        tile: The format of its tiles; None if its pages are no tiles.

    Attributes:
        reserved: Pages that the producer reserved and has not pushed yet.
        waited: Pages that the consumer waited for and has not popped yet.
        packed: Pages packed in order since the last push.
        is_alias: Whether its memory is that of a tensor, whose pages need not be popped.
        last: The op that reserved or pushed last.
    """

    def __init__(self, port: int, address: int, data: Array, tile: TileFormat | None) -> None:
        self.port = port
        self.address = address
        self.data = data
        self.tile = tile
        self.reserved = 0
        self.waited = 0
        self.packed = 0
        self.is_alias = False
        self.last: Operation | None = None
        self._pushed = 0
        self._popped = 0
        self._unwritten: set[int] = set()

    @property
    def capacity(self) -> int:
        """The pages that it holds."""
        return len(self.data)

    @property
    def filled(self) -> int:
        """The pages that were pushed and not popped."""
        return self._pushed - self._popped

    @property
    def page_bytes(self) -> int:
        """The size of a page."""
        size: int = self.data.shape[1]
        return size

    @property
    def write_page(self) -> int:
        """The page at which the producer writes."""
        return self._pushed % self.capacity

    @property
    def read_page(self) -> int:
        """The page at which the consumer reads."""
        return self._popped % self.capacity

    def reserve(self, count: int, op: Operation, place: Place) -> Wait | None:
        """Reserves free pages; None once there are so many."""
        self._require_possible(count, op, place, "reserves")
        free = self.capacity - self.filled
        if free < count:
            return Wait(op, f"waits for {_pages(count)} of room in cb {self.port}, which has {free} of {self.capacity}")
        if self.write_page + count > self.capacity:
            fail(
                op,
                place,
                f"it reserves {_pages(count)} of cb {self.port} from page {self.write_page}, and the buffer has only "
                f"{self.capacity}: they would lie behind its end",
                "the capacity of a circular buffer is a multiple of the pages that are pushed at once",
            )
        if not self.is_alias:
            self._unwritten.update(range(self.write_page + self.reserved, self.write_page + count))
        self.reserved, self.last = max(self.reserved, count), op
        return None

    def push(self, count: int, op: Operation, place: Place) -> None:
        """Passes reserved pages on."""
        if count > self.reserved:
            fail(op, place, f"it pushes {_pages(count)} of cb {self.port}, of which {self.reserved} are reserved")
        self._pushed += count
        self.reserved -= count
        self.packed, self.last = 0, op

    def wait(self, count: int, op: Operation, place: Place) -> Wait | None:
        """Waits for pushed pages; None once there are so many."""
        self._require_possible(count, op, place, "waits for")
        if self.filled < count:
            return Wait(op, f"waits for {_pages(count)} of cb {self.port}, which has {self.filled}")
        self.waited = max(self.waited, count)
        return None

    def pop(self, count: int, op: Operation, place: Place) -> None:
        """Frees pages."""
        if count > self.waited:
            fail(op, place, f"it pops {_pages(count)} of cb {self.port}, and waited for {self.waited}")
        self._popped += count
        self.waited -= count

    def read(self, index: int, op: Operation, place: Place) -> Array:
        """The bytes of a page that the consumer waited for."""
        if not 0 <= index < self.waited:
            fail(op, place, f"it reads page {index} of cb {self.port}, and waited for {_pages(self.waited)}")
        at = (self.read_page + index) % self.capacity
        self.require_written(at, at, op, place)
        page: Array = self.data[at]
        return page

    def written(self, index: int, op: Operation, place: Place) -> Array:
        """The bytes of a page that the producer reserved."""
        if not 0 <= index < self.reserved:
            fail(op, place, f"it writes page {index} of cb {self.port}, of which {self.reserved} are reserved")
        at = (self.write_page + index) % self.capacity
        self.fill_bytes(at * self.page_bytes, self.page_bytes)
        page: Array = self.data[at]
        return page

    def fill_bytes(self, offset: int, size: int) -> None:
        """Notes which pages get bytes, which are counted from the beginning of the buffer."""
        first, last = offset // self.page_bytes, (offset + size - 1) // self.page_bytes
        self._unwritten.difference_update(range(first, last + 1))

    def require_written(self, first: int, last: int, op: Operation, place: Place) -> None:
        """Refuses to read pages that were reserved and got no bytes since; they hold what was there before."""
        empty = min((page for page in range(first, last + 1) if page in self._unwritten), default=None)
        if empty is not None:
            fail(
                op,
                place,
                f"it reads page {empty} of cb {self.port}, to which nothing was written since it was reserved",
                "a read over the NoC or a pack fills each page before it is pushed",
            )

    def require_empty(self, place: Place) -> None:
        """Refuses the end of a program that leaves pages in the buffer."""
        if self.is_alias or self.last is None:
            return
        if self.filled:
            fail(self.last, place, f"{_pages(self.filled)} of cb {self.port} that it pushed were never popped")
        if self.reserved:
            fail(self.last, place, f"{_pages(self.reserved)} of cb {self.port} were reserved and never pushed")

    def _require_possible(self, count: int, op: Operation, place: Place, does: str) -> None:
        if count > self.capacity:
            fail(op, place, f"it {does} {_pages(count)} of cb {self.port}, whose capacity is {self.capacity}")


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"
