"""`copy.copy`, `copy.deepcopy` and `collections.deque` in jitted functions behave as in Python."""

from __future__ import annotations

import collections
import copy

import numpy
import pytest
import torch

from ttnn_jit import jit
from ttnn_jit.diagnostics.errors import CompileError

WEIGHT = torch.full((3, 4), 2.0)


class Scale:
    def __init__(self, by):
        self.by = by
        self.steps = [by]


class Doubling(Scale):
    def __deepcopy__(self, memo):
        made = Doubling(copy.deepcopy(self.by, memo))
        made.by *= 2
        return made


CONFIG, SCALE, DOUBLING = {"scales": [1.0, 2.0]}, Scale(2.0), Doubling(2.0)
QUEUE = collections.deque([1.0, 2.0, 5.0])


def a_queue_of_tensors(x):
    queue, found = collections.deque([(x, 0)], maxlen=3), []
    while queue:
        y, depth = queue.popleft()
        found.append(y)
        if depth < 2:
            queue.append((y * 0.5, depth + 1))
            queue.appendleft((y + 1.0, depth + 2))
    return sum(found) + len(found)


def all_that_a_queue_does(x):
    q = collections.deque([1.0, 2.0, 3.0, 4.0])
    q.rotate(1)
    q.extendleft([7.0, 8.0])
    q.insert(1, 9.0)
    q.reverse()
    q[0] = 0.5
    q += [4.0]
    q.remove(9.0)
    del q[2]
    asked = len(q) + q[-1] + (4.0 in q) + q.count(4.0) + q.index(4.0) + (q.maxlen is None) + q.copy().pop()
    return x * (sum(i * a for i, a in enumerate(q)) + asked + next(reversed(q)) + QUEUE[0] + QUEUE[-1] + sum(QUEUE))


def copied_containers(x):
    deep, flat, queue = copy.deepcopy(CONFIG), copy.copy(CONFIG), copy.deepcopy(QUEUE)
    deep["scales"][0] = 5.0
    flat["other"] = 3.0
    queue.append(4.0)
    return x * (sum(deep["scales"]) + sum(flat["scales"]) + len(flat) + len(CONFIG) + sum(queue) + len(QUEUE))


def copied_objects(x):
    deep, flat = copy.deepcopy(SCALE), copy.copy(SCALE)
    deep.by, flat.by = 4.0, 7.0
    deep.steps.append(1.0)
    shared = flat.steps is SCALE.steps and deep.steps is not SCALE.steps
    return x * (deep.by + flat.by + SCALE.by + len(SCALE.steps) + sum(deep.steps) + copy.deepcopy(DOUBLING).by + shared)


def copied_cycle(x):
    items = [x, 1.0]
    items.append(items)
    copied = copy.deepcopy(items)
    return copied[2][0] * (2.0 if copied[2] is copied and copied is not items else 3.0)


def a_copy_is_not_written_with_its_tensor(x):
    y = x * 2.0
    own, (first, second), same = copy.deepcopy(y), copy.deepcopy([y, y]), copy.copy(y)
    y += 1.0
    return own * 10.0 + first * (5.0 if first is second else 0.0) + same


PROGRAMS = [
    a_queue_of_tensors,
    all_that_a_queue_does,
    copied_containers,
    copied_objects,
    copied_cycle,
    a_copy_is_not_written_with_its_tensor,
]


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_copy_behaves_as_in_python_and_is_compiled_once(program, graph_capture):
    jitted, x = jit(graph_capture=graph_capture)(program), torch.arange(12.0).reshape(3, 4)
    for _ in range(2):
        assert torch.equal(jitted(x), program(x))
    assert jitted.num_entries == 1


@pytest.mark.parametrize("graph_capture", [False, True])
def test_copied_values_are_guarded(monkeypatch, graph_capture):
    x = torch.ones(3, 4)
    for program, changes in (
        (copied_containers, [(CONFIG["scales"], [3.0, 4.0]), (QUEUE, [7.0])]),
        (copied_objects, [(SCALE.steps, [1.0, 1.0])]),
    ):
        jitted = jit(graph_capture=graph_capture)(program)
        jitted(x)
        for container, items in changes:
            before = [*container]
            try:
                container.clear()
                container.extend(items)
                assert torch.equal(jitted(x), program(x))
            finally:
                container.clear()
                container.extend(before)
        monkeypatch.setattr(SCALE, "by", SCALE.by + 1)
        assert torch.equal(jitted(x), program(x))


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x.numpy()], ids=["torch", "numpy"])
def test_copied_weights_are_inputs(make):
    weights = {"one": make(WEIGHT), "all": [make(WEIGHT)]}

    @jit(graph_capture=False)
    def program(x):
        copied = copy.deepcopy(weights)
        return x + copied["one"] * copied["all"][0]

    x = make(torch.ones(3, 4))
    for factor in (2.0, 3.0):
        weights["one"] = make(WEIGHT * factor)
        assert numpy.array_equal(program(x), x + weights["one"] * weights["all"][0])
    assert program.num_entries == 1


def changes_a_queue_outside(x):
    QUEUE.appendleft(1.0)
    return x


def test_a_deque_outside_the_function_is_not_changed():
    before = [*QUEUE]
    with pytest.raises(CompileError, match="`appendleft` would change a deque from outside the function"):
        jit(graph_capture=False)(changes_a_queue_outside)(torch.ones(3, 4))
    assert [*QUEUE] == before
