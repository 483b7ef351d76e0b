"""The script of these tests: collectives on a mesh of 2x4 devices, and a digest of their results."""

from __future__ import annotations

import hashlib

import torch

from ttnn_jit import ttnn

TILES, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT


def numbers(dtype, *shape):
    made = torch.Generator().manual_seed(7)
    if dtype in {ttnn.int32, ttnn.uint16}:
        return torch.randint(0, 200, shape, generator=made, dtype=torch.int32)
    return torch.randn(*shape, generator=made) * 3


class Script:
    """A mesh of 2x4 devices, distinct shards on each, and a digest of everything that is read back."""

    def __init__(self, dtype, layout):
        self.mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4), target="cpu")
        config = ttnn.MeshMapperConfig([ttnn.PlacementShard(0), ttnn.PlacementShard(1)])
        mapper = ttnn.create_mesh_mapper(self.mesh, config)
        self.x = ttnn.from_torch(
            numbers(dtype, 128, 256), dtype=dtype, layout=layout, device=self.mesh, mesh_mapper=mapper
        )
        self.digest = hashlib.sha256()

    def read(self, tensor):
        composer = ttnn.ConcatMesh2dToTensor(self.mesh, mesh_shape=(2, 4), dims=(0, 1))
        self.digest.update(ttnn.to_torch(tensor, mesh_composer=composer).contiguous().view(torch.uint8).numpy())

    def hex(self):
        return self.digest.hexdigest()


def every_collective(script):
    x, mesh, read = script.x, script.mesh, script.read
    read(x)
    for axis in (0, 1, None):
        for dim in (0, 1):
            read(ttnn.all_gather(x, dim, cluster_axis=axis))
        read(ttnn.all_reduce(x, cluster_axis=axis))
        read(ttnn.all_reduce(x, cluster_axis=axis, reduce_type="max"))
    read(ttnn.reduce_scatter(x, 0, cluster_axis=1))
    read(ttnn.reduce_scatter(x, 1, cluster_axis=0))
    read(ttnn.reduce_scatter(x, 1))
    read(ttnn.mesh_partition(x, 0, cluster_axis=0))
    read(ttnn.broadcast(x, ttnn.MeshCoordinate(1, 2), cluster_axis=1))
    read(ttnn.broadcast(x, ttnn.MeshCoordinate(1, 2)))
    for each in ttnn.all_broadcast(x, cluster_axis=0):
        read(each)
    output = ttnn.to_device(ttnn.from_torch(numbers(x.dtype, *x.shape), x.dtype, layout=x.layout), mesh)
    read(ttnn.point_to_point(x, ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate(1, 3), output_tensor=output))
    read(ttnn.experimental.all_to_all_async_generic(x, 0, 1, cluster_axis=0))
    read(
        ttnn.experimental.all_gather_async_reversed(
            x, 0, cluster_axis=0, mesh_device=mesh, topology=ttnn.Topology.Linear
        )
    )
    read(ttnn.experimental.neighbor_pad_async(x, 0, 1, 2, "replicate", cluster_axis=0))
    read(ttnn.experimental.slice_reshard_async(x, 0, 3, 64, cluster_axis=0))


def digest_of(script_of, dtype, layout):
    def run(_=0):
        script = Script(dtype, layout)
        script_of(script)
        return script.hex()

    return run
