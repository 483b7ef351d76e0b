"""A jitted function and its options: memory configs of results, fallback, grids, hashes, the account of L1."""

from __future__ import annotations

import math
import warnings

import pytest
import torch

import ttnn_jit
from tests import programs
from tests.end_to_end.python.memory_configs import BLOCK, HEIGHT, X, tiled
from ttnn_jit import ttnn

# --- Layouts of results ---------------------------------------------------------------------------------------------


def test_the_decorator_chooses_where_results_lie(device):
    a = tiled(device)
    jitted = ttnn_jit.jit(memory_config=BLOCK)(lambda x: (ttnn.exp(x), ttnn.neg(x)))
    for result, expected in zip(jitted(a), (ttnn.exp(a), ttnn.neg(a)), strict=True):
        assert result.memory_config() == BLOCK
        assert torch.equal(result.to_torch(), expected.to_torch())


def test_the_ir_shows_where_results_will_lie_and_kernels_are_cut_so(device):
    jitted = ttnn_jit.jit(memory_config=HEIGHT)(lambda x: ttnn.neg(ttnn.exp(x) * 0.5))
    lines = jitted.ir(tiled(device)).splitlines()
    alias = next(line.split(" = ")[0] for line in lines if "<height_sharded>" in line)
    for op in ("ttnn.exp", "ttnn.full", "ttnn.multiply", "ttnn.neg"):
        assert next(line for line in lines if f'"{op}"' in line).endswith(f"tensor<64x64xf32, {alias}>")
    (kernel,) = jitted.explain(tiled(device)).kernels
    assert kernel.ops == ("exp", "multiply", "neg")
    assert "grid = #ttcore.grid<2x1>" in jitted.ir(tiled(device), stage="d2m-generic-fusion")
    assert jitted(tiled(device)).memory_config() == HEIGHT


def test_a_value_of_another_shape_lies_where_its_first_operand_does(device):
    jitted = ttnn_jit.jit(memory_config=BLOCK)(lambda x, row: ttnn.add(x, ttnn.exp(row)))
    row = tiled(device, torch.randn(1, 64))
    assert jitted.ir(tiled(device), row).count("-> tensor<1x64xf32, #ttnn_layout1>") == 1
    assert jitted(tiled(device), row).memory_config() == BLOCK


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_returned_argument_gets_the_requested_layout(device, graph_capture):
    jitted = ttnn_jit.jit(memory_config=BLOCK, graph_capture=graph_capture)(lambda x, y: (x, y, ttnn.exp(x)))
    x, y = tiled(device), tiled(device, memory_config=BLOCK)
    for _ in range(3):
        first, second, _ = jitted(x, y)
        assert first.memory_config() == BLOCK
        assert torch.equal(first.to_torch(), X)
        assert second is y
    data = torch.randn(3, 4)
    assert jitted(data, data)[0] is data


def test_the_environment_selects_maximal_block_sharding(device, monkeypatch):
    monkeypatch.setenv("TTNN_JIT_OUTPUT_LAYOUT", "max-block-sharded")
    result = ttnn_jit.jit()(programs.cosh)(tiled(device, torch.randn(96, 576)))
    expected = ttnn.create_sharded_memory_config((96, 576), ttnn.CoreGrid(x=6, y=3), ttnn.ShardStrategy.BLOCK)
    assert result.memory_config() == expected
    small = ttnn_jit.jit(max_grid=(0, 0))(programs.cosh)(tiled(device))
    assert small.memory_config().shard_spec.shape == (64, 64)
    chosen = ttnn_jit.jit(memory_config=ttnn.DRAM_MEMORY_CONFIG)(programs.cosh)(tiled(device))
    assert chosen.memory_config() == ttnn.DRAM_MEMORY_CONFIG
    monkeypatch.setenv("TTNN_JIT_OUTPUT_LAYOUT", "sideways")
    with pytest.raises(ValueError, match=r"'sideways'\nhelp: it takes 'first-operand' or 'max-block-sharded'"):
        ttnn_jit.jit()(programs.cosh)


def test_where_a_result_lies_is_ignored_inside_jit_with_one_warning(device):
    def in_l1(x):
        y = ttnn.exp(x, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=None)
        return ttnn.neg(y, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.float32, queue_id=None)

    jitted = ttnn_jit.jit()(in_l1)
    a = tiled(device, X.bfloat16())
    with pytest.warns(UserWarning, match="ignored inside a jitted function") as caught:
        result = jitted(a)
    assert len(caught) == 1
    assert (result.dtype, result.memory_config()) == (ttnn.float32, ttnn.DRAM_MEMORY_CONFIG)


