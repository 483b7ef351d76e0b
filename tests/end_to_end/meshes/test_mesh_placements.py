"""Placements on meshes: topologies, partial meshes, host shards, views, and systems of several chips."""

from __future__ import annotations

import json

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.specs.meshes.tensor_topology import topology_of_result
from ttnn_jit.specs.target import PRESETS, SYSTEMS, resolve_target

ROWS, COLUMNS, REPLICATE = ttnn.PlacementShard(0), ttnn.PlacementShard(1), ttnn.PlacementReplicate()
DATA = torch.arange(64.0 * 96).reshape(64, 96)


@pytest.fixture
def mesh():
    opened = ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    yield opened
    ttnn.close_mesh_device(opened)


def placed(mesh, config, data=DATA):
    return ttnn.from_torch(data, device=mesh, mesh_mapper=ttnn.create_mesh_mapper(mesh, config))


def shards(tensor):
    return [ttnn.to_torch(own) for own in ttnn.get_device_tensors(tensor)]


def coordinates(*numbers):
    return [ttnn.MeshCoordinate(number // 4, number % 4) for number in numbers]


@pytest.mark.parametrize(
    ("config", "shape", "placements", "devices", "slices"),
    [
        (
            ttnn.MeshMapperConfig([ROWS, COLUMNS]),
            (2, 4),
            [ROWS, COLUMNS],
            range(8),
            {5: DATA[32:, 24:48]},
        ),
        (
            ttnn.MeshMapperConfig(row_dim=None, col_dim=1),
            (2, 4),
            [REPLICATE, COLUMNS],
            range(8),
            {1: DATA[:, 24:48], 5: DATA[:, 24:48]},
        ),
        (
            ttnn.MeshMapperConfig([ROWS, COLUMNS], mesh_shape_override=ttnn.MeshShape(2, 2)),
            (2, 2),
            [ROWS, COLUMNS],
            (0, 1, 4, 5),
            {1: DATA[:32, 48:], 2: DATA[32:, :48]},
        ),
        (
            ttnn.MeshMapperConfig([ROWS, COLUMNS], ttnn.MeshShape(4, 2)),
            (4, 2),
            [ROWS, COLUMNS],
            range(8),
            {3: DATA[16:32, 48:]},
        ),
        (ttnn.MeshMapperConfig([ROWS], ttnn.MeshShape(4)), (4,), [ROWS], range(4), {3: DATA[48:]}),
        (ttnn.MeshMapperConfig([REPLICATE, ROWS], (1, 2)), (1, 2), [REPLICATE, ROWS], range(2), {1: DATA[32:]}),
    ],
)
def test_a_tensor_states_which_device_has_which_shard(mesh, config, shape, placements, devices, slices):
    tensor = placed(mesh, config)
    topology = tensor.tensor_topology()
    assert topology == ttnn.TensorTopology(ttnn.MeshShape(shape), placements, coordinates(*devices))
    assert (topology.distribution_shape(), topology.placements()) == (shape, placements)
    for number, expected in slices.items():
        assert torch.equal(shards(tensor)[number], expected)
    assert [own.device().id() for own in ttnn.get_device_tensors(tensor)] == [*devices]
    assert ttnn.exp(tensor).tensor_topology() == tensor.cpu().tensor_topology() == topology
    dims = [each.dim if each != REPLICATE else 2 for each in placements]
    composer = ttnn.create_mesh_composer(mesh, ttnn.MeshComposerConfig(dims, ttnn.MeshShape(shape)))
    whole = ttnn.to_torch(ttnn.reshape(tensor, (*tensor.shape, 1)), mesh_composer=composer)
    assert torch.equal(whole[..., 0], DATA)


def test_fewer_equal_parts_than_devices_go_to_the_first_ones(mesh):
    part = ttnn.from_torch(torch.arange(12), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0))
    assert part.tensor_topology() == ttnn.TensorTopology((6,), [ROWS], coordinates(*range(6)))
    assert [own.tolist() for own in shards(part)] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    assert ttnn.to_torch(part, mesh_composer=ttnn.ConcatMeshToTensor(mesh, 0)).tolist() == [*range(12)]
    with pytest.raises(ShapeError, match="no 8 equal parts along dimension 0"):
        ttnn.from_torch(torch.arange(13), device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0))
    with pytest.raises(ShapeError, match="6 tensors are too few to be joined over"):
        ttnn.to_torch(part, mesh_composer=ttnn.ConcatMesh2dToTensor(mesh, (2, 4), (0, 1)))


