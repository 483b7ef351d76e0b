"""`fp32_dest_acc`: float32 between the ops of a fused kernel on a chip target."""

from __future__ import annotations

import math

import pytest
import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.testing import assert_allclose


def exp_cosh(x):
    return ttnn.exp(programs.cosh(x))


def on(device, values):
    return ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("backend", ["ttnn", "numba"])
def test_fp32_dest_acc_rounds_once_where_the_default_rounds_after_every_op(device, backend):
    x = torch.linspace(-5, 5, 1024).bfloat16().reshape(32, 32)
    exact = torch.exp(torch.cosh(x.double()))
    kept = ttnn_jit.jit(fp32_dest_acc=True, backend=backend)(exp_cosh)(on(device, x))
    assert_allclose(kept, exact, max_ulp=0.51)
    default = ttnn_jit.jit(backend=backend)(exp_cosh)(on(device, x))
    with pytest.raises(AssertionError, match="ulp"):
        assert_allclose(default, exact, max_ulp=10)


def test_fp32_dest_acc_has_the_bits_of_the_cpu_target_on_ordinary_numbers(device, cpu_device):
    x = torch.randn(64, 64).bfloat16()
    kept = ttnn_jit.jit(fp32_dest_acc=True)(programs.unary_chain)
    on_cpu = ttnn_jit.jit()(programs.unary_chain)
    assert torch.equal(kept(on(device, x)).to_torch(), on_cpu(on(cpu_device, x)).to_torch())


def test_stores_keep_device_numerics_under_fp32_dest_acc(device):
    def double_log(x):
        return ttnn.multiply(ttnn.log(x), 1.0)

    x = torch.full((32, 32), -1.0).bfloat16()
    assert ttnn_jit.jit(fp32_dest_acc=True)(double_log)(on(device, x)).to_torch().eq(math.inf).all()
    tiny = torch.full((32, 32), 2.0**-70).bfloat16()
    there_and_back = ttnn_jit.jit(fp32_dest_acc=True)(lambda x: ttnn.multiply(ttnn.multiply(x, x), 2.0**60))
    # 2**-140 is a denormal that an op of a device would flush; float32 holds it.
    assert there_and_back(on(device, tiny)).to_torch().eq(2.0**-80).all()
    assert ttnn_jit.jit()(there_and_back)(on(device, tiny)).to_torch().eq(0).all()


@pytest.mark.parametrize("sign_of", [ttnn.abs, ttnn.neg])
def test_an_op_that_only_changes_signs_keeps_what_a_store_would_flush(device, sign_of):
    host_made = on(device, torch.tensor([-1e-39, 1e-39, -2.0, 3.0]).bfloat16().repeat(32, 8))
    kept = ttnn_jit.jit(fp32_dest_acc=True)(lambda x: ttnn.divide(x, sign_of(x)))(host_made)
    expected = [-1.0, 1.0, -1.0, 1.0] if sign_of is ttnn.abs else [-1.0] * 4
    assert torch.equal(kept.to_torch(), torch.tensor(expected).bfloat16().repeat(32, 8))


def test_dst_holds_four_tiles_and_the_descriptor_reports_it(device, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tensors = [on(device, torch.randn(32, 32).bfloat16()) for _ in range(8)]
    kept = ttnn_jit.jit(fp32_dest_acc=True)(programs.add_tree_8_to_1)
    assert len(kept.explain(*tensors).kernels) > 1
    assert len(ttnn_jit.jit()(programs.add_tree_8_to_1).explain(*tensors).kernels) == 1
    assert "memref<4x1x1x!ttcore.tile<32x32, f32>, #dst>" in kept.ir(*tensors, stage="d2m-insert-dst-register-access")
    program = ttnn_jit.jit(fp32_dest_acc=True, compile_only=True)(programs.cosh)(tensors[0])
    assert program.descriptors[0]["fp32_dest_acc_en"] is True
    assert "fp32_dest_acc_en" not in ttnn_jit.jit(compile_only=True)(programs.cosh)(tensors[0]).descriptors[0]


def test_float32_tensors_and_the_cpu_target_compute_the_same_with_and_without(device, cpu_device):
    wide, narrow = on(device, torch.randn(32, 32)), on(cpu_device, torch.randn(5, 7).bfloat16())
    for x in (wide, narrow):
        kept, default = (ttnn_jit.jit(fp32_dest_acc=flag)(programs.cosh)(x).to_torch() for flag in (True, False))
        assert torch.equal(kept, default)


def test_fp32_dest_acc_is_part_of_the_key(device):
    x = on(device, torch.randn(32, 32).bfloat16())
    ttnn_jit.jit()(exp_cosh)(x)
    kept = ttnn_jit.jit(fp32_dest_acc=True)(exp_cosh)
    assert "option fp32_dest_acc: False -> True" in ttnn_jit.explain_miss(kept, x)
