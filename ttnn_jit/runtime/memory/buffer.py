"""Memory of tensors: a pool whose blocks return to it when their owner dies.

A page fault takes several times as long as a kernel needs to fill the page, so blocks are reused
(benchmarks/programs/memory.py counts page faults). The address of a block is an int of a type whose finalizer appends
it to a free list. The finalizer is a builtin function, so no Python code runs in it: no interrupt is swallowed and no
block is lost. Reference counts are not consulted, because CPython 3.14 borrows references.

Python checks for interrupts and switches threads after calls and at the end of loop bodies. A sequence of statements
without either is atomic. Comments mark the code that relies on this.
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
"""Results for torch and numpy of this size and more are blocks of the pool: fresh memory costs a page fault per 4 KB,
wrapping a block takes constant time. Kernels rely on the alignment of such results."""
ALIGNMENT = 64  # bytes: a cache line, and the widest vector
HUGE_PAGE = 2 << 20  # bytes
# 4 KB aliasing: a load waits for an earlier store whose address has the same low 12 bits. A loop whose stores are 64 to
# 256 bytes ahead of its loads in these bits waits in every iteration. Blocks with equal page offsets also compete for
# few cache sets. So blocks start at eight page offsets in turn, 512 bytes apart.
SPREAD = 512
STAGGER_STEP = 4096 + SPREAD
STAGGER_COUNT = 4096 // SPREAD
SMALL_IDLE_BYTES = 16 << 20  # idle bytes that one class of small blocks keeps
UNTRIMMED_SHARE = 64  # a class of big blocks may hold 1/64 of the idle limit before it is trimmed


ADDRESS_IS_KNOWN = object()
"""The lease of a block whose address the user knows."""


_INTERRUPTS = starmap(interrupt_main, repeat(()))
"""Each step interrupts the main thread, at the next point where Python checks for interrupts."""


class Address(int):
    """The address of a block. Finalizers of the subclasses return the block to a list of free blocks."""

    __slots__ = ()


def freeing_address_type(free: Callable[[int], None]) -> type[Address]:
    """A type of addresses whose finalizer passes them to `free`, a builtin function."""
    return type("Address", (Address,), {"__slots__": (), "__del__": finalizer_callback(free)})


class Buffer:
    """A block of memory with one owner; it returns to its pool when its address dies.

    Attributes:
        address: Address of the first byte, a multiple of 64. A reference to it keeps the block.
        lease: An object with the lifetime of the memory: a tensor's entry in the L1 account of its device, or
            `ADDRESS_IS_KNOWN`. Not set otherwise.
        uses: Statistics of its uses as a factor of products (runtime/native/panels.py). Not set otherwise.
        replica: Its part in a block that other buffers share (runtime/memory/replicas.py). Not set otherwise.
    """

    __slots__ = ("_home", "address", "lease", "replica", "uses")

    # No __init__, which would double the time of a call of the class. `SizeClass.take` sets these, the address last.
    address: int
    _home: SizeClass
    lease: object
    uses: object
    replica: object

    @property
    def nbytes(self) -> int:
        """Bytes of the block, which may be more than were requested."""
        return self._home.nbytes

    @property
    def pool(self) -> BufferPool:
        """The pool that it returns to."""
        return self._home.pool

    @property
    def home(self) -> SizeClass:
        """The size class that it returns to."""
        return self._home

    def __repr__(self) -> str:
        return f"Buffer({self.address:#x}, of {self._home.nbytes} bytes)"


class BigBuffer(Buffer):
    """A buffer of `BIG_BYTES` and more: when it dies, the pool unmaps idle memory beyond its limit.

    An interrupt just as Python enters this finalizer is lost, as in every finalizer; the block is not.
    """

    __slots__ = ()

    def __del__(self) -> None:
        try:
            self.address = 0  # the block is free
            home = self._home
            if len(home.free) > home.trim_above:
                home.pool.trim(home)
        except AttributeError:
            return  # an interrupt came before it had a size class
        except KeyboardInterrupt:
            # An exception in a finalizer is lost, so interrupt again after it; nothing below checks for interrupts.
            for _ in _INTERRUPTS:
                return


_ADDRESS: Any = vars(Buffer)["address"]  # the slot of every buffer; a subclass may override the attribute


def address_of(buffer: Buffer) -> Address:
    """The address of a buffer, even if its pool refuses reads."""
    address: Address = _ADDRESS.__get__(buffer)
    return address


def set_address(buffer: Buffer, address: int) -> None:
    """Replace the address of a buffer; the old block becomes free unless another reference holds it."""
    _ADDRESS.__set__(buffer, address)


class SizeClass:
    """Blocks of one size, and the free list of them.

    `free` needs no lock: ``append`` and ``pop`` of a list are atomic, and the thread that pops an address owns it.

    Attributes:
        addresses: An iterator that takes a free block, as an address that returns it; raises IndexError if none is
            free.
        buffer: The type of its buffers.
    """

    __slots__ = (
        "address_type",
        "addresses",
        "blocks_per_region",
        "buffer",
        "free",
        "last_use",
        "nbytes",
        "order",
        "pool",
        "regions",
        "trim_above",
    )

    def __init__(self, nbytes: int, pool: BufferPool) -> None:
        self.nbytes = nbytes
        self.pool = pool
        self.free: list[int] = []
        self.address_type = freeing_address_type(self.free.append)
        self.addresses: Iterator[int] = map(self.address_type, map(list.pop, repeat(self.free)))
        self.regions: dict[int, _Region] = {}  # address of the first block -> region
        # Address of a block -> rank in the order of mapping; 0 if an interrupted trim removed it.
        self.order: dict[int, int] = defaultdict(int)
        self.last_use = 0
        big = nbytes >= BIG_BYTES
        self.buffer = pool.buffer_type(nbytes)
        self.blocks_per_region = 1 if big else max(4, min(64, (1 << 18) // nbytes))
        self.trim_above = pool.idle_limit // UNTRIMMED_SHARE // nbytes if big else self.blocks_kept

    @property
    def blocks_kept(self) -> int:
        """The number of idle small blocks up to which the class is not trimmed."""
        return max(self.blocks_per_region, SMALL_IDLE_BYTES // self.nbytes)

    def take(self) -> Buffer:
        """A block of this class, with unspecified contents."""
        block = self.buffer()
        block._home = self
        self.fill(block)
        return block

    def take_first(self) -> Buffer:
        """`take` the free block that was mapped first: first fit among blocks of one size."""
        self.free.sort(key=self.order.__getitem__, reverse=True)
        return self.take()

    def fill(self, block: Buffer) -> None:
        """Set the address of `block`, whose home this is."""
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
    """Bytes of a pool: owned by tensors, idle, and mapped from the system."""

    live_bytes: int
    idle_bytes: int
    mapped_bytes: int


class BufferPool:
    """Blocks of host memory by size class, at most `idle_limit` bytes of them idle in big blocks.

    Beyond the limit, the blocks that were idle longest are unmapped. Small blocks share regions. A class of small
    blocks with over 16 MB idle unmaps regions that are completely idle, when memory is mapped or the class is used.

    Attributes:
        mapped_bytes: Bytes of all blocks, including idle ones.
        is_of_a_trace: Whether a trace owns the pool.
        is_unread: Whether reads are refused, because the trace has not run.
    """

    is_of_a_trace = False
    is_unread = False

    def __init__(self, idle_limit: int | None = None) -> None:
        self.idle_limit = default_idle_limit() if idle_limit is None else idle_limit
        self._classes: dict[int, SizeClass] = {}
        self._lock = threading.RLock()
        self._trims = [None]  # a lock: the thread that pops the item trims
        self._ticks = count(1)
        self._mappings = count()
        self.mapped_bytes = 0

    def buffer_type(self, nbytes: int) -> type[Buffer]:
        """The type of the buffers of a size class."""
        return BigBuffer if nbytes >= BIG_BYTES else Buffer

    def size_class(self, nbytes: int) -> SizeClass:
        """The size class for `nbytes`; callers may keep it."""
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
        """`allocate` the free block of that size that was mapped first.

        Programs that free tensors and allocate others of the same sizes get the blocks that a first-fit allocator, such
        as a chip's, would give.
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
            # Atomic from here on.
            self.mapped_bytes += region.mapped_bytes
            size_class.regions[first] = region
            size_class.free += fresh

    def _trim_idle_classes(self) -> None:
        """Unmap idle regions of classes of small blocks."""
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
        with contextlib.suppress(IndexError):  # another trim is running
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
        """Unmap idle memory beyond the limit, assuming that every class holds as much as it may without a trim."""
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
        """Unmap completely idle regions of a class, while at least `blocks_kept` of its blocks stay idle."""
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
                # Atomic from here on.
                self.mapped_bytes -= region.mapped_bytes
                del claimed[-region.blocks :], size_class.regions[starts[-1]], starts[-1]
        finally:
            size_class.free += claimed

    def _snapshot(self) -> list[SizeClass]:
        return list(self._classes.values())

    def statistics(self) -> PoolStatistics:
        """Bytes live, idle and mapped; exact while no other thread allocates."""
        live = idle = mapped = 0
        for size_class in self._snapshot():
            regions = list(size_class.regions.values())
            free = len(size_class.free)
            live += (sum(region.blocks for region in regions) - free) * size_class.nbytes
            idle += free * size_class.nbytes
            mapped += sum(region.mapped_bytes for region in regions)
        return PoolStatistics(live, idle, mapped)

    def forget_other_threads(self) -> None:
        """In a forked child: replace a lock that a thread of the parent may have held."""
        self._lock = threading.RLock()
        self._trims = [None]


