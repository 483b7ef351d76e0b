"""The host API: names that code for ttnn uses, and their behaviour."""

from __future__ import annotations

import copy
import importlib

import numpy as np
import pytest
import torch

import ttnn_jit
from tests import programs
from tests.end_to_end.python.memory_configs import BLOCK, CONFIGS, HEIGHT, X, tiled
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError

# --- Devices --------------------------------------------------------------------------------------------------------


def test_hardware_settings_are_accepted_and_ignored():
    config = ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.WORKER, ttnn.DispatchCoreAxis.ROW, None)
    device = ttnn.open_device(
        device_id=0, dispatch_core_config=config, trace_region_size=1 << 20, l1_small_size=0, num_command_queues=1
    )
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED, ttnn.FabricReliabilityMode.STRICT_INIT, None, None)
    ttnn.synchronize_device(device)
    assert (device.core_grid.x, device.core_grid.y, device.shape) == (8, 8, (1, 1))
    assert device.compute_with_storage_grid_size() == ttnn.CoreCoord(8, 8)
    ttnn.close_device(device)
    ttnn.close_device(device)
    with pytest.raises(RuntimeError, match="is closed"):
        ttnn.synchronize_device(device)


def test_there_are_eight_devices():
    assert (ttnn.get_num_devices(), ttnn.get_pcie_device_ids(), ttnn.using_distributed_env()) == (8, [*range(8)], False)
    mesh = ttnn.open_mesh_device(mesh_shape=ttnn.MeshShape(1, 1))
    assert (mesh.get_num_devices(), mesh.get_submeshes()) == (1, [])
    ttnn.close_mesh_device(mesh)
    shape = ttnn.MeshShape(2, 4)
    assert (list(shape), shape[1], shape.dims(), shape.mesh_size()) == ([2, 4], 4, 2, 8)


def test_the_modules_that_ttnn_has_are_importable():
    device_module = importlib.import_module("ttnn_jit.ttnn.device")
    assert device_module is ttnn.device
    assert not ttnn.device.is_blackhole()
    assert ttnn.device.is_blackhole(ttnn.open_device(target="blackhole"))
    assert ttnn.cluster.get_cluster_type() not in {ttnn.cluster.ClusterType.P100, ttnn.cluster.ClusterType.P150}


def test_each_function_or_operation_with_its_metadata_is_one_entry_of_the_program_cache(device):
    assert device.num_program_cache_entries() == 0
    a, b = tiled(device), tiled(device, X.bfloat16())
    ttnn.to_memory_config(a, BLOCK).cpu().to_torch()
    assert device.num_program_cache_entries() == 0
    jitted = ttnn_jit.jit()(programs.cosh)
    for _ in range(2):
        jitted(a)
    assert device.num_program_cache_entries() == 1
    jitted(b)
    ttnn.exp(a)
    ttnn.exp(a)
    assert device.num_program_cache_entries() == 3
    device.clear_program_cache()
    assert device.num_program_cache_entries() == 0
    device.disable_and_clear_program_cache()
    ttnn.exp(a)
    ttnn.sinh(a)  # the first call of its program
    assert device.num_program_cache_entries() == 0
    device.enable_program_cache()
    ttnn.exp(a)
    assert device.num_program_cache_entries() == 1


@pytest.mark.parametrize("name", ["abs", "exp", "gelu"])
@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_jitted_function_and_the_eager_operation_of_its_name_and_text_are_two_programs(device, name, graph_capture):
    operation = getattr(ttnn, name)

    def function(x):
        return operation(x)

    function.__name__ = name
    jitted = ttnn_jit.jit(graph_capture=graph_capture)(function)
    x = tiled(device)
    for _ in range(4):  # warm calls of both count like first ones
        assert torch.equal(jitted(x).to_torch(), operation(x).to_torch())
        assert device.num_program_cache_entries() == 2
    device.clear_program_cache()
    for run, entries in ((operation, 1), (jitted, 2), (operation, 2), (jitted, 2)):
        run(x)
        assert device.num_program_cache_entries() == entries


