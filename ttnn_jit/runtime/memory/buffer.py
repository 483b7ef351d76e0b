"""Memory of tensors: a pool whose blocks return by themselves when their owner dies.

Faulting in a fresh page takes several times as long as a kernel needs to fill it, so blocks are reused
(benchmarks/programs/memory.py counts page faults). What returns a block is its address, an int whose type appends it to
a free list when it dies, by a builtin function: where no code of Python's runs, no interrupt is swallowed and no block
lost. Reference counts are not consulted, because CPython 3.14 borrows references.

Python looks for interrupts, and lets other threads run, behind calls and at the end of a loop's body. Statements that
hold neither are one step; what must not be divided here is written so.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import threading
from _thread import interrupt_main
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain, count, repeat, starmap
from typing import Any

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.finalizers import finalizer_callback

BIG_BYTES = 1 << 20  # blocks of this size and more are mappings of their own
POOLED_RESULT_BYTES = BIG_BYTES
"""Results for torch and numpy of this size and more are blocks of the pool: fresh memory costs a page fault per 4 KB, a
block a constant time of wrapping. Kernels rely on the alignment of such results."""
ALIGNMENT = 64  # bytes: a cache line, and the widest vector
HUGE_PAGE = 2 << 20  # bytes
# A load waits for an earlier store that agrees with it in the low 12 bits of the address (4 KB aliasing), at every step
# of a loop that writes 64 to 256 bytes ahead of what it reads in these bits. And blocks with equal page offsets share
# few sets of a cache. So blocks start at eight page offsets in turn, 512 bytes apart.
SPREAD = 512
STAGGER_STEP = 4096 + SPREAD
STAGGER_COUNT = 4096 // SPREAD
SMALL_IDLE_BYTES = 16 << 20  # idle bytes that one class of small blocks keeps
UNEXAMINED_SHARE = 64  # a class may hold 1/64 of the limit for big blocks before it is trimmed


ADDRESS_IS_KNOWN = object()
"""The lease of a block that the user was told the address of."""


_INTERRUPTS = starmap(interrupt_main, repeat(()))
"""A step of it is an interrupt of the main thread, which comes at the next point where Python looks for one."""


class Address(int):
    """Of a block's first byte. The types of those that are owned put it into a list of free blocks when it dies."""

    __slots__ = ()


def returning(to: Callable[[int], None]) -> type[Address]:
    """The type of addresses that give themselves to `to`, a builtin function, when they die."""
    return type("Address", (Address,), {"__slots__": (), "__del__": finalizer_callback(to)})


class Buffer:
    """A block of memory with one owner; it goes back to its pool when its address dies.

    Attributes:
        address: Of the first byte, a multiple of 64. Who holds it holds the block.
        lease: What must live and die with the memory: a tensor's entry in the account of its device's L1, or that its
            address is known to the user. Not set otherwise.
        uses: What is known of it as a factor of products (runtime/native/panels.py). Not set otherwise.
    """

    __slots__ = ("_home", "address", "lease", "uses")

    # No __init__: without one, the class is called in half the time. `SizeClass.take` sets them, the address last.
    address: int
    _home: SizeClass
    lease: object
    uses: object

    @property
    def nbytes(self) -> int:
        """Of the block, which may be more than was asked for."""
        return self._home.nbytes

    @property
    def pool(self) -> BufferPool:
        """What it goes back to."""
        return self._home.pool

    @property
    def home(self) -> SizeClass:
        """The class that it goes back to."""
        return self._home

    def __repr__(self) -> str:
        return f"Buffer({self.address:#x}, of {self._home.nbytes} bytes)"


class BigBuffer(Buffer):
    """One of `BIG_BYTES` and more: when it dies the pool unmaps what is idle beyond its limit.

    An interrupt that comes just where Python enters this finalizer is lost, as in any; the block is not.
    """

    __slots__ = ()

    def __del__(self) -> None:
        try:
            self.address = 0  # the block is free
            home = self._home
            if len(home.free) > home.trim_above:
                home.pool.trim(home)
        except AttributeError:
            return  # an interrupt came before it had a home
        except KeyboardInterrupt:
            # What is raised here is lost; so it comes again behind this function, in which nothing looks for it.
            for _ in _INTERRUPTS:
                return


