"""The parts of an expansion that ranks evaluate: they exchange what they need, and every fold keeps its tree."""

from __future__ import annotations

import pytest

from ttnn_jit.ops.collectives.device_exchanges import (
    ALL_GATHER,
    ALL_GATHER_REVERSED,
    ALL_REDUCE,
    ALL_TO_ALL,
    BROADCAST,
    NEIGHBOR_PAD,
    REDUCE_SCATTER,
    SLICE_RESHARD,
)
from ttnn_jit.ops.collectives.rank_partition import RankPart, Sent, has_partial_sums, parts_of_ranks
from ttnn_jit.ops.families.collective import Fill, Fold, Join, Received, Shard, Slice, tree_fold
from ttnn_jit.specs.meshes.mesh_shape import MeshShape

EVERY = tuple(range(8))
SHAPE = (8, 16)
OWNERS = {
    "two ranks": (0, 0, 0, 0, 1, 1, 1, 1),
    "eight ranks": EVERY,
    "unequal ranks": (0, 0, 0, 1, 1, 1, 1, 2),
}
CALLS = [
    (ALL_GATHER, 0, (1,)),
    (ALL_GATHER_REVERSED, None, (0,)),
    (ALL_REDUCE, None, ("mean",)),
    (ALL_REDUCE, 0, ("sum",)),
    (REDUCE_SCATTER, None, (1, "sum")),
    (REDUCE_SCATTER, 0, (0, "max")),
    (ALL_TO_ALL, None, (0, 1)),
    (BROADCAST, 0, (1,)),
    (NEIGHBOR_PAD, None, (1, 2, 3, "replicate")),
    (SLICE_RESHARD, None, (1, 5, 64)),
]


class _Text:
    """Texts as values of expressions: a fold shows its tree, a slice the interval of a text's columns."""

    def __init__(self, owners, parts):
        self.owners, self.parts = owners, parts

    def of(self, source, rank):
        match source:
            case Shard(device):
                assert self.owners[device] == rank, "a rank reads the shards of its devices alone"
                return f"x{device}"
            case Received(sender, value):
                assert Sent(rank, value) in self.parts[sender].sends
                return self.of(value, sender)
            case Slice(of, dim, begin, end):
                return self.sliced(of, (dim, begin, end), rank)
            case Join(dim, parts):
                return f"join{dim}({','.join(self.of(part, rank) for part in parts)})"
            case Fill(_, dim, extent, number):
                return f"{number} x {extent} along {dim}"
            case Fold(reduction, terms, levels, total):
                inner = tree_fold(lambda a, b: f"({a}{b})", [self.of(term, rank) for term in terms], levels)
                return f"{inner}/{total or len(terms)}" if reduction == "mean" else inner

    def sliced(self, of, window, rank):
        if isinstance(of, Fold):  # a slice of a sum is the sum of the slices
            return self.of(of._replace(terms=tuple(Slice(term, *window) for term in of.terms)), rank)
        return f"{self.of(of, rank)}[{window}]"


@pytest.mark.parametrize("owners", OWNERS.values(), ids=[*OWNERS])
@pytest.mark.parametrize(("collective", "axis", "statics"), CALLS)
def test_ranks_compute_what_one_process_computes(collective, axis, statics, owners):
    mesh = MeshShape(2, 4)
    expansion = collective.expansion(mesh, EVERY, axis, SHAPE, statics)
    parts = parts_of_ranks(expansion, [SHAPE], owners)
    text, alone = _Text(owners, parts), _Text((0,) * 8, {})
    for number, results in expansion.items():
        rank = owners[number]
        for own, whole in zip(parts[rank].results[number], results, strict=True):
            assert text.of(own, rank) == alone.of(whole, 0)
    for rank, part in parts.items():
        for other, received in parts.items():
            sent = [value for to, value in part.sends if to == other]
            assert sent == [each.of for each in received.receives if each.rank == rank]
            assert len(sent) == len(set(sent)), "a value travels once"


def test_an_aligned_block_of_devices_travels_as_one_partial_sum():
    expansion = ALL_REDUCE.expansion(MeshShape(1, 8), EVERY, None, SHAPE, ("sum",))
    own, theirs = (Fold("sum", tuple(map(Shard, block)), (4,), 8, True) for block in (EVERY[:4], EVERY[4:]))
    part = parts_of_ranks(expansion, [SHAPE], OWNERS["two ranks"])[0]
    whole = Fold("sum", (own, Received(1, theirs)), (2,), 8)
    assert part == RankPart(dict.fromkeys(range(4), (whole,)), (Sent(1, own),), (Received(1, theirs),))
    assert part.results[0][0] is part.results[3][0]
    assert part.sends[0].value is part.results[0][0].terms[0], "what is sent is computed once"
    assert has_partial_sums(part.sends[0].value)
    assert not has_partial_sums(whole)


def test_a_group_of_one_ranks_devices_exchanges_nothing():
    expansion = ALL_GATHER.expansion(MeshShape(2, 4), EVERY, 1, SHAPE, (0,))
    part = parts_of_ranks(expansion, [SHAPE], OWNERS["two ranks"])[1]
    assert (part.sends, part.receives) == ((), ())
    assert part.results[4] is not expansion[4]
    assert part.results[4] == expansion[4]
