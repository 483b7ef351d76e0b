"""Ranks that have no part of the tensors of a call: they call what the others call, and do nothing."""

from __future__ import annotations

import threading

import pytest
import torch

import ttnn_jit
from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.dialects import parse_module, print_module

TILES = ttnn.TILE_LAYOUT
BOTH = pytest.mark.parametrize("captured", [False, True], ids=["ast", "capture"])


def of_four(mesh, data, dtype=ttnn.float32):
    """A tensor whose columns are on the first four devices of a mesh, in row-major order."""
    config = ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(1)], ttnn.MeshShape(1, 4))
    mapper = ttnn.create_mesh_mapper(mesh, config)
    return ttnn.from_torch(data, dtype, device=mesh, mesh_mapper=mapper, layout=TILES)


def described(tensor):
    """Where a tensor is, and the elements of the parts of this rank."""
    parts = [ttnn.to_torch(each).float().tolist() for _, each in zip(tensor.numbers, tensor.tensors, strict=False)]
    return tensor.tensor_topology(), tuple(tensor.placed), tuple(tensor.numbers), tensor.spec, parts


def layer(x, weight, state):
    """Exchanges, a weight, an update, an argument that is returned, and results of other shapes."""
    total = ttnn.all_reduce(ttnn.matmul(x, weight))
    ttnn.add_(state, total)
    return ttnn.relu(total), ttnn.all_gather(x, 1), state, x, ttnn.typecast(total, ttnn.bfloat8_b)


def script(call):
    """Calls with tensors on four devices of six, and between them calls with tensors on all."""

    def run(_=0):
        random = torch.Generator().manual_seed(3)
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 6), target="cpu")
        state = of_four(mesh, torch.zeros(32, 128))
        found = []
        for _ in range(3):  # compiled, found, warm
            x = of_four(mesh, torch.randn(32, 128, generator=random))
            weight = of_four(mesh, torch.randn(32, 128, generator=random))
            found += map(described, call(x, weight, state))
            everywhere = ttnn.all_reduce(ttnn.full([4, 8], 0.1, device=mesh))
            found.append(described(everywhere))
        return found

    return run


@BOTH
@pytest.mark.parametrize("count", [2, 3, 6])
def test_programs_of_tensors_on_other_ranks_have_the_results_of_eager_calls(count, captured):
    jitted = script(ttnn_jit.jit(graph_capture=captured)(layer))
    ranks = in_ranks(count, jitted)
    assert ranks == in_ranks(count, script(layer))
    for at, whole in enumerate(jitted()):
        assert all(each[at][:2] == whole[:2] for each in ranks)
        assert [part for each in ranks for part in each[at][4]] == whole[4]


def test_a_rank_without_a_part_draws_the_numbers_of_the_others_too():
    @ttnn_jit.jit()
    def noisy(x):
        return x + ttnn.rand(x.shape, device=x.device(), dtype=ttnn.float32, layout=TILES)

    turn = threading.Lock()  # threads share the generator of the process

    def run(_):
        with turn:
            ttnn.manual_seed(7)
            mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 6), target="cpu")
            x = of_four(mesh, torch.zeros(32, 128))
            return [each for _ in range(3) for each in (described(noisy(x)), described(ttnn.rand([2, 3], device=mesh)))]

    whole = run(0)
    ranks = in_ranks(3, run)
    for at, (*_, parts) in enumerate(whole):
        assert [part for each in ranks for part in each[at][4]] == parts
    assert not any(each[4] for each in ranks[2][::2])


def test_a_rank_with_a_part_of_one_operand_alone_keeps_it():
    @ttnn_jit.jit()
    def updated(x, y):
        ttnn.add_(x, y)
        return x + 1.0

    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")
        x = ttnn.from_torch(torch.zeros(4, 8), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
        config = ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(0)], ttnn.MeshShape(1, 2))
        y = ttnn.from_torch(torch.ones(2, 8), device=mesh, mesh_mapper=ttnn.create_mesh_mapper(mesh, config))
        sums = [[*updated(x, y).numbers] for _ in range(3)]
        return sums, [ttnn.to_torch(each)[0, 0].item() for each in x.tensors]

    assert in_ranks(2, run) == [([[0, 1]] * 3, [3.0, 3.0]), ([[]] * 3, [0.0, 0.0])]


