"""Errors of the host API for arguments of a wrong type; nothing is allocated or compiled."""
# ruff: noqa: ARG005 - every action is given the device

from __future__ import annotations

import warnings

import numpy
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError

X = torch.randn(32, 64)
SPEC = ttnn.TensorSpec((32, 64), ttnn.float32, ttnn.TILE_LAYOUT)
MAKE_ONE = "\nhelp: make a ttnn tensor of it: `ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)`"
CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
GRID = ttnn.CoreGrid(x=2, y=2)
L1 = ttnn.BufferType.L1
ALLOCATED = "allocate_tensor_on_device"
DTYPES = f"\nhelp: it takes {', '.join(f'ttnn.{dtype}' for dtype in ttnn.DataType)}"


def host():
    return ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT)


def on(device):
    return ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)


def quantized():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch is about to be uninstalled for this test
        return torch.quantize_per_tensor(X, 0.1, 0, torch.quint8)


TORCH_FOR_TTNN = {
    "`tensor` of is_sharded": lambda d: ttnn.is_sharded(X),
    "`tensor` of get_memory_config": lambda d: ttnn.get_memory_config(X),
    "`tensor` of is_tensor_storage_on_device": lambda d: ttnn.is_tensor_storage_on_device(X),
    "`tensor` of get_device_tensors": lambda d: ttnn.get_device_tensors(X),
    "`input_tensor` of reshard": lambda d: ttnn.reshard(X, ttnn.L1_MEMORY_CONFIG),
    "`input_tensor` of interleaved_to_sharded": lambda d: ttnn.interleaved_to_sharded(X, ttnn.L1_MEMORY_CONFIG),
    "`input_tensor` of sharded_to_interleaved": lambda d: ttnn.sharded_to_interleaved(X),
    "`host_tensor` of copy_host_to_device_tensor": lambda d: ttnn.copy_host_to_device_tensor(X, on(d)),
    "`device_tensor` of copy_host_to_device_tensor": lambda d: ttnn.copy_host_to_device_tensor(host(), X),
    "`device_tensor` of copy_device_to_host_tensor": lambda d: ttnn.copy_device_to_host_tensor(X, host()),
    "`host_tensor` of copy_device_to_host_tensor": lambda d: ttnn.copy_device_to_host_tensor(on(d), X),
}

