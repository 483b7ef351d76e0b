"""On a chip target a jitted product or reduction accepts exactly the operands of the ttnn.jit document."""

import pytest
import torch

import ttnn_jit
from tests.end_to_end.python.memory_configs import BLOCK, HEIGHT, WIDTH, tiled
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError

L1 = ttnn.L1_MEMORY_CONFIG


@pytest.fixture(params=["wormhole_b0", "blackhole"])
def device(request):
    opened = ttnn.open_device(device_id=0, target=request.param)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def cpu():
    opened = ttnn.open_device(device_id=0, target="cpu")
    yield opened
    ttnn.close_device(opened)


def product(a, b):
    return ttnn.matmul(a, b)


def total(x):
    return ttnn.sum(x, dim=1, keepdim=True)


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize(
    ("config", "kind"), [(HEIGHT, "height sharded"), (WIDTH, "width sharded"), (L1, "interleaved")]
)
def test_a_product_of_operands_neither_block_sharded_nor_in_dram_is_refused(device, config, kind, capture):
    jitted = ttnn_jit.jit(graph_capture=capture)(product)
    x, sharded = tiled(device), tiled(device, memory_config=config)
    for arguments, name in (((sharded, x), "a"), ((x, sharded), "b")):
        with pytest.raises(CompileError) as raised:
            jitted(*arguments)
        error = raised.value
        assert error.message.startswith(
            f"`matmul` takes tensors that are block sharded in L1 or interleaved in DRAM, and `{name}` is {kind} in L1"
        )
        assert error.location.line == product.__code__.co_firstlineno + 1
        assert f"ttnn.to_memory_config({name}, ttnn.DRAM_MEMORY_CONFIG)" in error.help
        assert isinstance(error, ValueError)
    assert jitted.num_entries == 0


def test_the_hint_of_a_refused_product_is_accepted(device):
    sharded = tiled(device, memory_config=HEIGHT)
    jitted = ttnn_jit.jit()(lambda a, b: ttnn.matmul(ttnn.to_memory_config(a, ttnn.DRAM_MEMORY_CONFIG), b))
    report = jitted.explain(sharded, tiled(device))
    assert [kernel.ops for kernel in report.kernels] == [("matmul",)]
    jitted(sharded, tiled(device))


def test_a_product_of_a_result_in_another_layout_is_refused(device):
    sharded = tiled(device, memory_config=HEIGHT)
    with pytest.raises(CompileError, match="and its first operand is height sharded in L1"):
        ttnn_jit.jit()(lambda a, b: ttnn.matmul(ttnn.exp(a), b))(sharded, tiled(device))


def test_operands_of_the_host_program_may_have_any_memory_config(device):
    sharded = tiled(device, memory_config=HEIGHT)
    moved = ttnn_jit.jit()(lambda a, b: ttnn.matmul(ttnn.to_memory_config(a, WIDTH), b))
    eager = ttnn.matmul(sharded, sharded)
    assert moved(sharded, tiled(device)).shape == eager.shape


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "std", "var"])
@pytest.mark.parametrize("memory", ["interleaved in DRAM", "ND sharded"])
def test_a_reduction_that_an_older_compiler_refused_is_accepted_and_explained(device, name, memory, capture):
    reduce = getattr(ttnn, name)
    jitted = ttnn_jit.jit(graph_capture=capture)(lambda x: reduce(x, dim=1, keepdim=True))
    cores = ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (1, 0))})
    cut = ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec((32, 32), cores)) if memory == "ND sharded" else None
    x = tiled(device, memory_config=cut)
    assert torch.equal(jitted(x).to_torch(), reduce(x, dim=1, keepdim=True).to_torch())
    (note,) = {text.split(" of ", 1)[1] for text in jitted.explain(x).refused_before}
    assert note == f"argument 0, {memory}: refused by tt-mlir before August 2026"
    assert note in str(jitted.explain(x))
    assert not jitted.explain(tiled(device, memory_config=BLOCK)).refused_before


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_a_reduction_of_an_argument_that_is_interleaved_in_l1_is_refused(device, name, capture):
    reduce = getattr(ttnn, name)
    jitted = ttnn_jit.jit(graph_capture=capture)(lambda x: reduce(x, dim=1, keepdim=True))
    with pytest.raises(CompileError) as raised:
        jitted(tiled(device, memory_config=L1))
    error = raised.value
    text = f"`{name}` takes tensors that are sharded in L1 or interleaved in DRAM, and `x` is interleaved in L1"
    assert error.message.startswith(text)
    assert error.location.file == __file__
    assert isinstance(error, ValueError)
    assert jitted.num_entries == 0
    fixed = error.help.split("`")[1]
    assert fixed.startswith("ttnn.to_memory_config(x, ")
    sharded = eval(fixed, {"ttnn": ttnn, "x": tiled(device)})
    assert not jitted.explain(sharded).host_operations
    assert torch.equal(jitted(sharded).to_torch(), reduce(sharded, dim=1, keepdim=True).to_torch())


