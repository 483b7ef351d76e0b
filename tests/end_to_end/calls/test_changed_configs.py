"""Configs and shard specs may be changed: every call uses and checks their current values."""

import copy
import functools
import pickle
import types

import pytest
import torch

import ttnn_jit
from tests.unit.ttnn.test_names_of_hardware import CONFIGS, made
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.foreign.values import atom_key
from ttnn_jit.specs.configs.hardware_config import check_config, rules_of
from ttnn_jit.specs.mutable_values import FrozenConfigError, frozen

CORES = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (1, 0))})
OTHER_CORES = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (0, 1))})
FIDELITIES = (ttnn.MathFidelity.LoFi, ttnn.MathFidelity.HiFi4)


def sharded(shape=(32, 64), grid=CORES):
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def pair(device):
    torch.manual_seed(0)
    return [ttnn.from_torch(torch.randn(64, 64), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2)]


# --- As values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGS)
def test_every_field_is_assigned_and_equality_hash_and_keys_follow(name):
    config, same = made(name), made(name)
    held, key = frozen(config), atom_key(frozen(config))
    assert held is frozen(held) is not config
    assert config == same == held
    assert hash(config) == hash(same) == hash(held)
    for field in rules_of(type(config)):
        setattr(config, field, getattr(config, field))
        with pytest.raises(FrozenConfigError, match="does not change"):
            setattr(held, field, getattr(config, field))
    for field in (field for field, value in CONFIGS[name].items() if type(value) is bool):
        setattr(config, field, not getattr(config, field))
        assert config != same
        assert config == made(name, **{field: getattr(config, field)})
        assert atom_key(config) != key == atom_key(same)
        setattr(config, field, not getattr(config, field))
    assert held == same
    for other in (copy.copy(config), copy.deepcopy(config), pickle.loads(pickle.dumps(config)), copy.copy(held)):
        assert other == config
        for field in rules_of(type(config)):
            setattr(other, field, getattr(other, field))


@pytest.mark.parametrize("make", [lambda: sharded().shard_spec, lambda: ttnn.NdShardSpec((1, 32, 64), CORES)])
def test_shard_specs_are_assigned_and_known_by_content(make):
    spec = make()
    held = frozen(spec)
    size = "shape" if isinstance(spec, ttnn.ShardSpec) else "shard_shape"
    changes = {
        size: [32] * len(getattr(spec, size)),
        "grid": OTHER_CORES,
        "orientation": ttnn.ShardOrientation.COL_MAJOR,
    }
    for name, value in changes.items():
        with pytest.raises(FrozenConfigError):
            setattr(held, name, value)
        setattr(spec, name, value)
        assert spec != held == make()
        assert hash(held) == hash(make())
        setattr(spec, name, getattr(make(), name))
        assert spec == held
        for wrong in (3, "x", None):
            with pytest.raises((ValueError, RuntimeError)):
                setattr(spec, name, wrong)
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    with pytest.raises(AttributeError):
        spec.no_such_field = 1


def test_a_memory_config_has_a_copy_of_its_spec_which_is_assigned_in_its_place():
    spec = ttnn.ShardSpec(CORES, (32, 64), ttnn.ShardOrientation.ROW_MAJOR)
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)
    spec.shape = (64, 64)
    assert config == sharded()
    config.shard_spec.shape = [64, 64]
    assert config == sharded((64, 64)) != sharded()
    assert hash(config) == hash(sharded((64, 64)))
    twin = copy.copy(config)
    twin.shard_spec.grid = OTHER_CORES
    assert config == sharded((64, 64))


def test_the_spec_of_an_interleaved_config_is_accepted_and_not_read(device):
    config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1, sharded().shard_spec)
    assert config == ttnn.L1_MEMORY_CONFIG
    assert not config.is_sharded()
    x = ttnn.from_torch(torch.ones(64, 64), layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)
    assert x.memory_config() == ttnn.L1_MEMORY_CONFIG
    assert x.memory_config().shard_spec is None


def test_a_buffer_type_and_an_nd_spec_make_a_config():
    spec = ttnn.NdShardSpec((1, 32, 64), CORES)
    config = ttnn.MemoryConfig(ttnn.BufferType.L1, spec)
    assert config == ttnn.MemoryConfig(buffer_type=ttnn.BufferType.L1, nd_shard_spec=spec)
    assert config.is_nd_sharded()


def test_a_returned_memory_config_can_be_changed_without_changing_the_tensor(pair):
    x = ttnn.to_memory_config(pair[0], sharded())
    config = x.memory_config()
    config.shard_spec.shape = (64, 64)
    assert x.memory_config() == sharded()
    with pytest.raises(FrozenConfigError):
        x.spec.memory_config.shard_spec.shape = (64, 64)
    config = sharded()
    y = ttnn.to_memory_config(pair[0], config)
    config.shard_spec.grid = OTHER_CORES
    assert y.memory_config() == sharded()
    assert ttnn.to_memory_config(pair[0], config).memory_config() == sharded(grid=OTHER_CORES)