OTHERS = [
    (lambda d: ttnn.ShardSpec(CORES, (32.5, 32)), "a shard is of whole numbers, got [32.5, 32]"),
    (lambda d: ttnn.NdShardSpec("ab", CORES), "a shard is of whole numbers, got ['a', 'b']"),
    (lambda d: ttnn.CoreGrid(x=1.5, y=2), "a core grid is of whole numbers, got [1.5, 2]"),
    (lambda d: ttnn.CoreRange((0, 0), (1.5, 1)), "a core is of whole numbers, got [1.5, 1]"),
    (lambda d: ttnn.CoreRange((-1, 0), (1, 1)), "a core has coordinates of 0 to 255, got (x=-1, y=0)"),
    (lambda d: ttnn.CoreRange((0, 0), (1 << 40, 1)), f"a core has coordinates of 0 to 255, got (x={1 << 40}, y=1)"),
    (lambda d: ttnn.CoreRange(ttnn.CoreCoord(0, -2), (1, 1)), "a core has coordinates of 0 to 255, got (x=0, y=-2)"),
    (lambda d: ttnn.CoreRangeSet([(0, 0)]), "a core range must be a ttnn.CoreRange, got a tuple"),
    (
        lambda d: ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, (32, 32)),
        "`shard_spec` must be a ttnn.ShardSpec, got a tuple",
    ),
    (lambda d: ttnn.MemoryConfig(nd_shard_spec=3), "`nd_shard_spec` must be a ttnn.NdShardSpec, got 3"),
    (lambda d: ttnn.to_device(host(), None), "`device` of to_device must be a ttnn.Device, got None"),
    (
        lambda d: ttnn.to_device(host(), ttnn.TILE_LAYOUT),
        "`device` of to_device must be a ttnn.Device, got ",
    ),
    (
        lambda d: ttnn.to_memory_config(on(d), None),
        "`memory_config` of to_memory_config must be a ttnn.MemoryConfig, got None",
    ),
    (lambda d: ttnn.reshard(on(d), 3), "`memory_config` of reshard must be a ttnn.MemoryConfig, got 3"),
    (lambda d: on(d).to(None), "the device of a tensor must be a ttnn.Device, got None"),
    (lambda d: on(d).to("cpu"), "the device of a tensor must be a ttnn.Device, got 'cpu'"),
    (lambda d: ttnn.close_device(None), "`device` of close_device must be a ttnn.Device, got None"),
    (
        lambda d: ttnn.close_mesh_device(X),
        "`mesh_device` of close_mesh_device must be a ttnn.Device, got a torch.Tensor",
    ),
    (lambda d: ttnn.synchronize_device(None), "`device` of synchronize_device must be a ttnn.Device, got None"),
    (lambda d: ttnn.allocate_tensor_on_device(SPEC, None), f"`device` of {ALLOCATED} must be a ttnn.Device, got None"),
    (
        lambda d: ttnn.allocate_tensor_on_device((32, 64), ttnn.float32, d, d),
        f"`layout` of {ALLOCATED} must be a ttnn.Layout, got a ",
    ),
    (
        lambda d: ttnn.allocate_tensor_on_device((32, 64), torch.float32, ttnn.TILE_LAYOUT, d),
        f"`dtype` of {ALLOCATED} must be a ttnn.DataType, got a torch.dtype{DTYPES}",
    ),
    (lambda d: ttnn.full((32, 64), "1", device=d), "`fill_value` of full must be a number, got '1'"),
    (lambda d: ttnn.full_like(on(d), None), "`fill_value` of full_like must be a number, got None"),
    (lambda d: ttnn.concat([]), "`tensors` of `concat` must be a list or tuple of tensors, got an empty one"),
    (lambda d: ttnn.stack(on(d)), "`tensors` of `stack` must be a list or tuple of tensors, got ttnn.Tensor"),
    (lambda d: ttnn.from_torch(X, spec=3), "`spec` of from_torch must be a ttnn.TensorSpec, got 3"),
    (lambda d: ttnn.from_torch(X, tile=(32, 32)), "`tile` of from_torch must be a ttnn.Tile, got a tuple"),
    (
        lambda d: ttnn.from_torch(X, mesh_mapper=3),
        "`mesh_mapper` of from_torch must be a ttnn.TensorToMesh, got 3",
    ),
    (
        lambda d: ttnn.from_torch(X.to(torch.complex64), dtype=ttnn.float32),
        "from_torch: torch.complex64 numbers have an imaginary part, which no ttnn tensor holds\n"
        "help: pass `tensor.real` and `tensor.imag` one by one",
    ),
    (
        lambda d: ttnn.to_torch(on(d), ttnn.float32),
        "`dtype` of to_torch must be a torch.dtype, got DataType\nhelp: write `torch.float32` or `torch.bfloat16`",
    ),
    (lambda d: ttnn.to_torch(host(), torch_rank=-1), "to_torch: a tensor of shape [32, 64] has no form of rank -1"),
    (
        lambda d: ttnn.add(on(d), 1, activations="relu"),
        "ttnn.add: `activations` must be a list of unary operations, got 'relu'\n"
        "help: give their names, as `activations=['relu']`",
    ),
    (lambda d: ttnn.from_torch(X, layout=0), "`layout` of from_torch must be a ttnn.Layout, got 0"),
    (lambda d: ttnn.from_torch(X, False), f"`dtype` of from_torch must be a ttnn.DataType, got False{DTYPES}"),
    (lambda d: ttnn.zeros((4, 4), 0), f"`dtype` of zeros must be a ttnn.DataType, got 0{DTYPES}"),
    (lambda d: ttnn.zeros_like(on(d), device=0), "`device` of zeros_like must be a ttnn.Device, got 0"),
    (lambda d: ttnn.full_like(on(d), 2, layout=0), "`layout` of full_like must be a ttnn.Layout, got 0"),
    (lambda d: ttnn.to_device(host(), d, False), "`memory_config` of to_device must be a ttnn.MemoryConfig, got False"),
    (
        lambda d: ttnn.to_layout(on(d), ttnn.TILE_LAYOUT, memory_config=False),
        "`memory_config` of to_layout must be a ttnn.MemoryConfig, got False",
    ),
    (lambda d: on(d).to(ttnn.TILE_LAYOUT, False), "`memory_config` must be a ttnn.MemoryConfig, got False"),
    (lambda d: ttnn.clone(on(d), False), "`memory_config` of clone must be a ttnn.MemoryConfig, got False"),
    (
        lambda d: ttnn.typecast(on(d), ttnn.bfloat16, "L1"),
        "`memory_config` of typecast must be a ttnn.MemoryConfig, got 'L1'",
    ),
    (lambda d: ttnn.full((4, 4), 10**400), "`fill_value` has no float: int too large"),
    (
        lambda d: ttnn.from_torch(quantized(), ttnn.float32),
        "from_torch: torch.quint8 numbers are quantized\nhelp: call `.dequantize()` on it first",
    ),
    (lambda d: ttnn.full(4, 1.0), "a shape is a tuple of whole numbers, got 4"),
    (lambda d: ttnn.zeros(None), "a shape is a tuple of whole numbers, got None"),
    (lambda d: ttnn.full((4, 4.0), 1.0), "the extents of a tensor are ints of at least 0, got [4, 4.0]"),
    (lambda d: ttnn.full((True, 4), 1.0), "the extents of a tensor are ints of at least 0, got [True, 4]"),
    (
        lambda d: ttnn.TensorSpec((4, 4), ttnn.float32, memory_config=ttnn.DRAM_MEMORY_CONFIG, buffer_type=L1),
        "a tensor spec takes `memory_config` or `buffer_type`, not both",
    ),
    (lambda d: ttnn.Tile(32), "a tile is a tuple of whole numbers, got 32"),
    (lambda d: ttnn.Tile().get_tile_size("f"), f"`dtype` must be a ttnn.DataType, got 'f'{DTYPES}"),
    (lambda d: ttnn.ShardSpec(CORES, 32), "a shard is a tuple of whole numbers, got 32"),
    (lambda d: ttnn.NdShardSpec(None, CORES), "a shard is a tuple of whole numbers, got None"),
    (lambda d: ttnn.NdShardSpec((0, 32), CORES), "an ND shard needs extents of at least 1, got [0, 32]"),
    (lambda d: ttnn.CoreRange(0, 1), "a core is a tuple of whole numbers, got 0"),
    (lambda d: ttnn.CoreRange((0, 0), (1,)), "a core has a column and a row, got [1]"),
    (lambda d: ttnn.CoreRangeSet(3), "core ranges must be a list or set of ttnn.CoreRange, got int"),
    (lambda d: SPEC.block_sharded(3), "core ranges must be a list or set of ttnn.CoreRange, got int"),
    *(
        (lambda d, shape=shape: ttnn.create_sharded_memory_config(shape, GRID, ttnn.ShardStrategy.BLOCK), text)
        for shape, text in (
            (64, "a shape is a tuple of whole numbers, got 64"),
            ("64", "a shape is of whole numbers, got ['6', '4']"),
            ((64.0, 64), "a shape is of whole numbers, got [64.0, 64]"),
            (X, "a shape is of whole numbers, got "),
        )
    ),
    (lambda d: ttnn.get_maximal_block_sharding_grid("a", (7, 7)), "a shape is of whole numbers, got ['a']"),
    (lambda d: ttnn.get_maximal_block_sharding_grid((64, 64), 7), "a core is a tuple of whole numbers, got 7"),
    (lambda d: ttnn.get_maximal_block_sharding_grid((64, 64), (-3, 7)), "a core has coordinates of 0 to 255, got "),
    (lambda d: ttnn.ReplicateTensorToMesh(3), "`mesh_device` must be a ttnn.Device, got 3"),
    (lambda d: ttnn.ShardTensorToMesh(d, None), "`dim` must be a whole number, got None"),
    (lambda d: ttnn.ShardTensorToMesh(d, 1.0), "`dim` must be a whole number, got 1.0"),
    (lambda d: ttnn.ConcatMeshToTensor(d, "0"), "`dim` must be a whole number, got '0'"),
    (lambda d: ttnn.ShardTensor2dMesh(d, (1, 1), (0,)), "`dims` must be two of None and whole numbers, got (0,)"),
    (lambda d: ttnn.ShardTensor2dMesh(d, (1, 1), 0), "`dims` must be two of None and whole numbers, got 0"),
    (lambda d: ttnn.ShardTensor2dMesh(d, None, (0, 1)), "a mesh shape is one to three positive ints, got None"),
    (lambda d: ttnn.open_mesh_device("x"), "`mesh_shape` of open_mesh_device must be a ttnn.MeshShape or "),
    (lambda d: ttnn.to_torch(on(d), mesh_composer=3), "`mesh_composer` of to_torch must be a ttnn.MeshToTensor, got 3"),
    (lambda d: ttnn.to_torch(on(d), torch_rank="2"), "`torch_rank` of to_torch must be a whole number, got '2'"),
    (lambda d: ttnn.enable_program_cache(3), "`device` of enable_program_cache must be a ttnn.Device, got 3"),
    (
        lambda d: ttnn.disable_and_clear_program_cache(None),
        "`device` of disable_and_clear_program_cache must be a ttnn.Device, got None",
    ),
    (lambda d: ttnn.set_fabric_config(3), "`config` of set_fabric_config must be a ttnn.FabricConfig, got 3"),
    (lambda d: ttnn.open_device(device_id=-1), "`device_id` must be a whole number of at least 0, got -1"),
    (lambda d: ttnn.open_device(device_id="0"), "`device_id` of open_device must be a whole number, got '0'"),
    (lambda d: ttnn.allocate_tensor_on_device((64, 64), d), f"{ALLOCATED}: missing a required argument: 'layout'"),
    (lambda d: ttnn.allocate_tensor_on_device(SPEC), f"{ALLOCATED}: missing a required argument: 'device'"),
    (lambda d: ttnn.allocate_tensor_on_device(SPEC, d, 3), f"{ALLOCATED}: too many positional arguments"),
    (
        lambda d: ttnn.allocate_tensor_on_device(ttnn.TensorSpec((4, 4), ttnn.float32, strides=(99, 1)), d),
        "TensorSpec([4, 4], f32, ROW_MAJOR, dram, interleaved, strides=(99, 1)) has strides; ",
    ),
    (lambda d: ttnn_jit.explain_miss(add, X), "explain_miss takes what `jit` returns, got function"),
    (
        lambda d: ttnn.pearson_correlation_coefficient(X, "a"),
        "a str is not a tensor, and torch cannot convert it to one",
    ),
    (lambda d: ttnn.pearson_correlation_coefficient(X, X[:3]), "shapes (32, 64) and (3, 64) differ"),
    (
        lambda d: ttnn.exp(on(d), output_tensor=on(d), optional_output_tensor=on(d)),
        "ttnn.exp: `output_tensor` and `optional_output_tensor` are two names of one argument",
    ),
    (
        lambda d: ttnn.open_device(device_id=0, target=["cpu"]),
        "unknown target ['cpu']\nhelp: the presets are wormhole_b0, blackhole, cpu",
    ),
]