def test_the_hint_of_a_refused_reduction_can_be_written_in_the_function(device):
    def mean(x):
        x = ttnn.to_memory_config(x, BLOCK)
        return ttnn.mean(x, dim=1, keepdim=True)

    assert torch.equal(ttnn_jit.jit()(mean)(tiled(device)).to_torch(), mean(tiled(device)).to_torch())


def test_a_reduction_of_a_result_in_dram_runs_on_the_host(device):
    jitted = ttnn_jit.jit()(lambda x: ttnn.mean(ttnn.multiply(x, x), dim=-1, keepdim=True))
    assert jitted.explain(tiled(device)).host_operations == ("sum",)


def test_block_floats_are_not_reduced(device):
    x = tiled(device, dtype=ttnn.bfloat8_b, memory_config=BLOCK)
    with pytest.raises(CompileError, match="`sum` takes float32 and bfloat16, and `x` is of bfloat8_b") as raised:
        ttnn_jit.jit()(total)(x)
    assert "ttnn.typecast(x, ttnn.bfloat16)" in raised.value.help


def test_the_plain_function_runs_with_fallback(device):
    jitted = ttnn_jit.jit(fallback=True)(total)
    with pytest.warns(UserWarning, match="takes tensors that are sharded in L1"):
        got = jitted(tiled(device, memory_config=L1))
    assert torch.equal(got.to_torch(), total(tiled(device)).to_torch())
    assert jitted.fallback_used


