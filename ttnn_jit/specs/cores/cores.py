"""ttnn's cores, grids and core ranges."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence

from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.checks import check_kind, whole_numbers
from ttnn_jit.specs.extents.extent import specialized

MAX_COORDINATE = 255
"""The largest coordinate of a core; it bounds the enumeration of the cores of a range."""


@functools.total_ordering
@dataclass(frozen=True)
class CoreCoord:
    """A core: x is the column, y the row. The order compares x first."""

    x: int
    y: int

    def __lt__(self, other: object) -> bool:
        return (self.x, self.y) < (other.x, other.y) if isinstance(other, CoreCoord) else NotImplemented

    def __str__(self) -> str:
        return f"(x={self.x}, y={self.y})"


@dataclass(frozen=True)
class CoreGrid:
    """A grid of x columns by y rows of cores. Keyword only, as in ttnn."""

    def __init__(self, *, x: int, y: int) -> None:
        x, y = map(specialized, whole_numbers((x, y), "a core grid"))
        if x < 1 or y < 1:
            raise GridError(f"a core grid needs at least one core, got x={x}, y={y}")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    x: int
    y: int

    @property
    def num_cores(self) -> int:
        """Cores in the grid."""
        return self.x * self.y


@dataclass(frozen=True)
class CoreRange:
    """The rectangle of cores from `start` to `end`, both inclusive."""

    start: CoreCoord
    end: CoreCoord

    def __init__(self, start: CoreCoord | tuple[int, int], end: CoreCoord | tuple[int, int]) -> None:
        object.__setattr__(self, "start", core_coord(start))
        object.__setattr__(self, "end", core_coord(end))
        if self.end.x < self.start.x or self.end.y < self.start.y:
            raise GridError(f"a core range ends before it starts: {self.start} to {self.end}")

    def grid_size(self) -> CoreCoord:
        """Columns and rows of the range."""
        return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)

    def contains(self, other: CoreCoord | CoreRange | CoreRangeSet) -> bool:
        """Whether a core, or every core of a range or set, is in this range."""
        return CoreRangeSet(self).contains(other)

    def __repr__(self) -> str:
        return f"CoreRange({self.start} to {self.end})"


def core_coord(value: CoreCoord | Sequence[int]) -> CoreCoord:
    """`value` as a core.

    Raises:
        GridError: It is none.
    """
    pair = [*map(specialized, whole_numbers((value.x, value.y) if isinstance(value, CoreCoord) else value, "a core"))]
    if len(pair) != 2:
        raise GridError(f"a core has a column and a row, got {list(pair)}")
    core = CoreCoord(*pair)
    if min(pair) < 0 or max(pair) > MAX_COORDINATE:
        raise GridError(f"a core has coordinates of 0 to {MAX_COORDINATE}, got {core}")
    return core


class CoreRangeSet:
    """A set of core ranges, compared as a set; it may be empty."""

    def __init__(self, core_ranges: Iterable[CoreRange] | CoreRange = ()) -> None:
        if not isinstance(core_ranges, CoreRange | Iterable):
            raise ArgumentError(f"core ranges must be a list or set of ttnn.CoreRange, got {type_name(core_ranges)}")
        self._ranges = frozenset((core_ranges,) if isinstance(core_ranges, CoreRange) else core_ranges)
        for core_range in self._ranges:
            check_kind(core_range, CoreRange, "a core range")
        self._cores = _each_core(self._ranges)
        if len(self._cores) != self.num_cores():
            raise GridError(f"core ranges overlap: {self.ranges()}")

    def ranges(self) -> list[CoreRange]:
        """The ranges, in order of their start."""
        return sorted(self._ranges, key=lambda r: (r.start.y, r.start.x))

    def num_cores(self) -> int:
        """Cores in all ranges."""
        return sum(r.grid_size().x * r.grid_size().y for r in self._ranges)

    def cores(self) -> tuple[CoreCoord, ...]:
        """Every core, row by row."""
        return self._cores

    def size(self) -> int:
        """Ranges in the set."""
        return len(self._ranges)

    def empty(self) -> bool:
        """Whether there are no cores."""
        return not self._ranges

    def contains(self, other: CoreCoord | CoreRange | CoreRangeSet) -> bool:
        """Whether a core, or every core of a range or set, is in this set."""
        return _cores_of(other) <= set(self.cores())

    def subtract(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores that are not in `other`."""
        return _of_cores(set(self.cores()) - _cores_of(other))

    def merge(self, other: CoreRangeSet) -> CoreRangeSet:
        """The cores of both, with adjacent rows merged to ranges."""
        return _of_cores(set(self.cores()) | _cores_of(other))

    def bounding_box(self) -> CoreRange:
        """The smallest range that holds every range.

        Raises:
            GridError: There are no cores.
        """
        require_cores(self)
        return CoreRange(
            (min(r.start.x for r in self._ranges), min(r.start.y for r in self._ranges)),
            (max(r.end.x for r in self._ranges), max(r.end.y for r in self._ranges)),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CoreRangeSet) and self._ranges == other._ranges

    def __hash__(self) -> int:
        return hash(self._ranges)

    def __repr__(self) -> str:
        return f"CoreRangeSet({self.ranges()})"


