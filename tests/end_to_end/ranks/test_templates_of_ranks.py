"""Programs of ranks for many sizes: exchanges of other sizes compile nothing, and ranks agree on sizes."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.diagnostics.errors import DistributedError

ROWS = (8, 16, 32, 64, 48, 128, 1024, 24, 512)


def jitted(dynamic=None, *, enable_cache=False):
    @ttnn_jit.jit(dynamic=dynamic, enable_cache=enable_cache)
    def layer(x, weight, rate):
        total = ttnn.all_reduce(ttnn.matmul(x, weight))
        return (
            ttnn.softmax(total),
            ttnn.all_gather(ttnn.gelu(x), 1),
            ttnn.all_gather(x * rate, 0),
            ttnn.reduce_scatter(x, 0),
            ttnn.mesh_partition(total, 0),
        )

    return layer


def script(layers, layout, rows=ROWS):
    """The results on each device of calls with so many rows; each rank calls its own of some functions."""

    def run(rank=0):
        random = torch.Generator().manual_seed(1)
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 4), target="cpu")

        def split(dim, *shape):
            mapper = ttnn.ShardTensorToMesh(mesh, dim=dim)
            data = torch.randn(*shape, generator=random)
            return ttnn.from_torch(data, device=mesh, layout=layout, mesh_mapper=mapper)

        weight, found = split(0, 64, 96), {}
        for count in rows:
            x = split(1, count, 64)
            for _ in range(2):
                results = layers[rank % len(layers)](x, weight, 1.0 / count)
            for index, each in enumerate(results):
                parts = zip(each.numbers, map(ttnn.to_torch, each.tensors), strict=True)
                found |= {(count, index, number): part for number, part in parts}
        return found

    return run


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("layout", [ttnn.ROW_MAJOR_LAYOUT, ttnn.TILE_LAYOUT], ids=["rows", "tiles"])
@pytest.mark.parametrize("dynamic", [(None,), (True,), (False, True)], ids=["second", "first", "on some ranks"])
def test_sizes_that_change_have_the_bits_of_one_process_and_few_programs(dynamic, layout, count):
    whole = script([jitted(dynamic=False)], layout)()
    before = COUNTERS.compiles
    found = in_ranks(count, script([jitted(each) for each in dynamic], layout))
    compiles = COUNTERS.compiles - before
    parts = {key: part for own in found for key, part in own.items()}
    assert parts.keys() == whole.keys()
    assert all(torch.equal(part, whole[key]) for key, part in parts.items())
    if False not in dynamic:
        assert compiles < count * len(ROWS)


def test_ranks_that_pass_other_sizes_to_one_template_name_both():
    layer = ttnn_jit.jit(dynamic=True, enable_cache=False)(lambda x: ttnn.all_reduce(ttnn.exp(x)))

    def run(rank):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
        for rows in (4, 6, 8 + 2 * rank):
            layer(ttnn.zeros((rows, 32), device=mesh))

    for each in in_ranks(2, run):
        assert isinstance(each, DistributedError)
        assert "[8, 32] BFLOAT16" in each.message
        assert "[10, 32] BFLOAT16" in each.message


def test_another_process_of_the_same_rank_finds_its_template(tmp_path, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_CACHE_DIR", str(tmp_path))

    def fresh():
        return ttnn_jit.jit()(lambda x: ttnn.exp(ttnn.all_reduce(x)))

    def run(_):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
        results = [layer(ttnn.full((each, 32), each / 64, device=mesh, dtype=ttnn.float32)) for each in rows]
        return [ttnn.to_torch(each)[0, 0].item() for result in results for each in result.tensors]

    layer, rows = fresh(), (8, 16)
    in_ranks(2, run)
    layer, rows, before = fresh(), (24, 40), COUNTERS.compiles
    assert in_ranks(2, run) == [pytest.approx([2.117, 3.490], rel=1e-3)] * 2
    assert COUNTERS.compiles == before


@pytest.mark.parametrize("axis", [0, 1])
def test_tensors_that_are_placed_in_another_way_have_templates_of_their_own(axis):
    gathered = ttnn_jit.jit(enable_cache=False)(lambda x: ttnn.all_gather(x, 0, cluster_axis=axis))
    for shape in ((1, 4), (2, 2), (4, 1)):
        mesh = ttnn.open_mesh_device(ttnn.MeshShape(*shape), target="cpu")
        for rows in (8, 16, 32):
            for dim in (0, 1):
                mapper = ttnn.ShardTensorToMesh(mesh, dim=dim)
                x = ttnn.from_torch(torch.randn(4 * rows, 32), device=mesh, mesh_mapper=mapper)
                found, expected = gathered(x), gathered.func(x)
                assert found.tensor_topology() == expected.tensor_topology()
                pairs = zip(*map(ttnn.get_device_tensors, (found, expected)), strict=True)
                assert all(torch.equal(*map(ttnn.to_torch, pair)) for pair in pairs)
