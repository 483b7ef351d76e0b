"""Loop fission: splits a long body, or one that reads many inputs from memory, into stages.

`kernels/loops/staged_loops.py` writes the stages of a block one after the other.
`loop fission` in benchmarks/kernels/choices.py fits the thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from ttnn_jit.codegen.bodies.steps import KernelBody, Load, SizeClass, operands_of
from ttnn_jit.codegen.schedules.kernel import LoopNest, Loops
from ttnn_jit.codegen.schedules.stages import StageWriter
from ttnn_jit.nest.limits import CHAIN_BLOCK, MANY_STREAMS_BLOCK, MOST_FUSED_OPS
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.specs.tensor_spec import DataType

MAX_STAGE_INPUTS = 8
"""Most contiguous streams that a stage reads from memory, which hardware prefetchers can follow."""

MAX_STAGE_INSTRUCTIONS = {1: 24, 2: 50}
"""Most instructions of a stage's chunk, by the number of vectors in it. In a longer stage the reorder buffer holds too
few chunks to hide the latency of their chains; a chunk of two vectors has two independent chains and may be longer."""

MOST_INSTRUCTIONS = 32 * MOST_FUSED_OPS
"""Most instructions of a chunk that is one stage because more loops would not pay: LLVM takes more than linear time for
more. Only kernels that keep float32 between 16-bit tensors have so many; fusion does not limit their ops."""

MIN_INSTRUCTIONS_PER_CUT = 6
"""Least instructions per vector on each side of a cut that pay for storing and loading one tile that crosses it. With n
crossing tiles it is multiplied by n squared: a body with many live tiles is no single chain and gains less. Tiles that
both sides load from the same input cost nothing."""


def fission_of(body: KernelBody, instructions: Mapping[int, int], vectors: int) -> LoopNest | None:
    """The stages to split a body into; None if one loop is better, or the body has outer loops or strided streams.

    Args:
        body: The kernel.
        instructions: Instructions of a chunk, by step.
        vectors: Vectors in a chunk.
    """
    if body.rank or any(stream.access is InnerAccess.STRIDED for stream in body.streams):
        return None
    # Another loop over few elements costs more compile time than it saves, unless fused kernels had that loop already.
    pays = body.size_class is SizeClass.LARGE or body.is_fused
    longest = MAX_STAGE_INSTRUCTIONS[vectors] if pays else MOST_INSTRUCTIONS
    if not pays and sum(instructions.values()) <= longest and not _exceeds_caches(body):
        return None
    groups = list(_groups(body, instructions, longest, MIN_INSTRUCTIONS_PER_CUT * vectors))
    if len(groups) < 2:
        return None
    scratches, crossing = _scratches(body, groups, forwarded=requires_pair_order(body, vectors))
    streams = (*body.streams, *scratches)
    stages = tuple(StageWriter(body, streams, crossing).stage(group) for group in groups)
    block = MANY_STREAMS_BLOCK if _reads_many_streams(body) else CHAIN_BLOCK
    return LoopNest(body, Loops.BLOCKS, stages, scratches, block)


def requires_pair_order(body: KernelBody, vectors: int) -> bool:
    """Whether the vectors of a chunk hold even and odd elements, an order that every stage must then share."""
    return vectors == 2 and body.is_all_bfloat16


def _reads_many_streams(body: KernelBody) -> bool:
    inputs = sum(stream.access is InnerAccess.CONTIGUOUS and not stream.written for stream in body.streams)
    return inputs > MAX_STAGE_INPUTS and _exceeds_caches(body)


def _exceeds_caches(body: KernelBody) -> bool:
    return any(stream.nontemporal for stream in body.streams)


def _scratches(
    body: KernelBody, groups: Sequence[Sequence[int]], *, forwarded: bool
) -> tuple[tuple[Stream, ...], dict[int, int]]:
    """Scratch buffers, and the buffer number of every step whose tile crosses groups, counted from behind the streams.

    Buffers are reused: a chain of any length needs two.
    """
    home = {index: number for number, group in enumerate(groups) for index in group}
    last: dict[int, int] = {}
    for index, number in home.items():
        last |= {operand: number for operand in operands_of(body.steps[index]) if home.get(operand, number) != number}
    dying: dict[int, list[int]] = {}
    for index, number in last.items():
        dying.setdefault(number, []).append(index)
    scratches: list[Stream] = []
    free: dict[DataType, list[int]] = {}
    crossing: dict[int, int] = {}
    for number, group in enumerate(groups):
        for index in (index for index in group if index in last):
            dtype = body.dtype_of(index)
            if not free.get(dtype):
                free.setdefault(dtype, []).append(len(body.streams) + len(scratches))
                scratches.append(Stream(dtype, InnerAccess.CONTIGUOUS, forwarded=forwarded))
            crossing[index] = free[dtype].pop()
        for index in dying.get(number, ()):
            free[body.dtype_of(index)].append(crossing[index])
    return tuple(scratches), crossing


def _groups(body: KernelBody, instructions: Mapping[int, int], longest: float, fewest: int) -> Iterator[list[int]]:
    """The steps in order, without loads, grouped into stages that have neither too many inputs nor too long a chain."""
    from_memory = _exceeds_caches(body)
    crossing = _crossing(body)
    left = sum(instructions.values())
    group: list[int] = []
    streams: set[int] = set()
    length = 0
    for index, step in enumerate(body.steps):
        if isinstance(step, Load):
            continue
        needed = _streams_read(body, index)
        own = instructions[index]
        is_long = length + own > longest and min(length, left) >= fewest * crossing[index] ** 2
        if group and (is_long or (from_memory and len(streams | needed) > MAX_STAGE_INPUTS)):
            yield group
            group, streams, length = [], set(), 0
        group.append(index)
        streams |= needed
        length += own
        left -= own
    yield group


def _streams_read(body: KernelBody, index: int) -> set[int]:
    """The contiguous inputs that a step reads."""
    loads = (body.steps[operand] for operand in operands_of(body.steps[index]))
    streams = {load.stream for load in loads if isinstance(load, Load)}
    return {stream for stream in streams if body.streams[stream].access is InnerAccess.CONTIGUOUS}


def _crossing(body: KernelBody) -> list[int]:
    """For every step, the number of live tiles before it that are not inputs."""
    last: dict[int, int] = {}
    for index, step in enumerate(body.steps):
        last |= {operand: index for operand in operands_of(step) if not isinstance(body.steps[operand], Load)}
    changes = [0] * (len(body.steps) + 1)
    for made, used in last.items():
        changes[made + 1] += 1
        changes[used + 1] -= 1
    return list(accumulate(changes))