# --- In calls ---------------------------------------------------------------------------------------------------------


def test_eager_calls_use_the_config_as_it_is_at_the_call(pair):
    config = sharded()
    for _ in range(3):
        for grid in (CORES, OTHER_CORES):
            config.shard_spec.grid = grid
            for _ in range(3):
                assert ttnn.exp(pair[0], memory_config=config).memory_config() == sharded(grid=grid)


def product(config):
    return {"compute_kernel_config": config}


@pytest.mark.parametrize("order", [FIDELITIES, FIDELITIES[::-1]])
def test_products_use_the_current_fidelity_of_a_config(pair, order):
    wanted = {f: ttnn.matmul(*pair, **product(ttnn.WormholeComputeKernelConfig(math_fidelity=f))) for f in order}
    config = ttnn.WormholeComputeKernelConfig()
    for fidelity in order * 3:
        config.math_fidelity = fidelity
        for _ in range(2):
            assert torch.equal(ttnn.matmul(*pair, **product(config)).to_torch(), wanted[fidelity].to_torch())
    assert not torch.equal(*(found.to_torch() for found in wanted.values()))


CONFIG = ttnn.WormholeComputeKernelConfig()
HOLDER = types.SimpleNamespace(config=CONFIG, configs=[CONFIG], nested={"a": (CONFIG,)})
TUPLE = (CONFIG, 3)


class Layer:
    def __init__(self):
        self.config = CONFIG

    def __call__(self, a, b):
        return ttnn.matmul(a, b, compute_kernel_config=self.config)


def in_closure():
    held = CONFIG
    return lambda a, b: ttnn.matmul(a, b, compute_kernel_config=held)


def of_helper(a, b, config=CONFIG):
    return ttnn.matmul(a, b, compute_kernel_config=config)


PARTIAL = functools.partial(of_helper, config=CONFIG)
LAYER = Layer()


def looped(a, b):
    for each in HOLDER.configs:
        a = ttnn.matmul(a, b, compute_kernel_config=each)
    return a


def unpacked(a, b):
    config, _ = TUPLE
    return ttnn.matmul(a, b, compute_kernel_config=config)


SOURCES = {
    "a global": lambda a, b: ttnn.matmul(a, b, compute_kernel_config=CONFIG),
    "a closure": in_closure(),
    "a default": of_helper,
    "a helper's default": lambda a, b: of_helper(a, b),
    "an attribute": lambda a, b: ttnn.matmul(a, b, compute_kernel_config=HOLDER.config),
    "an item": lambda a, b: ttnn.matmul(a, b, compute_kernel_config=HOLDER.configs[0]),
    "a loop": looped,
    "an item of items": lambda a, b: ttnn.matmul(a, b, compute_kernel_config=HOLDER.nested["a"][0]),
    "a tuple": lambda a, b: ttnn.matmul(a, b, compute_kernel_config=TUPLE[0]),
    "an unpacked tuple": unpacked,
    "a partial": lambda a, b: PARTIAL(a, b),
    "one field": lambda a, b: a * (2.0 if CONFIG.math_fidelity is ttnn.MathFidelity.LoFi else 3.0) + b,
    "a layer": lambda a, b: LAYER(a, b),
}


@pytest.mark.parametrize("capture", [None, True])
@pytest.mark.parametrize("source", SOURCES)
def test_programs_use_configs_as_they_are_at_the_call_wherever_they_are_found(pair, source, capture):
    function = SOURCES[source]
    wanted = {}
    for fidelity in FIDELITIES:
        CONFIG.math_fidelity = fidelity
        wanted[fidelity] = ttnn_jit.jit(graph_capture=capture)(function)(*pair).to_torch()
    assert not torch.equal(*wanted.values())
    jitted = ttnn_jit.jit(graph_capture=capture)(function)
    for fidelity in FIDELITIES * 3:
        CONFIG.math_fidelity = fidelity
        for _ in range(2):
            assert torch.equal(jitted(*pair).to_torch(), wanted[fidelity])
    assert jitted.num_entries == 2


