"""Names without arithmetic: each imports, and behaves as ttnn documents it."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import subprocess
import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, GridError
from ttnn_jit.foreign.values import is_atom
from ttnn_jit.guards.fingerprints import fingerprint
from ttnn_jit.specs.configs.hardware_config import check_config
from ttnn_jit.ttnn.namespace.lazy_names import MODULE_OF, NAMESPACE_MODULES, SUBMODULES, WITHOUT_EFFECT

GRID = ttnn.CoreCoord(8, 8)
MEMBERS = [
    "device.Arch.WORMHOLE_B0",
    "device.Arch.BLACKHOLE",
    "device.Arch.GRAYSKULL",
    "device.DispatchCoreType.ETH",
    "device.DispatchCoreAxis.ROW",
    "cluster.ClusterType.GALAXY",
    "cluster.ClusterType.T3K",
    "StorageType.HOST",
    "StorageType.DEVICE",
    "DataType.UINT32",
    "DataType.INT32",
    "DataType.UINT16",
    "DataType.BFLOAT16",
    "Layout.Tile",
    "Layout.RowMajor",
    "BufferType.SystemMemory",
    "types.TensorMemoryLayout.HEIGHT_SHARDED",
    "types.BufferType.L1",
    "_ttnn.tensor.Tensor",
    "_ttnn.tensor.MemoryConfig",
    "_ttnn.multi_device.MeshDevice",
    "FabricConfig.FABRIC_1D",
    "FabricConfig.FABRIC_1D_RING",
    "FabricConfig.FABRIC_2D",
    "Topology.Linear",
    "Topology.Ring",
    "UnaryOpType.RELU",
    "UnaryOpType.GELU",
    "UnaryOpType.SILU",
    "UnaryOpType.RELU6",
    "BcastOpDim.H",
    "BcastOpMath.ADD",
    "BcastOpMath.MUL",
    "core.divup",
    "core.roundup",
    "device.is_grayskull",
    "ThrottleLevel.LEVEL_1",
]
MULTI_CAST = {
    "compute_with_storage_grid_size": (8, 8), "in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 4,
    "per_core_M": 4, "per_core_N": 8, "transpose_mcast": False, "fused_activation": None,
}  # fmt: skip
ONE_DIMENSION = {key: value for key, value in MULTI_CAST.items() if key != "transpose_mcast"}
SHARDED = {"compute_with_storage_grid_size": GRID, "subblock_w": 2, "block_h": 4, "block_w": 8}
CONFIGS = {
    "MatmulMultiCoreReuseMultiCastProgramConfig": MULTI_CAST,
    "MatmulMultiCoreReuseMultiCast1DProgramConfig": ONE_DIMENSION | {"fuse_batch": True, "mcast_in0": True},
    "MatmulMultiCoreReuseProgramConfig": {k: v for k, v in ONE_DIMENSION.items() if k != "fused_activation"},
    "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig": {"in0_block_w": 1, "per_core_M": 1, "per_core_N": 3},
    "MinimalMatmulConfig": {
        "M_block_size": 8, "K_block_size": 8, "N_block_size": 8, "subblock_h": 2, "subblock_w": 2,
        "compute_with_storage_grid_size": GRID,
    },
    "SoftmaxDefaultProgramConfig": {},
    "SoftmaxShardedMultiCoreProgramConfig": SHARDED,
    "LayerNormDefaultProgramConfig": {"legacy_reduction": True},
    "LayerNormShardedMultiCoreProgramConfig": SHARDED | {"inplace": False},
    "SDPAProgramConfig": {"compute_with_storage_grid_size": (8, 7), "q_chunk_size": 256, "k_chunk_size": 512},
    "WormholeComputeKernelConfig": {"math_fidelity": ttnn.MathFidelity.HiFi2, "fp32_dest_acc_en": True},
    "BlackholeComputeKernelConfig": {"math_approx_mode": False, "packer_l1_acc": True},
    "GrayskullComputeKernelConfig": {"math_fidelity": ttnn.MathFidelity.LoFi},
}  # fmt: skip
FIELDS = [(name, field) for name, given in CONFIGS.items() for field in given]


def made(name, **changes):
    return getattr(ttnn, name)(**CONFIGS[name] | changes)


def resolved(dotted):
    value = ttnn
    for part in dotted.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("dotted", MEMBERS)
def test_a_name_that_programs_spell_when_they_are_imported_is_there(dotted):
    assert resolved(dotted) is not None


@pytest.mark.parametrize("name", [*MODULE_OF, *SUBMODULES])
def test_a_name_that_loads_on_demand_is_what_its_module_has(name):
    found = getattr(ttnn, name)
    assert name not in MODULE_OF or getattr(sys.modules[MODULE_OF[name]], name) is found
    assert name in dir(ttnn)
    assert found is None or found.__doc__


def test_the_table_names_each_module_and_reason_once():
    listed = [name for home in NAMESPACE_MODULES for name in home.names.split()]
    assert len(listed) == len(set(listed))
    assert set(WITHOUT_EFFECT) <= set(ttnn.__all__)


@pytest.mark.process
def test_importing_the_namespace_loads_none_of_them():
    script = "import sys; from ttnn_jit import ttnn; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    loaded_with_tensors = {"specs.arch", "specs.storage_type", "ttnn.devices"}
    homes = set(MODULE_OF.values()) - {f"ttnn_jit.{name}" for name in loaded_with_tensors}
    assert not homes & set(loaded)
    assert not {"torch", "numpy", "numba", "llvmlite", "xdsl"} & set(loaded)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_prints_and_compares_as_its_fields(name):
    config = made(name)
    assert config == made(name)
    assert hash(config) == hash(made(name))
    assert copy.deepcopy(config) == config
    text = repr(config)
    assert text.startswith(f"{type(config).__name__}(")
    for field in CONFIGS[name]:
        assert f"{field}={getattr(config, field)}" in text


def test_a_config_prints_as_ttnn_does():
    config = made("MatmulMultiCoreReuseProgramConfig")
    assert repr(config) == (
        "MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x=8, y=8), in0_block_w=2, "
        "out_subblock_h=1, out_subblock_w=4, per_core_M=4, per_core_N=8, allowed_worker_cores=None)"
    )


@pytest.mark.parametrize(("name", "field"), FIELDS)
@pytest.mark.parametrize("value", ["many", -1, 2.5, [], object()])
def test_a_field_of_another_kind_is_refused_by_its_name(name, field, value):
    if field == "fused_activation" and value == "many":
        return
    with pytest.raises(ArgumentError, match=f"`{field}` of {type(made(name)).__name__}"):
        made(name, **{field: value})


@pytest.mark.parametrize("name", CONFIGS)
def test_a_field_that_a_config_lacks_is_refused_with_those_it_has(name):
    with pytest.raises(
        TypeError, match=r"has no field `no_such_field`\nhelp: its fields are|has no field .*\nhelp: it has"
    ):
        made(name, no_such_field=1)
    with pytest.raises(ArgumentError, match="has no field `no_such_field`"):
        made(name).no_such_field = 1


def test_a_field_that_is_needed_is_missed_by_name():
    with pytest.raises(ArgumentError, match="SDPAProgramConfig misses its field `compute_with_storage_grid_size`"):
        ttnn.SDPAProgramConfig(q_chunk_size=32)


@pytest.mark.parametrize(
    ("name", "changes", "rule"),
    [
        ("MatmulMultiCoreReuseMultiCastProgramConfig", {"out_subblock_w": 3}, "does not divide `out_block_w`, 8"),
        ("MatmulMultiCoreReuseMultiCastProgramConfig", {"out_block_h": 3}, "does not divide `per_core_M`, 4"),
        ("MatmulMultiCoreReuseProgramConfig", {"out_subblock_h": 4, "out_subblock_w": 8}, "DST holds 16 at most"),
        ("LayerNormShardedMultiCoreProgramConfig", {"subblock_w": 3}, "does not divide `block_w`, 8"),
        ("SoftmaxShardedMultiCoreProgramConfig", {"block_w": 3}, "does not divide `block_w`, 3"),
        ("SDPAProgramConfig", {"q_chunk_size": 100}, "must be a multiple of 32"),
        ("MinimalMatmulConfig", {"subblock_h": 3}, "does not divide `M_block_size`, 8"),
    ],
)
def test_a_config_that_no_chip_could_follow_is_refused(name, changes, rule):
    config = made(name, **changes)
    with pytest.raises(ArgumentError, match=rule):
        check_config(config, type(config), "`program_config`")


def test_blocks_are_what_a_core_makes_where_they_are_left_out():
    config = made("MatmulMultiCoreReuseMultiCastProgramConfig")
    assert (config.out_block_h, config.out_block_w) == (4, 8)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_says_everything_of_itself_to_keys_and_guards(name):
    assert is_atom(made(name))
    assert fingerprint(made(name)) == fingerprint(made(name))
    changed = [key for key, value in CONFIGS[name].items() if type(value) is bool]
    for key in changed:
        assert fingerprint(made(name, **{key: not CONFIGS[name][key]})) != fingerprint(made(name))


def test_configs_of_other_fields_differ():
    config = made("SDPAProgramConfig")
    assert dataclasses.replace(config, q_chunk_size=64) == made("SDPAProgramConfig", q_chunk_size=64) != config
    assert len({config, made("SDPAProgramConfig"), made("SDPAProgramConfig", q_chunk_size=64)}) == 2


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((ttnn.UnaryOpType.RELU,), "UnaryWithParam(op_type=UnaryOpType.RELU)"),
        ((ttnn.UnaryOpType.GELU, True), "UnaryWithParam(op_type=UnaryOpType.GELU, params=[1.0])"),
        (((ttnn.UnaryOpType.POWER, 2),), "UnaryWithParam(op_type=UnaryOpType.POWER, params=[2.0])"),
        ((ttnn.UnaryOpType.CLAMP_TSS, [0.0, 6]), "UnaryWithParam(op_type=UnaryOpType.CLAMP_TSS, params=[0.0, 6.0])"),
    ],
)
def test_an_activation_prints_its_type_and_its_numbers(given, text):
    activation = ttnn.UnaryWithParam(*given)
    assert repr(activation) == text
    assert activation == ttnn.UnaryWithParam(activation.op_type, *activation.params)
    assert (
        made("MatmulMultiCoreReuseMultiCastProgramConfig", fused_activation=activation).fused_activation == activation
    )


@pytest.mark.parametrize("given", [("relu",), (ttnn.UnaryOpType.RELU, "much"), (ttnn.UnaryOpType.RELU, None), (None,)])
def test_an_activation_of_something_else_is_refused(given):
    with pytest.raises(ArgumentError, match="UnaryWithParam"):
        ttnn.UnaryWithParam(*given)


# --- Compute configs ------------------------------------------------------------------------------------------------


def test_a_compute_config_is_made_for_the_device_at_hand(device):
    config = ttnn.init_device_compute_kernel_config(
        device.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True, packer_l1_acc=True
    )
    assert isinstance(config, ttnn.WormholeComputeKernelConfig)
    assert isinstance(config, ttnn.DeviceComputeKernelConfig)
    assert (config.math_fidelity, config.fp32_dest_acc_en, config.math_approx_mode) == (
        ttnn.MathFidelity.HiFi4, True, True,
    )  # fmt: skip
    assert ttnn.init_device_compute_kernel_config("blackhole", config) is config
    old = ttnn.init_device_compute_kernel_config(ttnn.device.Arch.GRAYSKULL)
    assert isinstance(old, ttnn.GrayskullComputeKernelConfig)
    assert ttnn.BlackholeComputeKernelConfig is ttnn.WormholeComputeKernelConfig


def test_a_compute_config_of_no_architecture_is_refused():
    with pytest.raises(ArgumentError, match=r"must be a ttnn.device.Arch, got 'z80'\nhelp: pass `device.arch\(\)`"):
        ttnn.init_device_compute_kernel_config("z80")


# --- Devices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "arch"),
    [
        ("wormhole_b0", ttnn.device.Arch.WORMHOLE_B0),
        ("blackhole", ttnn.device.Arch.BLACKHOLE),
        ("cpu", ttnn.device.Arch.CPU),
    ],
)
def test_a_device_tells_its_architecture_as_a_member_and_as_a_name(target, arch):
    with ttnn.open_device(target=target) as device:
        assert device.arch() is arch
        assert device.arch() == target
        assert str(device.arch()) == f"Arch.{arch.name}"
        assert ttnn.device.is_wormhole_b0(device) == (target == "wormhole_b0")
        assert ttnn.device.is_blackhole(device) == (target == "blackhole")
        assert not ttnn.device.is_grayskull(device)


def test_devices_have_numbers():
    assert ttnn.get_device_ids() == ttnn.get_pcie_device_ids()
    assert ttnn.GetNumAvailableDevices() == ttnn.GetNumPCIeDevices() == ttnn.get_num_devices()
    mesh = ttnn.open_mesh_device((2, 2))
    assert mesh.get_device_ids() == [0, 1, 2, 3]
    ttnn.close_mesh_device(mesh)
    with pytest.raises(ArgumentError, match=r"must be one of `ttnn.get_device_ids\(\)`, got 99"):
        ttnn.GetPCIeDeviceID(99)


def test_devices_open_and_close_by_their_old_names():
    devices = ttnn.CreateDevices([0, 1])
    assert [device.id() for device in devices.values()] == [0, 1]
    ttnn.CloseDevices(devices)
    assert all(device.closed for device in devices.values())
    single = ttnn.CreateDevice(3, l1_small_size=0)
    ttnn.CloseDevice(single)
    assert single.closed


def test_the_default_device_is_the_one_that_was_set_while_it_is_open():
    assert ttnn.GetDefaultDevice() is None
    with ttnn.open_device(device_id=0) as device:
        ttnn.SetDefaultDevice(device)
        assert ttnn.GetDefaultDevice() is device
    assert ttnn.GetDefaultDevice() is None
    ttnn.SetDefaultDevice(None)
    with pytest.raises(ArgumentError, match=r"`device` of SetDefaultDevice must be a ttnn.Device"):
        ttnn.SetDefaultDevice(0)


def test_the_profiler_of_a_device_reads_nothing_and_wants_a_device(device):
    assert ttnn.ReadDeviceProfiler(device) is None
    with pytest.raises(ArgumentError, match=r"ReadDeviceProfiler must be a ttnn.Device"):
        ttnn.ReadDeviceProfiler(None)


# --- Cores ----------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(x=st.integers(1, 9), y=st.integers(1, 9), row_wise=st.booleans(), data=st.data())
def test_the_first_cores_of_a_grid_fill_it_line_by_line(x, y, row_wise, data):
    count = data.draw(st.integers(0, x * y))
    cores = [(i, j) for j in range(y) for i in range(x)] if row_wise else [(i, j) for i in range(x) for j in range(y)]
    found = ttnn.num_cores_to_corerangeset(count, ttnn.CoreCoord(x, y), row_wise)
    assert {(core.x, core.y) for core in found.cores()} == set(cores[:count])
    assert len(found.ranges()) <= 2
    listed = ttnn.grid_to_cores(count, x, y, row_wise)
    assert [(core.x, core.y) for core in listed] == cores[:count]


@settings(deadline=None)
@given(row_wise=st.booleans(), count=st.integers(0, 50))
def test_cores_of_sub_grids_are_taken_range_after_range(row_wise, count):
    grids = ttnn.CoreRangeSet([ttnn.CoreRange((1, 0), (3, 9)), ttnn.CoreRange((5, 0), (6, 9))])
    found = ttnn.num_cores_to_corerangeset_in_subcoregrids(ttnn.CoreCoord(1, 0), count, grids, row_wise=row_wise)
    ordered = ttnn.corerange_to_cores(grids, row_wise=row_wise)
    assert set(found.cores()) == set(ordered[:count])
    assert ttnn.corerange_to_cores(grids, count, row_wise) == ordered[:count]


@settings(deadline=None)
@given(x=st.integers(1, 6), y=st.integers(1, 6), units=st.integers(0, 200), row_wise=st.booleans())
def test_work_is_split_so_that_cores_differ_by_one_unit_at_most(x, y, units, row_wise):
    count, every, more, fewer, per_more, per_fewer = ttnn.split_work_to_cores(ttnn.CoreCoord(x, y), units, row_wise)
    assert count == every.num_cores() == min(units, x * y)
    assert set(more.cores()) | set(fewer.cores()) == set(every.cores())
    assert more.num_cores() * per_more + fewer.num_cores() * per_fewer == units
    assert not fewer.num_cores() or per_more == per_fewer + 1


def cores_of(pairs):
    return ttnn.CoreRangeSet([ttnn.CoreRange(pair, pair) for pair in pairs])


PAIRS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@settings(deadline=None)
@given(a=PAIRS, b=PAIRS)
def test_sets_of_cores_are_joined_cut_and_compared_as_sets(a, b):
    first, second = cores_of(a), cores_of(b)
    pairs = lambda cores: {(core.x, core.y) for core in cores.cores()}  # noqa: E731
    assert pairs(first.merge(second)) == a | b
    assert pairs(first.subtract(second)) == a - b
    assert first.contains(second) == (b <= a)
    assert all(first.contains(ttnn.CoreCoord(*pair)) == (pair in a) for pair in a | b)
    assert first.merge(second) == second.merge(first)
    assert first.merge(second).size() <= len(a | b)
    assert (first.empty(), first.size()) == (not a, len(a))


def test_a_rectangle_of_cores_is_one_range_again():
    whole = ttnn.CoreRange((1, 2), (4, 6))
    hole = ttnn.CoreRangeSet(ttnn.CoreRange((2, 3), (3, 4)))
    without = ttnn.CoreRangeSet(core_ranges=[whole]).subtract(hole)
    assert without.num_cores() == 16
    assert without.merge(hole) == ttnn.CoreRangeSet(whole)
    assert whole.contains(hole)
    assert not whole.contains(ttnn.CoreCoord(0, 2))
    spec = ttnn.ShardSpec(hole, (32, 32), ttnn.ShardOrientation.ROW_MAJOR)
    assert spec.num_cores() == 4
    with pytest.raises(ArgumentError, match=r"the cores must be a ttnn.CoreRangeSet"):
        without.merge([whole])


def test_more_cores_than_a_grid_has_are_refused():
    with pytest.raises(GridError, match=r"65 cores are asked for, and there are 64 from .* on\nhelp: ask for 0 to 64"):
        ttnn.num_cores_to_corerangeset(65, (8, 8))
    with pytest.raises(GridError, match="is none of"):
        ttnn.num_cores_to_corerangeset_in_subcoregrids((9, 9), 1, ttnn.CoreRangeSet(ttnn.CoreRange((0, 0), (1, 1))))
    with pytest.raises(ArgumentError, match="must be a whole number"):
        ttnn.num_cores_to_corerangeset(2.0, (8, 8))


def test_a_set_without_cores_shards_nothing():
    nothing = ttnn.CoreRangeSet([])
    assert (nothing.num_cores(), nothing.ranges(), nothing == ttnn.CoreRangeSet(set())) == (0, [], True)
    for use in (
        lambda: nothing.bounding_box(),
        lambda: ttnn.ShardSpec(nothing, (32, 32)),
        lambda: ttnn.NdShardSpec((32, 32), nothing),
        lambda: ttnn.create_sharded_memory_config_((64, 64), nothing, ttnn.ShardStrategy.HEIGHT),
    ):
        with pytest.raises(GridError, match="needs at least one range"):
            use()


BLOCK, HEIGHT, WIDTH = ttnn.ShardStrategy.BLOCK, ttnn.ShardStrategy.HEIGHT, ttnn.ShardStrategy.WIDTH


@pytest.mark.parametrize(
    ("shape", "grid", "strategy", "keywords", "shard"),
    [
        ((1024, 1024), ttnn.CoreGrid(x=8, y=8), BLOCK, {}, (128, 128)),
        ((100, 64), ttnn.CoreGrid(x=8, y=8), BLOCK, {}, (13, 8)),
        ((100, 64), ttnn.CoreGrid(x=2, y=8), BLOCK, {"tile_layout": True}, (32, 32)),
        ((100, 64), ttnn.CoreGrid(x=1, y=8), HEIGHT, {}, (13, 64)),
        ((64, 100), ttnn.CoreGrid(x=8, y=1), WIDTH, {}, (64, 13)),
        ((2, 32, 64), ttnn.CoreGrid(x=2, y=1), HEIGHT, {"use_height_and_width_as_shard_shape": True}, (32, 64)),
        ((100, 64), ttnn.CoreGrid(x=8, y=2), ttnn.TensorMemoryLayout.BLOCK_SHARDED, {}, (50, 8)),
        ((64, 32), ttnn.CoreGrid(x=4, y=2), BLOCK, {"orientation": ttnn.ShardOrientation.COL_MAJOR}, (16, 16)),
    ],
)
def test_a_tensor_that_cores_do_not_divide_is_sharded_with_a_rest(shape, grid, strategy, keywords, shard):
    config = ttnn.create_sharded_memory_config_(shape, grid, strategy, **keywords)
    assert config.shard_spec.shape == shard
    assert config.buffer_type is ttnn.BufferType.L1


def test_shards_that_cannot_be_made_are_refused():
    corner = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0)), ttnn.CoreRange((0, 1), (0, 1))])
    with pytest.raises(GridError, match="BLOCK sharding needs a rectangle of cores"):
        ttnn.create_sharded_memory_config_((64, 64), corner, BLOCK)
    with pytest.raises(ArgumentError, match="which is none of HEIGHT, WIDTH and BLOCK"):
        ttnn.create_sharded_memory_config_((64, 64), corner, ttnn.TensorMemoryLayout.INTERLEAVED)
    with pytest.raises(GridError, match="is whole tiles in neither direction"):
        ttnn.create_sharded_memory_config_((33, 33), ttnn.CoreGrid(x=1, y=1), HEIGHT, tile_layout=True)


# --- Whole numbers, tensors -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(a=st.integers(-1000, 1000), b=st.integers(1, 100))
def test_divup_and_roundup_are_the_next_quotient_and_multiple(a, b):
    assert (ttnn.core.divup(a, b) - 1) * b < a <= ttnn.core.divup(a, b) * b == ttnn.core.roundup(a, b)


def test_divup_by_nothing_is_refused():
    with pytest.raises(ArgumentError, match="`b` of divup must be at least 1"):
        ttnn.core.divup(1, 0)


def test_a_tensor_tells_where_it_is_stored_and_what_is_padded(device):
    host = ttnn.zeros((5, 32), layout=ttnn.TILE_LAYOUT)
    on_device = host.to(device)
    assert host.storage_type() is ttnn.StorageType.HOST
    assert on_device.storage_type() is ttnn.DEVICE_STORAGE_TYPE is ttnn.StorageType.DEVICE
    assert ttnn.has_storage_type_of(host, ttnn.StorageType.HOST)
    assert ttnn.has_tile_padding(host)
    assert [ttnn.has_tile_padding(host, dim=dim) for dim in (0, 1, -2, -1)] == [True, False, True, False]
    assert not ttnn.has_tile_padding(ttnn.zeros((5, 32)))
    assert (ttnn.element_size(ttnn.bfloat16), ttnn.tile_size(ttnn.float32)) == (2, 4096)
    with pytest.raises(ArgumentError, match="has no dimension 2"):
        ttnn.has_tile_padding(host, dim=2)


def test_experimental_operations_are_those_that_are_here_elsewhere(device):
    x = ttnn.from_torch(torch.randn(32, 64), layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.experimental.typecast is ttnn.typecast
    assert torch.equal(ttnn.experimental.view(x, (1, 32, 64)).to_torch(), x.to_torch()[None])
    assert not hasattr(ttnn.experimental, "no_such")
    assert importlib.import_module("ttnn_jit.ttnn.experimental") is ttnn.experimental


@settings(deadline=None)
@given(values=st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_operations_answer_to_the_names_of_other_versions(values):
    with ttnn.open_device(target="cpu") as device:
        source = torch.tensor(values, dtype=torch.float32)
        x = ttnn.from_torch(source, device=device)
        assert torch.equal(ttnn.clip(x, -0.5, 0.5).to_torch().nan_to_num(7), source.clip(-0.5, 0.5).nan_to_num(7))
        accurate = ttnn.sigmoid_accurate(x, fast_and_approximate_mode=False).to_torch()
        torch.testing.assert_close(accurate.double(), source.double().sigmoid(), equal_nan=True, rtol=1e-6, atol=1e-37)
        assert torch.equal(
            ttnn.sigmoid(x, mode=ttnn.SigmoidMode.FastApproximate).to_torch().nan_to_num(7), accurate.nan_to_num(7)
        )
        for variant in ttnn.GeluVariant:
            named = ttnn.gelu(x, approximate=variant.value).to_torch().nan_to_num(7)
            assert torch.equal(ttnn.gelu(x, variant=variant).to_torch().nan_to_num(7), named)
