"""Collectives along one device, where they copy; their arguments; and what is between a mesh and the host."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError

X = torch.randn(2, 1, 64, 96)


@pytest.fixture(params=["device", "mesh of one"])
def one(request):
    device = ttnn.open_device(device_id=0) if request.param == "device" else ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
    yield device
    ttnn.close_device(device)


@pytest.fixture
def mesh():
    opened = ttnn.open_mesh_device(ttnn.MeshShape(2, 1))
    yield opened
    ttnn.close_mesh_device(opened)


def on(device, data=X, **keywords):
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device, **keywords)


def semaphores(device, count):
    size = device.compute_with_storage_grid_size()
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(size.x - 1, size.y - 1))})
    return [ttnn.create_global_semaphore(device, cores, 0) for _ in range(count)]


LINKS = {"num_links": 2, "topology": ttnn.Topology.Linear}
WORKERS = {"chunks_per_sync": 10, "num_workers_per_link": 2, "num_buffers_per_channel": 2}
CALLS = {
    "all_gather": lambda x, **k: ttnn.all_gather(x, dim=3, cluster_axis=1, **LINKS, **k),
    "all_gather of all": lambda x, **k: ttnn.all_gather(x, -1, **k),
    "all_reduce": lambda x, **k: ttnn.all_reduce(x, cluster_axis=1, **LINKS, **k),
    "reduce_scatter": lambda x, **k: ttnn.reduce_scatter(x, 3, cluster_axis=1, reduce_type=ttnn.ReduceType.Sum, **k),
    "mesh_partition": lambda x, **k: ttnn.mesh_partition(x, dim=2, cluster_axis=1, **k),
    "all_gather_async": lambda x, **k: ttnn.experimental.all_gather_async(
        x,
        persistent_output_buffer=None,
        dim=3,
        multi_device_global_semaphore=semaphores(x.device(), 2),
        barrier_semaphore=semaphores(x.device(), 1)[0],
        cluster_axis=1,
        subdevice_id=ttnn.SubDeviceId(0),
        **LINKS,
        **WORKERS,
        **k,
    ),
    "all_gather_async by position": lambda x, **k: ttnn.experimental.all_gather_async(
        x, 3, 1, x.device(), ttnn.Topology.Ring, semaphores(x.device(), 2), **k
    ),
    "reduce_scatter_minimal_async": lambda x, **k: ttnn.experimental.reduce_scatter_minimal_async(
        x,
        persistent_output_buffers=None,
        dim=3,
        multi_device_global_semaphore=semaphores(x.device(), 3),
        intermediate_memory_config=ttnn.DRAM_MEMORY_CONFIG,
        **LINKS,
        **WORKERS,
        **k,
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("config", [None, ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG])
def test_along_one_device_a_collective_is_a_copy_with_the_memory_config_as_requested(one, call, config):
    x = on(one, memory_config=ttnn.L1_MEMORY_CONFIG)
    result = call(x) if config is None else call(x, memory_config=config)
    ttnn.deallocate(x)
    assert torch.equal(ttnn.to_torch(result), X)
    assert result.memory_config() == (config or ttnn.L1_MEMORY_CONFIG)


@pytest.mark.parametrize("call", [CALLS["all_reduce"], CALLS["mesh_partition"]])
def test_along_an_axis_of_one_device_every_device_of_a_mesh_copies(mesh, call):
    x = on(mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0))
    result = ttnn.to_torch(call(x), mesh_composer=ttnn.ConcatMeshToTensor(mesh, 0))
    assert torch.equal(result, X)


def test_results_are_written_into_the_given_buffers(one):
    x, buffer, other = on(one), on(one, torch.zeros_like(X)), on(one, torch.zeros_like(X))
    assert ttnn.experimental.all_gather_async(x, buffer, 3, multi_device_global_semaphore=[]) is buffer
    assert ttnn.experimental.all_gather_async(x, dim=3, persistent_output_tensor=buffer) is buffer
    buffers = [other, buffer]
    assert ttnn.experimental.reduce_scatter_minimal_async(x, buffers, dim=3) is buffer
    assert ttnn.experimental.reduce_scatter_minimal_async(x, dim=3, persistent_output_buffers=buffers) is buffer
    assert torch.equal(ttnn.to_torch(buffer), X)
    assert not ttnn.to_torch(other).any()
    with pytest.raises(ShapeError, match="output_tensor"):
        ttnn.all_gather(x, 3, output_tensor=on(one, torch.zeros(1, 32)))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda x: ttnn.all_gather(x, 4), "there is no dimension 4"),
        (lambda x: ttnn.all_gather(x, "3"), "`dim` of all_gather must be a whole number"),
        (lambda x: ttnn.all_gather(x, 3, cluster_axis=2), "has no axis 2"),
        (
            lambda x: ttnn.all_gather(x, 3, num_links=0),
            "`num_links` of all_gather must be a whole number of at least 1, got 0",
        ),
        (lambda x: ttnn.all_gather(x, 3, num_links="1"), "`num_links`"),
        (lambda x: ttnn.all_gather(x, 3, topology="ring"), "`topology`"),
        (
            lambda x: ttnn.all_gather(x, 3, links=1),
            r"unexpected keyword argument 'links'[^?]*help: it takes .*`barrier_semaphore`",
        ),
        (lambda x: ttnn.all_gather(ttnn.from_device(x), 3), "is on the host"),
        (
            lambda x: ttnn.all_gather(ttnn.to_torch(x), 0),
            "`input_tensor` of all_gather must be a ttnn.Tensor, got a torch.Tensor",
        ),
        (lambda x: ttnn.all_gather(x, 3, mesh_device=ttnn.open_device(device_id=1)), "`mesh_device` is"),
        (lambda x: ttnn.all_reduce(x, memory_config=3), "`memory_config`"),
        (ttnn.experimental.all_gather_async, "missing a required argument: 'dim'"),
        (
            lambda x: ttnn.experimental.all_gather_async(x, 3, "x"),
            "`multi_device_global_semaphore` of all_gather_async must be a ttnn.GlobalSemaphore",
        ),
        (lambda x: ttnn.experimental.all_gather_async(x, 3, multi_device_global_semaphore=[1]), "semaphore"),
        (lambda x: ttnn.experimental.neighbor_pad_async(x, 2, -1, 0), "at least 0"),
        (lambda x: ttnn.experimental.neighbor_pad_async(x, 2, 1, 0, "reflect"), "'zeros' or 'replicate'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_by_name(device, call, named):
    with pytest.raises((ArgumentError, ShapeError), match=named):
        call(on(device))


@pytest.mark.parametrize("mode", ["zeros", "replicate"])
@pytest.mark.parametrize("dim", [0, 2, -1])
def test_a_device_without_neighbours_pads_both_ends(cpu_device, mode, dim):
    padded = ttnn.to_torch(ttnn.experimental.neighbor_pad_async(on(cpu_device), dim, 2, 1, mode, num_links=1))
    ends = [X.select(dim, index).unsqueeze(dim) for index in (0, -1)]
    front, behind = (torch.zeros_like(end) if mode == "zeros" else end for end in ends)
    assert torch.equal(padded, torch.cat([front, front, X, behind], dim))


def test_placements_cut_a_tensor_along_the_axes_of_a_mesh():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    data = torch.arange(64.0 * 256).reshape(64, 256)

    def shards(placements, shape=None):
        mapper = ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(placements=placements, mesh_shape_override=shape))
        x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)
        return x, [ttnn.to_torch(own) for own in ttnn.get_device_tensors(x)]

    rows, columns, replicate = ttnn.PlacementShard(0), ttnn.PlacementShard(-1), ttnn.PlacementReplicate()
    x, both = shards([rows, columns])
    assert torch.equal(both[5], data[32:, 64:128])
    dims = ttnn.MeshComposerConfig([0, 1])
    for composer in (
        ttnn.ConcatMesh2dToTensor(mesh, mesh_shape=(2, 4), dims=(0, 1)),
        ttnn.create_mesh_composer(mesh, dims),
    ):
        assert torch.equal(ttnn.to_torch(x, mesh_composer=composer), data)
    assert torch.equal(shards([replicate, columns])[1][6], data[:, 128:192])
    assert torch.equal(shards([rows, replicate])[1][6], data[32:])
    x, along = shards([columns], ttnn.MeshShape(8))
    assert torch.equal(along[6], data[:, 192:224])
    assert torch.equal(ttnn.to_torch(x, mesh_composer=ttnn.concat_mesh_to_tensor_composer(mesh, 1)), data)
    with pytest.raises(ArgumentError, match="is for 1 axes"):
        shards([rows])
    with pytest.raises(ArgumentError, match="has more devices"):
        shards([rows, rows], ttnn.MeshShape(4, 4))
    with pytest.raises(ShapeError, match="no 4 equal parts along dimension 5"):
        shards([rows, ttnn.PlacementShard(5)])


@pytest.mark.parametrize(
    "made",
    [
        lambda m: ttnn.MeshMapperConfig([]),  # noqa: ARG005
        lambda m: ttnn.MeshMapperConfig([0]),  # noqa: ARG005
        lambda m: ttnn.PlacementShard("0"),  # noqa: ARG005
        lambda m: ttnn.MeshComposerConfig(["0"]),  # noqa: ARG005
        lambda m: ttnn.create_mesh_mapper(m, None),
        lambda m: ttnn.ConcatMesh2dToTensor(m, (2, 1), (0, 0)),
        lambda m: ttnn.from_torch(X, mesh_mapper=ttnn.MeshMapperConfig([ttnn.PlacementShard(0)]), device=m),
        lambda m: ttnn.to_torch(on(m), mesh_composer=ttnn.MeshComposerConfig([0])),
        lambda m: ttnn.from_host_shards([on(m)], m.shape),
        lambda m: ttnn.combine_device_tensors([on(m)]),
        lambda m: ttnn.distribute_tensor(on(m), ttnn.replicate_tensor_to_mesh_mapper(m)),
        lambda m: ttnn.MeshCoordinate(0, -1),  # noqa: ARG005
        lambda m: ttnn.create_global_semaphore(m, None, 0),
        lambda m: ttnn.reset_global_semaphore_value(semaphores(m, 1)[0], -1),
    ],
)
def test_empty_descriptions_of_meshes_are_refused(mesh, made):
    with pytest.raises(ArgumentError):
        made(mesh)


def test_a_block_has_a_mapper_or_a_composer_of_its_own(mesh):
    data = torch.randn(64, 32)
    with ttnn.distribute(ttnn.shard_tensor_to_mesh_mapper(mesh, 0)):
        x = on(mesh, data)
        whole = ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh))
    assert (x.shape, whole.shape) == ((32, 32), (64, 32))
    with ttnn.distribute(ttnn.ConcatMeshToTensor(mesh, 0)):
        assert torch.equal(ttnn.to_torch(x), data)
    assert on(mesh, data).shape == (64, 32)
    with (
        pytest.raises(ArgumentError, match=r"`default` of distribute must be a ttnn\.TensorToMesh or"),
        ttnn.distribute(mesh),
    ):
        pass


def test_tensors_of_one_device_go_to_a_mesh_and_back_as_they_are(one):
    host = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT)
    assert ttnn.from_host_shards([host], one.shape) is host
    there = ttnn.distribute_tensor(host, ttnn.replicate_tensor_to_mesh_mapper(one), one)
    assert there.device() is one
    assert ttnn.combine_device_tensors([there]) is there
    back = ttnn.aggregate_tensor(there, ttnn.ConcatMeshToTensor(one, 0))
    assert back.device() is None
    assert torch.equal(ttnn.to_torch(back), X)


def test_a_tensor_is_distributed_and_aggregated_over_a_mesh(mesh):
    host = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT)
    there = ttnn.distribute_tensor(host, ttnn.ShardTensorToMesh(mesh, 0), mesh)
    assert there.shape == (1, 1, 64, 96)
    assert torch.equal(ttnn.to_torch(ttnn.aggregate_tensor(there, ttnn.ConcatMeshToTensor(mesh, 0))), X)


def test_semaphores_coordinates_and_sub_devices_are_kept_and_compared(one):
    (semaphore,) = semaphores(one, 1)
    ttnn.reset_global_semaphore_value(semaphore, 3)
    assert repr(semaphore).endswith("value=3)")
    assert (ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate((0, 1)).dims()) == ((0, 1), 2)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (3, 3))])
    assert ttnn.SubDevice([cores]) == ttnn.SubDevice([cores])
    assert ttnn.SubDeviceId(0) != ttnn.SubDeviceId(1)


def test_a_device_takes_divisions_into_parts_and_runs_in_order(one):
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (3, 3))])
    manager = one.create_sub_device_manager([ttnn.SubDevice([cores])], 0)
    one.load_sub_device_manager(manager)
    one.set_sub_device_stall_group([ttnn.SubDeviceId(0)])
    ttnn.synchronize_device(one, sub_device_ids=[ttnn.SubDeviceId(0)])
    one.reset_sub_device_stall_group()
    one.clear_loaded_sub_device_manager()
    one.remove_sub_device_manager(manager)
    for call in (one.create_sub_device_manager, one.set_sub_device_stall_group):
        with pytest.raises(ArgumentError, match="a part of"):
            call([0])
    with pytest.raises(ArgumentError, match="a division of the chip"):
        one.load_sub_device_manager(0)


def test_collectives_are_part_of_a_trace(one):
    x = on(one)
    trace = ttnn.begin_trace_capture(one, cq_id=0)
    result = ttnn.all_reduce(ttnn.exp(x), memory_config=ttnn.L1_MEMORY_CONFIG)
    ttnn.end_trace_capture(one, trace, cq_id=0)
    ttnn.execute_trace(one, trace)
    assert torch.equal(ttnn.to_torch(result), ttnn.to_torch(ttnn.exp(x)))
