"""The fusion rules of chip targets, each at its limit, and those of the cpu target."""

import pytest

from tests.unit.transforms.ttnn_modules import (
    BF16,
    F32,
    Graph,
    balanced_tree,
    block_sharded,
    cosh,
    kernels,
    ladder,
    lowered,
    operations,
    row_major,
    tiled,
)
from ttnn_jit.dialects import d2m
from ttnn_jit.dialects.locations import locations_of
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.kernels import partition as partition_module
from ttnn_jit.transforms.kernels.partition import FusionNode, Predicate, partition

FUSED = "d2m-generic-fusion"
CHIP = PRESETS["wormhole_b0"]
CPU = PRESETS["cpu"]


def _not_fused(module):
    return [
        (entry.data["consumer"].data, entry.data["predicate"].data)
        for kernel in kernels(module)
        for entry in kernel.attributes.get("d2m.not_fused", ())
    ]


def _inputs(module):
    return [len(kernel.inputs) for kernel in kernels(module)]


def test_31_inputs_of_16_bits_fuse_and_32_do_not():
    assert _inputs(lowered(balanced_tree(31, tiled(32, 32)), until=FUSED)) == [31]
    split = lowered(balanced_tree(32, tiled(32, 32)), until=FUSED)
    assert sum(_inputs(split)) == 33
    assert _not_fused(split) == [("add", "circular_buffers")]


def test_7_inputs_of_32_bits_fuse_and_8_do_not():
    spec = tiled(32, 32, dtype=F32)
    assert _inputs(lowered(balanced_tree(7, spec), until=FUSED)) == [7]
    split = lowered(balanced_tree(8, spec), until=FUSED)
    assert _inputs(split) == [4, 5]
    assert _not_fused(split) == [("add", "wide_inputs")]


def test_a_ladder_of_20_wide_inputs_splits_though_it_needs_three_tiles():
    split = lowered(ladder(20, tiled(32, 32, dtype=F32)), until="d2m-op-scheduler")
    assert _inputs(split) == [7, 7, 7, 2]
    assert {kernel.attributes["d2m.dst_peak"].value.data for kernel in kernels(split)} == {3}


def test_one_wide_tensor_makes_the_kernel_wide():
    graph = Graph(*[tiled(32, 32)] * 7, tiled(32, 32, dtype=F32))
    value = graph.args[0]
    for argument in graph.args[1:]:
        value = graph.op("add", value, argument)
    assert _inputs(lowered(graph.module(value), until=FUSED)) == [7, 2]


def test_two_readers_keep_a_value_from_being_fused():
    graph = Graph(tiled(32, 32))
    y = graph.op("exp", graph.args[0])
    split = lowered(graph.module(graph.op("add", y, graph.op("neg", y))), until=FUSED)
    assert [operations(kernel) for kernel in kernels(split)] == [("exp",), ("neg", "add")]
    assert _not_fused(split) == [("neg", "multi_user"), ("add", "multi_user")]


def test_one_reader_that_reads_twice_keeps_a_value_from_being_fused():
    graph = Graph(tiled(32, 32))
    y = graph.op("exp", graph.args[0])
    split = lowered(graph.module(graph.op("add", y, y)), until=FUSED)
    assert _inputs(split) == [1, 2]
    assert _not_fused(split) == [("add", "multi_user")]


def test_an_argument_read_twice_fuses_and_counts_twice():
    (kernel,) = kernels(lowered(cosh(tiled(32, 32)), until=FUSED))
    assert len(kernel.inputs) == 2
    graph = Graph(*[tiled(32, 32)] * 16)
    values = [graph.op("multiply", argument, argument) for argument in graph.args]
    total = values[0]
    for value in values[1:]:
        total = graph.op("add", total, value)
    split = lowered(graph.module(total), until=FUSED)
    assert sum(_inputs(split)) == 33
    assert _not_fused(split) == [("add", "circular_buffers")]


def test_an_op_whose_hoist_attribute_was_removed_is_not_fused():
    graph = Graph(tiled(32, 32))
    value = graph.op("exp", graph.op("neg", graph.op("abs", graph.args[0]), hoist=False))
    split = lowered(graph.module(value), until=FUSED)
    assert [operations(kernel) for kernel in kernels(split)] == [("abs",), ("neg",), ("exp",)]
    assert _not_fused(split) == [("neg", "not_hoisted"), ("exp", "not_hoisted")]


