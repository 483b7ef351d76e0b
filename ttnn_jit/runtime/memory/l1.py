"""Accounting of L1: the bytes of tensors on every core, checked against the target before anything runs.

Data is in host memory; the account counts what a chip's allocator would have to place, shard by shard, and refuses what
would not fit. One Python int holds the counts of all cores, 48 bits each, so that allocating or freeing a tensor is one
addition, and a check one subtraction.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import repeat
from typing import Any

from ttnn_jit.diagnostics.errors import GridError, L1CapacityError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.finalizers import finalizer_callback
from ttnn_jit.specs.cores.sharding import folded_2d, shard_cores
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc
from ttnn_jit.specs.tensor_spec import CoreCoord, Layout, MemoryConfig, TensorSpec

LANE_BITS = 48

_MAX_BYTES = (1 << (LANE_BITS - 2)) - 1  # a lane's top bit is the guard of subtractions

_LISTED = 8  # tensors that an error names, the largest


class Lease:
    """The L1 bytes of one tensor, a lane for each core; they are given back when the object dies.

    Attributes:
        packed: The bytes; not set before there is room for them.
        key: By which its account knows it; likewise.
    """

    __slots__ = ("key", "packed")

    packed: int
    key: int


@dataclass(frozen=True)
class CoreMemory:
    """One core's L1: bytes in tensors now, the most there were at once (circular buffers included), and its size."""

    core: CoreCoord
    used: int
    high_water: int
    capacity: int


@dataclass(frozen=True)
class MemoryView:
    """What `device.memory_view()` gives: every core, and the live tensors in L1 with the bytes on their fullest."""

    cores: tuple[CoreMemory, ...]
    tensors: tuple[tuple[TensorSpec, int], ...]

    @property
    def high_water(self) -> int:
        """Bytes of the core that was fullest, when it was."""
        return max(core.high_water for core in self.cores)

    @property
    def used(self) -> int:
        """Bytes in tensors on the core that is fullest now."""
        return max(core.used for core in self.cores)

    def __str__(self) -> str:
        capacity = self.cores[0].capacity
        lines = [
            f"L1 of {len(self.cores)} cores, {capacity:,} bytes each: {self.used:,} used on the fullest, "
            f"high water {self.high_water:,}"
        ]
        lines += [f"  {nbytes:>12,} bytes per core  {spec}" for spec, nbytes in self.tensors]
        return "\n".join(lines)


class L1Account:
    """The L1 of one device.

    Args:
        target: Its grid and the bytes of a core.
    """

    # Of all accounts, for a forked child to replace. What reads `_used` and writes it back makes no call in between, so
    # that no interrupt divides it.
    _lock = threading.RLock()

    def __init__(self, target: SystemDesc) -> None:
        self._grid = target.grid
        self._capacity = min(target.l1_bytes, _MAX_BYTES)
        self._used = 0
        self._live: dict[int, tuple[TensorSpec, int]] = {}  # by the key of their lease
        self._ended: list[Lease] = []
        self._lease = type("Lease", (Lease,), {"__slots__": (), "__del__": finalizer_callback(self._ended.append)})
        every = sum(1 << (LANE_BITS * lane) for lane in range(math.prod(target.grid)))
        self._ones = every
        self._guards = every << (LANE_BITS - 1)
        self._limit = (every * self._capacity) | self._guards
        self._high_water = self._guards

    @classmethod
    def forget_other_threads(cls) -> None:
        """In a forked child: drop a lock that a thread of the parent may have held."""
        cls._lock = threading.RLock()

    def lease(self, spec: TensorSpec) -> Lease:
        """Room for a tensor of `spec`, until the lease dies.

        Raises:
            L1CapacityError: A core would hold more than it can; the text names it and what lies there.
        """
        lease: Lease = self._lease()
        self._charge(packed_bytes(spec, self._grid), spec, lease)
        return lease

    def require(self, nbytes: int, what: str) -> None:
        """Refuse to run what needs `nbytes` more on every core for the time of a call.

        Raises:
            L1CapacityError: A core has less left.
        """
        self._charge(nbytes * self._ones, what, None)

    def _charge(self, packed: int, what: object, lease: Lease | None) -> None:
        guards = self._guards
        with self._lock:
            self._settle()
            used = self._used + packed
            fits = (self._limit - used) & guards == guards
            if fits:
                if lease is not None and isinstance(what, TensorSpec):
                    key = id(lease)
                    # One step from here on.
                    self._used = used
                    lease.key, lease.packed = key, packed
                    self._live[key] = what, packed
                if (self._high_water - used) & guards != guards:
                    self._high_water = _lanewise_max(self._high_water ^ guards, used, math.prod(self._grid)) | guards
        if not fits:
            raise self._overflow(used, packed, what)

    def _settle(self) -> None:
        """Give back the bytes of leases that ended."""
        if self._ended:
            with contextlib.suppress(IndexError):
                for lease in map(list.pop, repeat(self._ended)):
                    try:
                        self._used -= lease.packed
                        del self._live[lease.key]
                    except AttributeError:
                        continue  # there was no room for it, or an interrupt came before

    def _overflow(self, used: int, packed: int, what: object) -> L1CapacityError:
        lanes = _lanes(used, math.prod(self._grid))
        lane = max(range(len(lanes)), key=lanes.__getitem__)
        core = _core_of(lane, self._grid)
        there = [(spec, nbytes) for spec, held in tuple(self._live.values()) if (nbytes := _lane(held, lane))]
        there.sort(key=lambda held: -held[1])
        listed = "; ".join(f"{nbytes:,} bytes of {spec}" for spec, nbytes in there[:_LISTED]) or "nothing"
        if len(there) > _LISTED:
            listed += f"; and {len(there) - _LISTED} more"
        return L1CapacityError(
            f"L1 of core {core} is too small: {what} needs {_lane(packed, lane):,} bytes there, of "
            f"{self._capacity:,} there are {self._capacity - (lanes[lane] - _lane(packed, lane)):,} left. "
            f"It holds {listed}",
            help="deallocate tensors, spread them over more cores, or keep them in `ttnn.DRAM_MEMORY_CONFIG`"
            if there
            else "spread it over more cores, or keep it in `ttnn.DRAM_MEMORY_CONFIG`",
        )

    def view(self) -> MemoryView:
        """The account as it stands."""
        with self._lock:
            self._settle()
        count = math.prod(self._grid)
        used, peaks = _lanes(self._used, count), _lanes(self._high_water ^ self._guards, count)
        cores = tuple(
            CoreMemory(_core_of(lane, self._grid), used[lane], peaks[lane], self._capacity) for lane in range(count)
        )
        live = tuple((spec, max(_lanes(packed, count))) for spec, packed in tuple(self._live.values()))
        return MemoryView(cores, live)