def _idle_regions(size_class: SizeClass, claimed: list[int]) -> list[int]:
    """The first blocks of regions whose blocks are all `claimed`; sorts `claimed` so that these blocks come last."""
    starts = sorted(size_class.regions)
    by_region: dict[int, list[int]] = {}
    for address in claimed:
        by_region.setdefault(starts[bisect_right(starts, address) - 1], []).append(address)
    idle = [start for start, blocks in by_region.items() if len(blocks) == size_class.regions[start].blocks]
    parts = [blocks for start, blocks in by_region.items() if start not in idle]
    claimed[:] = chain.from_iterable([*parts, *(by_region[start] for start in idle)])
    return idle


def class_bytes(nbytes: int) -> int:
    """`nbytes` rounded up to a size class: multiples of 64 up to 512, then four classes per power of two."""
    if nbytes <= 512:
        return max(ALIGNMENT, -(-nbytes // ALIGNMENT) * ALIGNMENT)
    step = 1 << ((nbytes - 1).bit_length() - 3)
    return -(-nbytes // step) * step


def default_idle_limit() -> int:
    """An eighth of the machine's memory, at least 256 MB."""
    return max(256 << 20, host_memory_bytes() // 8)


def host_memory_bytes() -> int:
    """The physical memory of the machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _pitch(nbytes: int) -> int:
    """Bytes from one small block to the next: padded if adjacent blocks would start at the same page offset."""
    return nbytes + SPREAD if nbytes % 4096 == 0 else nbytes


def _map(nbytes: int) -> tuple[mmap.mmap, int]:
    # Private, unlike mmap's default: shared anonymous memory gets no huge pages, and a forked child would write to it.
    memory = mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return memory, ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _advise_huge_pages(memory: mmap.mmap, offset: int, nbytes: int) -> None:
    """Request huge pages where at least half of one is used; the rest keeps 4 KB pages."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):  # not Linux
        return
    pages = (nbytes + HUGE_PAGE // 2) // HUGE_PAGE
    with contextlib.suppress(OSError):  # a system without huge pages: the first use is slower
        memory.madvise(mmap.MADV_HUGEPAGE, offset, pages * HUGE_PAGE)


HOST_POOL = BufferPool()
"""The memory of every device: all devices run on one host, so another device can reuse a block."""

os.register_at_fork(after_in_child=HOST_POOL.forget_other_threads)
