"""Random programs for meshes: jitted, they have the bits and the placements of eager calls, in any number of ranks."""

from __future__ import annotations

import hashlib
import random

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_exchanges import on, opened
from tests.end_to_end.meshes.test_jitted_collectives import assert_equal
from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.tools.cli import main

SEEDS = 8
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
        "add_": lambda t: ttnn.add_(t[x], 1),
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


class Inputs:
    """Random tensors of one mesh, element type and layout."""

    def __init__(self, draw, seed):
        self._numbers = torch.Generator().manual_seed(seed)
        shape, target = draw.choice(MESHES), draw.choice([*KINDS])
        on_cpu = target == "cpu"
        self._draw = draw
        self._mesh = opened(shape) if on_cpu else ttnn.open_mesh_device(ttnn.MeshShape(shape), target=target)
        self._dtype = draw.choice(KINDS[target])
        self._extents = (2, 24, draw.choice([16, 30])) if on_cpu else (2, 96, 64)
        self._layout = draw.choice([ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT]) if on_cpu else ttnn.TILE_LAYOUT
        self.shape = shape

    def pair(self):
        """Two equal tensors; some are whole on each device, and then a part of some is written."""
        count = self._mesh.get_num_devices()
        shards = [(torch.randn(self._extents, generator=self._numbers) * 9).to(self._dtype) for _ in range(count)]
        is_whole, written = self._draw.random() < 0.4, self._draw.choice([None, self._draw.randrange(count)])
        mapper = ttnn.ReplicateTensorToMesh(self._mesh)
        pair = [
            ttnn.from_torch(shards[0], device=self._mesh, mesh_mapper=mapper, layout=self._layout)
            if is_whole
            else on(self._mesh, shards, layout=self._layout)
            for _ in range(2)
        ]
        for each in pair if written in pair[0].numbers else ():
            ttnn.add_(each.on(written), 3)
        return pair

    def for_two_calls(self):
        """The two arguments of a call, and equal ones."""
        return [*zip(self.pair(), self.pair(), strict=True)]


class Random:
    """A random program, and its inputs."""

    def __init__(self, seed):
        self._draw = draw = random.Random(seed)
        self.inputs = Inputs(draw, seed)
        sample, self._calls = [*self.inputs.for_two_calls()[0]], []
        for _ in range(7):
            name, call = step(draw, self.inputs.shape, sample)
            self._calls.append((name, call))
            sample.append(call(sample))
        self._kept = draw.sample(range(len(sample)), 3)
        self.jitted = ttnn_jit.jit(graph_capture=True)(self.program())

    def program(self):
        calls, kept = self._calls, self._kept

        def program(x, y):
            found = [x, y]
            for _, call in calls:
                found.append(call(found))
            return [found[index] for index in (*kept, -1)]

        return program

    def digests(self):
        """The bits on each device of what three calls return and write, and the placements."""
        found = {}
        for _ in range(3):
            mine, others = self.inputs.for_two_calls()
            results = zip(self.jitted(*mine), self.program()(*others), strict=True)
            for own, expected in (*results, *zip(mine, others, strict=True)):
                assert_equal(own, expected)
                for number, shard in zip(own.numbers, own.tensors, strict=True):
                    digest = found.setdefault(number, hashlib.sha256(repr(own.tensor_topology()).encode()))
                    digest.update(ttnn.to_torch(shard).contiguous().view(torch.uint8).numpy())
        return {number: digest.hexdigest() for number, digest in found.items()}


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_program_has_the_bits_of_eager_calls(seed):
    Random(seed).digests()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_program_has_the_bits_of_one_process_in_any_number_of_ranks(seed):
    expected = Random(seed).digests()
    for count in {2, random.Random(seed).randint(2, len(expected)), len(expected)}:
        found = {}
        for digests in in_ranks(count, lambda _: Random(seed).digests()):
            if isinstance(digests, BaseException):
                raise digests
            found |= digests
        assert found == expected


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_random_program_is_interpreted_with_the_bits_of_its_native_code(seed, tmp_path):
    made = Random(seed)
    mine, others = zip(*made.inputs.for_two_calls(), strict=True)
    (tmp_path / "program.mlir").write_text(made.jitted.ir(*mine, stage="d2m-insert-dst-register-access"))
    torch.save([ttnn.to_torch(part) for each in others for part in each.tensors], tmp_path / "inputs.pt")
    files = ["--inputs", f"{tmp_path}/inputs.pt", "--save", f"{tmp_path}/out.pt"]
    found = []
    for options in ([], ["--interpret"]):
        main(["run", f"{tmp_path}/program.mlir", *files, *options])
        found.append(torch.load(tmp_path / "out.pt"))
    assert all(torch.equal(own, other) for own, other in zip(*found, strict=True))