# --- Tensors --------------------------------------------------------------------------------------------------------


def test_tensors_go_to_a_device_and_back(device):
    host = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT)
    assert host.device() is None
    assert host.cpu() is host
    there = ttnn.to_device(host, device, BLOCK)
    assert (there.memory_config(), there.is_sharded(), there.device()) == (BLOCK, True, device)
    back = ttnn.from_device(there)
    assert back.device() is None
    assert torch.equal(ttnn.to_torch(back), X)
    assert torch.equal(ttnn.as_tensor(X, ttnn.float32, device=device).to_torch(), X)


def test_a_host_tensor_remembers_its_memory_config(device):
    host = ttnn.from_torch(X, layout=ttnn.TILE_LAYOUT, memory_config=BLOCK)
    assert ttnn.to_device(host, device).memory_config() == BLOCK
    assert host.to(device, HEIGHT).memory_config() == HEIGHT
    assert device.memory_view().used == 0
    assert ttnn.from_torch(X).to(device).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert ttnn.to_device(tiled(device, memory_config=BLOCK).cpu(), device).memory_config() == BLOCK


def test_a_tensor_spec_sets_all_properties_at_once(device):
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})
    spec = ttnn.TensorSpec(
        shape=(256, 256), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, buffer_type=ttnn.BufferType.L1
    ).block_sharded(cores)
    data = torch.randn(256, 256, dtype=torch.bfloat16)
    tensor = ttnn.from_torch(data, spec=spec, device=device)
    assert tensor.memory_config().shard_spec.shape == (32, 32)
    empty = ttnn.allocate_tensor_on_device(spec, device)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT), empty)
    assert torch.equal(empty.to_torch(), data)
    other = ttnn.allocate_tensor_on_device((4, 4), ttnn.float32, ttnn.ROW_MAJOR_LAYOUT, device)
    assert (other.shape, other.memory_config()) == ((4, 4), ttnn.DRAM_MEMORY_CONFIG)


@pytest.mark.parametrize("start", CONFIGS)
@pytest.mark.parametrize("end", CONFIGS)
def test_memory_configs_change_without_changing_values(device, start, end):
    tensor = ttnn.to_memory_config(tiled(device, memory_config=CONFIGS[start]), CONFIGS[end])
    assert tensor.memory_config() == CONFIGS[end]
    assert torch.equal(tensor.to_torch(), X)


def test_named_conversions_accept_only_their_own_source_layout(device):
    tensor = tiled(device)
    sharded = ttnn.interleaved_to_sharded(tensor, BLOCK)
    assert ttnn.reshard(sharded, HEIGHT).memory_config() == HEIGHT
    assert ttnn.get_memory_config(ttnn.sharded_to_interleaved(sharded)) == ttnn.DRAM_MEMORY_CONFIG
    for wrong in (
        lambda: ttnn.reshard(tensor, BLOCK),
        lambda: ttnn.interleaved_to_sharded(sharded, HEIGHT),
        lambda: ttnn.sharded_to_interleaved(sharded, HEIGHT),
    ):
        with pytest.raises(ValueError, match=r"ttnn\.to_memory_config"):
            wrong()


@pytest.mark.parametrize("start", [ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG])
@pytest.mark.parametrize("end", [ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG, BLOCK])
def test_an_interleaved_tensor_is_given_back_by_sharded_to_interleaved(device, start, end):
    tensor = tiled(device, memory_config=start)
    assert ttnn.sharded_to_interleaved(tensor, end) is tensor
    assert ttnn.sharded_to_interleaved(tensor, end, ttnn.float32) is tensor


def test_named_conversions_change_the_element_type_too(device):
    tensor = tiled(device)
    sharded = ttnn.interleaved_to_sharded(tensor, BLOCK, ttnn.bfloat16)
    assert (sharded.dtype, sharded.memory_config()) == (ttnn.bfloat16, BLOCK)
    back = ttnn.sharded_to_interleaved(sharded, ttnn.L1_MEMORY_CONFIG, ttnn.float32)
    assert (back.dtype, back.memory_config()) == (ttnn.float32, ttnn.L1_MEMORY_CONFIG)
    assert torch.equal(back.to_torch(), X.bfloat16().float())


