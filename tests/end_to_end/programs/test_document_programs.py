"""The programs of the ttnn.jit document, decorated and run."""

from __future__ import annotations

import inspect

import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn

DTYPES = [torch.float32, torch.bfloat16]
SHARDED = ttnn.create_sharded_memory_config((1024, 1024), ttnn.CoreGrid(x=8, y=8), ttnn.ShardStrategy.BLOCK)


def on(device, tensor, memory_config=ttnn.DRAM_MEMORY_CONFIG):
    return ttnn.from_torch(tensor, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cosh_equals_the_undecorated_call_bit_for_bit(device, dtype):
    x = on(device, torch.randn(64, 96).to(dtype))
    jitted = ttnn_jit.jit()(programs.cosh)
    assert torch.equal(jitted(x).to_torch(), programs.cosh(x).to_torch())


def test_cosh_of_torch_tensors_is_within_two_ulp_of_float64():
    x = torch.linspace(-5, 5, 1000).reshape(20, 50)
    result = ttnn_jit.jit()(programs.cosh)(x)
    reference = torch.cosh(x.double())
    assert isinstance(result, torch.Tensor)
    assert ((result.double() - reference).abs() / reference).max() < 3 * 2**-23


def test_the_decorated_object_keeps_the_functions_metadata():
    jitted = ttnn_jit.jit()(programs.cosh)
    assert type(jitted).__name__ == "JitFunction"
    assert jitted.__name__ == "cosh"
    assert jitted.__doc__ == programs.cosh.__doc__
    assert inspect.signature(jitted) == inspect.signature(programs.cosh)
    assert jitted.num_entries == 0


def test_bare_jit_decorates_too():
    x = torch.randn(8, 8)
    assert torch.equal(ttnn_jit.jit(programs.cosh)(x), ttnn_jit.jit()(programs.cosh)(x))


def test_cosh_becomes_one_kernel_of_three_buffers_and_peak_three(device):
    report = ttnn_jit.jit()(programs.cosh).explain(on(device, torch.randn(32, 32, dtype=torch.bfloat16)))
    (kernel,) = report.kernels
    assert kernel.ops == ("exp", "neg", "exp", "add", "multiply")
    assert kernel.inputs == 2
    assert kernel.dst_peak == kernel.dst_peak_source_order == 3
    assert report.not_fused == ()
    assert "1 kernel" in str(report)


def test_a_report_names_every_pair_that_was_not_fused_and_the_rule(device):
    def f(x):
        y = ttnn.exp(x)
        return ttnn.add(ttnn.neg(y), y)

    report = ttnn_jit.jit()(f).explain(on(device, torch.randn(32, 32)))
    assert [kernel.ops for kernel in report.kernels] == [("exp",), ("neg", "add")]
    assert [(pair.producer, pair.consumer, pair.predicate) for pair in report.not_fused] == [
        ("exp", "neg", "multi_user"),
        ("exp", "add", "multi_user"),
    ]
    assert "not fused: exp into neg: multi_user, the value has 2 uses" in str(report)
    assert [kernel.location for kernel in report.kernels] == [
        f"{__file__}:{f.__code__.co_firstlineno + k}" for k in (1, 2)
    ]


def test_the_add_tree_is_rescheduled_from_six_to_five_tiles(device):
    arguments = [on(device, torch.randn(1024, 1024, dtype=torch.bfloat16), SHARDED) for _ in range(8)]
    (kernel,) = ttnn_jit.jit()(programs.add_tree_8_to_1).explain(*arguments).kernels
    assert (kernel.dst_peak_source_order, kernel.dst_peak) == (6, 5)
    assert kernel.dst_slots == ((0, 1, 2), (0, 1, 3), (2, 3, 0), (2, 3, 1), (2, 3, 4), (1, 4, 2), (0, 2, 1))


def test_the_unary_chain_works_on_blocks_of_two_by_four_tiles(device):
    x = on(device, torch.randn(1024, 1024, dtype=torch.bfloat16), SHARDED)
    text = ttnn_jit.jit()(programs.unary_chain).ir(x, stage="d2m-insert-dst-register-access")
    assert "memref<1x2x4x!ttcore.tile<32x32, bf16>" in text
    assert text.count("affine.for %") == 2 * 6


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_result_keeps_the_layout_of_the_first_operand(device, dtype):
    config = ttnn.create_sharded_memory_config((64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
    x = on(device, torch.randn(64, 64).to(dtype), config)
    assert ttnn_jit.jit()(programs.cosh)(x).memory_config() == config


def test_the_dump_of_cosh_reads_as_the_document_prints_it(device):
    text = ttnn_jit.jit()(programs.cosh).ir(on(device, torch.zeros(32, 32, dtype=torch.bfloat16)))
    ops = [line.split('"')[1] for line in text.splitlines() if '"ttnn.' in line]
    assert ops == [
        "ttnn.get_device", "ttnn.exp", "ttnn.neg", "ttnn.exp", "ttnn.add", "ttnn.full", "ttnn.multiply",
    ]  # fmt: skip
    assert "fill_value = 5.000000e-01 : f32" in text


def test_a_model_mixes_jitted_and_plain_calls(device):
    x = on(device, torch.randn(32, 32, dtype=torch.bfloat16))
    jitted = ttnn_jit.jit()(programs.cosh)
    mixed = ttnn.add(jitted(x), ttnn.exp(x)).to_torch()
    plain = ttnn.add(programs.cosh(x), ttnn.exp(x)).to_torch()
    assert torch.equal(mixed, plain)