# --- The jitted object ----------------------------------------------------------------------------------------------


def test_fallback_runs_the_plain_function_and_warns_once(device):
    def scaled(x):
        return ttnn.mul(x, 0.5)  # an alias of eager ttnn only

    jitted = ttnn_jit.jit(fallback=True)(scaled)
    with pytest.warns(UserWarning, match="scaled runs as plain Python: Function mul not supported"):
        result = jitted(tiled(device))
    assert torch.equal(result.to_torch(), X * 0.5)
    assert jitted.fallback_used
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jitted(tiled(device))
    assert jitted.num_entries == 0


def test_fallback_takes_over_where_a_call_breaks_a_rule_and_resets_at_each_call(device):
    jitted = ttnn_jit.jit(fallback=True)(programs.cosh)
    with pytest.warns(UserWarning, match="Interleaved L1 tensors are not supported"):
        jitted(tiled(device, memory_config=ttnn.L1_MEMORY_CONFIG))
    assert jitted.fallback_used
    jitted(tiled(device))
    assert not jitted.fallback_used
    assert ttnn_jit.jit()(jitted).func is jitted.func is programs.cosh


def test_max_grid_is_the_last_core(device):
    for max_grid, grid in (((7, 7), "2x2"), ((0, 0), "1x1"), ((1, 0), "1x2")):
        text = ttnn_jit.jit(max_grid=max_grid)(programs.cosh).ir(tiled(device), stage="convert-ttir-to-d2m")
        assert f"grid = #ttcore.grid<{grid}>" in text


def test_the_hash_of_a_program_is_the_same_everywhere(device):
    program = ttnn_jit.jit(compile_only=True, enable_cache=False)(programs.cosh)(tiled(device))
    assert program.descriptors[0]["custom_program_hash"] == program.hash
    first = program.descriptors
    program(tiled(device))
    program(tiled(device))
    assert program.descriptors is first
    assert device.programs == {program.hash}
    jitted = ttnn_jit.jit()(programs.cosh)
    assert repr(jitted) == "<JitFunction cosh, 0 programs>"
    jitted(tiled(device))
    assert device.programs == {program.hash}
    assert repr(jitted) == f"<JitFunction cosh, programs {program.hash[:8]}>"


def test_the_account_of_l1_charges_what_descriptors_list(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `compile_only` writes below the current folder
    large = torch.randn(1024, 1024, dtype=torch.bfloat16)
    blocks = ttnn.create_sharded_memory_config((1024, 1024), ttnn.CoreGrid(x=8, y=8), ttnn.ShardStrategy.BLOCK)
    rows = ttnn.create_sharded_memory_config((1024, 1024), ttnn.CoreGrid(x=8, y=4), ttnn.ShardStrategy.HEIGHT)
    shard, block = 16 * 2048, 2 * 8 * 2048
    cases = [
        ([blocks, blocks], [("alias", 16)] * 3, 3 * shard),
        ([blocks, ttnn.DRAM_MEMORY_CONFIG], [("alias", 16), ("stream", 16), ("alias", 16)], 2 * shard + block),
        ([rows, ttnn.DRAM_MEMORY_CONFIG], [("alias", 32), ("stream", 16), ("alias", 32)], 4 * shard + block),
    ]
    for configs, buffers, high_water in cases:
        with ttnn.open_device(device_id=0) as fresh:
            tensors = [tiled(fresh, large, memory_config=config) for config in configs]
            program = ttnn_jit.jit(compile_only=True)(lambda a, b: ttnn.add(a, b))(*tensors)
            assert [(cb["access"], cb["num_pages"]) for cb in program.descriptors[0]["cbs"]] == buffers
            kept = program(*tensors)
            assert fresh.memory_view().high_water == high_water
            del kept


def shards_of_64(corner):
    """A 64x64 tensor on the four cores from `corner` on."""
    cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(*corner), ttnn.CoreCoord(corner[0] + 1, corner[1] + 1))})
    shard = ttnn.ShardSpec(cores, (32, 32), ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, shard)