def test_shards_are_specified_by_a_grid_and_their_shape(device):
    rows = X.shape[0] // 2
    shards = ((rows, X.shape[1]), ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.ShardOrientation.ROW_MAJOR)
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 0))})
    for grid in ((2, 1), ttnn.CoreCoord(2, 1), cores):
        sharded = ttnn.interleaved_to_sharded(tiled(device), grid, *shards, ttnn.bfloat16)
        assert sharded.memory_config().shard_spec == ttnn.ShardSpec(cores, (rows, X.shape[1]), shards[2])
        assert torch.equal(sharded.to_torch(), X.bfloat16())
    with pytest.raises(ValueError, match="`shard_scheme` must be"):
        ttnn.interleaved_to_sharded(tiled(device), (2, 1), (rows, X.shape[1]))


def test_weights_are_sharded_over_the_banks_of_dram(device):
    banks = device.dram_grid_size()
    assert banks == ttnn.CoreCoord(8 if device.is_blackhole() else 12, 1)
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(banks.x - 1, banks.y - 1))})
    spec = ttnn.ShardSpec(grid, (64, 32), ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.DRAM, spec)
    weights, x = torch.randn(64, banks.x * 32), torch.randn(32, 64)
    there = ttnn.from_torch(weights, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    product = ttnn.matmul(ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device), there)
    torch.testing.assert_close(product.to_torch().double(), x.double() @ weights.double(), rtol=0, atol=2e-1)


def test_layouts_and_element_types_change(device):
    odd = torch.randn(33, 5)
    rows = ttnn.from_torch(odd, device=device)
    tiles = ttnn.to_layout(rows, ttnn.TILE_LAYOUT)
    assert (tiles.layout, tiles.padded_shape, tiles.shape) == (ttnn.TILE_LAYOUT, (64, 32), (33, 5))
    assert torch.equal(ttnn.to_layout(tiles, ttnn.ROW_MAJOR_LAYOUT).to_torch(), odd)
    assert torch.equal(rows.to(ttnn.TILE_LAYOUT).to_torch(), odd)
    assert rows.to(ttnn.TILE_LAYOUT).spec is tiles.spec
    small = ttnn.typecast(tiles, ttnn.bfloat16)
    assert torch.equal(small.to_torch(), odd.bfloat16())
    assert torch.equal(ttnn.typecast(small, ttnn.float32).to_torch(), odd.bfloat16().float())
    assert torch.equal(ttnn.clone(tiles).to_torch(), odd)


def test_a_cast_rounds_as_the_device_does_and_on_the_host_keeps_nan(device, cpu_device):
    data = torch.tensor([[float("nan"), 1e-39, 1.0]])
    casts = [ttnn.typecast(tiled(where, data), ttnn.bfloat16).to_torch()[0] for where in (device, cpu_device, None)]
    assert casts[0][0] == float("inf")
    assert casts[0][1] == 0
    for kept in casts[1:]:
        assert kept[0].isnan()
        assert kept[1] != 0


def test_tensors_of_one_value(device):
    for made, expected in [
        (ttnn.zeros((2, 3), device=device), torch.zeros(2, 3, dtype=torch.bfloat16)),
        (ttnn.ones((33, 3), ttnn.float32, ttnn.TILE_LAYOUT, device), torch.ones(33, 3)),
        (ttnn.full((2, 3), 0.1, dtype=ttnn.float32), torch.full((2, 3), 0.1)),
        (ttnn.full_like(tiled(device), 2.0), torch.full((64, 64), 2.0)),
        (ttnn.zeros_like(tiled(device), dtype=ttnn.bfloat16), torch.zeros(64, 64, dtype=torch.bfloat16)),
        (ttnn.ones_like(tiled(device)), torch.ones(64, 64)),
    ]:
        assert torch.equal(made.to_torch(), expected)
    assert ttnn.empty((4, 4)).shape == (4, 4)
    assert ttnn.empty_like(tiled(device, memory_config=BLOCK)).memory_config() == BLOCK


