"""The partition of ops into kernels, and the fusion rules as named predicates.

On targets that fuse trees only, ops are visited in program order, and each producer is fused with its consumer unless a
predicate fails. On targets that fuse values with several users, a group is the whole cone of a value (in the
literature, its maximum fanout-free cone): the op of that value, and every op whose users are all in the group. Both
take time linear in the number of ops, and so does LLVM, because a kernel has a limited number of ops.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from ttnn_jit.nest.limits import MOST_FUSED_OPS
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.transforms.kernels.schedule import schedule, tiles_needed
from ttnn_jit.transforms.kernels.slots import assign_slots
from ttnn_jit.transforms.kernels.tile_graph import TileGraph


class Predicate(enum.Enum):
    """The reason why a producer is not fused with its consumer."""

    NOT_ELEMENTWISE = "not_elementwise"
    NOT_HOISTED = "not_hoisted"
    ELEMENT_TYPES = "element_types"
    RETURNED = "returned"
    MULTI_USER = "multi_user"
    ITERATION_SPACE = "iteration_space"
    CIRCULAR_BUFFERS = "circular_buffers"
    WIDE_INPUTS = "wide_inputs"
    DST_CAPACITY = "dst_capacity"
    KERNEL_OPS = "kernel_ops"


@dataclass(frozen=True, slots=True)
class FusionNode:
    """One unfused kernel.

    Attributes:
        operands: Tile operands in order: the number of the node that defines the value, or a negative number for a
            tensor that no node defines (one number per tensor).
        operand_spaces: For each operand, the iteration space of the read.
        space: The iteration space of the result.
        users: Number of uses of the result, by nodes and others; a node that reads it twice counts twice.
        returned: Whether anything but a node reads the result, such as the function's return.
        wide: Whether an operand or the result has elements wider than 16 bits.
        hoisted: Whether the op carries the attribute ``ttnn.hoist_generic_via_d2m``.
        elementwise: Whether all loops are parallel.
        integers: The integer type that it computes with; None for floats.
        rounded: Whether the end of a kernel rounds the result, and a reader in the same kernel takes it unrounded.
    """

    operands: tuple[int, ...]
    operand_spaces: tuple[Hashable, ...]
    space: Hashable
    users: int
    returned: bool = False
    wide: bool = False
    hoisted: bool = True
    elementwise: bool = True
    integers: Hashable = None
    rounded: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A pair that was not fused, and the first predicate that failed."""

    producer: int
    consumer: int
    predicate: Predicate
    detail: str


@dataclass(frozen=True, slots=True)
class Partition:
    """Groups of nodes in program order, each ending with the node that defines its result; and the refusals."""

    groups: tuple[tuple[int, ...], ...]
    refusals: tuple[Refusal, ...]


Failure = tuple[Predicate, str]


def partition(nodes: Sequence[FusionNode], target: SystemDesc) -> Partition:
    """The partition of `nodes`, which are in program order, by the rules of `target`."""
    if target.fuses_multi_user_values:
        return _partition_cones(nodes, target)
    joined, refusals = _join_trees(range(len(nodes)), nodes, target)
    return Partition(_groups(_roots(joined, len(nodes))), tuple(refusals))


@dataclass(frozen=True, slots=True)
class _Tree:
    """The properties of a tree of nodes that the predicates read."""

    ops: int
    inputs: int
    wide: bool
    operand_needs: tuple[int, ...]
    tiles_read: int

    @property
    def tiles_needed(self) -> int:
        return tiles_needed(self.operand_needs, self.tiles_read)

    def with_operand(self, producer: _Tree) -> _Tree:
        """The tree with `producer` fused in place of one of its inputs."""
        return _Tree(
            self.ops + producer.ops,
            self.inputs - 1 + producer.inputs,
            self.wide or producer.wide,
            (*self.operand_needs, producer.tiles_needed),
            self.tiles_read,
        )


