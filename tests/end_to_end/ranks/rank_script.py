"""A script of two ranks: everything that needs processes, and an end that one of them does not survive."""

import contextlib
import os
import signal
import sys

import torch
import ttnn
from collective_script import TILES, digest_of, random_numbers, two_collectives

from ttnn_jit.diagnostics.errors import DistributedError, ShapeError
from ttnn_jit.dtensor import from_dtensor, to_dtensor


def say(*words):
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


def check_program_errors():
    """Errors that are no mismatch leave the ranks usable."""
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
    x = ttnn.zeros((3, 32), device=mesh)
    with contextlib.suppress(ShapeError):
        ttnn.reduce_scatter(x, 0)
        raise AssertionError("3 rows have no 2 equal parts")
    assert ttnn.to_torch(ttnn.get_device_tensors(ttnn.all_reduce(ttnn.add(x, 1.0)))[0]).eq(2).all()


def check_dtensors():
    """torch redistributes as our collectives do, and both forms keep placements."""
    from torch.distributed.tensor import Replicate, Shard

    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
    config = ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(1)])
    data = torch.randn(4, 64, generator=torch.Generator().manual_seed(3)).bfloat16()
    x = ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.create_mesh_mapper(mesh, config))
    sharded = to_dtensor(x)
    assert sharded.placements == (Replicate(), Shard(1))
    assert torch.equal(sharded.full_tensor(), data)
    moved = sharded.redistribute(placements=[Replicate(), Replicate()])
    gathered = ttnn.all_gather(x, 1, cluster_axis=1)
    assert torch.equal(moved.to_local(), ttnn.to_torch(ttnn.get_device_tensors(gathered)[0]))
    assert to_dtensor(gathered).placements == moved.placements
    rows = sharded.redistribute(placements=[Replicate(), Shard(0)])
    ours = ttnn.experimental.all_to_all_async_generic(x, 1, 0, cluster_axis=1)
    assert torch.equal(rows.to_local(), ttnn.to_torch(ttnn.get_device_tensors(ours)[0]))
    back = from_dtensor(rows, layout=ttnn.TILE_LAYOUT, device=mesh)
    assert back.tensor_topology().placements() == [ttnn.PlacementReplicate(), ttnn.PlacementShard(0)]
    assert torch.equal(ttnn.to_torch(back, mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0)), data)


def lose_a_rank():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), target="cpu")
    x = ttnn.ones((2, 32), device=mesh)
    ttnn.distributed_context_barrier()
    if ttnn.distributed_context_get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        while True:
            ttnn.all_gather(x, 0)  # the last line
    except DistributedError as error:
        say("SURVIVOR", str(error).splitlines()[0])
        raise


def main():
    ttnn.init_distributed_context()
    assert ttnn.using_distributed_env()
    say("DIGEST", digest_of(two_collectives, ttnn.bfloat16, TILES)())
    say("RANDOM", digest_of(random_numbers, ttnn.bfloat16, TILES)())
    check_program_errors()
    check_dtensors()
    lose_a_rank()


if __name__ == "__main__":
    assert sys.argv[1:] == ["--an", "argument"], sys.argv
    torch.set_num_threads(1)
    main()