def test_tensors_are_copied_by_python_and_convert_to_torch_as_requested(device):
    x = tiled(device, memory_config=BLOCK)
    other = copy.deepcopy(x)
    assert other.spec is x.spec
    ttnn.deallocate(x)
    assert torch.equal(other.to_torch(), X)
    assert copy.copy(other).buffer_address() == other.buffer_address()
    assert ttnn.to_torch(other, dtype=torch.bfloat16).dtype is torch.bfloat16
    deep = ttnn.from_torch(X.view(1, 1, 64, 64), layout=ttnn.TILE_LAYOUT, tile=ttnn.Tile((32, 32)), pad_value=0.0)
    assert ttnn.to_torch(deep, torch_rank=2, device=device).shape == (64, 64)
    with pytest.raises(ValueError, match="no form of rank 1"):
        ttnn.to_torch(deep, torch_rank=1)
    assert deep.tile.get_tile_size(ttnn.bfloat16) == 2048
    assert ttnn.get_arch_name() == "wormhole_b0"


def test_numpy_scalars_and_abs_work_with_tensors_as_python_numbers_do(device):
    x = tiled(device)
    for made, expected in [(np.float64(2.0) * x, X * 2), (x * np.float32(2.0), X * 2), (np.int64(3) - x, 3 - X)]:
        assert torch.equal(made.to_torch(), expected)
    assert torch.equal(abs(x).to_torch(), X.abs())


def test_a_sharded_config_without_a_spec_means_the_operands_shards(device):
    x = tiled(device, memory_config=BLOCK)
    assert ttnn.exp(x, memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG).memory_config() == BLOCK
    for config in (ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG):
        with pytest.raises(RuntimeError, match="has no shard spec"):
            ttnn.exp(x, memory_config=config)


@pytest.mark.parametrize("kind", ["BLOCK", "HEIGHT", "WIDTH"])
def test_a_product_in_shards_without_a_spec_lies_over_the_cores_of_its_first_operand(device, kind):
    config = getattr(ttnn, f"L1_{kind}_SHARDED_MEMORY_CONFIG")
    weight, whole = tiled(device, torch.eye(64).repeat(1, 2)), X.bfloat16().float()  # unchanged on a chip
    for given, cores in ((BLOCK, BLOCK.shard_spec.grid), (None, ttnn.CoreRangeSet(ttnn.CoreRange((0, 0), (7, 7))))):
        product = ttnn.matmul(tiled(device, whole, memory_config=given), weight, memory_config=config)
        spec = product.memory_config().shard_spec
        assert product.memory_config().memory_layout is config.memory_layout
        assert cores.contains(spec.grid)
        assert spec.num_cores() * spec.shape[0] * spec.shape[1] == 64 * 128
        assert torch.equal(product.to_torch(), whole.repeat(1, 2))


def test_a_shape_behaves_as_a_sequence():
    shape = ttnn.from_torch(torch.zeros(2, 3, 4)).shape
    assert shape == [2, 3, 4] == shape
    assert (shape == (2, 3, 4), shape == ttnn.Shape((2, 3, 4)), shape != [2, 3]) == (True, True, True)
    assert (len(shape), shape[0], shape[-2:], list(shape)) == (3, 2, (3, 4), [2, 3, 4])
    assert hash(shape) == hash((2, 3, 4))


def test_random_tensors_are_the_same_on_a_device_and_on_the_host(device):
    ttnn.manual_seed(3)
    made = ttnn.rand((64, 64), device, dtype=ttnn.float32)
    ttnn.manual_seed(3)
    assert torch.equal(made.to_torch(), ttnn.rand((64, 64), dtype=ttnn.float32).to_torch())
    assert (ttnn.is_tensor_storage_on_device(made), ttnn.is_tensor_storage_on_device(made.cpu())) == (True, False)


def test_a_managed_device_is_closed_at_the_end():
    with ttnn.manage_device(device_id=0) as device:
        assert not device.closed
    assert device.closed