def _join_trees(
    members: Iterable[int], nodes: Sequence[FusionNode], target: SystemDesc
) -> tuple[dict[int, int], list[Refusal]]:
    """Producer -> consumer for each fused pair, and the refused pairs."""
    joined: dict[int, int] = {}
    refusals: list[Refusal] = []
    trees: dict[int, _Tree] = {}
    for consumer in members:
        node = nodes[consumer]
        tree = _Tree(1, len(node.operands), node.wide, (), len(node.operands))
        for position, producer in enumerate(node.operands):
            if producer not in trees or producer in node.operands[:position]:
                continue
            fused = tree.with_operand(trees[producer])
            failure = (
                _structural_failure(nodes[producer], node, position)
                or _multi_user(nodes[producer])
                or _capacity_failure(fused.inputs, fused.wide, fused.tiles_needed, target)
                or (None if nodes[producer].rounded else _length_failure(fused.ops))
            )
            if failure is None:
                tree, joined[producer] = fused, consumer
            else:
                refusals.append(Refusal(producer, consumer, *failure))
        trees[consumer] = tree
    return joined, refusals


def _structural_failure(producer: FusionNode, consumer: FusionNode, position: int) -> Failure | None:
    if not (producer.elementwise and consumer.elementwise):
        return Predicate.NOT_ELEMENTWISE, "one of the two has a loop that is not parallel"
    if not (producer.hoisted and consumer.hoisted):
        return Predicate.NOT_HOISTED, "one of the two lacks ttnn.hoist_generic_via_d2m"
    if producer.integers != consumer.integers:
        return Predicate.ELEMENT_TYPES, "a cast from or to integers ends a kernel"
    if producer.returned:
        return (
            Predicate.RETURNED,
            "the value leaves the kernels: the function returns it, or an operation beside kernels reads it",
        )
    if producer.space != consumer.operand_spaces[position]:
        return Predicate.ITERATION_SPACE, "shapes or core grids differ"
    return None


def _multi_user(producer: FusionNode) -> Failure | None:
    if producer.users > 1:
        return Predicate.MULTI_USER, f"the value has {producer.users} uses"
    return None


def _capacity_failure(inputs: int, wide: bool, peak: int, target: SystemDesc) -> Failure | None:
    buffers = target.max_circular_buffers
    if buffers is not None and inputs + 1 > buffers:
        return Predicate.CIRCULAR_BUFFERS, f"{inputs} inputs and 1 output exceed {buffers} circular buffers"
    if wide and target.max_wide_inputs is not None and inputs > target.max_wide_inputs:
        return Predicate.WIDE_INPUTS, f"{inputs} inputs exceed {target.max_wide_inputs} for elements wider than 16 bits"
    capacity = target.dst_capacity(wide=wide)
    if peak > capacity:
        return Predicate.DST_CAPACITY, f"{peak} DST tiles exceed {capacity}"
    return None


def _length_failure(ops: int) -> Failure | None:
    """Why a kernel of `ops` ops is too long. Values that the end of a kernel would round are not asked about.

    Where the kernel ends, such values have other bits; a limit of compile time must change no result.
    """
    if ops > MOST_FUSED_OPS:
        return Predicate.KERNEL_OPS, f"{ops} ops exceed {MOST_FUSED_OPS}, as many as LLVM compiles in linear time"
    return None


def _partition_cones(nodes: Sequence[FusionNode], target: SystemDesc) -> Partition:
    users = _users(nodes)
    roots, refusals = _cone_roots(nodes, users)
    joined = {producer: root for producer, root in enumerate(roots) if producer != root}
    for cone in _shortened(_groups(roots), nodes, users, joined, refusals):
        failure = _cone_failure(cone, nodes, target)
        if failure is not None:
            split, further = _split_cone(cone, nodes, users, target, failure)
            for member in cone:
                joined.pop(member, None)
            joined.update(split)
            refusals.extend(further)
    return Partition(_groups(_roots(joined, len(nodes))), tuple(refusals))


def _users(nodes: Sequence[FusionNode]) -> list[list[tuple[int, int]]]:
    """For every node, the (consumer, operand position) pairs that read its result, one per consumer."""
    users: list[list[tuple[int, int]]] = [[] for _ in nodes]
    for consumer, node in enumerate(nodes):
        for position, producer in enumerate(node.operands):
            if producer >= 0 and producer not in node.operands[:position]:
                users[producer].append((consumer, position))
    return users