def test_operations_that_no_kernel_computes_are_exempt_from_these_rules(device):
    x = ttnn.from_torch(torch.randn(40, 50), layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal(ttnn_jit.jit()(total)(x).to_torch(), total(x).to_torch())
    whole = torch.randn(64, 64)
    assert ttnn_jit.jit(target=device.target.name)(total)(whole).shape == (64, 1)


def test_a_cpu_has_no_such_rules(cpu):
    for config in (ttnn.DRAM_MEMORY_CONFIG, HEIGHT, L1):
        x = tiled(cpu, memory_config=config)
        assert torch.equal(ttnn_jit.jit()(total)(x).to_torch(), total(x).to_torch())
        assert torch.equal(ttnn_jit.jit()(product)(x, x).to_torch(), product(x, x).to_torch())


def blocks(shape, columns, rows):
    return ttnn.create_sharded_memory_config(shape, ttnn.CoreGrid(x=columns, y=rows), ttnn.ShardStrategy.BLOCK)


CONFIGS = {
    "in DRAM": (None, None, (8, 4)),
    "sharded": (blocks((128, 192), 3, 2), blocks((192, 512), 4, 6), (4, 2)),
    "one of each": (blocks((128, 192), 3, 2), None, (8, 4)),
}
"""Memory configs of both factors, and the columns and rows of cores of the product of 128x192 and 192x512."""


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("configs", CONFIGS)
def test_a_product_is_block_sharded_as_in_tt_mlir(device, configs, capture):
    left, right, (columns, rows) = CONFIGS[configs]
    a = tiled(device, torch.randn(128, 192).bfloat16(), memory_config=left)
    b = tiled(device, torch.randn(192, 512).bfloat16(), memory_config=right)
    for function in (product, lambda a, b: a @ b, lambda a, b: ttnn.matmul(a, b, activation="relu")):
        jitted = ttnn_jit.jit(graph_capture=capture, math_fidelity=ttnn.MathFidelity.HiFi2)(function)
        got = jitted(a, b)
        assert got.memory_config() == blocks((128, 512), columns, rows)
        assert jitted.explain(a, b).kernels[0].ops == ("matmul",)
        assert torch.equal(got.to_torch(), function(a, b).to_torch())


def test_a_product_keeps_within_the_requested_grid(device):
    a = tiled(device, torch.randn(128, 192).bfloat16())
    b = tiled(device, torch.randn(192, 512).bfloat16(), memory_config=blocks((192, 512), 4, 6))
    for left in (a, ttnn.to_memory_config(a, blocks((128, 192), 3, 2))):
        got = ttnn_jit.jit(max_grid=(2, 2))(product)(left, b)
        assert got.memory_config() == blocks((128, 512), 2, 2)


def test_leading_dimensions_of_products_are_rows_of_blocks(device):
    a, b = (tiled(device, torch.randn(2, 3, 64, 64).bfloat16()) for _ in "ab")
    jitted = ttnn_jit.jit(math_fidelity=ttnn.MathFidelity.HiFi2)(product)
    got = jitted(a, b)
    assert got.memory_config() == blocks((384, 64), 2, 6)
    assert torch.equal(got.to_torch(), product(a, b).to_torch())


def test_readers_of_a_product_follow_the_rules_of_sharded_operands(device):
    a, b, other = tiled(device), tiled(device), tiled(device, memory_config=HEIGHT)
    lies = ttnn_jit.jit()(lambda a, b: ttnn.exp(a @ b))(a, b).memory_config()
    assert lies == BLOCK
    assert ttnn_jit.jit()(lambda a, b: ttnn.add(a @ b, a))(a, b).memory_config() == BLOCK
    assert ttnn_jit.jit()(lambda a, b: ttnn.add(a, a @ b))(a, b).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    report = ttnn_jit.jit()(lambda a, b: ttnn.sum(a @ b, dim=1, keepdim=True)).explain(a, b)
    assert [kernel.ops for kernel in report.kernels] == [("matmul",), ("sum",)]
    with pytest.raises(CompileError, match="sharded differently"):
        ttnn_jit.jit()(lambda a, b, c: ttnn.add(a @ b, c))(a, b, other)


def test_products_that_no_kernel_computes_have_the_eager_layout(device, cpu):
    a, b = tiled(device), tiled(device)
    for function in (
        lambda a, b: ttnn.matmul(a, b, transpose_b=True),
        lambda a, b: ttnn.matmul(a[:40], b),
        lambda a, b: ttnn.linear(a, b),
    ):
        assert ttnn_jit.jit()(function)(a, b).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert ttnn_jit.jit()(product)(tiled(cpu), tiled(cpu)).memory_config() == ttnn.DRAM_MEMORY_CONFIG
    assert product(a, b).memory_config() == ttnn.DRAM_MEMORY_CONFIG


def test_a_product_that_no_grid_of_cores_holds_is_refused_at_its_call(device):
    a = tiled(device, torch.zeros(8192, 32))
    b = tiled(device, torch.zeros(32, 8192))
    with pytest.raises(CompileError, match="does not fit into the L1") as raised:
        ttnn_jit.jit()(product)(a, b)
    assert raised.value.location.line == product.__code__.co_firstlineno + 1
