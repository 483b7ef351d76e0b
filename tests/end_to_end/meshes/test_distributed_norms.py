"""Norms of rows that are split among devices, beside torch's in float64."""

from __future__ import annotations

import pytest
import torch

from tests.end_to_end.meshes.test_fused_collectives import equal, mesh, on, shards_of  # noqa: F401 - a fixture
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError

COLUMNS = 128


def close(found, expected, bound=2e-2):
    """Whether the parts of a result are those of `expected`, within roundings to bfloat16."""
    whole = torch.cat(shards_of(found), -1).double()
    assert whole.shape == expected.shape
    assert ((whole - expected).abs() <= bound * expected.abs().clamp(min=1.0)).all()


def rms(x, weight, epsilon):
    return x * torch.rsqrt(x.square().mean(-1, True) + epsilon) * weight


@pytest.mark.parametrize("has_residual", [False, True])
def test_a_fused_norm_adds_the_residual_and_normalises_whole_rows(mesh, has_residual):  # noqa: F811
    x, residual = (torch.randn(1, 1, 32, COLUMNS).bfloat16() for _ in range(2))
    weight = torch.rand(COLUMNS).bfloat16()
    held = on(mesh, residual, 3) if has_residual else None
    gamma = ttnn.from_torch(weight.reshape(1, 1, -1, 32), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 2))
    found = ttnn.fused_rms_minimal(
        on(mesh, x, 3), None, 1, mesh, None, residual_input_tensor=held, epsilon=1e-5, weight=gamma
    )
    total = (x.float() + residual.float()).bfloat16() if has_residual else x
    if has_residual:
        assert torch.equal(torch.cat(shards_of(held), -1), total)
    close(found, rms(total.double(), weight.double(), 1e-5))
    assert ttnn.fused_rms_minimal(on(mesh, x, 3), None, 1, mesh, None, dtype=ttnn.float32).dtype == ttnn.float32


def test_statistics_gathered_by_hand_give_the_norm_of_heads_and_their_rotation(mesh):  # noqa: F811
    x, weight = torch.randn(1, 1, 32, COLUMNS).bfloat16(), torch.rand(1, COLUMNS).bfloat16()
    own, gamma = on(mesh, x, 3), on(mesh, weight, 1)
    stats = ttnn.all_gather(ttnn.experimental.wan_fused_rmsnorm_pre_allgather(own), 3, cluster_axis=1)
    found = ttnn.experimental.wan_fused_rmsnorm_post_allgather(
        own, stats, epsilon=1e-5, num_heads_per_device=2, weight=gamma
    )
    expected = rms(x.double(), weight.double(), 1e-5).reshape(32, 2, 2, 32)  # rows, devices, heads, columns
    for number, shard in enumerate(shards_of(found)):
        assert shard.shape == (1, 2, 32, 32)
        assert ((shard[0].double() - expected[:, number].transpose(0, 1)).abs() < 3e-2).all()
    angles = torch.rand(1, 1, 32, 32).bfloat16()
    cosines, sines = on(mesh, angles.cos(), None), on(mesh, angles.sin(), None)
    matrix = torch.zeros(1, 1, 32, 32)
    matrix[..., range(0, 32, 2), range(1, 32, 2)], matrix[..., range(1, 32, 2), range(0, 32, 2)] = 1, -1
    rotation = {"rope_cos": cosines, "rope_sin": sines, "transformation_mat": on(mesh, matrix.bfloat16(), None)}
    turned = ttnn.experimental.wan_fused_rmsnorm_post_allgather(
        own, stats, epsilon=1e-5, num_heads_per_device=2, weight=gamma, **rotation
    )
    assert equal(turned, ttnn.experimental.rotary_embedding_llama(found, *rotation.values()))
    with pytest.raises(ArgumentError, match="takes all of"):
        ttnn.experimental.wan_fused_rmsnorm_post_allgather(own, stats, rope_cos=cosines)
    with pytest.raises(ShapeError, match="no 3 heads"):
        ttnn.experimental.wan_fused_rmsnorm_post_allgather(own, stats, num_heads_per_device=3)


def test_a_layer_norm_of_split_rows_is_that_of_whole_rows(mesh):  # noqa: F811
    x = torch.randn(1, 1, 32, COLUMNS).bfloat16()
    weight, bias = (torch.rand(1, COLUMNS).bfloat16() for _ in range(2))
    own = on(mesh, x, 3)
    stats = ttnn.all_gather(ttnn.experimental.dit_layernorm_pre_allgather(own, dtype=ttnn.float32), 3, cluster_axis=1)
    assert stats.dtype == ttnn.float32
    found = ttnn.experimental.dit_layernorm_post_allgather(
        own, stats, epsilon=1e-5, weight=on(mesh, weight, 1), bias=on(mesh, bias, 1)
    )
    close(found, torch.nn.functional.layer_norm(x.double(), (COLUMNS,), weight[0].double(), bias[0].double()))