def test_a_call_runs_on_the_devices_that_have_all_operands(mesh):
    whole = ttnn.from_torch(torch.arange(3.0), device=mesh)
    left = placed(mesh, ttnn.MeshMapperConfig([ROWS], ttnn.MeshShape(6)), torch.arange(18.0))
    column = placed(mesh, ttnn.MeshMapperConfig([ROWS, REPLICATE], ttnn.MeshShape(2, 1)), torch.arange(6.0))
    summed = ttnn.add(whole, left)
    assert [own.tolist() for own in shards(summed)][5] == [15.0, 17.0, 19.0]
    assert summed.tensor_topology() == left.tensor_topology()
    both = ttnn.add(left, column)
    assert [own.tolist() for own in shards(both)] == [[0.0, 2.0, 4.0], [15.0, 17.0, 19.0]]
    assert both.tensor_topology().mesh_coords() == coordinates(0, 4)
    other = placed(mesh, ttnn.MeshMapperConfig([ROWS], ttnn.MeshShape(1)), torch.arange(3.0))
    assert ttnn.to_torch(other).tolist() == [0.0, 1.0, 2.0]
    (last,) = [each for each in ttnn.get_device_tensors(whole) if each.device().id() == 7]
    with pytest.raises(ArgumentError, match=r"mixes a tensor of MeshDevice\(2x4 .*\) with Device\("):
        ttnn.add(other, last)


def test_the_topology_of_a_result_follows_the_operands_that_are_split():
    def topology(shape, *placements):
        return ttnn.TensorTopology(shape, placements, coordinates(*range(8)))

    def of(*operands):
        return topology_of_result(operands, tuple(coordinates(*range(8))))

    whole, rows, columns = (
        topology((8,), REPLICATE),
        topology((2, 4), ROWS, REPLICATE),
        topology((2, 4), REPLICATE, COLUMNS),
    )
    assert of(whole) == whole
    assert of(whole, rows) == rows
    assert of(rows, columns) == topology((2, 4), ROWS, COLUMNS)
    assert of(topology((2, 4), REPLICATE, ROWS), rows) == topology((2, 4), REPLICATE, ROWS)
    assert of(rows, topology((8,), COLUMNS)) == rows


def test_a_mesh_has_up_to_three_axes_and_thirty_two_devices():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(2, 2, 2))
    assert (mesh.shape.dims(), mesh.get_num_devices(), mesh.get_device_id(ttnn.MeshCoordinate(1, 0, 1))) == (3, 8, 5)
    tensor = placed(mesh, ttnn.MeshMapperConfig([ROWS, REPLICATE, COLUMNS]))
    assert torch.equal(shards(tensor)[5], DATA[32:, 48:])
    part = mesh.create_submesh(ttnn.MeshShape(1, 2, 2), ttnn.MeshCoordinate(1, 0, 0))
    assert (part.shape, part.get_device_ids()) == ((1, 2, 2), [4, 5, 6, 7])
    assert ttnn.open_mesh_device((8, 4)).get_num_devices() == 32
    with pytest.raises(ArgumentError, match="33 devices is more than the 32"):
        ttnn.open_mesh_device((1, 33))
    with pytest.raises(ArgumentError, match="one to three"):
        ttnn.MeshShape(1, 1, 1, 2)


def test_a_mesh_takes_another_shape_and_keeps_the_order_of_its_devices(mesh):
    before = ttnn.from_torch(DATA, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0))
    mesh.reshape(ttnn.MeshShape(1, 8))
    assert (mesh.shape, mesh.get_device_ids()) == ((1, 8), [*range(8)])
    view = mesh.get_view()
    assert (view.shape(), view.num_devices(), view.is_local(ttnn.MeshCoordinate(0, 7))) == ((1, 8), 8, True)
    assert torch.equal(torch.cat(shards(before)), DATA)
    assert ttnn.exp(before).tensor_topology().mesh_coords() == [*ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 8))]
    with pytest.raises(ArgumentError, match="has 8 devices, and"):
        mesh.reshape(ttnn.MeshShape(2, 2))


def test_a_mesh_is_open_in_a_block():
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 2)) as opened:
        assert (opened.shape, ttnn.get_num_pcie_devices()) == ((1, 2), 8)
    assert all(device.closed for device in opened.members())


def test_ranges_of_coordinates_run_in_row_major_order():
    part = ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate(1, 2))
    assert [*part] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert (len(part), part.shape(), (1, 1) in part, (0, 0) in part) == (4, (2, 2), True, False)
    assert [*ttnn.MeshCoordinateRange(ttnn.MeshShape(1, 2))] == [(0, 0), (0, 1)]
    with pytest.raises(ArgumentError, match="cannot go from"):
        ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(1, 0), ttnn.MeshCoordinate(0, 1))