def test_a_returned_value_is_stored():
    graph = Graph(tiled(32, 32))
    y = graph.op("exp", graph.args[0])
    split = lowered(graph.module(y, graph.op("neg", y)), until=FUSED)
    assert len(kernels(split)) == 2
    assert _not_fused(split) == [("neg", "returned")]


def test_another_iteration_space_is_another_kernel():
    graph = Graph(tiled(32, 64), tiled(1, 64))
    bias = graph.op("exp", graph.args[1])
    split = lowered(graph.module(graph.op("add", graph.args[0], bias)), until=FUSED)
    assert len(kernels(split)) == 2
    assert _not_fused(split) == [("add", "iteration_space")]


def test_a_sharded_chain_keeps_the_grid_of_its_shards():
    graph = Graph(block_sharded(256, 256, cores=(4, 2)))
    (kernel,) = kernels(lowered(graph.module(graph.op("exp", graph.op("neg", graph.args[0]))), until=FUSED))
    assert kernel.grid.data == (2, 4)


@pytest.mark.parametrize(
    "build",
    [
        lambda g, a, _: g.op("exp", g.op("neg", a)),
        lambda g, a, b: g.op("add", g.op("neg", a), b),
        lambda g, a, b: g.op("neg", g.op("add", a, b)),
        lambda g, a, b: g.op("add", g.op("multiply", a, b), g.op("subtract", a, b)),
    ],
    ids=["unary-unary", "unary-binary", "binary-unary", "binary+binary-binary"],
)
def test_every_pair_of_the_fusion_zoo_is_one_kernel(build):
    graph = Graph(tiled(32, 32), tiled(32, 32))
    assert len(kernels(lowered(graph.module(build(graph, *graph.args)), until=FUSED))) == 1


def test_without_fusion_every_op_is_a_kernel():
    assert len(kernels(lowered(cosh(tiled(32, 32)), until=FUSED, fuse=False))) == 5


def test_a_fused_kernel_has_the_locations_of_all_its_ops():
    (kernel,) = kernels(lowered(cosh(tiled(32, 32)), until=FUSED))
    assert len({location.line for location in locations_of(kernel)}) == 5


def test_a_chain_of_a_thousand_ops_is_one_kernel():
    graph = Graph(tiled(32, 32))
    value = graph.args[0]
    for _ in range(1000):
        value = graph.op("neg", value)
    module = graph.module(value)
    pipeline.run(module, CompileOptions(), until=FUSED)
    assert len(kernels(module)) == 1


# The cpu target


def test_on_cpu_a_value_with_two_readers_is_fused():
    graph = Graph(row_major(5, 7))
    y = graph.op("exp", graph.args[0])
    module = graph.module(graph.op("add", y, graph.op("neg", y)), target="cpu")
    (kernel,) = kernels(lowered(module))
    assert operations(kernel) == ("exp", "neg", "add")


def test_on_cpu_a_tensor_is_one_input_however_often_it_is_read():
    graph = Graph(row_major(5, 7))
    (x,) = graph.args
    module = graph.module(graph.op("multiply", graph.op("add", x, x), x), target="cpu")
    (kernel,) = kernels(lowered(module))
    assert len(kernel.inputs) == 1


def test_on_cpu_repeated_ops_are_computed_once():
    graph = Graph(row_major(5, 7))
    (x,) = graph.args
    module = graph.module(graph.op("add", graph.op("exp", x), graph.op("exp", x)), target="cpu")
    (kernel,) = kernels(lowered(module))
    assert operations(kernel) == ("exp", "add")


def test_on_cpu_a_value_that_is_returned_too_is_stored():
    graph = Graph(row_major(5, 7))
    y = graph.op("exp", graph.args[0])
    split = lowered(graph.module(graph.op("neg", y), y, target="cpu"), until=FUSED)
    assert _not_fused(split) == [("neg", "returned")]