@pytest.mark.parametrize(("what", "action"), TORCH_FOR_TTNN.items(), ids=TORCH_FOR_TTNN)
def test_an_error_about_a_torch_tensor_in_place_of_a_ttnn_tensor_shows_the_conversion(device, what, action):
    with pytest.raises(ArgumentError) as raised:
        action(device)
    assert str(raised.value) == f"{what} must be a ttnn.Tensor, got a torch.Tensor{MAKE_ONE}"


@pytest.mark.parametrize(("action", "text"), OTHERS, ids=[text.partition("\n")[0] for _, text in OTHERS])
def test_an_argument_of_another_kind_is_named_with_the_expected_kind(device, action, text):
    compiles = ttnn_jit.cache_info().compiles
    with pytest.raises(ArgumentError) as raised:
        action(device)
    assert str(raised.value).startswith(text)
    assert (ttnn_jit.cache_info().compiles, device.memory_view().used) == (compiles, 0)


def test_a_tensor_is_allocated_by_spec_or_by_its_parts_in_any_order(device):
    for tensor in (
        ttnn.allocate_tensor_on_device(SPEC, device),
        ttnn.allocate_tensor_on_device(SPEC, device=device),
        ttnn.allocate_tensor_on_device((32, 64), ttnn.float32, ttnn.TILE_LAYOUT, device),
        ttnn.allocate_tensor_on_device((32, 64), device=device, layout=ttnn.TILE_LAYOUT, dtype=ttnn.float32),
    ):
        assert (tensor.spec, tensor.device()) == (SPEC, device)
    in_l1 = ttnn.allocate_tensor_on_device((32, 64), ttnn.float32, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG)
    assert in_l1.memory_config() == ttnn.L1_MEMORY_CONFIG