def _cone_roots(
    nodes: Sequence[FusionNode], users: Sequence[Sequence[tuple[int, int]]]
) -> tuple[list[int], list[Refusal]]:
    """For each node the root of its cone, by the structural predicates alone; and the refused pairs."""
    roots = list(range(len(nodes)))
    refusals: list[Refusal] = []
    for producer in reversed(range(len(nodes))):
        failures = [
            (consumer, _structural_failure(nodes[producer], nodes[consumer], position))
            for consumer, position in users[producer]
        ]
        groups = {roots[consumer] for consumer, _ in users[producer]}
        if len(groups) == 1 and not any(failure for _, failure in failures):
            roots[producer] = groups.pop()
            continue
        elsewhere = (Predicate.MULTI_USER, "the value is used outside the kernel too")
        refusals.extend(Refusal(producer, consumer, *(failure or elsewhere)) for consumer, failure in failures)
    refusals.reverse()
    return roots, refusals


def _shortened(
    cones: Iterable[tuple[int, ...]],
    nodes: Sequence[FusionNode],
    users: Sequence[Sequence[tuple[int, int]]],
    joined: dict[int, int],
    refusals: list[Refusal],
) -> Iterator[tuple[int, ...]]:
    """The cones, those of too many ops cut into cones of fewer; `joined` and `refusals` are kept up to date."""
    for cone in cones:
        failure = _length_failure(len(cone))
        if failure is None or any(nodes[member].rounded for member in cone[:-1]):
            yield cone
            continue
        root_of, size_of = {cone[-1]: cone[-1]}, {cone[-1]: 1}
        for producer in reversed(cone[:-1]):
            roots = {root_of[consumer] for consumer, _ in users[producer]}
            root = roots.pop()
            if roots or size_of[root] == MOST_FUSED_OPS:
                root = producer
                del joined[producer]
                refusals.extend(Refusal(producer, consumer, *failure) for consumer, _ in users[producer])
            else:
                joined[producer] = root
            root_of[producer] = root
            size_of[root] = size_of.get(root, 0) + 1
        yield from _groups_by([(member, root_of[member]) for member in cone])


def _cone_failure(cone: tuple[int, ...], nodes: Sequence[FusionNode], target: SystemDesc) -> Failure | None:
    if len(cone) == 1:
        return None
    graph = _tile_graph_of(cone, nodes)
    peak = assign_slots(graph, schedule(graph)).peak
    return _capacity_failure(graph.inputs, any(nodes[member].wide for member in cone), peak, target)


def _tile_graph_of(group: Sequence[int], nodes: Sequence[FusionNode]) -> TileGraph:
    """The graph of a group of nodes in program order; its inputs are distinct tensors in order of first use."""
    members = {member: op for op, member in enumerate(group)}
    inputs: dict[int, int] = {}
    for member in group:
        for operand in nodes[member].operands:
            if operand not in members:
                inputs.setdefault(operand, len(inputs))
    count = len(inputs)
    operands = tuple(
        tuple(inputs[o] if o in inputs else count + members[o] for o in nodes[member].operands) for member in group
    )
    return TileGraph(count, operands, count + len(group) - 1)


def _split_cone(
    cone: tuple[int, ...],
    nodes: Sequence[FusionNode],
    users: Sequence[Sequence[tuple[int, int]]],
    target: SystemDesc,
    failure: Failure,
) -> tuple[dict[int, int], list[Refusal]]:
    """Splits a cone that is too large for one kernel into trees: values with several users are stored."""
    predicate, detail = failure
    joined, refusals = _join_trees(cone, nodes, target)
    reason = f"with all values that have several users: {detail}"
    return joined, [
        replace(refusal, predicate=predicate, detail=reason) if len(users[refusal.producer]) > 1 else refusal
        for refusal in refusals
    ]


def _roots(joined: dict[int, int], count: int) -> list[int]:
    roots = list(range(count))
    for node in reversed(range(count)):
        if node in joined:
            roots[node] = roots[joined[node]]
    return roots


def _groups(roots: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Nodes grouped by root, in program order; groups in the order of their roots."""
    return _groups_by([*enumerate(roots)])


def _groups_by(root_of: Sequence[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    groups: dict[int, list[int]] = {root: [] for node, root in root_of if node == root}
    for node, root in root_of:
        groups[root].append(node)
    return tuple(tuple(group) for group in groups.values())
