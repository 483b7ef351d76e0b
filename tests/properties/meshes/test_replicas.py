"""Random writes, copies and exchanges of replicated tensors give what tensors with memory of their own would give."""

from __future__ import annotations

import copy
from functools import reduce

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit import ttnn

DEVICES = 3
SHAPE = (3, 8)
STEPS = ["replicate", "shard", "write", "add_", "update", "view", "gather", "reduce", "broadcast", "move", "free"]

steps = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, 99), st.integers(0, 99), st.integers(0, DEVICES - 1)),
    min_size=4,
    max_size=14,
)


@ttnn_jit.jit()
def update(x, y):
    ttnn.add_(x, y)


@pytest.fixture(scope="module")
def mesh():
    opened = ttnn.open_mesh_device(ttnn.MeshShape(1, DEVICES), target="cpu")
    yield opened
    ttnn.close_mesh_device(opened)


class World:
    """Tensors of a mesh, each with the values that its devices must have; None for a shard that was freed.

    Tensors in one memory have one list of values.
    """

    def __init__(self, mesh):
        self.mesh = mesh
        self.tensors = []
        self.seed = 0

    def numbers(self, shape=SHAPE):
        self.seed += 1
        return torch.arange(float(torch.Size(shape).numel())).reshape(shape) + 100 * self.seed

    def choose(self, index):
        whole = [each for each in self.tensors if all(value is not None for value in each[1])]
        return whole[index % len(whole)] if whole else None

    def keep(self, tensor, values):
        self.tensors.append((tensor, values))

    def made(self, data, mapper):
        return ttnn.from_torch(data, device=self.mesh, dtype=ttnn.float32, mesh_mapper=mapper)

    def step(self, name, first, second, device):
        if name == "replicate":
            data = self.numbers()
            self.keep(self.made(data, ttnn.ReplicateTensorToMesh(self.mesh)), [data] * DEVICES)
        elif name == "shard":
            data = self.numbers((DEVICES * SHAPE[0], SHAPE[1]))
            self.keep(self.made(data, ttnn.ShardTensorToMesh(self.mesh, 0)), [*data.chunk(DEVICES)])
        elif self.choose(first) is not None:
            getattr(self, name)(self.choose(first), self.choose(second), device)

    def write(self, one, _, device):
        data = self.numbers()
        ttnn.copy_host_to_device_tensor(ttnn.from_torch(data), ttnn.get_device_tensors(one[0])[device])
        one[1][device] = data

    def add_(self, one, _other, _device):
        ttnn.add_(one[0], 1.0)
        one[1][:] = [value + 1 for value in one[1]]

    def update(self, one, other, device):
        if one[1] is not other[1]:
            tensors = [ttnn.get_device_tensors(each[0])[device] for each in (one, other)]
            update(*tensors)
            one[1][device] = one[1][device] + other[1][device]

    def view(self, one, _other, _device):
        self.keep(copy.copy(one[0]), one[1])

    def gather(self, one, _other, _device):
        gathered = ttnn.all_gather(one[0], dim=0)
        part = ttnn.slice(gathered, [SHAPE[0], 0], [2 * SHAPE[0], SHAPE[1]])
        self.keep(part, [one[1][1]] * DEVICES)

    def reduce(self, one, _other, _device):
        total = reduce(torch.add, one[1])  # small whole numbers: every order gives the same sum
        self.keep(ttnn.all_reduce(one[0]), [total] * DEVICES)

    def broadcast(self, one, _, device):
        self.keep(ttnn.all_broadcast(one[0])[device], [one[1][device]] * DEVICES)

    def move(self, one, _other, _device):
        self.keep(ttnn.to_device(ttnn.from_device(one[0]), self.mesh), [*one[1]])

    def free(self, one, _, device):
        ttnn.deallocate(ttnn.get_device_tensors(one[0])[device])
        one[1][device] = None

    def check(self):
        for tensor, values in self.tensors:
            for shard, value in zip(ttnn.get_device_tensors(tensor), values, strict=True):
                if value is not None:
                    assert torch.equal(ttnn.to_torch(shard), value)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_replicas_are_as_tensors_of_their_own(mesh, chosen):
    world = World(mesh)
    world.step("replicate", 0, 0, 0)
    world.step("shard", 0, 0, 0)
    for step in chosen:
        world.step(*step)
        world.check()