os.register_at_fork(after_in_child=L1Account.forget_other_threads)


def in_l1(spec: TensorSpec) -> bool:
    """Whether a tensor of `spec` lies in L1."""
    return spec.memory_config.is_l1()


def circular_buffer_bytes(descriptor: Mapping[str, Any]) -> int:
    """Bytes on a core of a kernel's circular buffers, from its program descriptor; one that is a shard is free."""
    return sum(cb["num_pages"] * cb["page_size"] for cb in descriptor["cbs"] if cb["access"] == "stream")


def page_bytes(spec: TensorSpec) -> int:
    """Bytes of a page: a tile, or a row, of which a shard has its part."""
    if spec.layout is Layout.TILE:
        return spec.dtype.nbytes(TILE_HEIGHT * TILE_WIDTH)
    config = spec.memory_config
    width = config.shard_shape[1] if config.is_sharded() else folded_2d(spec.padded_shape)[1]
    return width * spec.dtype.itemsize


def core_bytes(spec: TensorSpec, grid: tuple[int, int]) -> list[int]:
    """Bytes of a tensor on every core of a grid of (rows, columns), row by row."""
    return _lanes(packed_bytes(spec, grid), math.prod(grid))


@cache
def packed_bytes(spec: TensorSpec, grid: tuple[int, int]) -> int:
    """Bytes of a tensor on every core of a grid of (rows, columns), a lane each; 0 for what is not in L1.

    Shards count in full, as the allocator reserves them; pages of an interleaved tensor (tiles, or rows) go round the
    cores.

    Raises:
        GridError: A core that may hold shards is none of the grid's.
    """
    if not in_l1(spec):
        return 0
    rows, columns = grid
    bytes_of_lane = [0] * (rows * columns)
    config = spec.memory_config
    if config.is_sharded():
        shard_bytes = spec.dtype.nbytes(math.prod(config.shard_shape))
        core = next((each for each in _sharded_over(config) if each.x >= columns or each.y >= rows), None)
        if core is not None:
            raise GridError(f"{spec} is sharded over core {core}; the device has x={columns}, y={rows} cores")
        for core in shard_cores(spec.padded_shape, config):
            bytes_of_lane[core.y * columns + core.x] += shard_bytes
    else:
        height, width = folded_2d(spec.padded_shape)
        tiled = spec.layout is Layout.TILE
        page = page_bytes(spec)
        pages = (height // TILE_HEIGHT) * (width // TILE_WIDTH) if tiled else height
        for lane in range(len(bytes_of_lane)):
            bytes_of_lane[lane] = page * (pages // len(bytes_of_lane) + (lane < pages % len(bytes_of_lane)))
    return sum(nbytes << (LANE_BITS * lane) for lane, nbytes in enumerate(bytes_of_lane))


def _sharded_over(config: MemoryConfig) -> Iterable[CoreCoord]:
    """The last cores of a grid's rectangles: all of them are on the device if these are."""
    spec = config.nd_shard_spec or config.shard_spec
    return (each.end for each in spec.grid.ranges()) if spec else ()


def _core_of(lane: int, grid: tuple[int, int]) -> CoreCoord:
    return CoreCoord(lane % grid[1], lane // grid[1])


def _lane(packed: int, lane: int) -> int:
    return (packed >> (LANE_BITS * lane)) & ((1 << LANE_BITS) - 1)


def _lanes(packed: int, count: int) -> list[int]:
    return [_lane(packed, lane) for lane in range(count)]


def _lanewise_max(first: int, second: int, count: int) -> int:
    pairs = zip(_lanes(first, count), _lanes(second, count), strict=True)
    return sum(max(pair) << (LANE_BITS * lane) for lane, pair in enumerate(pairs))
