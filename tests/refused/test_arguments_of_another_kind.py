"""What the host API says to an argument that is something else than it takes; nothing is allocated or compiled."""
# ruff: noqa: ARG005 - every action is given the device

from __future__ import annotations

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.errors import ArgumentError

X = torch.randn(32, 64)
SPEC = ttnn.TensorSpec((32, 64), ttnn.float32, ttnn.TILE_LAYOUT)
MAKE_ONE = "\nhelp: make a ttnn tensor of it: `ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)`"
CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
DTYPES = "\nhelp: it takes ttnn.DataType.BFLOAT16, ttnn.DataType.FLOAT32"


def host():
    return ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT)


def on(device):
    return ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, device=device)


TORCH_FOR_TTNN = {
    "the argument of is_sharded": lambda d: ttnn.is_sharded(X),
    "the argument of get_memory_config": lambda d: ttnn.get_memory_config(X),
    "the argument of is_tensor_storage_on_device": lambda d: ttnn.is_tensor_storage_on_device(X),
    "the argument of get_device_tensors": lambda d: ttnn.get_device_tensors(X),
    "the first argument of reshard": lambda d: ttnn.reshard(X, ttnn.L1_MEMORY_CONFIG),
    "the first argument of interleaved_to_sharded": lambda d: ttnn.interleaved_to_sharded(X, ttnn.L1_MEMORY_CONFIG),
    "the first argument of sharded_to_interleaved": lambda d: ttnn.sharded_to_interleaved(X),
    "the first argument of copy_host_to_device_tensor": lambda d: ttnn.copy_host_to_device_tensor(X, on(d)),
    "the second argument of copy_host_to_device_tensor": lambda d: ttnn.copy_host_to_device_tensor(host(), X),
    "the first argument of copy_device_to_host_tensor": lambda d: ttnn.copy_device_to_host_tensor(X, host()),
    "the second argument of copy_device_to_host_tensor": lambda d: ttnn.copy_device_to_host_tensor(on(d), X),
}

OTHERS = [
    (lambda d: ttnn.ShardSpec(CORES, (32.5, 32)), "a shard is of whole numbers, got [32.5, 32]"),
    (lambda d: ttnn.NdShardSpec("ab", CORES), "a shard is of whole numbers, got ['a', 'b']"),
    (lambda d: ttnn.CoreGrid(x=1.5, y=2), "a core grid is of whole numbers, got [1.5, 2]"),
    (lambda d: ttnn.CoreRange((0, 0), (1.5, 1)), "a core is of whole numbers, got [1.5, 1]"),
    (lambda d: ttnn.CoreRange((-1, 0), (1, 1)), "a core has coordinates of at least 0, got (x=-1, y=0)"),
    (lambda d: ttnn.CoreRange(ttnn.CoreCoord(0, -2), (1, 1)), "a core has coordinates of at least 0, got (x=0, y=-2)"),
    (lambda d: ttnn.CoreRangeSet([(0, 0)]), "a core range must be a ttnn.CoreRange, got a tuple"),
    (
        lambda d: ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, (32, 32)),
        "`shard_spec` must be a ttnn.ShardSpec, got a tuple",
    ),
    (lambda d: ttnn.MemoryConfig(nd_shard_spec=3), "`nd_shard_spec` must be a ttnn.NdShardSpec, got 3"),
    (lambda d: ttnn.to_device(host(), None), "the second argument of to_device must be a ttnn.Device, got None"),
    (
        lambda d: ttnn.to_device(host(), ttnn.TILE_LAYOUT),
        "the second argument of to_device must be a ttnn.Device, got ",
    ),
    (lambda d: ttnn.to_memory_config(on(d), None), "`memory_config` must be a ttnn.MemoryConfig, got None"),
    (lambda d: ttnn.reshard(on(d), 3), "`memory_config` must be a ttnn.MemoryConfig, got 3"),
    (lambda d: on(d).to(None), "the place of a tensor must be a ttnn.Device, got None"),
    (lambda d: on(d).to("cpu"), "the place of a tensor must be a ttnn.Device, got 'cpu'"),
    (lambda d: ttnn.close_device(None), "the argument of close_device must be a ttnn.Device, got None"),
    (
        lambda d: ttnn.close_mesh_device(X),
        "the argument of close_mesh_device must be a ttnn.Device, got a torch.Tensor",
    ),
    (lambda d: ttnn.synchronize_device(None), "the argument of synchronize_device must be a ttnn.Device, got None"),
    (lambda d: ttnn.allocate_tensor_on_device(SPEC, None), "`device` must be a ttnn.Device, got None"),
    (lambda d: ttnn.allocate_tensor_on_device((32, 64), ttnn.float32, d, d), "`layout` must be a ttnn.Layout, got a "),
    (
        lambda d: ttnn.allocate_tensor_on_device((32, 64), torch.float32, ttnn.TILE_LAYOUT, d),
        f"`dtype` must be a ttnn.DataType, got a torch.dtype{DTYPES}",
    ),
    (lambda d: ttnn.full((32, 64), "1", device=d), "`fill_value` must be a number, got str"),
    (lambda d: ttnn.full_like(on(d), None), "`fill_value` must be a number, got NoneType"),
    (lambda d: ttnn.from_torch(X, spec=3), "`spec` must be a ttnn.TensorSpec, got 3"),
    (lambda d: ttnn.from_torch(X, tile=(32, 32)), "`tile` must be a ttnn.Tile, got a tuple"),
    (
        lambda d: ttnn.from_torch(X, mesh_mapper=3),
        "`mesh_mapper` must be a ReplicateTensorToMesh, a ShardTensorToMesh or a ShardTensor2dMesh, got int",
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
    (
        lambda d: ttnn.open_device(device_id=0, target=["cpu"]),
        "unknown target ['cpu']\nhelp: the presets are wormhole_b0, blackhole, cpu",
    ),
]


@pytest.mark.parametrize(("what", "action"), TORCH_FOR_TTNN.items(), ids=TORCH_FOR_TTNN)
def test_a_torch_tensor_in_the_place_of_a_ttnn_tensor_is_told_how_to_become_one(device, what, action):
    with pytest.raises(ArgumentError) as raised:
        action(device)
    assert str(raised.value) == f"{what} must be a ttnn.Tensor, got a torch.Tensor{MAKE_ONE}"


@pytest.mark.parametrize(("action", "text"), OTHERS, ids=[text.partition("\n")[0] for _, text in OTHERS])
def test_an_argument_of_another_kind_is_named_with_what_belongs_there(device, action, text):
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