@pytest.mark.parametrize("target", ["wormhole_b0", "cpu"])
def test_a_circular_buffer_is_a_shard_only_on_the_cores_of_the_kernel(target, tmp_path, monkeypatch):
    """The descriptors are those of the result, or of the first sharded operand."""
    monkeypatch.chdir(tmp_path)
    here, there = shards_of_64((0, 0)), shards_of_64((2, 3))
    with ttnn.open_device(device_id=0, target=target) as fresh:

        def buffers(function, *configs, **options):
            tensors = [tiled(fresh, torch.randn(64, 64), memory_config=config) for config in configs]
            program = ttnn_jit.jit(compile_only=True, **options)(function)(*tensors)
            return [cb["access"] for cb in program.descriptors[0]["cbs"]]

        assert buffers(lambda x: ttnn.exp(x), here) == ["alias", "alias"]
        assert buffers(lambda x: ttnn.exp(x), here, memory_config=there) == ["stream", "alias"]
        assert buffers(lambda x: ttnn.exp(x), here, memory_config=ttnn.DRAM_MEMORY_CONFIG) == ["alias", "stream"]
        if target == "cpu":  # a chip refuses operands that are sharded differently
            assert buffers(lambda x, y: ttnn.add(x, y), there, here) == ["alias", "stream", "alias"]


def test_the_account_of_l1_charges_tensors_between_kernels_that_the_host_runs_as_one(device):
    @ttnn_jit.jit()
    def of_eight(a, b, c, d, e, f, g, h):
        return ttnn.add(ttnn.add(ttnn.add(a, b), ttnn.add(c, d)), ttnn.add(ttnn.add(e, f), ttnn.add(g, h)))

    blocks = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
    shard = 32 * 32 * 4
    tensors = [tiled(device, memory_config=blocks) for _ in range(8)]
    for _ in range(4):
        # Seven inputs are as many as a kernel of the chip takes, so a tensor lies between two kernels.
        result = of_eight(*tensors)
        assert device.memory_view().high_water == 10 * shard
        assert device.memory_view().used == 9 * shard
        del result


class Options:
    """A configuration of a model; `extra` may be set."""


OPTIONS = Options()


def reads_presence(x):
    return x * (3.0 if hasattr(OPTIONS, "extra") else 5.0)


def reads_with_a_default(x):
    return x * (5.0 if getattr(OPTIONS, "extra", None) is None else 3.0)


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("function", [reads_presence, reads_with_a_default])
def test_a_deleted_attribute_is_detected_and_differs_from_none(function, graph_capture, monkeypatch):
    x, jitted = torch.ones(2, 2), ttnn_jit.jit(graph_capture=graph_capture)(function)
    assert jitted(x)[0, 0] == 5.0
    monkeypatch.setattr(OPTIONS, "extra", -1.0, raising=False)
    assert jitted(x)[0, 0] == 3.0
    monkeypatch.undo()
    assert jitted(x)[0, 0] == 5.0
    again = ttnn_jit.jit(graph_capture=graph_capture)(function)  # both are found on disk
    assert again(x)[0, 0] == 5.0


class Scale:
    """Two names may refer to one object: a read through one of them is guarded for the other."""

    def __init__(self, scale):
        self.scale = scale

    def get(self):
        return self.scale

    def __getattr__(self, name):
        return self.scale

    def __getitem__(self, _):
        return self.scale

    def __mul__(self, other):
        return self.scale * other


FIRST = SECOND = Scale(0.5)


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * FIRST.scale * SECOND.scale,
        lambda x: x * FIRST.scale * SECOND.get(),
        lambda x: x * FIRST.scale * SECOND.other,
        lambda x: x * FIRST.scale * SECOND[0],
        lambda x: x * FIRST.scale * (SECOND * 1.0),
        lambda x: x * FIRST.get() * max([SECOND], key=Scale.get).get(),
        lambda x: x * Scale.get(FIRST) * math.prod([each.get() for each in (SECOND,)]),
        lambda x: x * FIRST.other * getattr(SECOND, "other"),  # noqa: B009 - as a name that is computed
    ],
)
def test_a_second_name_of_an_object_can_be_rebound(function, graph_capture, monkeypatch):
    x, jitted = torch.ones(2, 2), ttnn_jit.jit(graph_capture=graph_capture)(function)
    assert jitted(x)[0, 0] == 0.25
    monkeypatch.setitem(globals(), "SECOND", Scale(4.0))
    assert jitted(x)[0, 0] == 2.0
    monkeypatch.undo()
    assert ttnn_jit.jit(graph_capture=graph_capture)(function)(x)[0, 0] == 0.25  # found on disk
