"""Expansions of collectives as plain data: groups, shapes, and the order of folds."""

from __future__ import annotations

import pytest

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.ops.collectives.device_exchanges import ALL_GATHER, ALL_REDUCE, COLLECTIVES, NEIGHBOR_PAD, REDUCE_SCATTER
from ttnn_jit.ops.families.collective import Fill, Fold, Group, Join, Shard, Slice, groups_of, shape_of, tree_fold
from ttnn_jit.specs.meshes.mesh_shape import MeshShape

MESH = MeshShape(2, 4)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((2,), "(01)"),
        ((3,), "((01)2)"),
        ((5,), "(((01)(23))4)"),
        ((6,), "(((01)(23))(45))"),
        ((7,), "(((01)(23))((45)6))"),
        ((2, 3), "(((01)(23))(45))"),
        ((3, 2), "(((01)2)((34)5))"),
    ],
)
def test_a_fold_is_a_tree_of_neighbours_with_an_odd_last_one_carried(levels, expected):
    terms = [str(term) for term in range(levels[0] * (levels[1] if len(levels) > 1 else 1))]
    assert tree_fold(lambda left, right: f"({left}{right})", terms, levels) == expected


def test_groups_are_the_devices_along_an_axis_or_all_of_them():
    every = tuple(range(8))
    assert groups_of(MESH, every, None) == (Group(every, (8,)),)
    assert groups_of(MESH, every, 1) == (Group((0, 1, 2, 3), (4,)), Group((4, 5, 6, 7), (4,)))
    assert groups_of(MESH, every, 0)[1] == Group((1, 5), (2,))
    assert groups_of(MESH, (0, 1, 5), 0) == (Group((0,), (1,)), Group((1, 5), (2,)))
    with pytest.raises(ArgumentError, match="has no axis 2"):
        groups_of(MESH, every, 2)


def test_folds_over_several_axes_run_along_one_after_the_other_where_the_devices_fill_a_box():
    assert groups_of(MESH, tuple(range(8)), None, True) == (Group((0, 4, 1, 5, 2, 6, 3, 7), (2, 4)),)
    assert groups_of(MESH, (1, 2, 5, 6), None, True) == (Group((1, 5, 2, 6), (2, 2)),)
    assert groups_of(MESH, (0, 1, 2, 3), None, True) == (Group((0, 1, 2, 3), (4,)),)
    assert groups_of(MESH, (0, 1, 2, 4), None, True) == (Group((0, 1, 2, 4), (4,)),)
    box = groups_of(MeshShape(2, 2, 2), tuple(range(8)), None, True)
    assert box == (Group((0, 4, 2, 6, 1, 5, 3, 7), (2, 2, 2)),)


def test_an_expansion_names_copies_and_folds_by_operand_and_device():
    gathered = ALL_GATHER.expansion(MESH, (0, 1, 4, 5), 1, (2, 3), (1,))
    assert gathered[0] == gathered[1] == (Join(1, (Shard(0), Shard(1))),)
    assert gathered[0] is gathered[1]
    assert gathered[4] == (Join(1, (Shard(4), Shard(5))),)
    fold = Fold("sum", (Shard(1), Shard(5)), (2,))
    assert ALL_REDUCE.expansion(MESH, tuple(range(8)), 0, (2, 3), ("sum",))[5] == (fold,)
    scattered = REDUCE_SCATTER.expansion(MESH, tuple(range(8)), 0, (2, 3), (0, "sum"))
    assert scattered[1] == (Slice(fold, 0, 0, 1),)
    assert scattered[5] == (Slice(fold, 0, 1, 2),)
    (padded,) = NEIGHBOR_PAD.expansion(MESH, (0, 1), None, (2, 3), (0, 1, 2, "zeros"))[0]
    assert padded == Join(0, (Fill(Shard(0), 0, 1), Shard(0), Slice(Shard(1), 0, 0, 2)))
    assert shape_of(padded, [(2, 3)]) == (5, 3)


def test_equal_calls_have_one_expansion():
    call = (MESH, tuple(range(8)), 1, (2, 3), (1,))
    assert ALL_GATHER.expansion(*call) is ALL_GATHER.expansion(*call)
    other = (MeshShape(4, 2), *call[1:])
    assert ALL_GATHER.expansion(*other) != ALL_GATHER.expansion(*call)


@pytest.mark.parametrize("collective", COLLECTIVES, ids=lambda each: each.name)
def test_a_declaration_says_what_it_is(collective):
    assert collective.summary.endswith(".")
    assert collective.operands[0].name == "input_tensor"
    assert "device numbers" in collective.rules
