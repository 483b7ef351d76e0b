"""Layers with a number of their own run one kernel: in calls, traces, stored programs, threads and blocks of rows."""

from __future__ import annotations

import re

import pytest
import torch

import ttnn_jit
from tests.properties.loops.test_attention_row_blocking import columns_of, in_blocks
from ttnn_jit import jit, ttnn
from ttnn_jit.codegen.blocking.kernel_sharing import share_kernels
from ttnn_jit.codegen.host import host_program
from ttnn_jit.runtime.programs.program import Program

LAYERS = 4


def layers(x, w):
    for k in range(LAYERS):
        x = ttnn.matmul(ttnn.multiply(x, 0.25 + 0.1 * k), w)
        x = ttnn.add(x, (k + 2) * 0.01)
    return x


def on(device, *shape, dtype=ttnn.float32):
    return ttnn.from_torch(torch.randn(shape) / 4, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def own_kernels(monkeypatch):
    """Every kernel keeps its constants."""
    steps = tuple(step for step in host_program.HOST_STEPS if step is not share_kernels)
    monkeypatch.setattr(host_program, "HOST_STEPS", steps)


@pytest.fixture
def given(cpu_device):
    return on(cpu_device, 64, 96), on(cpu_device, 96, 96)


def bits_of(tensor):
    return ttnn.to_torch(tensor).contiguous().view(torch.int32)


def test_first_and_warm_calls_have_the_bits_of_kernels_of_their_own(given, monkeypatch):
    shared = jit(enable_cache=False)(layers)
    results = [bits_of(shared(*given)) for _ in range(4)]
    own_kernels(monkeypatch)
    expected = bits_of(jit(enable_cache=False)(layers)(*given))
    assert all(torch.equal(result, expected) for result in results)


def test_a_program_holds_few_kernels_and_its_numbers(given):
    program = jit(compile_only=True)(layers)(*given)
    assert len(program.plan.kernels) < 2 * LAYERS
    assert len(program.plan.constants) >= LAYERS
    again = Program.from_bytes(program.to_bytes())
    assert again.plan == program.plan
    assert torch.equal(bits_of(again(*given)), bits_of(program(*given)))


def test_two_programs_of_the_same_kernels_keep_their_numbers_apart(given):
    programs = [
        jit(enable_cache=False)(lambda x, w, base=base: ttnn.add(ttnn.matmul(ttnn.add(x, base), w), base + 0.5) * base)
        for base in (0.25, 3.0, 0.25, 3.0)
    ]
    results = [bits_of(function(*given)) for _ in range(3) for function in programs]
    assert all(torch.equal(result, results[k % 2]) for k, result in enumerate(results))
    assert not torch.equal(results[0], results[1])


def test_a_trace_reads_the_numbers_of_each_program(device):
    x, w = on(device, 64, 64), on(device, 64, 64)
    function = jit(enable_cache=False)(layers)
    expected = bits_of(function(x, w))
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    results = [function(x, w) for _ in range(2)]
    ttnn.end_trace_capture(device, trace, cq_id=0)
    del function
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    assert all(torch.equal(bits_of(result), expected) for result in results)


@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16])
def test_threads_load_the_numbers_in_every_chunk(dtype, cpu_device, monkeypatch):
    x, w = on(cpu_device, 2048, 512, dtype=dtype), on(cpu_device, 512, 512, dtype=dtype)
    shared = ttnn.to_torch(jit(enable_cache=False)(layers)(x, w))
    own_kernels(monkeypatch)
    assert torch.equal(shared, ttnn.to_torch(jit(enable_cache=False)(layers)(x, w)))


def attention(q, k, v):
    for layer in range(3):
        q = ttnn.transformer.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3 + 0.1 * layer)
    return q


def test_blocks_of_rows_skip_the_same_masked_columns_with_a_scale_of_its_own_in_each_layer(monkeypatch):
    tensors = [torch.randn(1, 2, 200, 16) for _ in range(3)]
    in_blocks(monkeypatch, 32)
    shared = jit(enable_cache=False)(attention)
    result, columns = shared(*tensors), columns_of(shared, *tensors)
    numbers = re.findall(r"reads  number", shared.ir(*tensors, stage="host"))
    own_kernels(monkeypatch)
    own = jit(enable_cache=False)(attention)
    assert torch.equal(result, own(*tensors))
    assert columns == columns_of(own, *tensors) != []
    assert len(numbers) >= 3


def test_in_place_updates_load_numbers(device, monkeypatch):
    def update(x, y):
        ttnn.multiply_(x, 0.3)
        ttnn.multiply_(y, 0.7)

    found = []
    for shares in (True, False):
        with monkeypatch.context() as patch:
            if not shares:
                own_kernels(patch)
            torch.manual_seed(0)
            x, y = on(device, 64, 64), on(device, 64, 64)
            function = jit(enable_cache=False)(update)
            for _ in range(3):
                function(x, y)
            found.append((bits_of(x), bits_of(y)))
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))


def test_programs_of_many_sizes_hold_numbers(cpu_device):
    every, one = (jit(enable_cache=False, dynamic=dynamic)(layers) for dynamic in (True, False))
    w, compiles = on(cpu_device, 96, 96), []
    for rows in (33, 64, 100, 40, 33):
        x = on(cpu_device, rows, 96)
        expected, before = bits_of(one(x, w)), ttnn_jit.cache_info().compiles
        assert torch.equal(bits_of(every(x, w)), expected)
        compiles.append(ttnn_jit.cache_info().compiles - before)
    assert compiles[0] == 1
    assert sum(compiles) < 4
