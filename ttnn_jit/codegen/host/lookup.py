"""Which part of a kernel is a function of one bfloat16, and may be looked up (kernels/lookup_table.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ttnn_jit.codegen.steps import Apply, Call, Cast, KernelBody, Load, LookUp, Step, Store, operands_of, with_operands
from ttnn_jit.kernels.tile_loop import InnerAccess, Stream
from ttnn_jit.specs.tensor_spec import DataType

_WORDS = Stream(DataType.BFLOAT16, InnerAccess.CONTIGUOUS)


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
    def is_whole(self) -> bool:
        """Whether the rest is a lookup alone."""
        return not any(isinstance(step, Apply | Cast) for step in self.rest.steps)

    @property
    def looks_up_loaded_words(self) -> bool:
        """Whether the words that are looked up are loaded, and not computed by the rest."""
        (operand,) = (step.operand for step in self.rest.steps if isinstance(step, LookUp))
        return isinstance(self.rest.steps[operand], Load)


def lookup_candidates(body: KernelBody) -> Iterator[LookupSplit]:
    """The largest parts of `body` that take one bfloat16 tile to another, no two of which share a step."""
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
    """Whether the step's tile is one of bfloat16 words."""
    match body.steps[index]:
        case Load(stream):
            found = body.streams[stream]
            return found.dtype.is_upper_half and found.access is not InnerAccess.SCALAR
        case Store() | Call():
            return False
        case step:
            return step.dtype.is_upper_half


def _between(body: KernelBody, root: int, last: int) -> set[int] | None:
    """The steps from the tile of `root` to that of `last`, if they read no other tile and nobody else reads them."""
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
    places = {index: 1 + k for k, index in enumerate(between)}
    inner = [with_operands(body.steps[index], lambda operand: places.get(operand, 0)) for index in between]
    steps = (Load(0, None), *inner, Store(places[last], 1))
    function = KernelBody((_WORDS, replace(_WORDS, written=True)), 0, steps, body.numerics)
    kept = [index for index in range(len(body.steps)) if index == last or index not in places]
    outer = {index: k for k, index in enumerate(kept)}
    rest: list[Step] = [
        with_operands(body.steps[k], outer.__getitem__) if k != last else LookUp(outer[root]) for k in kept
    ]
    return LookupSplit(function, replace(body, steps=tuple(rest)))
