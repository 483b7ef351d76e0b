"""On a chip target a jitted product or reduction takes the operands that the ttnn.jit document lists, and no others."""

import pytest
import torch

import ttnn_jit
from tests.end_to_end.placed import BLOCK, HEIGHT, WIDTH, tiled
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
def test_a_product_of_what_is_neither_block_sharded_nor_in_dram_is_refused(device, config, kind, capture):
    jitted = ttnn_jit.jit(graph_capture=capture)(product)
    x, placed = tiled(device), tiled(device, memory_config=config)
    for arguments, name in (((placed, x), "a"), ((x, placed), "b")):
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


def test_what_the_hint_of_a_product_says_is_taken(device):
    placed = tiled(device, memory_config=HEIGHT)
    jitted = ttnn_jit.jit()(lambda a, b: ttnn.matmul(ttnn.to_memory_config(a, ttnn.DRAM_MEMORY_CONFIG), b))
    report = jitted.explain(placed, tiled(device))
    assert [kernel.ops for kernel in report.kernels] == [("matmul",)]
    jitted(placed, tiled(device))


def test_a_product_of_a_result_that_lies_otherwise_is_refused(device):
    placed = tiled(device, memory_config=HEIGHT)
    with pytest.raises(CompileError, match="and its first operand is height sharded in L1"):
        ttnn_jit.jit()(lambda a, b: ttnn.matmul(ttnn.exp(a), b))(placed, tiled(device))


def test_operations_of_the_host_program_may_lie_anywhere(device):
    placed = tiled(device, memory_config=HEIGHT)
    moved = ttnn_jit.jit()(lambda a, b: ttnn.matmul(ttnn.to_memory_config(a, WIDTH), b))
    eager = ttnn.matmul(placed, placed)
    assert moved(placed, tiled(device)).shape == eager.shape


@pytest.mark.parametrize("capture", [False, True])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_a_reduction_of_an_argument_in_dram_is_refused(device, name, capture):
    reduce = getattr(ttnn, name)
    jitted = ttnn_jit.jit(graph_capture=capture)(lambda x: reduce(x, dim=1, keepdim=True))
    with pytest.raises(CompileError) as raised:
        jitted(tiled(device))
    error = raised.value
    assert error.message.startswith(f"`{name}` takes tensors that are sharded in L1, and `x` is interleaved in DRAM")
    assert error.location.file == __file__
    assert isinstance(error, ValueError)
    assert jitted.num_entries == 0
    fixed = error.help.split("`")[1]
    assert fixed.startswith("ttnn.to_memory_config(x, ")
    placed = eval(fixed, {"ttnn": ttnn, "x": tiled(device)})
    assert not jitted.explain(placed).host_operations
    assert torch.equal(jitted(placed).to_torch(), reduce(placed, dim=1, keepdim=True).to_torch())


def test_what_the_hint_of_a_reduction_says_may_stand_in_the_function(device):
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


def test_the_plain_function_runs_where_that_is_asked_for(device):
    jitted = ttnn_jit.jit(fallback=True)(total)
    with pytest.warns(UserWarning, match="takes tensors that are sharded in L1"):
        got = jitted(tiled(device))
    assert torch.equal(got.to_torch(), total(tiled(device)).to_torch())
    assert jitted.fallback_used


def test_what_no_kernel_computes_is_free_of_these_rules(device):
    x = ttnn.from_torch(torch.randn(40, 50), layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.equal(ttnn_jit.jit()(total)(x).to_torch(), total(x).to_torch())
    whole = torch.randn(64, 64)
    assert ttnn_jit.jit(target=device.target.name)(total)(whole).shape == (64, 1)


def test_a_cpu_has_no_such_rules(cpu):
    for config in (ttnn.DRAM_MEMORY_CONFIG, HEIGHT, L1):
        x = tiled(cpu, memory_config=config)
        assert torch.equal(ttnn_jit.jit()(total)(x).to_torch(), total(x).to_torch())
        assert torch.equal(ttnn_jit.jit()(product)(x, x).to_torch(), product(x, x).to_torch())
