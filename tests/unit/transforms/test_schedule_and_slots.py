from ttnn_jit.transforms.kernels.schedule import schedule, tiles_needed
from ttnn_jit.transforms.kernels.slots import assign_slots
from ttnn_jit.transforms.kernels.tile_graph import TileGraph

ADD_TREE_8_TO_1 = TileGraph(8, ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)), 14)
COSH = TileGraph(2, ((0,), (1,), (3,), (2, 4), (5,)), 6)


def test_the_add_tree_needs_six_tiles_in_source_order_and_five_rescheduled():
    assert assign_slots(ADD_TREE_8_TO_1, ADD_TREE_8_TO_1.source_order).peak == 6
    order = schedule(ADD_TREE_8_TO_1)
    assert order == (0, 1, 4, 2, 3, 5, 6)
    assert assign_slots(ADD_TREE_8_TO_1, order).peak == 5


def test_the_add_tree_gets_the_slots_of_the_listing():
    steps = assign_slots(ADD_TREE_8_TO_1, schedule(ADD_TREE_8_TO_1)).steps
    assert [(step.operand_slots, step.result_slot) for step in steps] == [
        ((0, 1), 2),
        ((0, 1), 3),
        ((2, 3), 0),
        ((2, 3), 1),
        ((2, 3), 4),
        ((1, 4), 2),
        ((0, 2), 1),
    ]


def test_cosh_needs_three_tiles():
    assert schedule(COSH) == COSH.source_order
    assert assign_slots(COSH, COSH.source_order).peak == 3


def test_a_unary_chain_stays_in_slot_zero():
    chain = TileGraph(1, ((0,), (1,), (2,)), 3)
    assignment = assign_slots(chain, schedule(chain))
    assert chain.is_unary_chain
    assert {step.result_slot for step in assignment.steps} == {0}
    assert assignment.peak == 1


def test_a_unary_op_does_not_overwrite_a_value_that_is_read_later():
    graph = TileGraph(1, ((0,), (1,), (1, 2)), 3)
    steps = assign_slots(graph, graph.source_order).steps
    assert steps[1].operand_slots == (0,)
    assert steps[1].result_slot == 1


def test_an_input_is_loaded_for_every_op_that_reads_it_and_once_within_one():
    graph = TileGraph(1, ((0, 0), (0, 1)), 2)
    first, second = assign_slots(graph, graph.source_order).steps
    assert first.loads == ((0, 0),)
    assert first.operand_slots == (0, 0)
    assert second.loads == ((0, 0),)


def test_a_kernel_that_only_copies_has_a_slot_for_its_input():
    copy = TileGraph(1, (), 0)
    assert assign_slots(copy, schedule(copy)).result_slot == 0


def test_source_order_is_kept_if_scheduling_gains_nothing():
    graph = TileGraph(4, ((0, 1), (2, 3), (4, 5)), 6)
    assert schedule(graph) == (0, 1, 2)


def test_the_worst_trees_of_binary_ops_need_three_to_six_tiles_up_to_thirty_one_inputs():
    """N9: for unary and binary ops the two counting predicates imply the third."""
    needs = {2: 3}
    for inputs in range(3, 65):
        needs[inputs] = max(
            tiles_needed([needs[k] for k in (left, inputs - left) if k > 1], 2) for left in range(1, inputs // 2 + 1)
        )
    assert [max(needs[i] for i in range(2, limit + 1)) for limit in (3, 7, 15, 31, 63)] == [3, 4, 5, 6, 7]


def test_a_chain_thousands_of_ops_deep_is_scheduled_without_recursion():
    length = 5000
    operands = tuple((length - op, 0 if op == 0 else length + op) for op in range(length))
    graph = TileGraph(length + 1, operands, 2 * length)
    assert len(schedule(graph)) == length
