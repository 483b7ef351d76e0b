"""Accounting of L1: the bytes of tensors on every core, checked against the target before anything runs.

Data is in host memory. The account counts the bytes that a chip's allocator would place on each core, shard by shard,
and refuses tensors that would not fit. One Python int holds the counts of all cores, 48 bits each, so allocating or
freeing a tensor is one addition, and a check is one subtraction.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import repeat
from typing import Any

from ttnn_jit.diagnostics.errors import GridError, L1CapacityError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.process.finalizers import finalizer_callback
from ttnn_jit.specs.cores.sharding import folded_2d, shard_cores
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc
from ttnn_jit.specs.tensor_spec import CoreCoord, Layout, MemoryConfig, TensorSpec

LANE_BITS = 48

_MAX_BYTES = (1 << (LANE_BITS - 2)) - 1  # a lane's top bit guards against borrows

_LISTED = 8  # the most tensors that an error names, largest first


class Lease:
    """The L1 bytes of one tensor, a lane for each core; they are released when the object dies.

    Attributes:
        packed: The bytes; set once the account has room for them.
        key: The key of the lease in its account; set likewise.
    """

    __slots__ = ("key", "packed")

    packed: int
    key: int


@dataclass(frozen=True)
class CoreMemory:
    """One core's L1 in bytes: used by tensors, peak use (circular buffers included), and capacity."""

    core: CoreCoord
    used: int
    high_water: int
    capacity: int


@dataclass(frozen=True)
class MemoryView:
    """The result of `device.memory_view()`: every core, and the live L1 tensors with their most bytes on a core."""

    cores: tuple[CoreMemory, ...]
    tensors: tuple[tuple[TensorSpec, int], ...]

    @property
    def high_water(self) -> int:
        """The highest peak of a core, in bytes."""
        return max(core.high_water for core in self.cores)

    @property
    def used(self) -> int:
        """Bytes of tensors on the fullest core."""
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

    # One lock for all accounts, which a forked child replaces. Code that reads `_used` and writes it back makes no call
    # in between, so that it is atomic.
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
        """In a forked child: replace a lock that a thread of the parent may have held."""
        cls._lock = threading.RLock()

    def lease(self, spec: TensorSpec) -> Lease:
        """Charge a tensor of `spec` until the lease dies.

        Raises:
            L1CapacityError: A core lacks room; the text names it and its tensors.
        """
        lease: Lease = self._lease()
        self._charge(packed_bytes(spec, self._grid), spec, lease)
        return lease

    def require(self, nbytes: int, what: str) -> None:
        """Refuse a call that needs `nbytes` more on every core while it runs.

        Raises:
            L1CapacityError: A core has fewer bytes left.
        """
        self._charge(nbytes * self._ones, what, None)

    def _charge(self, packed: int, what: object, lease: Lease | None) -> None:
        guards = self._guards
        with self._lock:
            self._reclaim()
            used = self._used + packed
            fits = (self._limit - used) & guards == guards
            if fits:
                if lease is not None and isinstance(what, TensorSpec):
                    key = id(lease)
                    # Atomic from here on.
                    self._used = used
                    lease.key, lease.packed = key, packed
                    self._live[key] = what, packed
                if (self._high_water - used) & guards != guards:
                    self._high_water = _lanewise_max(self._high_water ^ guards, used, guards) | guards
        if not fits:
            raise self._overflow(used, packed, what)

    def _reclaim(self) -> None:
        """Release the bytes of leases that died."""
        if self._ended:
            with contextlib.suppress(IndexError):
                for lease in map(list.pop, repeat(self._ended)):
                    try:
                        self._used -= lease.packed
                        del self._live[lease.key]
                    except AttributeError:
                        continue  # the account had no room for it, or an interrupt came before it was charged

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
        """A snapshot of the account."""
        with self._lock:
            self._reclaim()
        count = math.prod(self._grid)
        used, peaks = _lanes(self._used, count), _lanes(self._high_water ^ self._guards, count)
        cores = tuple(
            CoreMemory(_core_of(lane, self._grid), used[lane], peaks[lane], self._capacity) for lane in range(count)
        )
        live = tuple((spec, max(_lanes(packed, count))) for spec, packed in tuple(self._live.values()))
        return MemoryView(cores, live)


os.register_at_fork(after_in_child=L1Account.forget_other_threads)


def in_l1(spec: TensorSpec) -> bool:
    """Whether a tensor of `spec` is in L1."""
    return spec.memory_config.is_l1()


def circular_buffer_bytes(descriptor: Mapping[str, Any]) -> int:
    """Bytes on a core of a kernel's circular buffers, from its program descriptor; those that alias shards are free."""
    return sum(cb["num_pages"] * cb["page_size"] for cb in descriptor["cbs"] if cb["access"] == "stream")


def page_bytes(spec: TensorSpec) -> int:
    """Bytes of a page: a tile, or a row (of a shard, if sharded)."""
    if spec.layout is Layout.TILE:
        return spec.dtype.nbytes(TILE_HEIGHT * TILE_WIDTH)
    config = spec.memory_config
    width = config.shard_shape[1] if config.is_sharded() else folded_2d(spec.padded_shape)[1]
    return width * spec.dtype.itemsize


def core_bytes(spec: TensorSpec, grid: tuple[int, int]) -> list[int]:
    """Bytes of a tensor on every core of a grid of (rows, columns), in row-major order; 0 if it is not in L1.

    Raises:
        GridError: As `packed_bytes`.
    """
    return [*_core_bytes(spec, grid)]


@cache
def packed_bytes(spec: TensorSpec, grid: tuple[int, int]) -> int:
    """Bytes of a tensor on every core of a grid of (rows, columns), a lane each; 0 for a tensor that is not in L1.

    Shards count in full, as the allocator reserves them. Pages of an interleaved tensor (tiles, or rows) are
    distributed round-robin over the cores.

    Raises:
        GridError: The tensor is sharded over a core outside of the grid.
    """
    shifts = range(0, LANE_BITS * math.prod(grid), LANE_BITS)
    return sum(map(operator.lshift, _core_bytes(spec, grid), shifts)) if in_l1(spec) else 0


@lru_cache(maxsize=256)
def _core_bytes(spec: TensorSpec, grid: tuple[int, int]) -> Sequence[int]:
    rows, columns = grid
    bytes_of_lane = [0] * (rows * columns)
    if not in_l1(spec):
        return bytes_of_lane
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
    return bytes_of_lane


def _sharded_over(config: MemoryConfig) -> Iterable[CoreCoord]:
    """The last core of each rectangle of the shard grid: if these are on the device, all cores are."""
    spec = config.nd_shard_spec or config.shard_spec
    return (each.end for each in spec.grid.ranges()) if spec else ()


def _core_of(lane: int, grid: tuple[int, int]) -> CoreCoord:
    return CoreCoord(lane % grid[1], lane // grid[1])


def _lane(packed: int, lane: int) -> int:
    return (packed >> (LANE_BITS * lane)) & ((1 << LANE_BITS) - 1)


def _lanes(packed: int, count: int) -> list[int]:
    return [_lane(packed, lane) for lane in range(count)]


def _lanewise_max(first: int, second: int, guards: int) -> int:
    """The larger number of every lane; `guards` has the top bit of each, which no number has."""
    is_first = ((first | guards) - second) & guards  # a guard stays where nothing was borrowed from it
    chosen = is_first - (is_first >> (LANE_BITS - 1))
    return second ^ ((first ^ second) & chosen)