@pytest.mark.parametrize("name", ["full", "zeros", "ones", "empty", "rand", "zeros_like", "ones_like", "full_like"])
def test_a_misspelt_keyword_is_refused_with_the_name_of_the_function(name):
    with pytest.raises(TypeError, match=rf"\b{name}\(\) got an unexpected keyword argument 'dtyp'"):
        getattr(ttnn, name)((2, 2), dtyp=ttnn.float32)


@pytest.fixture
def mesh():
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    yield mesh
    ttnn.close_mesh_device(mesh)


def add(x, y):
    return x + y


MEETINGS = [
    lambda d, x, y: ttnn.add(x, y),
    lambda d, x, y: ttnn.add(y, x),
    lambda d, x, y: ttnn_jit.jit(add)(x, y),
    lambda d, x, y: ttnn.to_device(x, d),
    lambda d, x, y: x.to(d),
    lambda d, x, y: ttnn.zeros_like(x, device=d),
    lambda d, x, y: ttnn.copy_host_to_device_tensor(x.cpu(), y),
]


@pytest.mark.parametrize("action", MEETINGS)
def test_a_tensor_of_a_mesh_and_one_of_its_devices_are_refused_together(device, mesh, action):
    x, y = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=mesh), on(device)
    with pytest.raises(ArgumentError) as raised:
        action(device, x, y)
    assert raised.value.message == f"a call mixes a tensor of {mesh} with {device}"