def _each_core(ranges: Iterable[CoreRange]) -> tuple[CoreCoord, ...]:
    """Every core of some ranges, row by row."""
    found = {
        (y, x)
        for each in ranges
        for y in range(each.start.y, each.end.y + 1)
        for x in range(each.start.x, each.end.x + 1)
    }
    return tuple([CoreCoord(x, y) for y, x in sorted(found)])


def _cores_of(cores: CoreCoord | CoreRange | CoreRangeSet) -> set[CoreCoord]:
    if isinstance(cores, (CoreCoord, tuple)):
        return {core_coord(cores)}
    found = CoreRangeSet(cores) if isinstance(cores, CoreRange) else cores
    check_kind(found, CoreRangeSet, "the cores")
    return set(found.cores())


def _of_cores(cores: Iterable[CoreCoord]) -> CoreRangeSet:
    """Cores as rectangles: runs along rows, with equal runs of adjacent rows merged."""
    blocks: dict[tuple[int, int, int], CoreRange] = {}
    for run in runs_along_rows(
        sorted(cores, key=lambda core: (core.y, core.x))
    ):  # by columns and row: the rectangle above that it extends
        above = blocks.pop((run.start.x, run.end.x, run.start.y - 1), run)
        blocks[run.start.x, run.end.x, run.end.y] = CoreRange(above.start, run.end)
    return CoreRangeSet(blocks.values())


def runs_along_rows(cores: Iterable[CoreCoord]) -> list[CoreRange]:
    """Cores in order, as runs of adjacent cores of a row."""
    singles = (CoreRange(core, core) for core in cores)
    return merged(singles, lambda run, core: (run.end.x + 1, run.end.y) == (core.start.x, core.start.y))


def merged(ranges: Iterable[CoreRange], belong: Callable[[CoreRange, CoreRange], bool]) -> list[CoreRange]:
    """`ranges` with neighbours merged that `belong` together."""
    found: list[CoreRange] = []
    for each in ranges:
        if found and belong(found[-1], each):
            found[-1] = CoreRange(found[-1].start, each.end)
        else:
            found.append(each)
    return found


def require_cores(grid: object) -> CoreRangeSet:
    """Returns `grid` if it is a set of cores that is not empty.

    Raises:
        ArgumentError: It is no `CoreRangeSet`.
        GridError: It has no cores.
    """
    cores = check_kind(grid, CoreRangeSet, "the grid of a shard spec")
    if not cores.ranges():
        raise GridError("a core range set needs at least one range here")
    return cores