_ADDRESS: Any = vars(Buffer)["address"]  # of every buffer's slot, which a subclass may refuse to show


def address_of(buffer: Buffer) -> Address:
    """Of a buffer's first byte, also where nobody may read what is there."""
    address: Address = _ADDRESS.__get__(buffer)
    return address


def set_address(buffer: Buffer, address: int) -> None:
    """Give a buffer another one; what it had is free unless somebody holds it."""
    _ADDRESS.__set__(buffer, address)


class SizeClass:
    """Blocks of one size, and those of them that are free.

    `free` is used without a lock: ``append`` and ``pop`` of a list are atomic, and whoever pops an address owns it.

    Attributes:
        addresses: Takes a block that is free, as an address that returns it; raises IndexError where there is none.
        buffer: The type of its buffers.
    """

    __slots__ = (
        "addresses",
        "blocks_per_region",
        "buffer",
        "free",
        "last_use",
        "nbytes",
        "order",
        "owned",
        "pool",
        "regions",
        "trim_above",
    )

    def __init__(self, nbytes: int, pool: BufferPool) -> None:
        self.nbytes = nbytes
        self.pool = pool
        self.free: list[int] = []
        self.owned = returning(self.free.append)
        self.addresses: Iterator[int] = map(self.owned, map(list.pop, repeat(self.free)))
        self.regions: dict[int, _Region] = {}  # address of the first block -> region
        # Address of a block -> when it was mapped; 0 where an interrupted trim forgot it.
        self.order: dict[int, int] = defaultdict(int)
        self.last_use = 0
        big = nbytes >= BIG_BYTES
        self.buffer = pool.buffer_type(nbytes)
        self.blocks_per_region = 1 if big else max(4, min(64, (1 << 18) // nbytes))
        self.trim_above = pool.idle_limit // UNEXAMINED_SHARE // nbytes if big else self.blocks_kept

    @property
    def blocks_kept(self) -> int:
        """Idle small blocks up to which the class is not trimmed."""
        return max(self.blocks_per_region, SMALL_IDLE_BYTES // self.nbytes)

    def take(self) -> Buffer:
        """A block of this class, with unspecified contents."""
        block = self.buffer()
        block._home = self
        self.fill(block)
        return block

    def take_first(self) -> Buffer:
        """As `take`: of the free blocks the one that was mapped first, which is first fit among blocks of one size."""
        self.free.sort(key=self.order.__getitem__, reverse=True)
        return self.take()

    def fill(self, block: Buffer) -> None:
        """Give `block`, whose home this is, its address."""
        if len(self.free) > self.trim_above and self.nbytes < BIG_BYTES:
            self.pool.trim(self)
        while True:
            try:
                for block.address in self.addresses:
                    return
            except IndexError:
                self.pool.grow(self)


@dataclass(frozen=True, slots=True)
class _Region:
    memory: mmap.mmap
    blocks: int
    mapped_bytes: int


@dataclass(frozen=True)
class PoolStatistics:
    """Bytes of a pool: in blocks that tensors own, in blocks that wait for reuse, and mapped from the system."""

    live_bytes: int
    idle_bytes: int
    mapped_bytes: int


class BufferPool:
    """Blocks of host memory by size class, at most `idle_limit` bytes of them idle in big blocks.

    Beyond the limit, the blocks that have waited longest are unmapped. Small blocks share regions; a class of theirs
    that holds over 16 MB idle unmaps the regions that are idle as a whole, when memory is mapped or asked for by size.

    Attributes:
        mapped_bytes: In all blocks, idle ones too.
        is_of_a_trace: Whether it is a trace's.
        is_unread: Whether nobody may read what lies there, for the trace did not run.
    """

    is_of_a_trace = False
    is_unread = False

    def __init__(self, idle_limit: int | None = None) -> None:
        self.idle_limit = default_idle_limit() if idle_limit is None else idle_limit
        self._classes: dict[int, SizeClass] = {}
        self._lock = threading.RLock()
        self._trims = [None]  # whoever takes the item trims
        self._ticks = count(1)
        self._mappings = count()
        self.mapped_bytes = 0

    def buffer_type(self, nbytes: int) -> type[Buffer]:
        """Of the buffers of a size class."""
        return BigBuffer if nbytes >= BIG_BYTES else Buffer

    def size_class(self, nbytes: int) -> SizeClass:
        """The class that serves blocks of `nbytes`; ask once and keep it."""
        size = class_bytes(nbytes)
        found = self._classes.get(size)
        return found or self._classes.setdefault(size, SizeClass(size, self))

    def allocate(self, nbytes: int) -> Buffer:
        """A block of at least `nbytes` bytes with unspecified contents.

        Raises:
            MemoryError: The system has no memory for it.
        """
        return self.size_class(nbytes).take()

    def allocate_first(self, nbytes: int) -> Buffer:
        """As `allocate`, of the free blocks of that size the one that was mapped first.

        Programs that free tensors and allocate others of the same sizes find them where a first-fit allocator, such as
        a chip's, would have them.
        """
        return self.size_class(nbytes).take_first()

    def grow(self, size_class: SizeClass) -> None:
        """Map a region, whose blocks become free."""
        with self._lock:
            if size_class.free:  # another thread has grown the class meanwhile
                return
            self._trim_idle_classes()
            try:
                first, region = self._map_region(size_class)
            except OSError:
                self.release_idle()
                first, region = self._map_or_fail(size_class)
            pitch = _pitch(size_class.nbytes)
            fresh = [first + pitch * index for index in range(region.blocks - 1, -1, -1)]
            size_class.order.update(zip(reversed(fresh), count(len(size_class.order))))
            # One step from here on.
            self.mapped_bytes += region.mapped_bytes
            size_class.regions[first] = region
            size_class.free += fresh

    def _trim_idle_classes(self) -> None:
        """Give back what small blocks that nobody asks for hold idle."""
        for size_class in self._snapshot():
            if size_class.nbytes < BIG_BYTES and len(size_class.free) > size_class.trim_above:
                self.trim(size_class)

    def _map_or_fail(self, size_class: SizeClass) -> tuple[int, _Region]:
        try:
            return self._map_region(size_class)
        except OSError as error:
            raise MemoryError(f"no memory for a block of {size_class.nbytes:,} bytes: {error.strerror}") from error

    def _map_region(self, size_class: SizeClass) -> tuple[int, _Region]:
        blocks = size_class.blocks_per_region
        if size_class.nbytes < BIG_BYTES:
            used = _pitch(size_class.nbytes) * blocks
            memory, start = _map(used)
            return start, _Region(memory, blocks, used)
        offset = STAGGER_STEP * (next(self._mappings) % STAGGER_COUNT)
        used = size_class.nbytes + offset
        memory, start = _map(used + HUGE_PAGE)
        base = -(-start // HUGE_PAGE) * HUGE_PAGE
        _advise_huge_pages(memory, base - start, used)
        return base + offset, _Region(memory, 1, used)

    def trim(self, size_class: SizeClass) -> None:
        """Unmap idle memory beyond the limits, of all big blocks or of a class of small ones."""
        with contextlib.suppress(IndexError):  # the trim that runs now, in whatever thread, will see to it
            for _ in map(list.pop, repeat(self._trims)):
                try:
                    if size_class.nbytes >= BIG_BYTES:
                        size_class.last_use = next(self._ticks)
                        self._trim_big()
                    else:
                        self._trim_small(size_class, size_class.blocks_kept // 2)
                        size_class.trim_above = max(size_class.blocks_kept, 2 * len(size_class.free))
                    return
                finally:
                    self._trims += (None,)

    def release_idle(self) -> None:
        """Unmap everything that no tensor owns."""
        with contextlib.suppress(IndexError):
            for _ in map(list.pop, repeat(self._trims)):
                try:
                    for size_class in self._snapshot():
                        self._trim_small(size_class, 0)
                    return
                finally:
                    self._trims += (None,)

    def _trim_big(self) -> None:
        """Unmap what exceeds the limit, assuming that every class holds the most that it may hold untrimmed."""
        big = [c for c in self._snapshot() if c.nbytes >= BIG_BYTES]
        idle = sum(max(len(c.free), c.trim_above) * c.nbytes for c in big)
        for size_class in sorted(big, key=lambda c: c.last_use):
            while idle > self.idle_limit and len(size_class.free) > size_class.trim_above:
                with contextlib.suppress(IndexError):  # another thread took the last one
                    for first in map(list.pop, repeat(size_class.free), repeat(0)):
                        self.mapped_bytes -= size_class.regions[first].mapped_bytes
                        del size_class.regions[first]
                        break
                idle -= size_class.nbytes

    def _trim_small(self, size_class: SizeClass, blocks_kept: int) -> None:
        """Unmap regions of a class that are idle as a whole, as long as so many of its blocks stay idle."""
        claimed: list[int] = []
        try:
            with contextlib.suppress(IndexError):
                for address in map(list.pop, repeat(size_class.free)):
                    claimed += (address,)
            starts = _idle_regions(size_class, claimed)
            while starts and len(claimed) - size_class.regions[starts[-1]].blocks >= blocks_kept:
                region = size_class.regions[starts[-1]]
                for address in claimed[-region.blocks :]:
                    size_class.order.pop(address, None)
                # One step from here on.
                self.mapped_bytes -= region.mapped_bytes
                del claimed[-region.blocks :], size_class.regions[starts[-1]], starts[-1]
        finally:
            size_class.free += claimed

    def _snapshot(self) -> list[SizeClass]:
        return list(self._classes.values())

    def statistics(self) -> PoolStatistics:
        """Bytes live, idle and mapped now; exact while no other thread allocates."""
        live = idle = mapped = 0
        for size_class in self._snapshot():
            regions = list(size_class.regions.values())
            free = len(size_class.free)
            live += (sum(region.blocks for region in regions) - free) * size_class.nbytes
            idle += free * size_class.nbytes
            mapped += sum(region.mapped_bytes for region in regions)
        return PoolStatistics(live, idle, mapped)

    def forget_other_threads(self) -> None:
        """In a forked child: drop a lock that a thread of the parent may have held."""
        self._lock = threading.RLock()
        self._trims = [None]


def _idle_regions(size_class: SizeClass, claimed: list[int]) -> list[int]:
    """The first blocks of regions that are `claimed` as a whole, which is put in order: their blocks come last."""
    starts = sorted(size_class.regions)
    by_region: dict[int, list[int]] = {}
    for address in claimed:
        by_region.setdefault(starts[bisect_right(starts, address) - 1], []).append(address)
    idle = [start for start, blocks in by_region.items() if len(blocks) == size_class.regions[start].blocks]
    parts = [blocks for start, blocks in by_region.items() if start not in idle]
    claimed[:] = chain.from_iterable([*parts, *(by_region[start] for start in idle)])
    return idle


def class_bytes(nbytes: int) -> int:
    """`nbytes` rounded up to a size class: multiples of 64 up to 512, then four classes per doubling."""
    if nbytes <= 512:
        return max(ALIGNMENT, -(-nbytes // ALIGNMENT) * ALIGNMENT)
    step = 1 << ((nbytes - 1).bit_length() - 3)
    return -(-nbytes // step) * step


def default_idle_limit() -> int:
    """An eighth of the machine's memory, at least 256 MB."""
    return max(256 << 20, host_memory_bytes() // 8)


def host_memory_bytes() -> int:
    """The machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _pitch(nbytes: int) -> int:
    """Bytes from one small block to the next: more than its own where neighbours would begin at one page offset."""
    return nbytes + SPREAD if nbytes % 4096 == 0 else nbytes


def _map(nbytes: int) -> tuple[mmap.mmap, int]:
    # Private, unlike mmap's default: shared anonymous memory takes no huge pages, and a forked child would write to it.
    memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _advise_huge_pages(memory: mmap.mmap, offset: int, nbytes: int) -> None:
    """Ask for huge pages where at least half of one is used; the rest, if any, keeps 4 KB pages."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):  # not Linux
        return
    pages = (nbytes + HUGE_PAGE // 2) // HUGE_PAGE
    with contextlib.suppress(OSError):  # a kernel without them: slower first use, nothing else
        memory.madvise(mmap.MADV_HUGEPAGE, offset, pages * HUGE_PAGE)


HOST_POOL = BufferPool()
"""The memory of every device: devices are descriptions of one host, so a block can move on when a device closes."""

os.register_at_fork(after_in_child=HOST_POOL.forget_other_threads)
