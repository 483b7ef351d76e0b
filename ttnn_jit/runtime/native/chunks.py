"""Cuts a launch into chunks for threads: along one loop, by advancing addresses and shortening extents.

A chunk is a launch of the same kernel, so results do not depend on the number of threads.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from functools import cache

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.runtime.plans.launches import Launch

MIN_ELEMENTS = 1 << 14
"""The least elements of a chunk: 64 KB of float32 per stream, so that the cost of taking a chunk is negligible. Chunks
of a single loop are multiples of it, because kernels rely on the alignment of their operands."""
MAX_ELEMENTS = 1 << 17
"""The most elements of a chunk: 512 KB of float32 per stream. Large chunks use memory better than small ones that two
CPUs take in turn, but the caller waits for the chunk of a preempted thread (benchmarks/programs/memory.py)."""
CHUNKS_PER_CPU = 8
"""Chunks per CPU within those bounds: a CPU that starts late or ends early leaves at most an eighth of its share."""
CHUNKS_PER_CPU_OF_REUSE = 2
"""Chunks per CPU of a launch with reuse, in which no operand moves along all loops: each chunk reads, and packs, some
elements again, so few large chunks are best. Long loops along which all operands move are preferred."""
ROWS_OF_A_CHUNK = 256
"""Rows of windows per chunk. With fewer rows, columns are cut instead, and each chunk packs its columns
(benchmarks/kernels/convolution.py)."""
ELEMENTS_OF_REGISTER_TILES = 32
"""Along the innermost loop, and along loops in which an operand is invariant, the extent of a chunk with reuse is a
multiple of this: kernels compute register tiles of so many rows or columns."""


ELEMENTS_OF_LINES = 64
"""A chunk of a row has a multiple of this, whole cache lines: kernels may store rows by non-temporal stores."""


@dataclass(frozen=True)
class Chunks:
    """A launch divided into chunks.

    Attributes:
        count: Number of chunks, at least 2.
        params: The params of every chunk but the last.
        last_params: The params of the last chunk.
        steps: Per operand, the bytes from one chunk to the next.
        wakes: Whether the launch is long enough to wake a thread.
    """

    count: int
    params: tuple[int, ...]
    last_params: tuple[int, ...]
    steps: tuple[int, ...]
    wakes: bool


def predicted_ns(launch: Launch, nbytes: int) -> float:
    """Predicted time of a launch on one thread: the maximum of its arithmetic and of touching `nbytes`."""
    elements = math.prod(launch.params[: launch.loops])
    return max(elements * launch.picoseconds / 1000, nbytes / HOST_COSTS.bytes_per_ns)


def nanoseconds_of(launch: Launch, itemsizes: Sequence[int], nbytes: int) -> float:
    """Predicted time of a launch on one thread; 0 for one whose kernel runs whole, which may not be thread-safe.

    Arguments are those of `chunks_of`.
    """
    if not launch.picoseconds:
        return 0.0
    moved = sum(map(operator.mul, _touched(launch), itemsizes))
    return predicted_ns(launch, min(nbytes, moved))  # a launch may touch a small part of a tensor


def share_of_a_chunk(count: int) -> int:
    """The items of a chunk, of so many that threads share."""
    return max(1, count // (CHUNKS_PER_CPU * _cpus()))


def chunks_of(launch: Launch, itemsizes: Sequence[int], nbytes: int, nanoseconds: float | None = None) -> Chunks | None:
    """The chunks of a launch; None if it is too short to share or its kernel cannot be divided.

    Args:
        launch: The launch; `ttnn_jit.codegen.schedules.launch` defines its params.
        itemsizes: Per operand, the bytes of an element.
        nbytes: Bytes of the operands' tensors.
        nanoseconds: The result of `nanoseconds_of`, if it is known.
    """
    time = nanoseconds_of(launch, itemsizes, nbytes) if nanoseconds is None else nanoseconds
    if not launch.picoseconds or time < HOST_COSTS.shared_from_ns:
        return None
    loops = launch.loops
    extents, strides = launch.params[:loops], launch.params[loops:]
    elements = max(_touched(launch))
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
    """Loops that may be cut anywhere.

    This is the outermost loop, other than the innermost one, that is long enough to share: then one thread touches
    adjacent elements, not a few elements of every row. Reductions over columns are cut into wide strips, by the rule
    for launches with reuse.
    """
    outer = [loop for loop in _cuttable(launch) if loop and launch.params[loop] >= min_parallel_extent()]
    has_columns = bool(launch.reduced) and 0 not in launch.reduced
    return outer[-1:] if outer or has_columns else _cuttable(launch)


def _whole_loop(launch: Launch, elements: int, loops: Sequence[int]) -> tuple[int, int]:
    """The longest of these loops, or the outermost for a kernel over tiles or blocks; and its extent in a chunk.

    In a chunk that has a part of each row of tiles, only a few lines of memory would be contiguous.
    """
    loop = max(loops) if {0, 1}.issubset(launch.uncut) else max(loops, key=launch.params.__getitem__)
    wanted = min(_even_chunk(elements, CHUNKS_PER_CPU), MAX_ELEMENTS)
    size = max(1, wanted * launch.params[loop] // elements)
    return loop, size if loop else -(-size // ELEMENTS_OF_LINES) * ELEMENTS_OF_LINES


def _loop_of_reuse(launch: Launch, elements: int) -> tuple[int, int] | None:
    """The loop to cut of a launch with reuse, and its extent in a chunk: chunks are few and large."""
    cuttable = _cuttable(launch)
    long = (loop for loop in cuttable if launch.params[loop] >= min_parallel_extent())
    # An operand of one element moves along no loop, and costs nothing to read again.
    moving = [own for own in _strides(launch) if any(own)]
    all_moving = [loop for loop in long if all(own[loop] for own in moving)]
    loop = max(all_moving or cuttable, key=launch.params.__getitem__, default=None)
    if loop is None:
        return None
    if not all_moving and (outer := _loops_around_rows(launch)):
        cut = 0 if _has_few_rows(launch) else outer[-1]
        return cut, -(-launch.params[cut] // min_parallel_extent())
    size = max(1, _even_chunk(elements, CHUNKS_PER_CPU_OF_REUSE) * launch.params[loop] // elements)
    return loop, size if all_moving and loop else -(-size // ELEMENTS_OF_REGISTER_TILES) * ELEMENTS_OF_REGISTER_TILES


def _loops_around_rows(launch: Launch) -> list[int]:
    """Loops around the rows of windows, over images or their rows, that divide evenly among threads."""
    if len(launch.reduced) < 2:
        return []
    extents, least = launch.params, min_parallel_extent()
    return [loop for loop in _cuttable(launch)[2:] if extents[loop] % least == 0 or extents[loop] >= 4 * least]


def _has_few_rows(launch: Launch) -> bool:
    """Whether packing the columns of windows in every chunk of rows takes longer than reading all rows in every one."""
    if 0 in launch.reduced or launch.params[0] % (ELEMENTS_OF_REGISTER_TILES * min_parallel_extent()):
        return False
    return math.prod(launch.params[loop] for loop in _cuttable(launch)[1:]) < ROWS_OF_A_CHUNK * min_parallel_extent()


def _strides(launch: Launch) -> list[tuple[int, ...]]:
    """Per operand, its strides along the loops."""
    loops, params = launch.loops, launch.params
    return [params[start : start + loops] for start in range(loops, len(params), loops)]


def min_parallel_extent() -> int:
    """The least extent of a loop, or number of launches, that all threads share."""
    return CHUNKS_PER_CPU_OF_REUSE * _cpus()


@cache
def _cpus() -> int:
    return os.cpu_count() or 1  # cached: it reads a file of the kernel


def _cuttable(launch: Launch) -> list[int]:
    return [loop for loop in range(launch.loops) if loop not in launch.uncut]


def _even_chunk(elements: int, per_cpu: int) -> int:
    even = elements // (per_cpu * _cpus())
    return max(even - even % MIN_ELEMENTS, MIN_ELEMENTS)


def _touched(launch: Launch) -> list[int]:
    """Per operand, the number of its distinct elements that the loops touch."""
    params, found = launch.params, []
    for strides in _strides(launch):
        count = 1
        for extent, stride in zip(params, strides, strict=False):
            if stride:
                count *= extent
        found.append(count)
    return found


def _with_extent(launch: Launch, loop: int, extent: int) -> tuple[int, ...]:
    return (*launch.params[:loop], extent, *launch.params[loop + 1 :])
