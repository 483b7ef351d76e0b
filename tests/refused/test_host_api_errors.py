"""Every error of the host API and of a jitted call, to the letter; nothing is allocated, compiled or counted."""
# ruff: noqa: ARG005 - every action is given the device

from __future__ import annotations

import functools
import math
import pickle

import numpy
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.specs.target import SystemDesc

X = torch.randn(64, 64)
BLOCK = ttnn.ShardStrategy.BLOCK
COLUMN_MAJOR = ttnn.create_sharded_memory_config(
    (64, 64), ttnn.CoreGrid(x=2, y=2), BLOCK, ttnn.ShardOrientation.COL_MAJOR
)
SHARDS = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), BLOCK)
SHARDED_DRAM = ttnn.MemoryConfig(SHARDS.memory_layout, ttnn.BufferType.DRAM, SHARDS.shard_spec)
CORES = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])


def tiled(device, data=X, **keywords):
    return ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device, **keywords)


@ttnn_jit.jit()
def double(x):
    return ttnn.add(x, x)


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


def test_the_rules_of_layouts_do_not_hold_for_ir(device):
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
        lambda d: ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1, SHARDS.shard_spec),
        RuntimeError,
        "an INTERLEAVED memory config has no shards, and `shard_spec` describes some\n"
        "help: leave it out, or write the memory layout that it is of, such as "
        "`ttnn.TensorMemoryLayout.BLOCK_SHARDED`",
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
        "from_torch: `spec` excludes `dtype`, `layout`, `memory_config` and `tile`: it holds them",
    ),
    (
        lambda d: ttnn.from_torch(X.numpy(), device=d),
        ValueError,
        "from_torch takes a torch tensor, got a numpy.ndarray\nhelp: pass `torch.from_numpy(array)`",
    ),
    (
        lambda d: ttnn.from_torch(X, dtype=torch.bfloat16, device=d),
        ValueError,
        "`dtype` must be a ttnn.DataType, got a torch.dtype\n"
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
    (lambda d: ttnn.from_torch(X, device="cpu"), ValueError, "`device` must be a ttnn.Device, got 'cpu'"),
    (
        lambda d: ttnn.to_layout(tiled(d), "row_major"),
        ValueError,
        "`layout` must be a ttnn.Layout, got 'row_major'\nhelp: it takes ttnn.Layout.ROW_MAJOR, ttnn.Layout.TILE",
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
        "the argument of deallocate must be a ttnn.Tensor, got a torch.Tensor\n"
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
        "a ttnn tensor cannot be pickled: it lies in memory of this process\nhelp: pickle `ttnn.to_torch(tensor)`",
    ),
    (
        lambda d: numpy.asarray(tiled(d)),
        ValueError,
        "numpy was given a ttnn tensor that lies on Device(wormhole_b0, id=0)\n"
        "help: write `numpy.asarray(tensor.cpu())`, or `ttnn.to_torch(tensor)`",
    ),
    (
        lambda d: list(ttnn.from_torch(X)),
        ValueError,
        "iterating over a ttnn tensor is not supported\nhelp: write `x[i]`",
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
        "open_device has no keyword `speed`\nhelp: of the hardware's it takes and ignores `dispatch_core_config`, "
        "`dispatch_core_type`, `l1_small_size`, `offset`, `physical_device_ids`, `worker_l1_size`",
    ),
    (
        lambda d: ttnn.open_mesh_device(ttnn.MeshShape(4, 4)),
        ValueError,
        "a mesh of 16 devices is more than the 8 that `ttnn.get_num_devices()` says there are",
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
            torch.randn(512, 32),
            memory_config=ttnn.create_sharded_memory_config((512, 32), ttnn.CoreGrid(x=1, y=16), BLOCK),
        ),
        RuntimeError,
        "TensorSpec([512, 32], f32, TILE, l1, block_sharded ShardSpec(CoreRangeSet([CoreRange((x=0, y=0) to "
        "(x=0, y=15))]), [32, 32], ShardOrientation.ROW_MAJOR)) has a shard on "
        "core (x=0, y=8); the device has x=8, y=8 cores",
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
def test_what_the_host_api_refuses_and_says(device, action, error, text):
    compiles = ttnn_jit.cache_info().compiles
    with pytest.raises(error) as raised:
        action(device)
    assert str(raised.value) == text
    assert ttnn_jit.cache_info().compiles == compiles
    assert device.num_program_cache_entries() == 0
    assert device.memory_view().used == 0


def test_a_core_that_is_too_small_is_named_with_what_lies_there(device):
    config = ttnn.create_sharded_memory_config((64, 4096), ttnn.CoreGrid(x=1, y=1), BLOCK)
    held = tiled(device, torch.zeros(64, 4096), memory_config=config)
    view = device.memory_view()
    assert (view.used, view.cores[0].used, view.cores[1].used) == (1 << 20, 1 << 20, 0)
    cores = "CoreRangeSet([CoreRange((x=0, y=0) to (x=0, y=0))])"
    spec = (
        f"TensorSpec([64, 4096], f32, TILE, l1, block_sharded ShardSpec({cores}, [64, 4096], "
        "ShardOrientation.ROW_MAJOR))"
    )
    text = (
        f"L1 of core (x=0, y=0) is too small: {spec} needs 1,048,576 bytes there, of 1,369,120 there are 320,544 left. "
        f"It holds 1,048,576 bytes of {spec}\n"
        "help: deallocate tensors, spread them over more cores, or keep them in `ttnn.DRAM_MEMORY_CONFIG`"
    )
    for action in (lambda: double(held), lambda: ttnn.exp(held), lambda: ttnn.clone(held)):
        with pytest.raises(RuntimeError) as raised:
            action()
        assert str(raised.value) == text
    assert device.memory_view().used == 1 << 20
    ttnn.deallocate(held)
    assert device.memory_view().used == 0
    assert device.memory_view().high_water == 1 << 20
    assert str(device.memory_view()).startswith("L1 of 64 cores, 1,369,120 bytes each: 0 used on the fullest, ")


def test_an_output_tensor_that_does_not_fit_is_left_as_it_was(device):
    output = ttnn.zeros((32, 64), ttnn.float32, ttnn.TILE_LAYOUT, device)
    text = r"^ttnn.exp: `output_tensor` is .*32, 64.*, the result .*64, 64"
    compiles = ttnn_jit.cache_info().compiles
    with pytest.raises(ValueError, match=text):
        ttnn.exp(tiled(device), output_tensor=output)
    assert ttnn_jit.cache_info().compiles == compiles
    ttnn.exp(tiled(device), output_tensor=ttnn.zeros_like(tiled(device)))
    device.clear_program_cache()
    with pytest.raises(ValueError, match=text):
        ttnn.exp(tiled(device), output_tensor=output)
    assert device.num_program_cache_entries() == 0
    assert not output.to_torch().any()


def test_an_output_tensor_that_was_deallocated_is_refused_before_anything_runs(device):
    x, output = tiled(device), tiled(device)
    ttnn.deallocate(output)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"^ttnn.exp: the tensor was deallocated"):
            ttnn.exp(x, output_tensor=output)
    assert device.num_program_cache_entries() == 0


