"""Scheduling against brute force, and slots against a machine that detects every overwritten tile."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit.transforms.kernels.schedule import schedule
from ttnn_jit.transforms.kernels.slots import assign_slots
from ttnn_jit.transforms.kernels.tile_graph import TileGraph


@st.composite
def trees(draw, max_ops=7):
    """A tree of ops with one to three operands, in a random order that respects dependences."""
    arities = draw(st.lists(st.integers(1, 3), min_size=1, max_size=max_ops))
    unread: list[tuple[str, int]] = []
    operands: list[list[tuple[str, int]]] = []
    inputs = 0
    for number, arity in enumerate(arities):
        chosen: list[tuple[str, int]] = []
        for _ in range(arity):
            if unread and draw(st.booleans()):
                chosen.append(unread.pop(draw(st.integers(0, len(unread) - 1))))
            else:
                chosen.append(("input", inputs))
                inputs += 1
        operands.append(chosen)
        unread.append(("op", number))
    while len(unread) > 1:
        operands.append([unread.pop() for _ in range(min(3, len(unread)))])
        unread.append(("op", len(operands) - 1))
    return _graph(inputs, operands)


@st.composite
def graphs(draw):
    """Ops that read any earlier values, also several times."""
    inputs = draw(st.integers(1, 4))
    operands = []
    for number in range(draw(st.integers(1, 12))):
        values = st.integers(0, inputs + number - 1)
        operands.append(tuple(draw(st.lists(values, min_size=1, max_size=3))))
    return TileGraph(inputs, tuple(operands), inputs + len(operands) - 1)


def _graph(inputs, operands):
    def value(kind, number):
        return number if kind == "input" else inputs + number

    return TileGraph(inputs, tuple(tuple(value(*o) for o in op) for op in operands), inputs + len(operands) - 1)


def _orders(graph):
    def extend(done):
        if len(done) == len(graph.operands):
            yield tuple(done)
            return
        for op, operands in enumerate(graph.operands):
            if op not in done and all(v < graph.inputs or v - graph.inputs in done for v in operands):
                yield from extend([*done, op])

    return extend([])


@settings(max_examples=100, deadline=None)
@given(trees())
def test_the_schedule_of_a_tree_is_as_good_as_the_best_of_all_orders(graph):
    best = min(assign_slots(graph, order).peak for order in _orders(graph))
    assert assign_slots(graph, schedule(graph)).peak == best


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_the_schedule_never_needs_more_than_source_order_and_respects_dependences(graph):
    order = schedule(graph)
    assert sorted(order) == list(graph.source_order)
    position = {op: at for at, op in enumerate(order)}
    for op, operands in enumerate(graph.operands):
        assert all(v < graph.inputs or position[v - graph.inputs] < position[op] for v in operands)
    assert assign_slots(graph, order).peak <= assign_slots(graph, graph.source_order).peak


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_slots_never_overwrite_a_tile_that_is_read_later(graph):
    assignment = assign_slots(graph, schedule(graph))
    holds: dict[int, int] = {}
    for step in assignment.steps:
        holds.update((slot, value) for value, slot in step.loads)
        assert tuple(holds[slot] for slot in step.operand_slots) == graph.operands[step.op]
        holds[step.result_slot] = graph.inputs + step.op
        assert len(holds) <= assignment.peak
        assert max(holds) < assignment.peak
    assert holds[assignment.result_slot] == graph.result
