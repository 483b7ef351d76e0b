"""Meshes: a call with tensors of a mesh runs on each device, and mappers define the distribution."""

from __future__ import annotations

import copy

import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

X = torch.randn(256, 256)


@pytest.fixture
def mesh():
    opened = ttnn.open_mesh_device(mesh_shape=ttnn.MeshShape(2, 4), dispatch_core_config=ttnn.DispatchCoreConfig())
    yield opened
    for part in opened.get_submeshes():
        ttnn.close_mesh_device(part)
    ttnn.close_mesh_device(opened)


def tiled(mesh, mapper=None, data=X, **keywords):
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper, **keywords)


def parts(tensor):
    return [ttnn.to_torch(own) for own in ttnn.get_device_tensors(tensor.cpu())]


def test_a_mesh_has_rows_and_columns_of_devices(mesh):
    assert (mesh.shape, mesh.get_num_devices(), mesh.get_submeshes()) == ((2, 4), 8, [])
    assert (mesh.core_grid.x, mesh.arch(), mesh.is_blackhole()) == (8, "wormhole_b0", False)
    assert mesh.compute_with_storage_grid_size() == ttnn.CoreCoord(8, 8)
    assert ttnn.get_num_devices() >= ttnn._ttnn.multi_device.SystemMeshDescriptor().shape().mesh_size() >= 8
    assert isinstance(mesh, ttnn.MeshDevice)
    ttnn.synchronize_device(mesh)
    mesh.disable_and_clear_program_cache()
    ttnn.exp(tiled(mesh))
    mesh.enable_program_cache()
    assert mesh.num_program_cache_entries() == 0
    ttnn.exp(tiled(mesh))
    assert mesh.num_program_cache_entries() == 1
    mesh.clear_program_cache()
    assert mesh.num_program_cache_entries() == 0
    ttnn.close_mesh_device(mesh)
    with pytest.raises(RuntimeError, match="is closed"):
        ttnn.synchronize_device(mesh)


@pytest.mark.parametrize(
    ("mapper", "shape", "third"),
    [
        (None, (256, 256), X),
        (lambda m: ttnn.ReplicateTensorToMesh(m), (256, 256), X),
        (lambda m: ttnn.ShardTensorToMesh(mesh_device=m, dim=0), (32, 256), X[64:96]),
        (lambda m: ttnn.ShardTensor2dMesh(mesh_device=m, mesh_shape=m.shape, dims=(None, 0)), (64, 256), X[128:192]),
        (lambda m: ttnn.ShardTensor2dMesh(m, m.shape, dims=(0, None)), (128, 256), X[:128]),
        (lambda m: ttnn.ShardTensor2dMesh(m, m.shape, dims=(1, 0)), (64, 128), X[128:192, :128]),
    ],
)
def test_a_mapper_reports_the_part_of_each_device(mesh, mapper, shape, third):
    tensor = tiled(mesh, mapper and mapper(mesh))
    assert (tensor.shape, tensor.device(), tensor.dtype) == (shape, mesh, ttnn.float32)
    assert torch.equal(parts(tensor)[2], third)
    assert [own.shape for own in ttnn.get_device_tensors(tensor.cpu())] == [shape] * 8
    assert repr(tensor).startswith("MeshTensor(8 x ttnn.Tensor(")


def test_a_tensor_that_cannot_be_divided_equally_is_refused(mesh):
    with pytest.raises(ValueError, match=r"shape \[256, 13\] has no 8 equal parts along dimension 1"):
        tiled(mesh, ttnn.ShardTensorToMesh(mesh, dim=1), torch.randn(256, 13))
    with pytest.raises(ValueError, match=r"shape \[128, 6\] has no 4 equal parts along dimension 1"):
        tiled(mesh, ttnn.ShardTensor2dMesh(mesh, (2, 4), dims=(0, 1)), torch.randn(256, 6))
    with pytest.raises(ValueError, match=r"^tensors of shape \[256, 256\] have no dimension 2 to be joined along$"):
        ttnn.to_torch(tiled(mesh), mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=2))


def test_a_mapper_for_another_mesh_is_refused(mesh, device):
    with pytest.raises(
        ValueError, match=r"^`mesh_mapper` is for .*2x4.*, and `device` is Device\(wormhole_b0 rules on cpu, id=0\)$"
    ):
        tiled(device, ttnn.ReplicateTensorToMesh(mesh))
    with pytest.raises(ValueError, match=r"^MeshShape\(\[4, 4\]\) has more devices than the mesh of shape \(2, 4\)"):
        tiled(mesh, ttnn.ShardTensor2dMesh(mesh, (4, 4), dims=(0, 1)))


def test_a_tensor_of_a_mesh_is_copied_by_python(mesh):
    x = tiled(mesh)
    same, own = copy.copy(x), copy.deepcopy(x)
    ttnn.deallocate(x)
    assert all(torch.equal(part, X) for tensor in (same, own) for part in parts(tensor))
    assert same.tensors[0].buffer_address() != own.tensors[0].buffer_address()


def test_a_mesh_is_opened_by_its_extents_or_by_a_number_of_devices():
    assert [ttnn.open_mesh_device(extents).shape for extents in ((2, 3), [2, 3], 4)] == [(2, 3), (2, 3), (1, 4)]


@pytest.mark.parametrize("dim", [0, 1])
def test_operations_and_jitted_functions_run_on_every_device(mesh, dim):
    with ttnn.open_device(device_id=0) as device:
        whole = tiled(device)
        expected = ttnn.to_torch(programs.cosh(whole) + 1.0)
    x = tiled(mesh, ttnn.ShardTensorToMesh(mesh, dim=dim))
    joined = ttnn.ConcatMeshToTensor(mesh, dim=dim)
    jitted = ttnn_jit.jit()(programs.cosh)
    for _ in range(3):
        assert torch.equal(ttnn.to_torch(jitted(x) + 1.0, mesh_composer=joined), expected)
    assert jitted.num_entries == 1
    assert mesh.num_program_cache_entries() == 2
    assert torch.equal(ttnn.to_torch(programs.cosh(x) + 1.0, mesh_composer=joined), expected)