def test_host_tensors_become_the_shards_of_a_mesh_and_device_tensors_one_tensor(mesh):
    parts = [ttnn.from_torch(DATA + number) for number in range(8)]
    host = ttnn.from_host_shards(parts, mesh.shape)
    assert (host.device(), host.tensor_topology().placements()) == (None, [ROWS])
    there = ttnn.to_device(host, mesh)
    assert there.device() is mesh
    assert all(torch.equal(own, DATA + number) for number, own in enumerate(shards(there)))
    assert ttnn.to_layout(host, ttnn.TILE_LAYOUT).layout == ttnn.TILE_LAYOUT
    back = ttnn.combine_device_tensors(ttnn.get_device_tensors(there)[::-1])
    assert back.device() is mesh
    assert [own.buffer_address() for own in back.tensors] == [own.buffer_address() for own in there.tensors]
    ttnn.copy_host_to_device_tensor(ttnn.from_host_shards(parts[::-1], mesh.shape), there)
    assert all(torch.equal(own, DATA + 7 - number) for number, own in enumerate(shards(there)))
    for call, named in [
        (lambda: ttnn.from_host_shards(parts, (2, 2)), "8 tensors are given for a mesh of 4"),
        (lambda: ttnn.from_host_shards([parts[0], ttnn.from_torch(DATA[:1])], (1, 2)), "the tensors differ"),
        (lambda: ttnn.combine_device_tensors(parts), "on the host"),
        (lambda: ttnn.combine_device_tensors([there.tensors[0], there.tensors[0]]), "two tensors are on one device"),
        (lambda: ttnn.combine_device_tensors([]), "no tensors"),
        (lambda: ttnn.to_device(host, ttnn.open_mesh_device((1, 2))), "different meshes"),
    ]:
        with pytest.raises(ArgumentError, match=named):
            call()


def test_files_keep_the_topology_of_a_tensor(mesh, tmp_path):
    tensor = placed(mesh, ttnn.MeshMapperConfig([REPLICATE, ROWS], ttnn.MeshShape(1, 3)), torch.arange(6.0))
    ttnn.dump_tensor(tmp_path / "t.tensorbin", tensor)
    loaded = ttnn.load_tensor(tmp_path / "t.tensorbin", device=mesh)
    assert loaded.tensor_topology() == tensor.tensor_topology()
    assert [own.tolist() for own in shards(loaded)] == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


@pytest.mark.parametrize(("name", "shape"), [("n300", (1, 2)), ("t3000", (2, 4)), ("galaxy", (8, 4)), ("p150", (1, 1))])
def test_a_system_description_gives_the_mesh(name, shape, tmp_path, monkeypatch):
    system = resolve_target(name)
    path = tmp_path / "system.json"
    path.write_text(system.to_json())
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(path))
    opened = ttnn.open_mesh_device()
    assert opened.shape == shape
    assert opened.members()[0].target in (PRESETS[SYSTEMS[name].arch], SYSTEMS[name])
    assert opened.target.mesh == (1, 1)
    if opened.get_num_devices() > 1:
        assert ttnn.get_num_devices() == opened.get_num_devices()
        assert ttnn._ttnn.multi_device.SystemMeshDescriptor().shape() == shape
        with pytest.raises(ArgumentError, match="is more than the"):
            ttnn.open_mesh_device((1, opened.get_num_devices() + 1))


def test_the_chips_of_another_description_are_counted(tmp_path, monkeypatch):
    chip = {"arch": "wormhole_b0", "grid_size": {"y": 8, "x": 8}, "l1_size": 1 << 20}
    path = tmp_path / "system.json"
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(path))
    path.write_text(json.dumps({"system_desc": {"chip_descs": [chip], "chip_desc_indices": [0] * 8}}))
    assert ttnn.open_mesh_device().shape == (2, 4)
    path.write_text(json.dumps({"system_desc": {"chip_descs": [chip], "chip_desc_indices": [1]}}))
    with pytest.raises(ArgumentError, match=r"`chip_desc_indices` is \[1\]"):
        ttnn.open_mesh_device()


def test_a_picture_shows_the_part_of_every_device(mesh, capsys):
    tensor = placed(mesh, ttnn.MeshMapperConfig([REPLICATE, COLUMNS], ttnn.MeshShape(2, 2)))
    ttnn.visualize_tensor(tensor)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("MeshDevice(2x4 ")
    assert [cell.strip() for cell in lines[4].split("|")] == ["", "[:, 0:48]", "[:, 48:96]", "", "", ""]
    assert [cell.strip() for cell in lines[8].split("|")] == ["", *(f"Dev. ID: {number}" for number in range(4, 8)), ""]
    ttnn.visualize_tensor(tensor.cpu())
    assert capsys.readouterr().out.startswith("the host, TensorTopology(")
    ttnn.visualize_mesh_device(mesh, tensor)
    assert "[:, 48:96]" in capsys.readouterr().out
    ttnn.visualize_mesh_device(mesh)
    assert "Dev. ID: 7" in capsys.readouterr().out
    with pytest.raises(ArgumentError, match="the tensor is on"):
        ttnn.visualize_mesh_device(ttnn.open_mesh_device((1, 2)), tensor)