def test_the_program_cache_is_turned_off_and_on_again_by_functions_too(device):
    for switch, entries in (
        (lambda _: None, 1),
        (ttnn.disable_and_clear_program_cache, 0),
        (ttnn.enable_program_cache, 1),
    ):
        switch(device)
        ttnn.exp(tiled(device))
        assert device.num_program_cache_entries() == entries


def test_float16_becomes_bfloat16():
    assert ttnn.from_torch(X.half()).dtype is ttnn.bfloat16


# --- Operations -----------------------------------------------------------------------------------------------------


def test_an_operation_has_its_documentation_in_every_form():
    own, _, of_every_operation = ttnn.clamp.__doc__.partition("\n\nBlock floats")
    assert "output_tensor" in of_every_operation
    assert own == (
        "``ttnn.clamp(input_tensor, min=-3.40282e+38, max=3.40282e+38)``: x limited to [min, max]; NaN in any of "
        "them gives NaN. A bound of the largest float32 does not limit infinities.\n\n"
        "Operands broadcast over size-1 dimensions; the result has the dtype of `input_tensor`. Dtypes: BFLOAT16, "
        "FLOAT32. Semantics: ttnn.clamp.\n\n"
        "``ttnn.clamp(input_tensor, min=-inf, max=inf)``: x limited to [min, max] element by element; NaN in any of "
        "them gives NaN.\n\n"
        "Operands broadcast over size-1 dimensions; the result has the dtype of `input_tensor`. Dtypes: BFLOAT16, "
        "BOOL, FLOAT32, INT16, INT32, UINT16, UINT32, UINT8. Semantics: ttnn.clamp."
    )
    assert "the result has the dtype of `true_value`" in ttnn.where.__doc__


def test_operations_are_objects_with_names():
    assert ttnn.exp.__name__ == "ttnn.exp"
    assert ttnn.exp.__module__ == "ttnn.decorators"
    assert len({ttnn.exp: 1, ttnn.log: 2, ttnn.exp: 3}) == 2
    assert ttnn.exp == ttnn.exp
    golden = ttnn.get_golden_function(ttnn.add)
    assert torch.equal(golden(X, X), X + X)
    assert torch.equal(ttnn.get_golden_function(ttnn.clamp)(X, min=0.0, max=1.0), X.clamp(0, 1))


def test_creations_have_goldens_that_the_programs_of_tt_mlir_replace(monkeypatch):
    shape = ttnn.Shape([2, 3])
    assert torch.equal(ttnn.zeros.golden_function(input_shape=shape, dtype=ttnn.bfloat16), torch.zeros(2, 3))
    assert torch.equal(ttnn.ones.golden_function(input_shape=shape), torch.ones(2, 3))
    assert torch.equal(ttnn.full.golden_function(input_shape=shape, fill_value=2.5), torch.full((2, 3), 2.5))
    for operation in (ttnn.zeros, ttnn.reshape, ttnn.slice, ttnn.avg_pool2d):
        monkeypatch.setattr(operation, "golden_function", lambda *_: None, raising=False)
        assert operation.golden_function() is None


def test_an_operation_writes_its_result_into_the_output_tensor(device):
    a = tiled(device, X.bfloat16())
    wide = ttnn.multiply(a, 3.0, dtype=ttnn.float32)
    assert torch.equal(wide.to_torch(), X.bfloat16().float() * 3.0)
    sharded = ttnn.exp(a, memory_config=BLOCK, queue_id=0)
    assert sharded.memory_config() == BLOCK
    assert torch.equal(sharded.to_torch(), ttnn.exp(a).to_torch())
    out = ttnn.empty_like(a)
    assert ttnn.add(a, a, output_tensor=out) is out
    assert torch.equal(out.to_torch(), X.bfloat16() * 2)
    active = ttnn.subtract(a, 1.0, activations=["relu", ttnn.neg])
    assert torch.equal(active.to_torch(), -torch.relu(X.bfloat16() - 1.0))