def test_the_tensors_of_a_mesh_are_not_written_into_a_host_tensor(mesh):
    x, into = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=mesh), host()
    with pytest.raises(ArgumentError, match="does not hold those of 2 devices"):
        ttnn.copy_device_to_host_tensor(x, into)
    assert torch.equal(into.to_torch(), X)
    ttnn.copy_device_to_host_tensor(x, x.cpu())
    ttnn.copy_host_to_device_tensor(into, x)


def test_the_extents_of_a_spec_are_converted_to_ints():
    spec = ttnn.TensorSpec((numpy.int64(3), 977), ttnn.float32)
    assert [type(extent) for extent in spec.shape] == [int, int]
    assert ttnn.TensorSpec((3, 977), ttnn.float32) is spec


def test_a_typecast_on_the_host_has_the_requested_memory_config():
    cast = ttnn.typecast(host(), ttnn.bfloat16, ttnn.L1_MEMORY_CONFIG)
    assert (cast.dtype, cast.memory_config()) == (ttnn.bfloat16, ttnn.L1_MEMORY_CONFIG)


def test_a_tensor_is_deallocated_with_or_without_force(device):
    for arguments in ((), (True,), (False,)):
        x = on(device)
        x.deallocate(*arguments)
        assert not x.is_allocated()