def test_a_trace_holds_calls_of_other_ranks():
    @ttnn_jit.jit()
    def summed(x):
        return ttnn.exp(ttnn.all_reduce(x) * 0.1)

    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 6), target="cpu")
        x = of_four(mesh, torch.zeros(32, 128))
        summed(x)
        trace = ttnn.begin_trace_capture(mesh, cq_id=0)
        result = summed(x)
        ttnn.end_trace_capture(mesh, trace, cq_id=0)
        found = []
        for step in range(3):
            ttnn.copy(ttnn.add(x, float(step)), x)
            ttnn.execute_trace(mesh, trace, cq_id=0, blocking=True)
            found.append(described(result)[3:] == described(summed(x))[3:])
        return found

    assert in_ranks(3, run) == [[True] * 3] * 3


@pytest.mark.parametrize("call", [lambda function: function, ttnn_jit.jit()], ids=["eager", "jitted"])
def test_every_rank_may_call_with_tensors_of_a_submesh_of_others(call):
    function = call(lambda x: (ttnn.relu(ttnn.all_reduce(x)) + 1.0, ttnn.all_gather(x, 1)))

    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")
        part = mesh.create_submesh(ttnn.MeshShape(1, 2), [0, 1])
        data = torch.arange(128.0).reshape(4, 32)
        x = ttnn.from_torch(data, device=part, mesh_mapper=ttnn.ShardTensorToMesh(part, dim=0))
        found = [described(each)[4] for _ in range(3) for each in function(x)]
        y = ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
        return [sum(map(torch.tensor, each)).sum().item() if each else None for each in found], described(
            ttnn.all_reduce(y)
        )[4] == [data.sum(0, keepdim=True).tolist()]

    own = ([8192.0, 8128.0] * 3, True)
    assert in_ranks(4, run) == [([None, None] * 3, True), own, own, ([None, None] * 3, True)]


def test_a_rank_cannot_read_a_tensor_of_a_submesh_of_others():
    def run(rank):
        part = ttnn.open_mesh_device(ttnn.MeshShape(1, 3), target="cpu").create_submesh(ttnn.MeshShape(1, 2), [0, 1])
        x = ttnn.from_torch(torch.ones(4, 32), device=part, mesh_mapper=ttnn.ShardTensorToMesh(part, dim=0))
        composer = ttnn.ConcatMeshToTensor(part, dim=0)
        if rank:
            return tuple(ttnn.to_torch(x, mesh_composer=composer).shape)
        with pytest.raises(DistributedError, match="needs devices of this rank, which has none of the mesh"):
            ttnn.to_torch(x, mesh_composer=composer)
        return ttnn.get_device_tensors(x), tuple(ttnn.ones([2, 2], device=part).shape)

    assert in_ranks(3, run) == [([], (2, 2)), (4, 32), (4, 32)]


def test_the_text_and_the_program_on_disk_say_that_a_rank_has_no_part(tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path))

    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 6), target="cpu")
        x = of_four(mesh, torch.ones(32, 128))
        text = jitted.ir(x)
        assert print_module(parse_module(text)) == text
        return "ttcore.mesh_devices = array<i64>," in text, described(jitted(x))[4:]

    jitted = ttnn_jit.jit()(lambda x: ttnn.exp(ttnn.all_reduce(x)))
    first = in_ranks(3, run)
    assert [has_none for has_none, _ in first] == [False, False, True]
    before = COUNTERS.disk_hits
    jitted = ttnn_jit.jit()(lambda x: ttnn.exp(ttnn.all_reduce(x)))
    assert in_ranks(3, run) == first
    assert COUNTERS.disk_hits == before + 3
