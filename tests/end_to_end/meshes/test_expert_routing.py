"""Scores and weights of each device's own experts, and sums of experts' results."""

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from tests.end_to_end.meshes.test_exchanges import on, opened, shards_of
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError

MESH, EXPERTS, CHOSEN = (2, 4), 24, 3


def remapped(scores, owner, chosen, device):
    """The scores of a device's experts, one after the other."""
    own = [expert for expert in range(EXPERTS) if owner[expert] == device]
    found = torch.zeros(*scores.shape[:3], len(own), dtype=scores.dtype)
    for batch, sequence, place in torch.cartesian_prod(*map(torch.arange, chosen.shape[1:])).tolist():
        expert = int(chosen[0, batch, sequence, place])
        if expert in own:
            found[0, batch, sequence, own.index(expert)] = scores[0, batch, sequence, expert]
    return found


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("reduction_size", [16, 5, 1])
def test_each_device_gets_the_scores_of_its_experts_and_the_chunks_that_need_them(dtype, reduction_size):
    mesh = opened(MESH)
    generator = torch.Generator().manual_seed(reduction_size)
    owner = torch.arange(EXPERTS).remainder(8)[torch.randperm(EXPERTS, generator=generator)]
    mapping = torch.nn.functional.one_hot(owner, 8)[None, None]
    scores = torch.rand(1, 4, 3, EXPERTS, generator=generator).to(dtype)
    chosen = torch.stack([torch.randperm(EXPERTS, generator=generator)[:CHOSEN] for _ in range(12)])
    chosen = chosen.reshape(1, 4, 3, CHOSEN)
    mapped, reduced = ttnn.moe_expert_token_remap(
        on(mesh, [scores] * 8),
        ttnn.from_torch(mapping, dtype=ttnn.uint16, device=mesh),
        on(mesh, [chosen] * 8, dtype=ttnn.uint16),
        reduction_size=reduction_size,
    )
    assert reduced.dtype == ttnn.uint16
    for device, (found, marks) in enumerate(zip(shards_of(mapped), shards_of(reduced), strict=True)):
        expected = remapped(scores, owner, chosen, device)
        assert torch.equal(found, expected)
        chunks = expected.reshape(12, -1).split(reduction_size)
        assert torch.equal(marks[0, 0], torch.stack([(each != 0).any(0) for each in chunks]).to(torch.int16))


def test_scores_are_written_into_given_tensors_and_wrong_ones_refused():
    mesh = opened(MESH)
    mapping = ttnn.from_torch(torch.eye(8).repeat(3, 1)[None, None], dtype=ttnn.uint16, device=mesh)
    scores, chosen = on(mesh, [torch.rand(1, 2, 8, 24)] * 8), on(mesh, [torch.ones(1, 2, 8, 3)] * 8, dtype=ttnn.uint16)
    expected = ttnn.moe_expert_token_remap(scores, mapping, chosen)
    given = [ttnn.zeros_like(each) for each in expected]
    found = ttnn.moe_expert_token_remap(
        scores, mapping, chosen, optional_output_mapping_tensor=given[0], optional_output_reduced_tensor=given[1]
    )
    assert all(left is right for left, right in zip(found, given, strict=True))
    for left, right in zip(expected, found, strict=True):
        assert all(map(torch.equal, shards_of(left), shards_of(right)))
    with pytest.raises(ShapeError, match="do not fit each other"):
        ttnn.moe_expert_token_remap(on(mesh, [torch.rand(1, 2, 8, 16)] * 8), mapping, chosen)
    with pytest.raises(ArgumentError, match="`reduction_size` must be at least 1"):
        ttnn.moe_expert_token_remap(scores, mapping, chosen, reduction_size=0)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_each_device_along_an_axis_gets_its_share_of_the_weights(axis, dtype):
    mesh = opened(MESH)
    weights = torch.zeros(1, 32, dtype=dtype)
    places = torch.randperm(32)[:8].sort().values
    weights[0, places] = torch.rand(8).to(dtype) - 2
    result = ttnn.moe_routing_remap(on(mesh, [weights] * 8), 8, MESH[axis], axis)
    share = 8 // MESH[axis]
    for number, found in enumerate(shards_of(result)):
        at = divmod(number, 4)[axis] * share
        expected = torch.zeros_like(weights)
        expected[0, places[at : at + share]] = weights[0, places[at : at + share]]
        assert torch.equal(found, expected)
    with pytest.raises(ArgumentError, match="does not have 3 devices"):
        ttnn.moe_routing_remap(on(mesh, [weights] * 8), 8, 3, axis)
    with pytest.raises(ShapeError, match=r"no \d equal shares"):
        ttnn.moe_routing_remap(on(mesh, [weights] * 8), 7, MESH[axis], axis)


