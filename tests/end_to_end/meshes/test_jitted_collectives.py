"""Collectives inside jitted functions: one program for the mesh, with the bits of eager calls."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_exchanges import CALLS, on, opened, shards_of
from ttnn_jit import ttnn

FURTHER = {
    "broadcast": (
        ("broadcast",),
        lambda x, axis: ttnn.broadcast(x, [0] * len(x.device().shape), cluster_axis=axis),
    ),
    "point_to_point": (
        ("point_to_point",),
        lambda x, _: ttnn.point_to_point(x, [0] * len(x.device().shape), [each - 1 for each in x.device().shape]),
    ),
}
EVERY = CALLS | FURTHER
BOTH = pytest.mark.parametrize("captured", [False, True], ids=["ast", "capture"])


def bits(tensor):
    results = tensor if isinstance(tensor, list | tuple) else [tensor]
    return [(each.tensor_topology(), shards_of(each)) for each in results]


def assert_equal(found, expected):
    for (topology, own), (wanted, shards) in zip(bits(found), bits(expected), strict=True):
        assert topology == wanted
        assert all(torch.equal(one, other) for one, other in zip(own, shards, strict=True))


def random_shards(count, shape=(2, 24, 5), dtype=torch.float32):
    return [torch.randn(shape).to(dtype) for _ in range(count)]


@pytest.mark.parametrize("number", range(len(EVERY)), ids=[*EVERY])
@pytest.mark.parametrize(("shape", "axis"), [((2, 4), 0), ((2, 4), 1), ((1, 3), None), ((2, 2, 2), None)])
def test_a_jitted_collective_has_the_bits_and_the_topology_of_an_eager_one(shape, axis, number):
    _, function = [*EVERY.values()][number]
    jitted = ttnn_jit.jit(graph_capture=bool(number % 2))(lambda x: function(x, axis))
    mesh = opened(shape)
    for _ in range(3):  # compiled, then warm
        x = on(mesh, random_shards(mesh.get_num_devices()))
        assert_equal(jitted(x), function(x, axis))
    assert jitted.num_entries == 1


@BOTH
def test_a_program_that_multiplies_and_sums_is_one_call(captured):
    mesh = opened((2, 4))

    @ttnn_jit.jit(graph_capture=captured)
    def product(x, w):
        return ttnn.relu(ttnn.all_reduce(ttnn.matmul(x, w), cluster_axis=1)) + 1.0

    for _ in range(3):
        x, w = on(mesh, random_shards(8, (1, 16, 8))), on(mesh, random_shards(8, (1, 8, 24)))
        summed = ttnn.all_reduce(ttnn.matmul(x, w), cluster_axis=1)
        assert_equal(product(x, w), ttnn.relu(summed) + 1.0)


def tree(combine, terms):
    """The order of sums, written down a second time: neighbours in pairs, an odd last one carried."""
    while len(terms) > 1:
        paired = [combine(*terms[first : first + 2]) for first in range(0, len(terms) - 1, 2)]
        terms = paired + terms[len(terms) - len(terms) % 2 :]
    return terms[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
@pytest.mark.parametrize(("shape", "axis"), [((1, 3), 1), ((1, 7), None), ((2, 4), 0), ((2, 4), 1), ((3, 2), None)])
def test_a_sum_is_a_tree_over_device_numbers_that_is_rounded_once(shape, axis, dtype):
    mesh = opened(shape)
    count = mesh.get_num_devices()
    given = [(torch.randn(3, 40) * 2.0 ** torch.randint(-8, 30, (3, 40))).to(dtype) for _ in range(count)]
    jitted = ttnn_jit.jit()(lambda x: (ttnn.all_reduce(x, cluster_axis=axis), ttnn.reduce_scatter(x, -1, axis)))
    if 40 % (count if axis is None else shape[axis]):
        jitted = ttnn_jit.jit()(lambda x: (ttnn.all_reduce(x, cluster_axis=axis),))
    results = [shards_of(each) for each in jitted(on(mesh, given))]
    wide = [each if dtype is torch.int32 else each.float() for each in given]
    numbers = torch.arange(count).reshape(shape)
    lines = [numbers.flatten()] if axis is None else numbers.movedim(axis, -1).reshape(-1, shape[axis])
    for line in lines:
        expected = tree(torch.add, [wide[number] for number in line])
        if axis is None and min(shape) > 1:  # along axis 0 first, then along axis 1
            expected = tree(torch.add, [tree(torch.add, [wide[at] for at in column]) for column in numbers.T])
        for position, number in enumerate(line):
            assert torch.equal(results[0][number], expected.to(dtype))
            if len(results) > 1:
                summed = tree(torch.add, [wide[each] for each in line]).to(dtype)
                assert torch.equal(results[1][number], summed.chunk(len(line), -1)[position])
