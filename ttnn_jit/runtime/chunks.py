"""How a launch is cut into chunks that threads can take: along one loop, by moving addresses and shortening extents.

A chunk is a launch of the same kernel, so what a lane computes cannot depend on the number of threads.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.host_costs import HOST_COSTS
from ttnn_jit.runtime.plan import Launch

MIN_ELEMENTS = 1 << 14
"""Of a chunk: 64 KB of float32 per stream, so that the cost of taking one is negligible. Chunks of a single loop are
multiples of it, because kernels rely on the alignment of their operands."""
MAX_ELEMENTS = 1 << 17
"""512 KB of float32 per stream. Large chunks use memory better than small ones that two CPUs take in turn, but the
caller waits for the chunk of a thread that lost its CPU (benchmarks/memory.py)."""
CHUNKS_PER_CPU = 8
"""Within those bounds: a CPU that starts late or ends early leaves at most an eighth of its share."""
CHUNKS_PER_CPU_OF_REUSE = 2
"""Where no operand moves along all loops, so that chunks read, and pack, the same elements again: few large ones."""


@dataclass(frozen=True)
class Chunks:
    """A launch in parts.

    Attributes:
        count: Of chunks, at least 2.
        params: The launch's words for every chunk but the last.
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
        launch: Its params are those of `ttnn_jit.codegen.launch`.
        itemsizes: Per operand, the bytes of an element.
        nbytes: That the launch touches.
    """
    time = predicted_ns(launch, nbytes)
    if not launch.picoseconds or time < HOST_COSTS.shared_from_ns:
        return None
    loops = launch.loops
    extents, strides = launch.params[:loops], launch.params[loops:]
    uncut = (loop for loop in range(loops) if loop not in launch.reduced)
    loop = max(uncut, key=extents.__getitem__, default=None)
    if loop is None:
        return None
    elements = max(_elements(launch, place) for place, _ in enumerate(launch.operands))
    per_cpu = CHUNKS_PER_CPU if elements == math.prod(extents) else CHUNKS_PER_CPU_OF_REUSE
    even = elements // (per_cpu * (os.cpu_count() or 1))
    wanted = min(max(even - even % MIN_ELEMENTS, MIN_ELEMENTS), MAX_ELEMENTS)
    size = max(1, wanted * extents[loop] // elements)
    count = -(-extents[loop] // size)
    if count < 2:
        return None
    steps = tuple(strides[operand * loops + loop] * size * itemsize for operand, itemsize in enumerate(itemsizes))
    rest = extents[loop] - size * (count - 1)
    wakes = time >= HOST_COSTS.wakes_from_ns
    return Chunks(count, _with_extent(launch, loop, size), _with_extent(launch, loop, rest), steps, wakes)


def _elements(launch: Launch, place: int) -> int:
    """How many elements of an operand the loops meet."""
    loops = launch.loops
    strides = launch.params[loops * (1 + place) : loops * (2 + place)]
    return math.prod(extent for extent, stride in zip(launch.params[:loops], strides, strict=True) if stride)


def _with_extent(launch: Launch, loop: int, extent: int) -> tuple[int, ...]:
    return (*launch.params[:loop], extent, *launch.params[loop + 1 :])
