"""The script of these tests: collectives on a mesh of 2x4 devices, and a digest of their results."""

from __future__ import annotations

import hashlib

import torch

import ttnn_jit
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


def two_collectives(script):
    """An exchange along an axis, and one of all devices: what launched ranks compute."""
    script.read(ttnn.all_gather(script.x, 0, cluster_axis=0))
    script.read(ttnn.all_reduce(script.x))


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


def partial_tensors(script):
    """Tensors with parts on some devices, which may all be of other ranks."""
    mesh, read = script.mesh, script.read
    for shape in ((1, 2), (2, 2)):
        config = ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(1)], ttnn.MeshShape(*shape))
        data = numbers(ttnn.float32, 32, 64)
        x = ttnn.from_torch(data, layout=TILES, device=mesh, mesh_mapper=ttnn.create_mesh_mapper(mesh, config))
        y = ttnn.add(ttnn.exp(x), 1.0)
        ttnn.multiply_(y, 0.5)
        assert ttnn.relu(y).shape == (32, 32)
        z = ttnn.all_gather(y, 1, cluster_axis=1)
        assert tuple(z.shape) == (32, 64)
        composer = ttnn.create_mesh_composer(mesh, ttnn.MeshComposerConfig([0, 1], ttnn.MeshShape(*shape)))
        for each in (
            x,
            y,
            z,
            ttnn.all_reduce(y, cluster_axis=1),
            ttnn.add(script.x, y) if y.shape == script.x.shape else y,
        ):
            script.digest.update(ttnn.to_torch(each, mesh_composer=composer).contiguous().view(torch.uint8).numpy())
    few = ttnn.from_torch(data, layout=TILES, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, dim=0))
    assert few.tensor_topology().distribution_shape() == (8,)
    read(ttnn.add(script.x, ttnn.to_device(ttnn.zeros((64, 64), ttnn.bfloat16, layout=TILES), mesh)))


def random_numbers(script):
    """Draws of the shared generator, by eager operations and in a program, on every device."""
    ttnn.manual_seed(5)
    jitted = ttnn_jit.jit()(drawn_in_a_program)
    composer = ttnn.ConcatMeshToTensor(script.mesh, dim=0)
    for _ in range(2):
        drawn = ttnn.rand((32, 32), device=script.mesh, dtype=ttnn.float32)
        dropped = ttnn.experimental.dropout(drawn, probability=0.5, scale=2.0, seed=3)
        for each in (drawn, dropped, ttnn.randn((4, 32), device=script.mesh), *jitted(drawn)):
            script.digest.update(ttnn.to_torch(each, mesh_composer=composer).contiguous().view(torch.uint8).numpy())


def drawn_in_a_program(x):
    noise = ttnn.rand(x.shape, device=x.device(), dtype=ttnn.float32)
    return noise, ttnn.all_reduce(ttnn.experimental.dropout(x, probability=0.5, scale=2.0, seed=0), cluster_axis=0)


def files(script, path):
    """A tensor of all ranks in one file."""
    ttnn.dump_tensor(path, script.x)
    script.read(ttnn.load_tensor(path, device=script.mesh))


def traces(script):
    """A trace with collectives, replayed on changing inputs."""
    x, mesh = script.x, script.mesh
    one = ttnn.to_device(ttnn.ones((64, 64), ttnn.bfloat16, layout=TILES), mesh)

    def calls():
        y = ttnn.add(x, 0.25)
        gathered = ttnn.all_gather(y, 0, cluster_axis=0)
        summed = ttnn.all_reduce(ttnn.multiply(y, 2.0))
        return gathered, ttnn.add(summed, one), ttnn.reduce_scatter(summed, 1, cluster_axis=0)

    kept = calls()
    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    results = calls()
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    for step in range(3):
        ttnn.copy(ttnn.add(x, float(step)), x)
        ttnn.execute_trace(mesh, trace, cq_id=0, blocking=True)
        for result, eager in zip(results, calls(), strict=True):
            script.read(result)
            script.read(eager)
    ttnn.release_trace(mesh, trace)
    return kept
