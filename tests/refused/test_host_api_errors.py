"""Exact messages of all errors of the host API and of a jitted call; nothing is allocated, compiled or counted."""

# ruff: noqa: ARG005 - every action is given the device

from __future__ import annotations

import pickle

import numpy
import pytest
import torch

import ttnn_jit
from tests.refused.tiled import BLOCK, X, double, tiled
from ttnn_jit import ttnn
from ttnn_jit.specs.target import SystemDesc

COLUMN_MAJOR = ttnn.create_sharded_memory_config(
    (64, 64), ttnn.CoreGrid(x=2, y=2), BLOCK, ttnn.ShardOrientation.COL_MAJOR
)


SHARDS = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), BLOCK)


SHARDED_DRAM = ttnn.MemoryConfig(SHARDS.memory_layout, ttnn.BufferType.DRAM, SHARDS.shard_spec)


CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])


CALLS = [
    (
        lambda d: ttnn.from_torch(X, device=d),
        ValueError,
        "Only Layout.Tile tensors are supported. Found layout: Layout.ROW_MAJOR\n"
        "help: `x`: pass `layout=ttnn.TILE_LAYOUT` to `ttnn.from_torch`",
    ),
    (
        lambda d: tiled(d, memory_config=ttnn.L1_MEMORY_CONFIG),
        ValueError,
        "Interleaved L1 tensors are not supported.\n"
        "help: `x`: use `ttnn.DRAM_MEMORY_CONFIG` or `ttnn.create_sharded_memory_config`",
    ),
    (
        lambda d: tiled(d, memory_config=SHARDED_DRAM),
        ValueError,
        "Sharded DRAM tensors are not supported.\nhelp: `x`: shard it in L1",
    ),
    (
        lambda d: tiled(d, memory_config=COLUMN_MAJOR),
        ValueError,
        "Column major sharding is not supported.\nhelp: `x`: use `ShardOrientation.ROW_MAJOR`",
    ),
    (
        lambda d: tiled(d, torch.randn(33, 32)),
        ValueError,
        "`x` has shape Shape([33, 32]), which is not made of whole 32x32 tiles; target wormhole_b0 does not pad inside "
        "a jitted function\nhelp: pad the tensor, or use a device opened with `target='cpu'`",
    ),
    (
        lambda d: ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT),
        ValueError,
        "Invalid arguments for function double: `x` is on the host\n"
        "help: move it to a device: `ttnn.to_device(tensor, device)`, or `ttnn.from_torch(..., device=device)`",
    ),
]


@pytest.mark.parametrize(("argument", "error", "text"), CALLS)
def test_a_call_that_breaks_a_rule_is_refused_before_anything_happens(device, argument, error, text):
    tensor = argument(device)
    compiles, entries = ttnn_jit.cache_info().compiles, double.num_entries
    used = device.memory_view()
    with pytest.raises(error) as raised:
        double(tensor)
    assert str(raised.value) == text
    assert (ttnn_jit.cache_info().compiles, double.num_entries) == (compiles, entries)
    assert device.num_program_cache_entries() == 0
    assert device.memory_view() == used


def test_the_rules_of_layouts_do_not_apply_to_ir(device):
    assert "ttnn.add" in double.ir(tiled(device, memory_config=ttnn.L1_MEMORY_CONFIG))


