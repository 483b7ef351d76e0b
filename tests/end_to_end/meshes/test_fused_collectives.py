"""Collectives that are fused with other operations equal their parts."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

SEMAPHORES = []


@pytest.fixture(params=["cpu", None], ids=["cpu", "chip"])
def mesh(request):
    return ttnn.open_mesh_device((1, 2), target=request.param)


def on(mesh, data, dim, **keywords):
    mapper = ttnn.ShardTensorToMesh(mesh, dim) if dim is not None else None
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper, **keywords)


def shards_of(tensor):
    return [ttnn.to_torch(own) for own in ttnn.get_device_tensors(tensor)]


def equal(left, right):
    return all(map(torch.equal, shards_of(left), shards_of(right)))


def test_products_of_gathered_tensors_and_scattered_sums_of_products(mesh):
    x, weight = on(mesh, torch.randn(1, 1, 32, 128), 3), on(mesh, torch.randn(1, 1, 128, 128), 3)
    bias = on(mesh, torch.randn(1, 1, 1, 128), 3)
    gathered, product = ttnn.experimental.all_gather_matmul_async(
        x, weight, None, 3, SEMAPHORES, (0, 4), bias=bias, activation="relu", num_links=1, chunks_per_sync=10
    )
    assert mesh.num_program_cache_entries() == 1
    assert equal(gathered, ttnn.all_gather(x, 3))
    assert equal(product, ttnn.linear(gathered, weight, bias=bias, activation="relu"))
    buffer = on(mesh, torch.zeros(1, 1, 32, 128), None)
    assert ttnn.experimental.all_gather_matmul_async(x, weight, buffer, 3, SEMAPHORES, (0, 4))[0] is buffer
    rows = on(mesh, torch.randn(1, 1, 128, 128), 2)
    found = ttnn.experimental.matmul_reduce_scatter_async(x, rows, None, None, 3, SEMAPHORES, (0, 6))
    assert equal(found[0], ttnn.linear(x, rows))
    assert equal(found[1], ttnn.reduce_scatter(found[0], 3))
    product = ttnn.experimental.llama_all_gather_matmul_async(
        x, weight, buffer, 3, 1, mesh, ttnn.Topology.Ring, SEMAPHORES, mm_memory_config=ttnn.L1_MEMORY_CONFIG
    )
    assert equal(product, ttnn.linear(gathered, weight))
    assert product.memory_config() == ttnn.L1_MEMORY_CONFIG


def test_parts_of_a_llama_layer_are_their_parts(mesh):
    x, other = on(mesh, torch.randn(1, 1, 32, 128), 3), on(mesh, torch.randn(2, 1, 32, 64), 0)
    weights = [on(mesh, torch.randn(1, 1, 128, 64), 2) for _ in range(2)]
    call = (x, weights[0], None, 3, None, 1, mesh, 1, None)
    product, scattered = ttnn.experimental.llama_rs_matmul(*call, rs_tensor=other)
    assert equal(product, ttnn.linear(x, weights[0]))
    assert equal(scattered, ttnn.reduce_scatter(other, 3, cluster_axis=1))
    first, second, scattered = ttnn.experimental.llama_rs_matmul(*call, second_weight_tensor=weights[1])
    assert equal(second, ttnn.linear(x, weights[1]))
    assert equal(scattered, ttnn.reduce_scatter(first, 3))
    assert equal(
        ttnn.experimental.llama_reduce_scatter(other, None, 3, None, None, 1, mesh), ttnn.reduce_scatter(other, 3)
    )
    with pytest.raises(ArgumentError, match="takes one of `rs_tensor` and `second_weight_tensor`"):
        ttnn.experimental.llama_rs_matmul(*call)


def test_heads_of_exchanged_tensors():
    mesh = ttnn.open_mesh_device((1, 2), target="cpu")
    x = on(mesh, torch.randn(2, 1, 4, 96), 0)
    create = ttnn.experimental.nlp_create_qkv_heads_decode
    summed, *heads = ttnn.experimental.all_reduce_create_qkv_heads(
        x, None, None, 1, mesh, SEMAPHORES, 4, num_kv_heads=1
    )
    assert equal(summed, ttnn.all_reduce(x))
    assert all(map(equal, heads, create(summed, num_heads=4, num_kv_heads=1)))
    heads = ttnn.experimental.llama_rs_create_heads(x, None, 3, None, None, 1, mesh, num_heads=1, num_kv_heads=1)
    assert all(map(equal, heads, create(ttnn.reduce_scatter(x, 3), num_heads=1, num_kv_heads=1)))
    users = on(mesh, torch.randn(1, 8, 4, 8), 1)
    joined = ttnn.experimental.all_gather_concat(users, None, 1, 1, mesh, SEMAPHORES, 3)
    assert equal(joined, ttnn.experimental.nlp_concat_heads_decode(ttnn.all_gather(users, 1), num_heads=3))
    with pytest.raises(ArgumentError, match="`batch_offset` and `slice_size` are not supported"):
        ttnn.experimental.all_reduce_create_qkv_heads(x, None, x, 1, mesh, SEMAPHORES, 4)


def test_several_tensors_are_gathered_by_one_call(mesh):
    pair = [on(mesh, torch.randn(1, 2, 64, 32), 2), on(mesh, torch.randn(1, 1, 64, 64), 2)]
    found = ttnn.experimental.ring_attention_all_gather_async(
        pair, None, 2, multi_device_global_semaphore=SEMAPHORES, cluster_axis=1, mesh_device=mesh
    )
    assert all(equal(own, ttnn.all_gather(each, 2)) for own, each in zip(found, pair, strict=True))
    buffer = on(mesh, torch.full((1, 2, 64, 32), 7.0), None)
    (kept,) = ttnn.experimental.ring_attention_all_gather_async(pair[:1], [buffer], 2, cluster_axis=1)
    whole = shards_of(found[0])[0]
    assert kept is buffer
    assert torch.equal(shards_of(kept)[0], torch.cat([torch.full((1, 2, 32, 32), 7.0), whole[:, :, 32:]], 2))
    assert torch.equal(shards_of(kept)[1], torch.cat([whole[:, :, :32], torch.full((1, 2, 32, 32), 7.0)], 2))
    strided = ttnn.experimental.strided_all_gather_async(pair[0], None, 2, tiles_per_chunk=2, cluster_axis=1)
    assert equal(strided, found[0])
    with pytest.raises(ArgumentError, match="2 tensors and 1 buffers are given"):
        ttnn.experimental.ring_attention_all_gather_async(pair, pair[:1], 2)


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm"])
def test_a_norm_with_gathered_statistics_is_that_of_the_whole_row(name):
    mesh = ttnn.open_mesh_device((1, 4), target="cpu")
    data, weight = torch.randn(1, 1, 32, 256), torch.randn(1, 1, 1, 256)
    x, columns = on(mesh, data, 3), on(mesh, weight, 3)
    stats = getattr(ttnn, f"{name}_pre_all_gather")(x, dtype=ttnn.float32)
    gathered = ttnn.all_gather(stats, 3, cluster_axis=1)
    parts = getattr(ttnn, f"{name}_post_all_gather")(x, gathered, epsilon=1e-5, weight=columns)
    normed = getattr(torch.nn.functional, name)(data, (256,), weight.flatten(), eps=1e-5)
    assert torch.allclose(torch.cat(shards_of(parts), 3), normed, atol=2e-6)
