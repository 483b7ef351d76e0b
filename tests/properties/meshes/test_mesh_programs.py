"""Random programs for meshes: jitted, they have the bits and the placements of eager calls."""

from __future__ import annotations

import random

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_exchanges import on, opened
from tests.end_to_end.meshes.test_jitted_collectives import assert_equal
from ttnn_jit import ttnn

SEEDS = 10
MESHES = ((2, 4), (1, 3), (2, 2, 2), (3, 2), (1, 5))
KINDS = {"cpu": (torch.float32, torch.int32), "wormhole_b0": (torch.bfloat16, torch.float32)}


def step(draw, shape, tensors):
    """A random call, as a function of the tensors so far."""
    x, y = (draw.randrange(len(tensors)) for _ in range(2))
    axis = draw.choice([None, *range(len(shape))])
    count = ttnn.MeshShape(shape).mesh_size() if axis is None else shape[axis]
    sender = [draw.randrange(extent) for extent in shape]
    receiver = [draw.randrange(extent) for extent in shape]
    dim = draw.choice([-2, -1])
    own = tuple(tensors[x].shape)
    calls = {
        "add": own == tuple(tensors[y].shape) and (lambda t: t[x] + t[y]),
        "multiply": lambda t: t[x] * 2,
        "relu": lambda t: ttnn.relu(t[x]),
        "all_reduce": lambda t: ttnn.all_reduce(t[x], cluster_axis=axis),
        "largest": lambda t: ttnn.all_reduce(t[x], cluster_axis=axis, reduce_type="max"),
        "all_gather": own[dim] < 300 and (lambda t: ttnn.all_gather(t[x], dim, cluster_axis=axis)),
        "reduce_scatter": own[dim] % count == 0 and (lambda t: ttnn.reduce_scatter(t[x], dim, cluster_axis=axis)),
        "mesh_partition": own[dim] % count == 0 and (lambda t: ttnn.mesh_partition(t[x], dim, cluster_axis=axis)),
        "broadcast": lambda t: ttnn.broadcast(t[x], sender, cluster_axis=axis),
        "point_to_point": lambda t: ttnn.point_to_point(t[x], sender, receiver),
        "all_broadcast": lambda t: ttnn.all_broadcast(t[x], cluster_axis=axis)[0],
        "neighbor_pad": lambda t: ttnn.experimental.neighbor_pad_async(t[x], -2, 1, 2, "zeros", axis),
    }
    return draw.choice([(name, call) for name, call in calls.items() if call])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_program_has_the_bits_of_eager_calls(seed):
    draw = random.Random(seed)
    torch.manual_seed(seed)
    shape, target = draw.choice(MESHES), draw.choice([*KINDS])
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(shape), target=target) if target != "cpu" else opened(shape)
    dtype, count = draw.choice(KINDS[target]), mesh.get_num_devices()
    extents = (2, 96, 64) if target != "cpu" else (2, 24, draw.choice([16, 30]))
    layout = ttnn.TILE_LAYOUT if target != "cpu" else draw.choice([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT])

    def given():
        shards = [(torch.randn(extents) * 9).to(dtype) for _ in range(2 * count)]
        return [on(mesh, half, layout=layout) for half in (shards[:count], shards[count:])]

    first, calls = given(), []
    tensors = [*first]
    for _ in range(7):
        name, call = step(draw, shape, tensors)
        calls.append((name, call))
        tensors.append(call(tensors))
    kept = draw.sample(range(len(tensors)), 3)

    def program(x, y):
        found = [x, y]
        for _, call in calls:
            found.append(call(found))
        return [found[index] for index in (*kept, -1)]

    jitted = ttnn_jit.jit(graph_capture=True)(program)
    for inputs in (first, given(), given()):
        for found, expected in zip(jitted(*inputs), program(*inputs), strict=True):
            assert_equal(found, expected)
