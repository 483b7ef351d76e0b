"""The part of a kernel that is a function of one bfloat16 and may become a table (kernels/vectors/lookup_table.py)."""

from __future__ import annotations

from collections.abc import Iterator

from ttnn_jit.codegen.bodies.body_analysis import operation_of_tile
from ttnn_jit.codegen.bodies.steps import Apply, Cast, KernelBody, Load, LookUp, Step, Store, operands_of, with_operands
from ttnn_jit.codegen.schedules.vector_loop import VectorLoop, vector_loop
from ttnn_jit.kernels.isa import HostIsa
from ttnn_jit.nest.streams import InnerAccess, Stream
from ttnn_jit.process.dataclass import dataclass, replace
from ttnn_jit.specs.tensor_spec import DataType

_BFLOAT16 = Stream(DataType.BFLOAT16, InnerAccess.CONTIGUOUS)


@dataclass(frozen=True)
class LookupSplit:
    """A body split into a function of one bfloat16 and the rest.

    Attributes:
        function: That part, as a kernel over contiguous bfloat16.
        rest: The body with a `LookUp` in its place.
    """

    function: KernelBody
    rest: KernelBody

    @property
    def operations(self) -> tuple[str, ...]:
        """The names of the operations whose results are looked up."""
        steps = (step for step in self.function.steps if isinstance(step, Apply))
        return tuple(operation_of_tile(step.tile_name).name for step in steps)

    @property
    def is_whole(self) -> bool:
        """Whether the rest is a lookup alone."""
        return not any(isinstance(step, Apply | Cast) for step in self.rest.steps)

    @property
    def looks_up_loaded_elements(self) -> bool:
        """Whether the index of the lookup is a loaded element, not one that the rest computes."""
        (operand,) = (step.operand for step in self.rest.steps if isinstance(step, LookUp))
        return isinstance(self.rest.steps[operand], Load)


def lookup_candidates(body: KernelBody) -> Iterator[LookupSplit]:
    """The largest disjoint parts of `body` that map one bfloat16 tile to another."""
    taken: set[int] = set()
    streams = _streams_of(body)
    for last in reversed(range(len(body.steps))):
        if last not in taken and _is_bfloat16(body, last) and not isinstance(body.steps[last], Load):
            for root in (k for k in range(last) if streams[k] == streams[last] and _is_bfloat16(body, k)):
                between = _between(body, root, last)
                if between is not None:
                    taken |= between
                    yield _split(body, root, last, sorted(between))
                    break


def _streams_of(body: KernelBody) -> list[frozenset[int]]:
    """For every step, the inputs that its tile depends on; only steps with equal inputs can form one function."""
    found: list[frozenset[int]] = []
    for step in body.steps:
        own = {step.stream} if isinstance(step, Load) else set()
        found.append(frozenset(own).union(*(found[operand] for operand in operands_of(step))))
    return found


def _is_bfloat16(body: KernelBody, index: int) -> bool:
    """Whether the step's tile is one of bfloat16."""
    match body.steps[index]:
        case Load(stream):
            found = body.streams[stream]
            return found.dtype.is_upper_half and found.access is not InnerAccess.SCALAR
        case Store():
            return False
        case step:
            return step.dtype.is_upper_half


def _between(body: KernelBody, root: int, last: int) -> set[int] | None:
    """The steps from `root` to `last`, if they read no other tile and no other step reads theirs."""
    found: set[int] = set()
    wanted = [last]
    while wanted:
        index = wanted.pop()
        if _same_tile(body, index, root) or index in found:
            continue
        if isinstance(body.steps[index], Load):
            return None
        found.add(index)
        wanted += operands_of(body.steps[index])
    if not any(isinstance(body.steps[index], Apply) for index in found):
        return None
    for index, step in enumerate(body.steps):
        if index not in found and any(operand in found and operand != last for operand in operands_of(step)):
            return None
    return found


def _same_tile(body: KernelBody, index: int, root: int) -> bool:
    step, first = body.steps[index], body.steps[root]
    same_stream = isinstance(step, Load) and isinstance(first, Load) and step.stream == first.stream
    return index == root or same_stream


def _split(body: KernelBody, root: int, last: int, between: list[int]) -> LookupSplit:
    step_of = {index: 1 + k for k, index in enumerate(between)}
    inner = [with_operands(body.steps[index], lambda operand: step_of.get(operand, 0)) for index in between]
    steps = (Load(0, None), *inner, Store(step_of[last], 1))
    function = KernelBody((_BFLOAT16, replace(_BFLOAT16, written=True)), 0, steps, body.numerics)
    kept = [index for index in range(len(body.steps)) if index == last or index not in step_of]
    outer = {index: k for k, index in enumerate(kept)}
    rest: list[Step] = [
        with_operands(body.steps[k], outer.__getitem__) if k != last else LookUp(outer[root]) for k in kept
    ]
    return LookupSplit(function, replace(body, steps=tuple(rest)))


def best_lookup(body: KernelBody, isa: HostIsa) -> tuple[LookupSplit, VectorLoop] | None:
    """The longest part of a body whose lookup is profitable, and the loop that fills its table."""
    tables = ((split, vector_loop(split.function, isa)) for split in lookup_candidates(body))
    profitable = [(split, function) for split, function in tables if _is_profitable(split, function)]
    return max(profitable, key=lambda table: table[1].picoseconds, default=None)


def looking_up(split: LookupSplit, isa: HostIsa) -> VectorLoop:
    """The loop of the rest, with the lookup in the part's place."""
    beside = split.looks_up_loaded_elements and not split.is_whole
    unroll = 2 if beside or isa.lanes < _MIN_CHUNK_ELEMENTS else 1
    return vector_loop(split.rest, isa, unroll)


def _is_profitable(split: LookupSplit, function: VectorLoop) -> bool:
    # A user's scalar function need not be pure: it may count its calls, or draw random numbers.
    lanes = function.loop.lanes
    least = _BREAK_EVEN_INSTRUCTIONS[lanes] * (1 if split.is_whole else _lookup_overhead(split, lanes))
    return function.weighed_instructions >= least and not function.module.linked


def _lookup_overhead(split: LookupSplit, lanes: int) -> float:
    """The cost of lookups among other steps, relative to a loop of lookups alone."""
    return (
        _OVERHEAD_BESIDE_TWO_VECTORS
        if split.looks_up_loaded_elements and lanes >= _MIN_CHUNK_ELEMENTS
        else _OVERHEAD_BESIDE_OTHER_STEPS
    )


_BREAK_EVEN_INSTRUCTIONS = {16: 24, 8: 22, 4: 16}
"""By lanes: least instructions per vector for which a lookup is faster, with part of the table in the L2 cache.
This and the next three are fitted by benchmarks/kernels/choices.py, `lookup table`, and
benchmarks/kernels/vector_math.py.
"""
_OVERHEAD_BESIDE_OTHER_STEPS = 1.25
"""Relative cost of lookups whose index the loop computes."""
_OVERHEAD_BESIDE_TWO_VECTORS = 0.85
"""Relative cost of lookups of loaded elements in chunks of two vectors: arithmetic overlaps with the lookups."""
_MIN_CHUNK_ELEMENTS = 16
"""Least elements of a chunk with lookups. Smaller chunks are slower; larger ones are faster only where loaded elements
are looked up among other steps."""