def test_a_graph_too_wide_for_the_registers_is_split_at_values_with_several_readers():
    count = CPU.dst_capacity(wide=True) + 4
    graph = Graph(*[row_major(8)] * count)
    values = [graph.op("exp", argument) for argument in graph.args]
    total = values[0]
    for value in values[1:]:
        total = graph.op("add", total, value)
    for value in values:
        total = graph.op("multiply", total, value)
    split = lowered(graph.module(total, target="cpu"))
    assert len(kernels(split)) == count + 1
    assert {predicate for _, predicate in _not_fused(split)} == {"dst_capacity"}
    peaks = [kernel.attributes["d2m.dst_peak"].value.data for kernel in kernels(split)]
    assert max(peaks) <= CPU.dst_capacity(wide=True)


def _negated(count, spec, target):
    """The lengths of the kernels of a chain, and the predicates that ended them."""
    graph = Graph(spec)
    value = graph.args[0]
    for _ in range(count):
        value = graph.op("neg", value)
    found = lowered(graph.module(value, target=target), until=FUSED)
    return _lengths(found), {predicate for _, predicate in _not_fused(found)}


def _lengths(module):
    return [len(operations(kernel)) for kernel in kernels(module)]


@pytest.mark.parametrize("target", [CHIP, CPU], ids=lambda target: target.name)
@pytest.mark.parametrize("count", [8, 9, 50])
def test_a_kernel_has_a_limited_number_of_ops(target, count, monkeypatch):
    monkeypatch.setattr(partition_module, "MOST_FUSED_OPS", 8)
    spec = row_major(32, 32) if target is CPU else tiled(32, 32, dtype=F32)
    lengths, predicates = _negated(count, spec, target)
    assert sum(lengths) == count
    assert max(lengths) <= 8
    assert len(lengths) == -(-count // 8)
    assert predicates == ({"kernel_ops"} if count > 8 else set())


def test_values_with_several_users_leave_a_kernel_of_too_many_ops(monkeypatch):
    monkeypatch.setattr(partition_module, "MOST_FUSED_OPS", 8)
    graph = Graph(row_major(32, 32))
    value = graph.args[0]
    for _ in range(6):
        value = graph.op("add", graph.op("exp", value), graph.op("neg", value))
    lengths = _lengths(lowered(graph.module(value, target=CPU), until=FUSED))
    assert sum(lengths) == 18
    assert max(lengths) <= 8


def test_a_kernel_that_keeps_float32_between_bfloat16_ops_has_any_number_of_ops(monkeypatch):
    monkeypatch.setattr(partition_module, "MOST_FUSED_OPS", 8)
    assert _negated(20, tiled(32, 32), CPU) == ([20], set())
    assert _negated(20, tiled(32, 32), CHIP) == ([8, 8, 4], {"kernel_ops"})


# The partition alone


def _node(*operands, users=1, **fields):
    return FusionNode(operands, ("space",) * len(operands), "space", users, **fields)


def test_a_loop_that_is_not_parallel_is_not_fused():
    parted = partition([_node(-1), _node(0, elementwise=False)], CHIP)
    assert [refusal.predicate for refusal in parted.refusals] == [Predicate.NOT_ELEMENTWISE]


def test_ternary_trees_can_exceed_the_registers_before_the_inputs():
    """N9: for ternary ops the counting predicates do not imply that the peak fits."""
    nodes = [_node(-3 * i - 1, -3 * i - 2, -3 * i - 3, wide=True) for i in range(2)]
    nodes.append(_node(0, 1, -10, wide=True))
    parted = partition(nodes, CHIP)
    assert [refusal.predicate for refusal in parted.refusals] == [Predicate.DST_CAPACITY]
    assert parted.groups == ((1,), (0, 2))


def test_groups_are_in_program_order_and_cover_every_node():
    nodes = [_node(-1), _node(-2), _node(0), _node(1), _node(2, 3, users=2), _node(4), _node(4, 5)]
    parted = partition(nodes, CHIP)
    assert sorted(node for group in parted.groups for node in group) == list(range(len(nodes)))
    assert all(list(group) == sorted(group) for group in parted.groups)
    assert parted.groups == ((0, 1, 2, 3, 4), (5, 6))


def test_bf16_on_the_chip_is_narrow():
    assert CHIP.dst_capacity(wide=False) == 8
    assert CHIP.dst_capacity(wide=True) == 4
    (kernel,) = kernels(lowered(cosh(tiled(32, 32, dtype=BF16))))
    (acquire,) = [op for op in kernel.walk() if isinstance(op, d2m.AcquireDstOp)]
    assert acquire.result.type.get_shape() == (8, 1, 1)
