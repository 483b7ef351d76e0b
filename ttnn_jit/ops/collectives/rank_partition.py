"""The part of an expansion that each rank evaluates, where the devices of a mesh belong to several ranks.

A largest subexpression over the devices of one other rank is evaluated there and received. Of a fold, these are the
largest subtrees: an aligned block of devices is folded where it lies, and sent as a partial sum in float32, which
changes no bit of the result. Slices of joins and folds are pushed into them, so that only their elements travel, except
where a fold rounds groups of elements together that a slice would cut.

Every rank computes the partition of every other from the same expansion, so both ends of a transfer know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ttnn_jit.ops.families.collective import (
    REDUCE_SUM,
    Extents,
    Fill,
    Fold,
    Join,
    Received,
    Results,
    Shard,
    Slice,
    Source,
    devices_read_by,
    shape_of,
    tree_fold,
)
from ttnn_jit.process.memoized import keys_as_expressions, memoized

Tree: TypeAlias = Any
"""A leaf, or a pair of trees."""


class Sent(NamedTuple):
    """A value that a rank evaluates and sends to another."""

    rank: int
    value: Source


class RankPart(NamedTuple):
    """What one rank evaluates.

    Attributes:
        results: The results on its devices, where values of other ranks are `Received`.
        sends: The values that it sends, in the order in which their receivers expect them.
        receives: The values that it receives.
    """

    results: Mapping[int, Results]
    sends: tuple[Sent, ...]
    receives: tuple[Received, ...]


def parts_of_ranks(
    expansion: Mapping[int, Results], shapes: Sequence[Extents], owners: Sequence[int], rounded_together: int = 1
) -> dict[int, RankPart]:
    """The part of each rank that has a device of the expansion.

    Args:
        expansion: The results on each device, by its number.
        shapes: The extents of each operand on a device.
        owners: The rank of each device.
        rounded_together: How many elements along the last dimension are rounded together.
    """
    interned: dict[Source, Source] = {}
    ranks = sorted({owners[number] for number in expansion})
    cuts = {each: _Cut(shapes, owners, each, interned, rounded_together) for each in ranks}
    found: dict[int, dict[int, Results]] = {rank: {} for rank in cuts}
    for number, results in expansion.items():
        found[owners[number]][number] = tuple(map(cuts[owners[number]].own, results))
    sends: dict[int, list[Sent]] = {rank: [] for rank in cuts}
    for rank, cut in cuts.items():
        for value in cut.received:
            sends[value.rank].append(Sent(rank, value.of))
    return {rank: RankPart(found[rank], tuple(sends[rank]), tuple(cut.received)) for rank, cut in cuts.items()}


class Stages(NamedTuple):
    """A reduction of several ranks in two exchanges: each folds one part of it, and then has the parts of all.

    Attributes:
        first: For one device of each rank, a slice of the fold.
        second: The results on each device, of the slices as another operand.
    """

    first: Mapping[int, Results]
    second: Mapping[int, Results]


def in_two_stages(
    expansion: Mapping[int, Results],
    owners: Sequence[int],
    operand: int,
    split: Callable[[int], tuple[int, int] | None],
) -> Stages | None:
    """The stages of a call whose results are whole folds; None if they are not, or have no equal parts.

    A rank then receives about twice the bytes of a result, whatever the number of ranks.

    Args:
        expansion: The results on each device, by its number.
        owners: The rank of each device.
        operand: The index of the slices as an operand.
        split: From a number of parts to the dimension along which there are so many equal ones, and their extent.
    """
    first: dict[int, Results] = {}
    second: dict[int, Results] = {}
    joins: dict[int, Results] = {}
    for number, results in expansion.items():
        fold = results[0]
        if len(results) != 1 or not isinstance(fold, Fold):
            return None
        if id(fold) not in joins:
            holders: dict[int, int] = {}
            for device in sorted(devices_read_by(fold)):
                holders.setdefault(owners[device], device)
            parts = split(len(holders)) if len(holders) > 1 else None
            if parts is None:
                return None
            dim, extent = parts
            for index, holder in enumerate(holders.values()):
                first[holder] = (Slice(fold, dim, index * extent, (index + 1) * extent),)
            joins[id(fold)] = (Join(dim, tuple(Shard(holder, operand) for holder in holders.values())),)
        second[number] = joins[id(fold)]
    return Stages(first, second)


class _Cut:
    """The results of one rank, in terms of its own shards and of received values.

    Attributes:
        received: The received values in order; a set.
    """

    def __init__(
        self,
        shapes: Sequence[Extents],
        owners: Sequence[int],
        rank: int,
        interned: dict[Source, Source],
        rounded_together: int,
    ) -> None:
        self.received: dict[Received, None] = {}
        self._shapes = shapes
        self._owners = owners
        self._rank = rank
        self._interned = interned
        self._group = rounded_together
        self._known: dict[int, Source] = {}

    def own(self, source: Source) -> Source:
        """The expression for this rank; equal for one object, so that devices still share it."""
        known = self._known.get(id(source))
        if known is None:
            known = self._known[id(source)] = self._one(self._cut(source))
        return known

    def _one(self, source: Source) -> Source:
        """The one object of all equal expressions, so that a value is computed once."""
        with keys_as_expressions():
            return self._interned.setdefault(source, source)

    def _cut(self, source: Source) -> Source:
        ranks = ranks_of(source, self._owners)
        if ranks <= {self._rank}:
            return source
        if len(ranks) == 1:
            received = self._one(Received(next(iter(ranks)), self._one(source)))
            assert isinstance(received, Received), "equal expressions are of one kind"
            with keys_as_expressions():
                self.received[received] = None
            return received
        match source:
            case Join(dim, parts):
                return Join(dim, tuple(map(self.own, parts)))
            case Fold():
                return self._cut_fold(source, ())
            case Slice():
                return self._cut_slice(source)
        raise AssertionError("shards and constants are of one rank")

    def _cut_slice(self, source: Slice, *outer: Slice) -> Source:
        """A slice, of which further slices are taken."""
        of, windows = source.of, (source, *outer)
        if isinstance(of, Slice):
            return self._cut_slice(of, *windows)
        if isinstance(of, Fold):
            return self._cut_fold(of, windows) if self._keeps_groups(of, windows) else _sliced(self.own(of), windows)
        assert isinstance(of, Join), "only joins and folds are of several ranks"
        return self.own(_sliced(_slice_of_join(of, source, self._shapes), outer))

    def _keeps_groups(self, fold: Fold, windows: Sequence[Slice]) -> bool:
        """Whether slices of a fold cut no elements apart that are rounded together."""
        shape = shape_of(fold, self._shapes)
        extent, first = shape[-1], 0
        for window in windows:
            if window.dim != len(shape) - 1:
                continue
            begin, end = first + window.begin, first + window.end
            if begin % self._group or (end % self._group and end != extent):
                return False
            first = begin
        return True

    def _cut_fold(self, fold: Fold, windows: Sequence[Slice]) -> Source:
        tree = tree_fold(_pair, range(len(fold.terms)), fold.levels)
        total = fold.total or len(fold.terms)
        inner = fold._replace(reduction=REDUCE_SUM) if fold.reduction == "mean" else fold

        def cut(node: Tree) -> Tree:
            ranks = frozenset[int]().union(*(ranks_of(fold.terms[leaf], self._owners) for leaf in leaves(node)))
            if isinstance(node, int) or len(ranks) == 1:
                terms = tuple(fold.terms[leaf] for leaf in leaves(node))
                block = terms[0] if len(terms) == 1 else _fold(inner.reduction, node, fold.terms, total, True)
                return self.own(_sliced(self._one(block), windows))
            return _pair(*map(cut, node))

        blocks = cut(tree)
        terms = leaves(blocks)
        return _fold(fold.reduction, _numbered(blocks), terms, total, fold.is_partial)


def _pair(left: Tree, right: Tree) -> Tree:
    return [left, right]


def leaves(tree: Tree) -> list[Any]:
    """The leaves of a tree, from left to right."""
    return [each for node in tree for each in leaves(node)] if isinstance(tree, list) else [tree]


def _numbered(tree: Tree) -> Tree:
    """The tree with its leaves replaced by their positions."""
    positions = iter(range(len(leaves(tree))))

    def number(node: Tree) -> Tree:
        return [*map(number, node)] if isinstance(node, list) else next(positions)

    return number(tree)


def _fold(reduction: str, tree: Tree, terms: Sequence[Source], total: int, is_partial: bool) -> Source:
    """The fold of the terms at the leaves of a tree, in one step if the tree is that of neighbours."""
    found = leaves(tree)
    if _numbered(tree) == tree_fold(_pair, range(len(found)), (len(found),)):
        chosen = tuple(terms[leaf] for leaf in found)
        return Fold(reduction, chosen, (len(found),), total, is_partial)
    inner = REDUCE_SUM if reduction == "mean" else reduction
    halves = (_fold(inner, node, terms, total, True) if isinstance(node, list) else terms[node] for node in tree)
    return Fold(reduction, tuple(halves), (2,), total, is_partial)


def _sliced(source: Source, windows: Sequence[Slice]) -> Source:
    for window in windows:
        source = window._replace(of=source)
    return source


def _slice_of_join(join: Join, window: Slice, shapes: Sequence[Extents]) -> Source:
    """A slice of a join as a join of slices."""
    if join.dim != window.dim:
        return Join(join.dim, tuple(window._replace(of=part) for part in join.parts))
    found: list[Source] = []
    first = 0
    for part in join.parts:
        extent = shape_of(part, shapes)[join.dim]
        begin, end = max(window.begin - first, 0), min(window.end - first, extent)
        if begin < end:
            found.append(part if (begin, end) == (0, extent) else Slice(part, join.dim, begin, end))
        first += extent
    return found[0] if len(found) == 1 else Join(join.dim, tuple(found))


def ranks_of(source: Source, owners: Sequence[int]) -> frozenset[int]:
    """The ranks whose shards an expression reads."""
    return _ranks_of(source, tuple(owners))


@memoized(maxsize=4096)
def _ranks_of(source: Source, owners: tuple[int, ...]) -> frozenset[int]:
    match source:
        case Shard(device):
            return frozenset((owners[device],))
        case Slice(of):
            return _ranks_of(of, owners)
        case Join(_, parts) | Fold(_, parts):
            return frozenset[int]().union(*(_ranks_of(part, owners) for part in parts))
        case Fill():
            return frozenset()
        case Received(rank):
            return frozenset((rank,))


def has_partial_sums(source: Source) -> bool:
    """Whether the elements of a value are partial sums, which are float32 for float operands."""
    match source:
        case Fold():
            return source.is_partial
        case Slice(of) | Received(_, of):
            return has_partial_sums(of)
        case Join(_, parts):
            return has_partial_sums(parts[0])
        case Shard() | Fill():
            return False