@pytest.mark.parametrize("wrapped", [lambda c: c, lambda c: [c], lambda c: {"c": (c,)}])
def test_config_arguments_are_keyed_by_value(pair, wrapped):
    def multiplied(a, b, config):
        while isinstance(config, (list, tuple, dict)):
            config = config["c"] if isinstance(config, dict) else config[0]
        return ttnn.matmul(a, b, compute_kernel_config=config)

    wanted = {
        f: ttnn_jit.jit()(multiplied)(*pair, ttnn.WormholeComputeKernelConfig(math_fidelity=f)) for f in FIDELITIES
    }
    jitted, config = ttnn_jit.jit()(multiplied), ttnn.WormholeComputeKernelConfig()
    for fidelity in FIDELITIES * 3:
        config.math_fidelity = fidelity
        for _ in range(2):
            assert torch.equal(jitted(*pair, wrapped(config)).to_torch(), wanted[fidelity].to_torch())
    assert jitted.num_entries == 2


SHARDED_CONFIG = sharded()


@pytest.mark.parametrize("capture", [None, True])
def test_programs_use_shard_specs_as_they_are_at_the_call(pair, capture):
    jitted = ttnn_jit.jit(graph_capture=capture)(lambda x: ttnn.to_memory_config(x + 1.0, SHARDED_CONFIG))
    for _ in range(2):
        for grid in (CORES, OTHER_CORES):
            SHARDED_CONFIG.shard_spec.grid = grid
            assert jitted(pair[0]).memory_config() == sharded(grid=grid)


def test_a_program_changes_only_configs_that_it_created(pair):
    def made_here(a, b):
        config = ttnn.WormholeComputeKernelConfig()
        config.math_fidelity = ttnn.MathFidelity.HiFi4
        memory_config = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=1), ttnn.ShardStrategy.HEIGHT)
        memory_config.shard_spec.grid = OTHER_CORES
        return ttnn.to_memory_config(ttnn.matmul(a, b, compute_kernel_config=config), memory_config)

    wanted = ttnn.matmul(*pair, compute_kernel_config=ttnn.WormholeComputeKernelConfig(math_fidelity=FIDELITIES[1]))
    assert torch.equal(ttnn_jit.jit()(made_here)(*pair).to_torch(), wanted.to_torch())

    def changes_a_global(a, b):
        CONFIG.math_approx_mode = True
        return a + b

    def changes_an_argument(a, config):
        config.math_approx_mode = True
        return a + 1.0

    def changes_a_spec(a):
        SHARDED_CONFIG.shard_spec.shape = (1, 1)
        return a + 1.0

    for function, args in (
        (changes_a_global, pair),
        (changes_an_argument, (pair[0], CONFIG)),
        (changes_a_spec, pair[:1]),
    ):
        with pytest.raises(CompileError, match="would change the world outside the program"):
            ttnn_jit.jit()(function)(*args)


# --- Checked at their use ---------------------------------------------------------------------------------------------


def test_fields_change_one_after_the_other_and_are_checked_by_the_call(pair):
    config = made("MatmulMultiCoreReuseProgramConfig", out_subblock_h=3)
    with pytest.raises(ArgumentError, match="`out_subblock_h` is 3, which does not divide `per_core_M`, 4"):
        ttnn.matmul(*pair, program_config=config)
    jitted = ttnn_jit.jit()(lambda a, b: ttnn.matmul(a, b, program_config=config))
    with pytest.raises(CompileError, match="`out_subblock_h` is 3, which does not divide `per_core_M`, 4"):
        jitted(*pair)
    config.out_subblock_h = 2
    assert torch.equal(ttnn.matmul(*pair, program_config=config).to_torch(), jitted(*pair).to_torch())


@pytest.mark.parametrize(
    ("name", "field", "value", "text"),
    [
        ("SDPAProgramConfig", "q_chunk_size", 100, "must be a multiple of 32"),
        ("SDPAProgramConfig", "compute_with_storage_grid_size", (0, 8), "must be a whole number of at least 1"),
        ("MinimalMatmulConfig", "K_block_size", 0, "must be a whole number of at least 1"),
    ],
)
def test_a_value_that_no_chip_supports_is_refused_where_it_is_used(name, field, value, text):
    config = made(name)
    setattr(config, field, value)
    with pytest.raises(ArgumentError, match=text):
        check_config(config, type(config), "`program_config`")


def test_a_convolution_uses_its_config_as_it_is_at_the_call(device):
    x, w = (torch.randn(1, 8, 8, 32), torch.randn(32, 32, 3, 3))
    config = ttnn.Conv2dConfig()

    def convolved():
        return ttnn.conv2d(
            input_tensor=ttnn.from_torch(x, device=device), weight_tensor=ttnn.from_torch(w), device=device,
            in_channels=32, out_channels=32, batch_size=1, input_height=8, input_width=8, kernel_size=(3, 3),
            padding=(1, 1), stride=(1, 1), conv_config=config,
        ).to_torch()  # fmt: skip

    plain = convolved()
    config.activation = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
    assert torch.equal(convolved(), plain.relu())
    config.activation = None
    assert torch.equal(convolved(), plain)