def test_a_compiled_program_says_what_it_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `compile_only` writes below the current folder
    program = ttnn_jit.jit(compile_only=True)(lambda x: x * 2.0)(X)
    with pytest.raises(ValueError, match="argument 0 is a ") as raised:
        program(X)
    assert str(raised.value) == (
        "lambda: argument 0 is a torch.Tensor; the program was compiled for torch or numpy memory, of which it takes "
        "addresses only\n"
        "help: call the jitted function itself, without `compile_only`; or give addresses to `Program.run`"
    )


@pytest.mark.parametrize(
    "action",
    [
        lambda x: ttnn.exp(X), lambda x: ttnn.add(x, X), lambda x: x + X, lambda x: ttnn.add(x, x, output_tensor=X),
        lambda x: ttnn.to_torch(X), lambda x: ttnn.clone(X), lambda x: ttnn.zeros_like(X),
        lambda x: ttnn.from_device(X),
    ],
)  # fmt: skip
def test_a_torch_tensor_given_to_eager_ttnn_is_told_how_to_become_one_of_ttnns(device, action):
    with pytest.raises(
        ValueError, match=r"got (a )?torch\.Tensor\nhelp: .*`ttnn\.from_torch\(tensor, layout="
    ) as raised:
        action(tiled(device))
    assert "numpy" not in str(raised.value)


def test_a_numpy_array_given_to_eager_ttnn_is_told_how_to_become_a_tensor(device):
    for action in (ttnn.exp, lambda array: array + tiled(device)):
        with pytest.raises(ValueError, match=r"got numpy\.ndarray\nhelp: .*`ttnn\.from_torch\(torch\.from_numpy"):
            action(numpy.ones((32, 32), numpy.float32))


