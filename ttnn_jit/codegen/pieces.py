"""Where a long body is cut, so that each piece is a loop of its own over a block of elements (kernels/pieces.py).

A processor computes one chunk while the next waits for it only as far as its schedulers hold what waits. A chain of
more than some 32 vector instructions runs at the latency of its steps: a tree of 30 ops, 12 of them transcendental,
takes 2.2 times as long as in pieces, an exp of which a sigmoid is taken 1.2 times. What crosses a cut is stored and
loaded in the first cache. A loop more takes some 3 ms to compile, so that it pays in large tensors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ttnn_jit.codegen.steps import KernelBody, Load, Step, Store, operands_of, with_operands
from ttnn_jit.kernels.tile_loop import Access, Stream
from ttnn_jit.tensor_spec import DataType

MOST_INSTRUCTIONS = 32
"""Of a piece of several ops, for one vector of a chunk of one. Chunks of two hold two chains of them."""

_INSTRUCTIONS_OF_A_PIECE = 3
_INSTRUCTIONS_OF_A_CROSSING = 2


@dataclass(frozen=True)
class Piece:
    """A part of a body.

    Attributes:
        body: The part, a kernel without outer loops.
        streams: For each of its streams, that of the whole body, counted on by the tiles that are kept.
    """

    body: KernelBody
    streams: tuple[int, ...]


@dataclass(frozen=True)
class Pieces:
    """A body in parts.

    Attributes:
        kept: Element types of the tiles that one part leaves to another.
        parts: In order.
    """

    kept: tuple[DataType, ...]
    parts: tuple[Piece, ...]


def in_pieces(
    body: KernelBody, instructions: Sequence[int], unroll: int, together: Mapping[int, tuple[int, int]]
) -> Pieces | None:
    """`body` in pieces; None if it is short, or has outer loops.

    Args:
        body: The whole.
        instructions: Of each step, for one vector.
        unroll: Vectors that the whole would compute at once.
        together: Steps that share work with another: the first and the last step that must be in one piece.
    """
    most = MOST_INSTRUCTIONS * (1 + unroll) // 2
    if body.rank or sum(instructions) <= most:
        return None
    cuts = _cuts(body, instructions, most, set(together.values()))
    return _cut_at(body, cuts) if cuts else None


def _cuts(body: KernelBody, instructions: Sequence[int], most: int, spans: set[tuple[int, int]]) -> list[int]:
    """The first steps of all pieces but the first, where loops and what crosses between them take least."""
    count = len(body.steps)
    computes = [not isinstance(step, Load | Store) for step in body.steps]
    crossings = [len(_crossing(body, k)) for k in range(count)] + [0]
    allowed = [not any(first < k <= last for first, last in spans) for k in range(count + 1)]
    least, previous = [0.0], [0]
    for end in range(1, count + 1):
        least.append(math.inf)
        previous.append(0)
        length = ops = 0
        for start in range(end - 1, -1, -1):
            length += instructions[start]
            ops += computes[start]
            if ops > 1 and length > most:
                break
            cost = least[start] + _INSTRUCTIONS_OF_A_PIECE + _INSTRUCTIONS_OF_A_CROSSING * crossings[end]
            cost += (length / most) ** 2  # of cuts that cost the same, those into equal pieces
            if allowed[end] and ops and cost < least[end]:
                least[end], previous[end] = cost, start
    found = []
    end = previous[-1]
    while end:
        found.append(end)
        end = previous[end]
    return found[::-1]


def _crossing(body: KernelBody, cut: int) -> list[int]:
    """The steps before `cut` whose tiles are computed, and needed from there on."""
    needed = {operand for step in body.steps[cut:] for operand in operands_of(step) if operand < cut}
    return sorted(index for index in needed if not isinstance(body.steps[index], Load))


def _cut_at(body: KernelBody, cuts: Sequence[int]) -> Pieces:
    kept = sorted({index for cut in cuts for index in _crossing(body, cut)})
    spans = pairwise([0, *cuts, len(body.steps)])
    parts = tuple(
        _piece(body, range(*span), {index: len(body.streams) + k for k, index in enumerate(kept)}) for span in spans
    )
    return Pieces(tuple(body.dtype_of(index) for index in kept), parts)


def _piece(body: KernelBody, span: range, kept: Mapping[int, int]) -> Piece:
    """The steps of `span`; tiles of steps before it are loaded anew, those in `kept` from there."""
    steps: list[Step] = []
    place: dict[int, int] = {}
    for index in span:
        step = body.steps[index]
        for operand in operands_of(step):
            if operand not in place:
                place[operand] = len(steps)
                source = body.steps[operand]
                steps.append(Load(source.stream if isinstance(source, Load) else kept[operand], None))
        if not isinstance(step, Load):
            place[index] = len(steps)
            steps.append(with_operands(step, place.__getitem__))
    steps += [Store(place[index], kept[index]) for index in span if index in kept]
    read = sorted({step.stream for step in steps if isinstance(step, Load)})
    written = sorted({step.stream for step in steps if isinstance(step, Store)})
    of_kept = {stream: body.dtype_of(index) for index, stream in kept.items()}
    order = (*read, *written)
    streams = tuple(
        Stream(of_kept[k], Access.CONTIGUOUS, written=k in written) if k in of_kept else body.streams[k] for k in order
    )
    local = {stream: k for k, stream in enumerate(order)}
    steps = [_with_stream(step, local) for step in steps]
    return Piece(KernelBody(streams, 0, tuple(steps), body.numerics), order)


def _with_stream(step: Step, local: Mapping[int, int]) -> Step:
    match step:
        case Load(stream, slot):
            return Load(local[stream], slot)
        case Store(operand, stream):
            return Store(operand, local[stream])
        case _:
            return step