HOST = [
    (
        lambda d: tiled(d, memory_config=ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED)),
        RuntimeError,
        "a TensorMemoryLayout.BLOCK_SHARDED memory config has no shard spec\n"
        "help: make it with `ttnn.create_sharded_memory_config`",
    ),
    (
        lambda d: ttnn.create_sharded_memory_config((100, 64), ttnn.CoreGrid(x=8, y=8), BLOCK),
        RuntimeError,
        "Invalid sharding core_grid: BLOCK sharding of 100x64 elements over x=8, y=8\n"
        "help: rows must divide by 8 and columns by 8",
    ),
    (
        lambda d: tiled(d, torch.randn(128, 64), memory_config=SHARDS),
        RuntimeError,
        "BLOCK_SHARDED shards of 32x32 on 4 cores (x=2, y=2) do not hold a tensor of 128x64\n"
        "help: make the config for this shape with `ttnn.create_sharded_memory_config`",
    ),
    (
        lambda d: ttnn.to_memory_config(
            tiled(d, torch.randn(64, 16)),
            ttnn.create_sharded_memory_config((64, 16), ttnn.CoreGrid(x=1, y=4), ttnn.ShardStrategy.HEIGHT),
        ),
        RuntimeError,
        "a shard of 16x16 is not made of whole 32x32 tiles\n"
        "help: choose a grid that leaves whole tiles on each core, or `ttnn.ROW_MAJOR_LAYOUT`",
    ),
    (
        lambda d: ttnn.exp(tiled(d), memory_config=ttnn.MemoryConfig(SHARDS.memory_layout, ttnn.BufferType.L1)),
        RuntimeError,
        "a TensorMemoryLayout.BLOCK_SHARDED memory config has no shard spec\n"
        "help: make it with `ttnn.create_sharded_memory_config`",
    ),
    *(
        (
            lambda d, make=make: make(d, ttnn.MemoryConfig(buffer_type=ttnn.BufferType.TRACE)),
            ValueError,
            "a tensor on a device cannot lie in BufferType.TRACE: that is memory of captured traces\n"
            "help: leave `memory_config` out, or choose `ttnn.DRAM_MEMORY_CONFIG`",
        )
        for make in (
            lambda d, config: tiled(d, memory_config=config),
            lambda d, config: ttnn.to_device(ttnn.from_torch(X), d, config),
            lambda d, config: ttnn.to_device(ttnn.from_torch(X, memory_config=config), d),
            lambda d, config: ttnn.to_memory_config(tiled(d), config),
            lambda d, config: ttnn.to_layout(tiled(d), ttnn.ROW_MAJOR_LAYOUT, memory_config=config),
            lambda d, config: tiled(d).to(ttnn.ROW_MAJOR_LAYOUT, config),
            lambda d, config: ttnn.zeros((64, 64), device=d, memory_config=config),
            lambda d, config: ttnn.allocate_tensor_on_device(
                (64, 64), ttnn.float32, ttnn.TILE_LAYOUT, d, memory_config=config
            ),
            lambda d, config: ttnn.clone(tiled(d), config),
            lambda d, config: ttnn.typecast(tiled(d), ttnn.bfloat16, config),
            lambda d, config: ttnn.exp(tiled(d), memory_config=config),
            lambda d, config: ttnn_jit.jit(memory_config=config)(lambda x: ttnn.exp(x))(tiled(d)),
        )
    ),
    (
        lambda d: ttnn.to_device(ttnn.from_torch(X), d, ttnn.MemoryConfig(buffer_type=ttnn.BufferType.SYSTEM_MEMORY)),
        ValueError,
        "a tensor on a device cannot lie in BufferType.SYSTEM_MEMORY: that is memory of the host\n"
        "help: leave `memory_config` out, or choose `ttnn.DRAM_MEMORY_CONFIG`",
    ),
    (
        lambda d: ttnn.MemoryConfig(
            ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, nd_shard_spec=ttnn.NdShardSpec((32, 32), CORES)
        ),
        RuntimeError,
        "`nd_shard_spec` cuts a tensor in every dimension, and the memory layout is HEIGHT_SHARDED\n"
        "help: leave `memory_layout` out, or give a `shard_spec`",
    ),
    (
        lambda d: ttnn.MemoryConfig(ttnn.TensorMemoryLayout.ND_SHARDED, ttnn.BufferType.L1, SHARDS.shard_spec),
        RuntimeError,
        "an ND_SHARDED memory config needs an `nd_shard_spec`",
    ),
    (
        lambda d: ttnn.from_torch(X, ttnn.bfloat16, spec=ttnn.TensorSpec((64, 64), ttnn.bfloat16), device=d),
        RuntimeError,
        "from_torch: `spec` excludes `dtype`, `layout`, `memory_config` and `tile`: it contains them",
    ),
    (
        lambda d: ttnn.from_torch(X.numpy(), device=d),
        ValueError,
        "from_torch takes a torch tensor, got a numpy.ndarray\nhelp: pass `torch.from_numpy(array)`",
    ),
    (
        lambda d: ttnn.from_torch(X, dtype=torch.bfloat16, device=d),
        ValueError,
        "`dtype` of from_torch must be a ttnn.DataType, got a torch.dtype\n"
        f"help: it takes {', '.join(f'ttnn.{dtype}' for dtype in ttnn.DataType)}",
    ),
    (
        lambda d: ttnn.from_torch(torch.eye(3).to_sparse(), device=d),
        ValueError,
        "from_torch takes a torch tensor that is dense on the CPU, got torch.sparse_coo on cpu\n"
        "help: call `.cpu()` or `.to_dense()` on it first",
    ),
    (
        lambda d: ttnn.zeros((-1, 4), device=d),
        ValueError,
        "the extents of a tensor are ints of at least 0, got [-1, 4]",
    ),
    (
        lambda d: ttnn.zeros((10**13, 0), device=d),
        ValueError,
        "an extent of Shape([10000000000000, 0]) is beyond 4,294,967,295: those of ttnn have 32 bits\n"
        "help: give the tensor more dimensions",
    ),
    (
        lambda d: ttnn_jit.jit(lambda x: x + 1.0)(torch.empty(1).expand(10**13)),
        ValueError,
        "an extent of Shape([10000000000000]) is beyond 4,294,967,295: those of ttnn have 32 bits\n"
        "help: give the tensor more dimensions",
    ),
    (
        lambda d: ttnn_jit.jit(lambda x: x + 1.0)(torch.empty(1, 1).expand(2**31, 2**31)),
        ValueError,
        "a tensor of Shape([2147483648, 2147483648]) has more than 4,611,686,018,427,387,904 bytes, which no memory "
        "has",
    ),
    (lambda d: ttnn.from_torch(X, device="cpu"), ValueError, "`device` of from_torch must be a ttnn.Device, got 'cpu'"),
    (
        lambda d: ttnn.to_layout(tiled(d), "row_major"),
        ValueError,
        "`layout` of to_layout must be a ttnn.Layout, got 'row_major'\n"
        "help: it takes ttnn.Layout.ROW_MAJOR, ttnn.Layout.TILE",
    ),
    (
        lambda d: ttnn.exp(tiled(d), memory_config="L1"),
        ValueError,
        "`memory_config` must be a ttnn.MemoryConfig, got 'L1'",
    ),
    (lambda d: ttnn_jit.jit(memory_config="L1"), ValueError, "`memory_config` must be a ttnn.MemoryConfig, got 'L1'"),
    (
        lambda d: ttnn.MemoryConfig(ttnn.BufferType.L1),
        ValueError,
        "`memory_layout` must be a ttnn.TensorMemoryLayout, got <BufferType.L1: 1>\n"
        "help: it takes ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.TensorMemoryLayout.HEIGHT_SHARDED, "
        "ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED, "
        "ttnn.TensorMemoryLayout.ND_SHARDED",
    ),
    (
        lambda d: ttnn.create_sharded_memory_config((64, 64), (2, 2), BLOCK),
        ValueError,
        "`core_grid` must be a ttnn.CoreGrid, got a tuple",
    ),
    (
        lambda d: ttnn.ShardSpec(CORES, (32,), ttnn.ShardOrientation.ROW_MAJOR),
        RuntimeError,
        "a shard has a height and a width of at least 1, got [32]",
    ),
    (
        lambda d: ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1)), ttnn.CoreRange((1, 1), (2, 2))]),
        RuntimeError,
        "core ranges overlap: [CoreRange((x=0, y=0) to (x=1, y=1)), CoreRange((x=1, y=1) to (x=2, y=2))]",
    ),
    (
        lambda d: ttnn.deallocate(X),
        ValueError,
        "`tensor` of deallocate must be a ttnn.Tensor, got a torch.Tensor\n"
        "help: make a ttnn tensor of it: `ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device)`",
    ),
    (
        lambda d: torch.exp(tiled(d)),
        ValueError,
        "torch's `exp` got a ttnn tensor\nhelp: write `ttnn.exp`, or call `.to_torch()` on the tensor first",
    ),
    (lambda d: ttnn.Tile((16, 32)), ValueError, "a tile is 32x32 elements, got 16x32"),
    (
        lambda d: pickle.dumps(ttnn.from_torch(X)),
        ValueError,
        "a ttnn tensor cannot be pickled: its memory is of this process\nhelp: pickle `ttnn.to_torch(tensor)`",
    ),
    (
        lambda d: numpy.asarray(tiled(d)),
        ValueError,
        "numpy got a ttnn tensor that is on Device(wormhole_b0 rules on cpu, id=0)\n"
        "help: write `numpy.asarray(tensor.cpu())`, or `ttnn.to_torch(tensor)`",
    ),
    (
        lambda d: tiled(d)[0, 0, 0],
        ValueError,
        "(0, 0, 0) indexes 3 dimensions of a tensor of rank 2",
    ),
    (
        lambda d: ttnn_jit.jit(max_grid=ttnn.CoreGrid(x=8, y=8)),
        ValueError,
        "max_grid is CoreGrid(x=8, y=8)\nhelp: it is the last core (x, y): (7, 7) is a grid of 8x8 cores",
    ),
    (
        lambda d: ttnn.from_torch(X, spec=ttnn.TensorSpec((32, 64), ttnn.bfloat16), device=d),
        ValueError,
        "a torch tensor of shape [64, 64] cannot become TensorSpec([32, 64], bf16, ROW_MAJOR, dram, interleaved)",
    ),
    (
        lambda d: ttnn.from_torch(torch.arange(4).double()),
        TypeError,
        "ttnn tensors of torch.float64 are not supported\n"
        "help: cast it: `tensor.to(torch.float32)`, or `tensor.to(torch.int32)` if it holds integers",
    ),
    (
        lambda d: ttnn.open_device(device_id=0, speed=2),
        ValueError,
        "open_device has no keyword `speed`\nhelp: keywords of hardware that it ignores are `dispatch_core_config`, "
        "`dispatch_core_type`, `l1_small_size`, `offset`, `physical_device_ids`, `worker_l1_size`",
    ),
    (
        lambda d: ttnn.open_mesh_device(ttnn.MeshShape(4, 9)),
        ValueError,
        "a mesh of 36 devices is more than the 32 that there are",
    ),
    (
        lambda d: ttnn.to_memory_config(ttnn.from_torch(X), SHARDS),
        ValueError,
        "to_memory_config: the tensor is on the host\nhelp: move it to a device: `ttnn.to_device(tensor, device)`",
    ),
    (
        lambda d: ttnn.copy_host_to_device_tensor(ttnn.from_torch(X), tiled(d)),
        ValueError,
        "copy_host_to_device_tensor: the tensors differ in layout, Layout.ROW_MAJOR and Layout.TILE",
    ),
    (
        lambda d: ttnn.add(tiled(d), 1.0, activations=["add"]),
        ValueError,
        "'add' is no activation\nhelp: give names of unary operations, as `activations=['relu']`",
    ),
    (
        lambda d: ttnn.exp(tiled(d), output_tensor=tiled(d), dtype=ttnn.bfloat16),
        ValueError,
        "ttnn.exp: `dtype` and `output_tensor` disagree: DataType.BFLOAT16 and DataType.FLOAT32",
    ),
    (
        lambda d: ttnn_jit.jit(fallback=True, compile_only=True),
        ValueError,
        "fallback=True is incompatible with compile_only=True",
    ),
    (
        lambda d: ttnn_jit.jit(max_grid=(8,)),
        ValueError,
        "max_grid is (8,)\nhelp: it is the last core (x, y): (7, 7) is a grid of 8x8 cores",
    ),
    (
        lambda d: ttnn_jit.jit(max_grid=(8, 7))(lambda x: ttnn.exp(x))(tiled(d)),
        RuntimeError,
        "max_grid is (8, 7), and the last core of wormhole_b0 is (7, 7)\n"
        "help: it is the last core (x, y) that may be used",
    ),
    (
        lambda d: ttnn_jit.jit(memory_config=ttnn.L1_MEMORY_CONFIG)(lambda x: ttnn.exp(x))(tiled(d)),
        ValueError,
        "Interleaved L1 tensors are not supported.\nhelp: `memory_config of the decorator`: use "
        "`ttnn.DRAM_MEMORY_CONFIG` or `ttnn.create_sharded_memory_config`",
    ),
    (
        lambda d: ttnn_jit.jit(memory_config=SHARDS)(lambda x: ttnn.exp(x))(tiled(d, torch.randn(128, 64))),
        RuntimeError,
        "BLOCK_SHARDED shards of 32x32 on 4 cores (x=2, y=2) do not hold a tensor of 128x64\n"
        "help: make the config for this shape with `ttnn.create_sharded_memory_config`",
    ),
    (
        lambda d: tiled(
            d,
            torch.randn(256, 32),  # its shards lie on cores of the device, and the last cores of the grid hold none
            memory_config=ttnn.create_sharded_memory_config((512, 32), ttnn.CoreGrid(x=1, y=16), BLOCK),
        ),
        RuntimeError,
        "TensorSpec([256, 32], f32, TILE, l1, block_sharded ShardSpec(CoreRangeSet([CoreRange((x=0, y=0) to "
        "(x=0, y=15))]), [32, 32], ShardOrientation.ROW_MAJOR)) is sharded over "
        "core (x=0, y=15); the device has x=8, y=8 cores",
    ),
    (
        lambda d: SystemDesc.from_json("[]"),
        ValueError,
        "this is not a system description: it is no JSON object\n"
        f"help: its fields are {', '.join(SystemDesc.__dataclass_fields__)}; "
        "`ttnn-jit query --target wormhole_b0` prints one to start from",
    ),
    (
        lambda d: SystemDesc.from_json(d.target.to_json().replace("1369120", '"much"')),
        ValueError,
        "this is not a system description: `l1_bytes` is 'much'\n"
        f"help: its fields are {', '.join(SystemDesc.__dataclass_fields__)}; "
        "`ttnn-jit query --target wormhole_b0` prints one to start from",
    ),
    (
        lambda d: ttnn_jit.jit(math_fidelity="HiFi4"),
        ValueError,
        "math_fidelity is 'HiFi4'\nhelp: it takes ttnn.MathFidelity.LoFi, ttnn.MathFidelity.HiFi2, "
        "ttnn.MathFidelity.HiFi3, ttnn.MathFidelity.HiFi4",
    ),
    *(
        (lambda d, name=name: ttnn_jit.jit(**{name: "no"}), ValueError, f"{name} is 'no'\nhelp: it takes True or False")
        for name in ("enable_cache", "debug", "compile_only", "fallback", "fp32_dest_acc")
    ),
    (
        lambda d: ttnn_jit.jit(graph_capture=1),
        ValueError,
        "graph_capture is 1\nhelp: it takes True, False or None",
    ),
    (
        lambda d: ttnn_jit.jit(extra_pipeline_options=None),
        ValueError,
        "extra_pipeline_options is None\nhelp: it takes a text, `after-STAGE{PASS,...}`",
    ),
    (
        lambda d: ttnn_jit.jit(max_grid=(True, 7)),
        ValueError,
        "max_grid is (True, 7)\nhelp: it is the last core (x, y): (7, 7) is a grid of 8x8 cores",
    ),
    (
        lambda d: ttnn.get_all_programs_perf_data,
        AttributeError,
        "module 'ttnn_jit.ttnn' has no attribute 'get_all_programs_perf_data': there is no device profiler; time the "
        "calls",
    ),
    (
        lambda d: ttnn.from_torhc,
        AttributeError,
        "module 'ttnn_jit.ttnn' has no attribute 'from_torhc'; did you mean `from_torch`?",
    ),
]


@pytest.mark.parametrize(("action", "error", "text"), HOST)
def test_refusals_of_the_host_api_and_their_messages(device, action, error, text):
    compiles = ttnn_jit.cache_info().compiles
    with pytest.raises(error) as raised:
        action(device)
    assert str(raised.value) == text
    assert ttnn_jit.cache_info().compiles == compiles
    assert device.num_program_cache_entries() == 0
    assert device.memory_view().used == 0
