"""Attention of sequences that are split among devices, beside torch's in float64."""

from __future__ import annotations

import pytest
import torch

from tests.end_to_end.meshes.test_exchanges import opened, shards_of
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError

HEADS, PART, JOINT, WIDTH = 2, 32, 20, 32


def given(mesh, dtype):
    """Queries, keys and values of both sequences, in torch and on a mesh whose second axis splits the first."""
    whole = [torch.randn(1, HEADS, 4 * PART, WIDTH).to(dtype) for _ in range(3)]
    joint = [torch.randn(1, HEADS, JOINT, WIDTH).to(dtype) for _ in range(3)]
    split = ttnn.ShardTensor2dMesh(mesh, mesh_shape=tuple(mesh.shape), dims=(None, 2))
    own = [ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=split) for x in whole]
    other = [ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=mesh) for x in joint]
    return whole, joint, own, other


def attended(mesh, own, other, logical_n, **options):
    keywords = {
        "persistent_output_buffer_k": None,
        "persistent_output_buffer_v": None,
        "joint_strategy": "rear",
        "program_config": None,
        "dim": 2,
        "multi_device_global_semaphore": [],
        "num_links": 1,
        "cluster_axis": 1,
        "mesh_device": mesh,
        "topology": ttnn.Topology.Linear,
        "ccl_core_grid_offset": ttnn.CoreCoord(0, 6),
    }
    return ttnn.transformer.ring_joint_scaled_dot_product_attention(
        *own, *other, logical_n=logical_n, **(keywords | options)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("logical_n", [4 * PART, 4 * PART - 7, 3 * PART + 1])
@pytest.mark.parametrize("scale", [None, 0.5])
def test_each_device_attends_to_all_positions_and_to_the_joint_ones(dtype, logical_n, scale):
    mesh = opened((2, 4))
    whole, joint, own, other = given(mesh, dtype)
    found = attended(mesh, own, other, logical_n, scale=scale)
    assert mesh.num_program_cache_entries() == 1
    keys, values = (torch.cat([x[:, :, :logical_n], y], 2).double() for x, y in zip(whole[1:], joint[1:], strict=True))
    bound = 1e-5 if dtype is torch.float32 else 3e-2
    for number, (first, second, sums) in enumerate(zip(*map(shards_of, found), strict=True)):
        begin = number % 4 * PART
        queries = torch.cat([whole[0][:, :, begin : begin + PART], joint[0]], 2).double()
        scores = queries @ keys.transpose(2, 3) * (WIDTH**-0.5 if scale is None else scale)
        expected = scores.softmax(-1) @ values
        assert first.shape == (1, HEADS, PART, WIDTH)
        assert second.shape == (1, HEADS, JOINT, WIDTH)
        assert (torch.cat([first, second], 2).double() - expected).abs().max() < bound
        assert ((sums.double() - scores.logsumexp(-1, True)).abs() <= bound * scores.abs().max().clamp(min=1)).all()


def test_gathered_keys_and_values_are_in_the_given_buffers():
    mesh = opened((2, 4))
    whole, _, own, other = given(mesh, torch.bfloat16)
    buffers = [ttnn.from_torch(torch.zeros_like(x), layout=ttnn.TILE_LAYOUT, device=mesh) for x in whole[1:]]
    attended(mesh, own, other, 90, persistent_output_buffer_k=buffers[0], persistent_output_buffer_v=buffers[1])
    for buffer, expected in zip(buffers, whole[1:], strict=True):
        assert all(torch.equal(shard, expected) for shard in shards_of(buffer))


def test_what_does_not_fit_is_refused():
    mesh = opened((2, 4))
    _, _, own, other = given(mesh, torch.bfloat16)
    with pytest.raises(ShapeError, match="`logical_n` is 129, and there are 128 positions"):
        attended(mesh, own, other, 129)
    with pytest.raises(ArgumentError, match="`joint_strategy` must be"):
        attended(mesh, own, other, 128, joint_strategy="front")
    with pytest.raises(ShapeError, match="split along dimension 2"):
        attended(mesh, own, other, 128, dim=1)
