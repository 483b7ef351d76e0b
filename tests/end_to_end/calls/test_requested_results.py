"""Result options of calls in a jitted function: `dtype` and `activations` as eagerly; no memory config."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError

CALLS = {
    "elementwise": lambda x, y, **options: ttnn.add(x, y, **options),
    "movement": lambda x, _, **options: ttnn.reshape(x, (32, 128), **options),
    "macro": lambda x, _, **options: ttnn.roll(x, 3, 1, **options),
    "reduction": lambda x, _, **options: ttnn.sum(x, -1, True, **options),
    "contraction": lambda x, y, **options: ttnn.matmul(x, y, **options),
    "composite": lambda x, _, **options: ttnn.softmax(x, -1, **options),
    "routine": lambda x, _, **options: ttnn.cumsum(x, 1, **options),
}
OPTIONS = {
    "dtype": {"dtype": ttnn.float32},
    "activations": {"activations": ["relu", ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 2.0)]},
    "both": {"dtype": ttnn.float32, "activations": ["neg"]},
}


def on_device(device, *shape, dtype=torch.bfloat16):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)
    return ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("family", CALLS)
def test_a_call_in_a_program_returns_what_it_returns_eagerly(family, options, traced, cpu_device):
    call, keywords = CALLS[family], OPTIONS[options]
    x, y = on_device(cpu_device, 64, 64), on_device(cpu_device, 64, 64)
    got = jit(graph_capture=traced)(lambda x, y: call(x, y, **keywords))(x, y)
    want = call(x, y, **keywords)
    assert got.dtype is want.dtype
    assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(want))
    again = jit(graph_capture=traced)(lambda x, y: ttnn.exp(call(x, y, **keywords)))(x, y)
    assert again.dtype is want.dtype


@pytest.mark.parametrize("family", ["elementwise", "composite"])
def test_a_chip_returns_the_requested_element_type(family, device):
    call = CALLS[family]
    x, y = on_device(device, 64, 64), on_device(device, 64, 64)
    for dtype in (ttnn.float32, ttnn.bfloat8_b):
        got = jit()(lambda x, y: call(x, y, dtype=dtype))(x, y)  # noqa: B023 - compiled here
        want = call(x, y, dtype=dtype)
        assert got.dtype is want.dtype is dtype
        assert torch.equal(ttnn.to_torch(got), ttnn.to_torch(want))


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("family", ["reduction", "contraction", "composite"])
def test_a_result_is_rounded_once_into_a_wider_tensor_that_it_is_written_into(family, traced, cpu_device):
    call = CALLS[family]
    x, y = on_device(cpu_device, 64, 64), on_device(cpu_device, 64, 64)
    want = ttnn.to_torch(call(x, y, dtype=ttnn.float32))
    output = ttnn.zeros(want.shape, ttnn.float32, ttnn.TILE_LAYOUT, cpu_device)
    jit(graph_capture=traced)(lambda x, y, output: call(x, y, output_tensor=output))(x, y, output)
    assert not torch.equal(want, want.bfloat16().float())
    assert torch.equal(ttnn.to_torch(output), want)


@pytest.mark.parametrize("traced", [False, True])
def test_the_memory_config_of_a_result_cannot_be_requested(traced, device, cpu_device):
    sharded = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
    for where in (device, cpu_device):
        x, y = on_device(where, 64, 64), on_device(where, 64, 64)
        jitted = jit(graph_capture=traced)(lambda x, y: ttnn.add(x, y, memory_config=sharded))
        with pytest.warns(UserWarning, match="`memory_config` on an operation is ignored") as caught:
            assert jitted(x, y).memory_config() == x.memory_config()
        assert len(caught) == 1


def test_tensors_of_torch_have_the_requested_dtype():
    x = torch.randn(33, 40)
    assert torch.equal(jit()(lambda x: ttnn.neg(x, dtype=ttnn.bfloat16))(x), -x.bfloat16())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ttnn.neg(x, dtype="bfloat16"), "`dtype`"),
        (lambda x: ttnn.neg(x, memory_config=3), "`memory_config`"),
        (lambda x: ttnn.neg(x, activations="relu"), "must be a list of unary operations"),
        (lambda x: ttnn.neg(x, activations=["gleu"]), "'gleu' is no activation"),
        (lambda x: ttnn.topk(x, 2, dtype=ttnn.float32), "which has several results"),
        (lambda x: ttnn.add_(x, x, output_tensor=ttnn.neg(x)), "has no `output_tensor`"),
        (lambda x: ttnn.neg(x, activations=[ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU, 2.0)]), "takes at most 1"),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_unsupported_requests_are_refused_at_their_location(call, message, traced):
    with pytest.raises(CompileError, match=message) as caught:
        jit(graph_capture=traced)(call)(torch.randn(4, 40))
    assert caught.value.location.file == __file__


@pytest.mark.parametrize("aliased", [False, True])
def test_an_output_tensor_needs_no_additional_l1(device, aliased):
    x, y, z = (on_device(device, 256, 256) for _ in range(3))
    expected = ttnn.to_torch(ttnn.matmul(x, y))
    x, y, z = (ttnn.to_memory_config(each, ttnn.L1_MEMORY_CONFIG) for each in (x, y, z))
    held = device.memory_view().used
    output = y if aliased else z
    assert ttnn.matmul(x, y, output_tensor=output) is output
    assert torch.equal(ttnn.to_torch(output), expected)
    ttnn.matmul(x, y, output_tensor=output)
    assert device.memory_view().used == device.memory_view().high_water == held


@pytest.mark.parametrize("traced", [False, True])
def test_a_cast_takes_its_type_by_position_in_a_program(traced, cpu_device):
    x = on_device(cpu_device, 64, 64)

    @jit(graph_capture=traced)
    def cast(x):
        y = ttnn.typecast(x, ttnn.float32, ttnn.L1_MEMORY_CONFIG)
        return ttnn.neg(y) if y.memory_config() == ttnn.L1_MEMORY_CONFIG else y

    with pytest.warns(UserWarning, match="`memory_config` on an operation is ignored"):
        got = cast(x)
    assert torch.equal(ttnn.to_torch(got), -ttnn.to_torch(x).float())
