"""Sockets move tensors between meshes, of one process and of two ranks; ttnn's names of ranks."""

from __future__ import annotations

import pytest
import torch

from tests.ranks import in_ranks
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DistributedError
from ttnn_jit.runtime.ranks.rank_environment import Binding

SHAPE = ttnn.MeshShape(2, 2)
MULTI_MESH = [Binding(0, 0), Binding(1, 0)]
CORE = ttnn.CoreCoord(0, 0)


def config(*ranks, turned=False):
    coordinates = [*ttnn.MeshCoordinateRange(SHAPE)]
    receivers = coordinates[::-1] if turned else coordinates
    connections = [
        ttnn.SocketConnection(ttnn.MeshCoreCoord(sender, core), ttnn.MeshCoreCoord(receiver, core))
        for sender, receiver in zip(coordinates, receivers, strict=True)
        for core in (CORE, ttnn.CoreCoord(0, 1))
    ]
    return ttnn.SocketConfig(connections, ttnn.SocketMemoryConfig(ttnn.BufferType.L1, 4096), *ranks)


def sharded(mesh, data, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    mapper = ttnn.ShardTensor2dMesh(mesh, dims=(0, 1), mesh_shape=SHAPE)
    return ttnn.from_torch(data, dtype, layout=layout, device=mesh, mesh_mapper=mapper)


def whole(tensor):
    composer = ttnn.ConcatMesh2dToTensor(tensor.device(), mesh_shape=SHAPE, dims=(0, 1))
    return ttnn.to_torch(tensor, mesh_composer=composer)


@pytest.mark.parametrize("dtype", [ttnn.bfloat16, ttnn.bfloat8_b])
def test_a_pair_of_sockets_moves_shards_to_the_connected_devices_of_another_mesh(dtype):
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4), target="cpu")
    left, right = (mesh.create_submesh(SHAPE, ttnn.MeshCoordinate(0, column)) for column in (0, 2))
    sender, receiver = ttnn.create_socket_pair(left, right, config(turned=True))
    x = sharded(left, torch.randn(64, 64), dtype)
    y = ttnn.to_device(ttnn.zeros(x.shape, dtype, layout=x.layout), right)  # one memory for all devices
    assert ttnn.experimental.send_async(x, sender) == []
    before = [shard.stored_bytes() for shard in x.tensors]
    if dtype is ttnn.bfloat16:
        ttnn.zeros_like(x)
        ttnn.copy(ttnn.zeros_like(x), x)  # what was sent stays
    (received,) = ttnn.experimental.recv_async(y, receiver)
    assert received is y
    assert [shard.stored_bytes() for shard in y.tensors] == before[::-1]


def test_sockets_refuse_what_does_not_fit():
    mesh = ttnn.open_mesh_device(SHAPE, target="cpu")
    other = ttnn.open_mesh_device(SHAPE, target="cpu")
    sender, receiver = ttnn.create_socket_pair(mesh, other, config())
    x, y = sharded(mesh, torch.randn(64, 64)), sharded(other, torch.randn(64, 64))
    with pytest.raises(ArgumentError, match="nothing was sent"):
        ttnn.experimental.recv_async(y, receiver)
    with pytest.raises(ArgumentError, match="is the other end"):
        ttnn.experimental.send_async(x, receiver)
    with pytest.raises(ArgumentError, match="the socket is on"):
        ttnn.experimental.send_async(y, sender)
    ttnn.experimental.send_async(x, sender)
    with pytest.raises(
        ArgumentError, match=r"`recv_async` of \[32, 32\] FLOAT32 TILE: what was sent is of `send_async`"
    ):
        ttnn.experimental.recv_async(sharded(other, torch.randn(64, 64), ttnn.float32), receiver)
    ttnn.experimental.recv_async(y, receiver)
    at = [ttnn.MeshCoreCoord(each, CORE) for each in ttnn.MeshCoordinateRange(SHAPE)]
    pairs = [ttnn.SocketConnection(at[0], at[1]), ttnn.SocketConnection(at[2], at[1])]
    with pytest.raises(ArgumentError, match="two devices send to one"):
        ttnn.SocketConfig(pairs, ttnn.SocketMemoryConfig(ttnn.BufferType.L1, 4096))
    with pytest.raises(ArgumentError, match="needs `sender_rank` and `receiver_rank`"):
        ttnn.MeshSocket(mesh, config())


def test_two_ranks_with_meshes_of_their_own_are_a_pipeline():
    data = torch.randn(64, 128)

    def run(rank):
        mesh = ttnn.open_mesh_device(SHAPE, target="cpu")
        assert (ttnn.distributed_context_get_rank(), ttnn.distributed_context_get_size()) == (rank, 2)
        assert ttnn.distributed_context_is_initialized()
        there, back = ttnn.MeshSocket(mesh, config(0, 1)), ttnn.MeshSocket(mesh, config(1, 0))
        x = sharded(mesh, data)
        results = []
        for step in range(20):  # more than may be under way
            if rank == 0:
                ttnn.experimental.send_async(ttnn.add(ttnn.relu(x), float(step)), there)
                ttnn.experimental.recv_async(x, back)
                results.append(whole(x))
            else:
                ttnn.experimental.recv_async(x, there)
                ttnn.experimental.send_async(ttnn.multiply(x, -0.5), back)
        ttnn.distributed_context_barrier()
        return results

    expected, x = [], data.bfloat16()
    for step in range(20):
        x = (x.relu() + step) * -0.5
        expected.append(x)
    results, _ = in_ranks(2, run, bindings=MULTI_MESH)
    assert len(results) == 20
    assert all(map(torch.equal, results, expected))


def test_both_ends_learn_that_they_disagree():
    def run(rank):
        mesh = ttnn.open_mesh_device(SHAPE, target="cpu")
        socket = ttnn.MeshSocket(mesh, config(0, 1))
        x = sharded(mesh, torch.randn(64, 64), ttnn.float32 if rank else ttnn.bfloat16)
        (ttnn.experimental.recv_async if rank else ttnn.experimental.send_async)(x, socket)
        ttnn.distributed_context_barrier()

    for error in in_ranks(2, run, bindings=MULTI_MESH):
        assert isinstance(error, DistributedError)
        assert "`send_async` of [32, 32] BFLOAT16 TILE at" in error.message
        assert "`recv_async` of [32, 32] FLOAT32 TILE at" in error.message


def test_a_process_alone_is_one_rank():
    ttnn.init_distributed_context()
    assert ttnn.distributed_context_is_initialized()
    assert (ttnn.distributed_context_get_rank(), ttnn.distributed_context_get_size()) == (0, 1)
    ttnn.distributed_context_barrier()
    assert not ttnn.using_distributed_env()