@pytest.mark.parametrize("name", ["exp", "gelu", "sigmoid"])
def test_an_operation_and_its_activations_round_once(device, name):
    a, wide = tiled(device, X.bfloat16()), tiled(device, X.bfloat16().float())
    for _ in range(2):
        active = ttnn.multiply(a, 1.7, activations=[name])
    assert device.num_program_cache_entries() == 1
    function = getattr(ttnn, name)
    # In float32 there is nothing to round before the store; the number is bfloat16, as the tensor beside it.
    exact = function(ttnn.multiply(wide, float(torch.tensor(1.7).bfloat16())))
    assert torch.equal(active.to_torch(), ttnn.typecast(exact, ttnn.bfloat16).to_torch())
    assert not torch.equal(active.to_torch(), function(ttnn.multiply(a, 1.7)).to_torch())


@pytest.mark.parametrize("run", ["eager", "jitted"])
@pytest.mark.parametrize("first", CONFIGS)
def test_a_result_lies_where_its_first_operand_does(device, run, first):
    add = ttnn.add if run == "eager" else ttnn_jit.jit()(lambda a, b: ttnn.add(a, b))
    exp = ttnn.exp if run == "eager" else ttnn_jit.jit()(lambda a: ttnn.exp(a))
    a, dram = tiled(device, memory_config=CONFIGS[first]), tiled(device)
    assert exp(a).memory_config() == CONFIGS[first]
    assert torch.equal(exp(a).to_torch(), exp(dram).to_torch())
    for x, y in ((a, dram), (dram, a), (a, a)):
        result = add(x, y)
        assert result.memory_config() == x.memory_config()
        assert torch.equal(result.to_torch(), X + X)


def test_eager_operands_may_be_sharded_differently_and_jitted_may_not(device):
    a, b = tiled(device, memory_config=BLOCK), tiled(device, memory_config=HEIGHT)
    assert torch.equal(ttnn.add(a, b).to_torch(), X + X)
    with pytest.raises(CompileError, match=r"sharded differently: .*BLOCK_SHARDED.* and .*HEIGHT_SHARDED"):
        ttnn_jit.jit()(lambda x, y: ttnn.add(x, y))(a, b)


def test_an_nd_sharded_tensor_is_computed_with_eagerly_and_jitted(device):
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 3))])
    config = ttnn.MemoryConfig(buffer_type=ttnn.BufferType.L1, nd_shard_spec=ttnn.NdShardSpec((2, 32, 32), cores))
    data = torch.randn(4, 64, 64, dtype=torch.float16)
    tensor = ttnn.from_torch(data, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    jitted = ttnn_jit.jit()(programs.cosh)
    assert jitted(tensor).memory_config() == ttnn.exp(tensor).memory_config() == config
    assert torch.equal(jitted(tensor).to_torch(), programs.cosh(tensor).to_torch())
    assert device.memory_view().cores[0].used == 2 * 32 * 32 * 2


def test_tensors_compare_with_none_as_everything_does(device):
    x = tiled(device)
    assert (x == None, x != None, x == "x") == (False, True, False)  # noqa: E711 - what is tested
    assert x not in [None, "x"]


@pytest.mark.parametrize("graph_capture", [False, True])
def test_configs_are_arguments_of_jitted_functions(device, graph_capture):
    @ttnn_jit.jit(graph_capture=graph_capture)
    def negated_if_sharded(x, config, grid=None):
        return ttnn.neg(x) if config.is_sharded() and grid.x == 2 else ttnn.exp(x)

    x = tiled(device)
    for _ in range(2):
        assert torch.equal(negated_if_sharded(x, BLOCK, ttnn.CoreGrid(x=2, y=2)).to_torch(), -X)
        assert torch.equal(negated_if_sharded(x, ttnn.DRAM_MEMORY_CONFIG).to_torch(), ttnn.exp(x).to_torch())
    assert negated_if_sharded.num_entries == 2
    assert (
        ttnn_jit.explain_miss(negated_if_sharded, x, BLOCK, ttnn.CoreGrid(x=2, y=2))
        == "nothing differs: this call is a hit"
    )
