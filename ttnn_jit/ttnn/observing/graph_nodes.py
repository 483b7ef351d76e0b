"""The nodes of a graph of operations, and what repeats among them: the layers of a model, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Node:
    """An operation, or a tensor that none made.

    Attributes:
        number: Its index in the graph.
        name: Of the operation, or of the tensor's class.
        inputs: Per tensor that it was given: the number of the node that made it, and which of its outputs it is.
        outputs: What is known of each tensor that it gave.
        arguments: Its other arguments, as texts.
        remark: What is said of it in a picture, beside.
    """

    number: int
    name: str
    inputs: tuple[tuple[int, int], ...]
    outputs: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    remark: str = ""


class Repetition(NamedTuple):
    """Nodes that occur several times, one after the other.

    Attributes:
        start: The number of the first.
        length: How many they are.
        times: How often they occur.
    """

    start: int
    length: int
    times: int

    @property
    def saved(self) -> int:
        """How many nodes are left out where it is drawn once."""
        return self.length * (self.times - 1)


def folded(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with each repetition once, the largest first; its first and its last node say how often it occurs."""
    found, free = list(nodes), [True] * len(nodes)
    while (largest := _largest(found, free)) is not None:
        found = _without(found, largest)
        start, length, times = largest
        free[start : start + length * times] = [False] * length
    return found


def _largest(nodes: Sequence[Node], free: Sequence[bool]) -> Repetition | None:
    """The repetition of free nodes that saves most of them; None if there is none."""
    known: dict[tuple[object, ...], int] = {}
    kinds = [known.setdefault((n.name, n.outputs, n.arguments, n.remark), len(known)) for n in nodes]
    best: Repetition | None = None
    for length in range(_SHORTEST, len(nodes) // 2 + 1):
        run = 0
        for at in range(len(nodes) - length - 1, -2, -1):
            if (
                at >= 0
                and free[at]
                and free[at + length]
                and kinds[at] == kinds[at + length]
                and _alike(nodes, at, length)
            ):
                run += 1
                continue
            times = run // length + 1
            if times > 1:
                found = _with_the_first(nodes, kinds, Repetition(at + 1, length, times))
                best = found if best is None or found.saved > best.saved else best
            run = 0
    return best


_SHORTEST = 3


def _alike(nodes: Sequence[Node], at: int, length: int) -> bool:
    """Whether what a node is given comes from as far as of the one `length` further on, or from the same node."""
    own, other = nodes[at].inputs, nodes[at + length].inputs
    return len(own) == len(other) and all(
        output == other_output and source - origin in {0, length}
        for (origin, output), (source, other_output) in zip(own, other, strict=True)
    )


def _with_the_first(nodes: Sequence[Node], kinds: Sequence[int], found: Repetition) -> Repetition:
    """`found` and what stands before it, if that is the first one: it alone gets what another part made."""
    start, length = found.start - found.length, found.length
    if start < 0 or kinds[start : found.start] != kinds[found.start : found.start + length]:
        return found
    for at in range(start, found.start):
        for (origin, _), (source, _) in zip(nodes[at].inputs, nodes[at + length].inputs, strict=False):
            if source - origin not in {0, length} and not origin < start <= source:
                return found
    return Repetition(start, length, found.times + 1)


def _without(nodes: Sequence[Node], found: Repetition) -> list[Node]:
    """The nodes with `found` once, numbered anew."""
    start, length, times = found
    beyond = start + length * times
    renumbered = [
        at if at < start else start + (at - start) % length if at < beyond else at - found.saved
        for at in range(len(nodes))
    ]
    once = {start: f"{times} times from here", start + length - 1: f"to here, {times} times"}
    left = []
    for at, node in enumerate(nodes):
        if start + length <= at < beyond:
            continue
        inputs = tuple((renumbered[source], output) for source, output in node.inputs)
        left.append(replace(node, number=renumbered[at], inputs=inputs, remark=once.get(at, node.remark)))
    return left