def test_sums_of_experts_are_split_and_scattered():
    mesh, shards = opened((1, 4)), [torch.randn(3, 1, 32, 128) for _ in range(4)]
    x = on(mesh, shards, layout=ttnn.TILE_LAYOUT)
    parts = ttnn.experimental.deepseek_moe_fast_reduce_nc(x, dim=0, split_size=32)
    assert [list(each.shape) for each in parts] == [[1, 1, 32, 32]] * 4
    total = ttnn.sum(x, 0, True)
    assert all(map(torch.equal, shards_of(ttnn.concat(parts, 3)), shards_of(total)))
    found = ttnn.experimental.deepseek_moe_reduce_scatter(parts, dim=3, cluster_axis=1)
    wanted = ttnn.reduce_scatter(total, 3, cluster_axis=1)
    assert all(map(torch.equal, shards_of(found), shards_of(wanted)))
    with pytest.raises(ShapeError, match="no dimension 2 to reduce"):
        ttnn.experimental.deepseek_moe_fast_reduce_nc(x, dim=2, split_size=32)
    with pytest.raises(ShapeError, match="no parts of 48"):
        ttnn.experimental.deepseek_moe_fast_reduce_nc(x, dim=0, split_size=48)


def test_collectives_of_single_models_are_their_parts():
    mesh = opened(MESH)
    x, other = (on(mesh, [torch.randn(1, 1, 32, 64) for _ in range(8)], layout=ttnn.TILE_LAYOUT) for _ in range(2))
    total = ttnn.all_reduce(x, cluster_axis=1)

    def same(left, right):
        return all(map(torch.equal, shards_of(left), shards_of(right)))

    assert same(ttnn.experimental.deepseek_minimal_all_reduce(x, cluster_axis=1), total)
    buffer = ttnn.zeros_like(x)
    found = ttnn.experimental.deepseek_minimal_all_reduce(
        x, cluster_axis=1, residual_tensor=other, persistent_output_tensor=buffer
    )
    assert found is buffer
    assert same(found, ttnn.add(total, other))
    at = ttnn.MeshCoordinate(1, 2)
    assert same(ttnn.experimental.deepseek_minimal_broadcast(x, at, cluster_axis=0), ttnn.broadcast(x, at, 0))
    assert same(
        ttnn.experimental.deepseek_minimal_broadcast(x, at, cluster_axis=0, secondary_cluster_axis=1),
        ttnn.broadcast(x, at),
    )
    with pytest.raises(ArgumentError, match="are not the two axes"):
        ttnn.experimental.deepseek_minimal_broadcast(x, at, cluster_axis=0, secondary_cluster_axis=0)
    weight = on(mesh, [torch.randn(1, 1, 256, 32) for _ in range(8)], layout=ttnn.TILE_LAYOUT)
    gathered, product = ttnn.experimental.strided_all_gather_minimal_matmul_async(
        x, weight, None, 3, None, (0, 0), cluster_axis=1
    )
    assert same(gathered, ttnn.all_gather(x, 3, cluster_axis=1))
    assert same(product, ttnn.experimental.minimal_matmul(gathered, weight))


def test_routing_in_a_jitted_function_has_the_bits_of_eager_calls():
    mesh = opened(MESH)
    mapping = ttnn.from_torch(torch.eye(8).repeat(3, 1)[None, None], dtype=ttnn.uint16, device=mesh)
    scores = on(mesh, [torch.rand(1, 2, 8, 24)] * 8)
    chosen = on(mesh, [torch.randint(24, (1, 2, 8, 3))] * 8, dtype=ttnn.uint16)
    weights = on(mesh, [torch.rand(1, 8)] * 8)

    def program(scores, mapping, chosen, weights):
        remapped, marks = ttnn.moe_expert_token_remap(scores, mapping, chosen, reduction_size=4)
        return remapped, marks, ttnn.moe_routing_remap(weights, 8, 4, 1)

    expected = program(scores, mapping, chosen, weights)
    found = ttnn_jit.jit()(program)(scores, mapping, chosen, weights)
    for left, right in zip(expected, found, strict=True):
        assert all(map(torch.equal, shards_of(left), shards_of(right)))
