"""The nodes of a graph of operations, and repetitions among them, such as the layers of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class Node:
    """An operation, or a tensor that no recorded operation made.

    Attributes:
        number: Index in the graph.
        name: Name of the operation, or of the tensor's class.
        inputs: Per input tensor: the number of the node that made it, and the index of the output.
        outputs: Description of each output tensor.
        arguments: Texts of the other arguments.
        remark: Additional text in a picture.
    """

    number: int
    name: str
    inputs: tuple[tuple[int, int], ...]
    outputs: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    remark: str = ""


class Repetition(NamedTuple):
    """A sequence of nodes that occurs several times in succession.

    Attributes:
        start: Number of the first node.
        length: Number of nodes in the sequence.
        times: Number of occurrences.
    """

    start: int
    length: int
    times: int

    @property
    def saved(self) -> int:
        """The number of nodes that drawing it once removes."""
        return self.length * (self.times - 1)


def folded(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with each repetition once, largest first; remarks on its first and last node state the count."""
    found, free = list(nodes), [True] * len(nodes)
    while (largest := _largest(found, free)) is not None:
        found = _with_one_occurrence(found, largest)
        start, length, times = largest
        free[start : start + length * times] = [False] * length
    return found


def _largest(nodes: Sequence[Node], free: Sequence[bool]) -> Repetition | None:
    """The repetition among free nodes that saves most nodes; None if there is none."""
    known: dict[tuple[object, ...], int] = {}
    kinds = [known.setdefault((n.name, n.outputs, n.arguments, n.remark), len(known)) for n in nodes]
    best: Repetition | None = None
    for length in range(_MIN_LENGTH, len(nodes) // 2 + 1):
        run = 0
        for at in range(len(nodes) - length - 1, -2, -1):
            if (
                at >= 0
                and free[at]
                and free[at + length]
                and kinds[at] == kinds[at + length]
                and _inputs_match(nodes, at, length)
            ):
                run += 1
                continue
            times = run // length + 1
            if times > 1:
                found = _with_first_occurrence(nodes, kinds, Repetition(at + 1, length, times))
                best = found if best is None or found.saved > best.saved else best
            run = 0
    return best


_MIN_LENGTH = 3


def _inputs_match(nodes: Sequence[Node], at: int, length: int) -> bool:
    """Whether each input of a node and that of the node `length` later are from equally distant nodes, or one node."""
    own, other = nodes[at].inputs, nodes[at + length].inputs
    return len(own) == len(other) and all(
        output == other_output and source - origin in {0, length}
        for (origin, output), (source, other_output) in zip(own, other, strict=True)
    )


def _with_first_occurrence(nodes: Sequence[Node], kinds: Sequence[int], found: Repetition) -> Repetition:
    """`found` with a preceding first occurrence, whose inputs alone come from outside the repetition."""
    start, length = found.start - found.length, found.length
    if start < 0 or kinds[start : found.start] != kinds[found.start : found.start + length]:
        return found
    for at in range(start, found.start):
        for (origin, _), (source, _) in zip(nodes[at].inputs, nodes[at + length].inputs, strict=False):
            if source - origin not in {0, length} and not origin < start <= source:
                return found
    return Repetition(start, length, found.times + 1)


def _with_one_occurrence(nodes: Sequence[Node], found: Repetition) -> list[Node]:
    """The nodes with `found` once, renumbered."""
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
