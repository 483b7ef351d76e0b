"""How a launch is cut into chunks that threads can take: along one loop, by moving addresses and shortening extents.

A chunk is a launch of the same kernel, so what a lane computes cannot depend on the number of threads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cache

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.runtime.plans.launches import Launch

MIN_ELEMENTS = 1 << 14
"""Of a chunk: 64 KB of float32 per stream, so that the cost of taking one is negligible. Chunks of a single loop are
multiples of it, because kernels rely on the alignment of their operands."""
MAX_ELEMENTS = 1 << 17
"""512 KB of float32 per stream. Large chunks use memory better than small ones that two CPUs take in turn, but the
caller waits for the chunk of a thread that lost its CPU (benchmarks/programs/memory.py)."""
CHUNKS_PER_CPU = 8
"""Within those bounds: a CPU that starts late or ends early leaves at most an eighth of its share."""
CHUNKS_PER_CPU_OF_REUSE = 2
"""Where no operand moves along all loops, so that chunks read, and pack, the same elements again: few large ones, as
large as that makes them, of loops along which all move, where there are enough."""
ROWS_OF_A_CHUNK = 256
"""Of windows, below which columns are cut instead, which each chunk packs (benchmarks/kernels/convolution.py)."""
ELEMENTS_OF_REGISTER_TILES = 32
"""Along the innermost loop, and those along which an operand stays, such a chunk has a multiple of these: kernels
compute so many rows or columns at once."""


ELEMENTS_OF_LINES = 64
"""Such a chunk of rows has a multiple of these, whole lines of the cache: kernels may store rows past the caches."""


@dataclass(frozen=True)
class Chunks:
    """A launch in parts.

    Attributes:
        count: Of chunks, at least 2.
        params: The launch's params for every chunk but the last.
        last_params: The last chunk's.
        steps: Per operand, the bytes from one chunk to the next.
        wakes: Whether they are worth waking a thread for.
    """

    count: int
    params: tuple[int, ...]
    last_params: tuple[int, ...]
    steps: tuple[int, ...]
    wakes: bool


def predicted_ns(launch: Launch, nbytes: int) -> float:
    """Time of a launch on one thread: its arithmetic or the `nbytes` it touches, whichever takes longer."""
    elements = math.prod(launch.params[: launch.loops])
    return max(elements * launch.picoseconds / 1000, nbytes / HOST_COSTS.bytes_per_ns)


def chunks_of(launch: Launch, itemsizes: Sequence[int], nbytes: int) -> Chunks | None:
    """The chunks of a launch; None if it is too short to share, or of a kernel that must run whole.

    Args:
        launch: Its params are those of `ttnn_jit.codegen.schedules.launch`.
        itemsizes: Per operand, the bytes of an element.
        nbytes: That the launch touches.
    """
    if not launch.picoseconds or predicted_ns(launch, nbytes) < HOST_COSTS.shared_from_ns:
        return None
    met = [_elements(launch, index) for index, _ in enumerate(launch.operands)]
    moved = sum(count * itemsize for count, itemsize in zip(met, itemsizes, strict=True))
    time = predicted_ns(launch, min(nbytes, moved))  # of a tensor, a launch may meet a small part
    if time < HOST_COSTS.shared_from_ns:
        return None
    loops = launch.loops
    extents, strides = launch.params[:loops], launch.params[loops:]
    elements = max(met)
    evenly = _loops_to_cut_evenly(launch) if elements == math.prod(extents) else []
    found = _whole_loop(launch, elements, evenly) if evenly else _loop_of_reuse(launch, elements)
    if found is None:
        return None
    loop, size = found
    count = -(-extents[loop] // size)
    if count < 2:
        return None
    steps = tuple(strides[operand * loops + loop] * size * itemsize for operand, itemsize in enumerate(itemsizes))
    rest = extents[loop] - size * (count - 1)
    wakes = time >= HOST_COSTS.wakes_from_ns
    return Chunks(count, _with_extent(launch, loop, size), _with_extent(launch, loop, rest), steps, wakes)


def _loops_to_cut_evenly(launch: Launch) -> list[int]:
    """Loops of which a chunk may have any part.

    That is the outermost one around the innermost that is long enough to share: a few elements of each row are shreds
    of it, and what lies beside each other is met by one thread. Columns that are reduced are cut into wide strips, by
    the other rule.
    """
    around = [loop for loop in _cuttable(launch) if loop and launch.params[loop] >= _enough()]
    has_columns = bool(launch.reduced) and 0 not in launch.reduced
    return around[-1:] if around or has_columns else _cuttable(launch)


def _whole_loop(launch: Launch, elements: int, loops: Sequence[int]) -> tuple[int, int]:
    """The longest of these loops, and its extent in a chunk; the outermost one of a kernel that walks tiles or blocks.

    A part of each row of tiles would be walked a few lines of memory at a time.
    """
    loop = max(loops) if {0, 1}.issubset(launch.uncut) else max(loops, key=launch.params.__getitem__)
    wanted = min(_evenly(elements, CHUNKS_PER_CPU), MAX_ELEMENTS)
    size = max(1, wanted * launch.params[loop] // elements)
    return loop, size if loop else -(-size // ELEMENTS_OF_LINES) * ELEMENTS_OF_LINES


def _loop_of_reuse(launch: Launch, elements: int) -> tuple[int, int] | None:
    """The same where chunks read elements again: as few as possible."""
    cuttable = _cuttable(launch)
    long = (loop for loop in cuttable if launch.params[loop] >= _enough())
    apart = [loop for loop in long if all(launch.params[launch.loops + loop :: launch.loops])]
    loop = max(apart or cuttable, key=launch.params.__getitem__, default=None)
    if loop is None:
        return None
    if not apart and (around := _loops_around_rows(launch)):
        cut = 0 if _has_few_rows(launch) else around[-1]
        return cut, -(-launch.params[cut] // _enough())
    size = max(1, _evenly(elements, CHUNKS_PER_CPU_OF_REUSE) * launch.params[loop] // elements)
    return loop, size if apart and loop else -(-size // ELEMENTS_OF_REGISTER_TILES) * ELEMENTS_OF_REGISTER_TILES


def _loops_around_rows(launch: Launch) -> list[int]:
    """Loops around the rows of windows, of images or of their rows, of which threads get alike parts."""
    if len(launch.reduced) < 2:
        return []
    extents, enough = launch.params, _enough()
    return [loop for loop in _cuttable(launch)[2:] if extents[loop] % enough == 0 or extents[loop] >= 4 * enough]


def _has_few_rows(launch: Launch) -> bool:
    """Whether packing the columns of windows for each part of their rows takes longer than reading these for all."""
    if 0 in launch.reduced or launch.params[0] % (ELEMENTS_OF_REGISTER_TILES * _enough()):
        return False
    return math.prod(launch.params[loop] for loop in _cuttable(launch)[1:]) < ROWS_OF_A_CHUNK * _enough()


def _enough() -> int:
    """How long a loop is whose elements threads can share among them as they are."""
    return CHUNKS_PER_CPU_OF_REUSE * _cpus()


@cache
def _cpus() -> int:
    return os.cpu_count() or 1  # which reads a file of the kernel's at every call


def _cuttable(launch: Launch) -> list[int]:
    return [loop for loop in range(launch.loops) if loop not in launch.uncut]


def _evenly(elements: int, per_cpu: int) -> int:
    even = elements // (per_cpu * _cpus())
    return max(even - even % MIN_ELEMENTS, MIN_ELEMENTS)


def _elements(launch: Launch, index: int) -> int:
    """How many elements of an operand the loops meet."""
    loops = launch.loops
    strides = launch.params[loops * (1 + index) : loops * (2 + index)]
    return math.prod(extent for extent, stride in zip(launch.params[:loops], strides, strict=True) if stride)


def _with_extent(launch: Launch, loop: int, extent: int) -> tuple[int, ...]:
    return (*launch.params[:loop], extent, *launch.params[loop + 1 :])