def test_a_missing_element_type_says_why_under_both_its_names():
    reason = "no element type of that name is implemented"
    for find in (lambda: ttnn.DataType.FP8_E4M3, lambda: ttnn.fp8_e4m3, lambda: ttnn.DataType.INT8):
        with pytest.raises(AttributeError, match=reason):
            find()
    assert ttnn.DataType.BFLOAT16 is ttnn.bfloat16
    assert not hasattr(ttnn.DataType, "FP8_E4M3")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda x: x // 2, "the operator `//` is not supported on tensors\nhelp: write `ttnn.floor_divide(x, y)`"),
        (lambda x: 2 // x, "the operator `//` is not supported on tensors\nhelp: write `ttnn.floor_divide(x, y)`"),
        (
            lambda x: x % x,
            "the operator `%` is not supported on tensors\n"
            "help: write `ttnn.remainder(x, y)`, or `ttnn.fmod(x, y)` for the sign of x",
        ),
        (lambda x: +x, "the operator `+` is not supported on tensors\nhelp: write `x`"),
    ],
)
def test_an_operator_that_tensors_lack_says_what_to_write_eager_parsed_and_traced(device, action, text):
    for call in (action, ttnn_jit.jit(action), ttnn_jit.jit(graph_capture=True)(action)):
        with pytest.raises(ttnn_jit.diagnostics.errors.TtnnJitError) as raised:
            call(tiled(device))
        first, help_text = text.split("\n")
        assert first in str(raised.value)
        assert str(raised.value).endswith(help_text)


@pytest.mark.parametrize(
    ("value", "name"),
    [(int, "type"), (abs, "builtin_function_or_method"), (torch.nn.ReLU(), "torch.ReLU")],
)
def test_only_python_functions_are_jitted(value, name):
    with pytest.raises(ValueError, match=f"^@jit takes a Python function, got {name}\n"):
        ttnn_jit.jit(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (staticmethod(double.func), "got staticmethod\nhelp: write `@staticmethod` above `@jit`"),
        (functools.partial(double.func), "got functools.partial\nhelp: jit its function, and make a partial of"),
        (functools.lru_cache(double.func), "got functools._lru_cache_wrapper\nhelp: leave the cache away"),
        (torch.nn.ReLU().forward, "got method\nhelp: write `@jit` above a `def` in the class"),
        (torch.nn.ReLU, "got type\nhelp: write `@jit` above a `def` in the class"),
    ],
)
def test_what_wraps_a_function_is_told_to_go_around_jit(value, text):
    with pytest.raises(ValueError, match=text):
        ttnn_jit.jit(value)


def test_torch_and_numpy_in_one_call_are_told_how_to_meet():
    text = "numpy arrays and torch tensors in one call: `x` is a torch tensor, `y` is a numpy array\n"
    with pytest.raises(ValueError, match=rf"{text}help: pass `torch\.from_numpy"):
        ttnn_jit.jit(lambda x, y: x + y)(X, X.numpy())


def test_using_a_deallocated_tensor_names_the_operation_and_the_tensor(device):
    tensor = tiled(device)
    ttnn.deallocate(tensor)
    shown = (
        "the tensor was deallocated: ttnn.Tensor(<buffer is not allocated>, shape=Shape([64, 64]), "
        "dtype=DataType.FLOAT32, layout=Layout.TILE)\n"
        "help: use it before `ttnn.deallocate`, or keep a copy of it"
    )
    for action, name in (
        (ttnn.exp, "ttnn.exp"),
        (double, "double"),
        (ttnn.to_torch, "to_torch"),
        (ttnn.clone, "clone"),
        (lambda x: ttnn.typecast(x, ttnn.bfloat16), "typecast"),
        (lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), "to_layout"),
        (lambda x: x.to(ttnn.ROW_MAJOR_LAYOUT), "to"),
    ):
        with pytest.raises(RuntimeError) as raised:
            action(tensor)
        assert str(raised.value) == f"{name}: {shown}"


def test_wrong_arguments_start_as_the_document_says(device):
    with pytest.raises(ValueError, match=r"^Invalid arguments for function double: too many positional arguments"):
        double(tiled(device), tiled(device))


def test_a_result_that_no_memory_holds_is_refused_at_the_operation():
    column, row = (torch.empty(1, 1).expand(shape) for shape in ((2**31, 1), (1, 2**31)))
    with pytest.raises(
        ttnn_jit.diagnostics.errors.CompileError, match=r"has more than 4,611,.* bytes(.|\n)*\^\^\^\^\^"
    ):
        ttnn_jit.jit(lambda x, y: x * y)(column, row)


@pytest.mark.parametrize(
    "action",
    [
        lambda x, y: max(x, y), lambda x, y: min([x, y]), lambda x, y: x and y, lambda x, y: x or y, lambda x, y: not x,
        lambda x, y: 1 if x < y else 2, lambda x, y: 0 < x < 1, lambda x, y: x in [y], lambda x, y: any([x, y]),
    ],
)  # fmt: skip
def test_a_tensor_is_neither_true_nor_false(device, action):
    x, y = (ttnn.from_torch(torch.ones(1, 1), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2))
    with pytest.raises(ValueError, match=r"neither true nor false(.|\n)*`ttnn\.maximum`"):
        action(x, y)
    assert x in [x]


@pytest.mark.parametrize("number", [float, int, complex, math.exp])
def test_a_tensor_is_no_number(device, number):
    with pytest.raises(ValueError, match=r"of a ttnn tensor is not supported\nhelp: .*item\(\)"):
        number(tiled(device, torch.ones(1, 1)))