def test_containers_results_and_returned_arguments_keep_their_form(mesh):
    x, y = tiled(mesh), tiled(mesh)
    result = ttnn_jit.jit()(lambda v: {"sum": v[0] + v[1], "same": v[0]})([x, y])
    assert torch.equal(parts(result["sum"])[7], X + X)
    assert result["same"] is x
    out = ttnn.zeros_like(x)
    assert ttnn.add(x, y, output_tensor=out) is out
    assert torch.equal(parts(out)[3], X + X)


def test_conversions_run_on_every_device(mesh):
    x = tiled(mesh)
    config = ttnn.create_sharded_memory_config((256, 256), mesh.core_grid, ttnn.ShardStrategy.BLOCK)
    sharded = ttnn.to_memory_config(ttnn.typecast(x, ttnn.bfloat16), config)
    assert (sharded.memory_config(), sharded.is_sharded(), sharded.dtype) == (config, True, ttnn.bfloat16)
    assert mesh.memory_view().used == 32 * 32 * 2
    rows = ttnn.to_layout(sharded.cpu(), ttnn.ROW_MAJOR_LAYOUT)
    assert (rows.layout, rows.device()) == (ttnn.ROW_MAJOR_LAYOUT, None)
    back = ttnn.to_device(rows, mesh)
    assert torch.equal(parts(back)[5], X.bfloat16())
    ttnn.deallocate(sharded)
    with pytest.raises(RuntimeError, match="deallocated"):
        ttnn.exp(sharded)


def test_a_tensor_of_a_mesh_has_no_single_value(mesh):
    with pytest.raises(ValueError, match=r"on the 8 devices of a mesh\nhelp: .*get_device_tensors.*mesh_composer="):
        ttnn.to_torch(tiled(mesh))
    assert ttnn.to_device(ttnn.from_torch(X), mesh).device() is mesh
    other = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    with pytest.raises(ValueError, match="different meshes"):
        ttnn.add(tiled(mesh), tiled(other))


def test_a_mesh_of_one_is_a_device_and_takes_mappers_too():
    single = ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
    assert (single.shape, type(single.shape)) == ((1, 1), ttnn.MeshShape)
    assert isinstance(single, ttnn.MeshDevice)
    for mapper in (
        ttnn.ReplicateTensorToMesh(single),
        ttnn.ShardTensorToMesh(single, dim=0),
        ttnn.ShardTensor2dMesh(single, mesh_shape=single.shape, dims=(0, 1)),
    ):
        x = tiled(single, mapper)
        assert torch.equal(ttnn.to_torch(x, mesh_composer=ttnn.ConcatMeshToTensor(single, dim=0)), X)


def test_a_mesh_has_meshes_of_its_parts(mesh):
    column = mesh.create_submesh(ttnn.MeshShape(2, 1), ttnn.MeshCoordinate(0, 2))
    assert (column.shape, column.get_device_ids()) == ((2, 1), [2, 6])
    assert column.core_grid == mesh.core_grid
    x = ttnn.exp(tiled(column, ttnn.ShardTensorToMesh(column, 0)))
    assert torch.equal(torch.cat(parts(x)), torch.cat(parts(ttnn.exp(tiled(mesh))))[:256])
    halves = mesh.create_submeshes(ttnn.MeshShape(2, 2))
    assert [half.get_device_ids() for half in halves] == [[0, 1, 4, 5], [2, 3, 6, 7]]
    single = mesh.create_submesh(ttnn.MeshShape(1, 1), (1, 3))
    assert (single.id(), single.create_submesh((1, 1))) == (7, single)
    assert mesh.get_submeshes() == [column, *halves, single]
    for shape, offset in [((3, 1), None), ((1, 2), (0, 3)), ((1, 1), (-1, 0))]:
        with pytest.raises(ArgumentError, match="has no part of shape"):
            mesh.create_submesh(ttnn.MeshShape(shape), offset)
    with pytest.raises(ArgumentError, match="is not made up of parts"):
        mesh.create_submeshes(ttnn.MeshShape(2, 3))
    with pytest.raises(ArgumentError, match="has no part of shape"):
        single.create_submesh((2, 1))


def test_a_tensor_of_the_host_goes_to_each_device_of_a_mesh_and_comes_back():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    x = torch.randn(32, 64)
    sent = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT).to(mesh, ttnn.L1_MEMORY_CONFIG)
    assert sent.device() is mesh
    assert sent.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert all(torch.equal(ttnn.to_torch(each), x) for each in ttnn.get_device_tensors(sent))
    composed = ttnn.to_torch(ttnn.exp(sent), mesh_composer=ttnn.ConcatMeshToTensor(mesh, dim=0))
    assert composed.shape == (64, 64)
    ttnn.close_mesh_device(mesh)


def test_delays_of_devices_are_checked_and_skew_nothing():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 2), target="cpu")
    for _ in range(2):
        ttnn.apply_device_delay(mesh, [[0, 100], [7, 0]], subdevice_id=ttnn.SubDeviceId(0))
    assert mesh.num_program_cache_entries() == 1
    with pytest.raises(ArgumentError, match="rows and columns of MeshDevice"):
        ttnn.apply_device_delay(mesh, [[0, 100]])
    tile = ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT, device=mesh).spec.tile
    assert (tile.tile_shape, tile) == ((32, 32), ttnn.Tile((32, 32)))
