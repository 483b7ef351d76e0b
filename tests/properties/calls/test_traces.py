"""Replays of random captured programs have the bits of running them again on the same inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.runtime.native import chunks
from ttnn_jit.runtime.plans.host_costs import HOST_COSTS
from ttnn_jit.specs.options import requested_threads

SHAPES = [(32, 32), (64, 96), (2, 32, 64)]


@ttnn_jit.jit()
def fused(x, y):
    return ttnn.multiply(ttnn.exp(ttnn.neg(ttnn.abs(x))), y)


@ttnn_jit.jit()
def written(x, y):
    ttnn.add_(x, ttnn.sigmoid(y))
    return ttnn.subtract(x, y)


def replaced(x, y):
    """The first operand is freed after its sum, as models free activations."""
    result = ttnn.add(x, y)
    copied = ttnn.multiply(result, 0.5)
    ttnn.deallocate(result)
    return copied


def through_l1(x, y):
    total = ttnn.add(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG), y)
    return ttnn.to_memory_config(total, ttnn.DRAM_MEMORY_CONFIG)


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": ttnn.add,
    "where": lambda x, y: ttnn.where(ttnn.gt(x, 0.0), x, y),
    "fused": fused,
    "written": written,
    "replaced": replaced,
    "in place": ttnn.add_,
    "output": lambda x, y: ttnn.multiply(x, 0.5, output_tensor=y),
    "norm": lambda x, y: ttnn.add(ttnn.layer_norm(x), y),
    "sum": lambda x, y: ttnn.subtract(x, ttnn.sum(y, -1, True)),
    "product": lambda x, y: ttnn.matmul(ttnn.matmul(x, ttnn.transpose(y, -2, -1)), y),
    "parts": lambda x, y: ttnn.add(ttnn.concat(ttnn.split(x, 16, -1), -1), y),
    "rows": lambda x, y: ttnn.to_layout(ttnn.to_layout(ttnn.tanh(x), ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT),  # noqa: ARG005
    "l1": through_l1,
    "cast": lambda x, y: ttnn.typecast(ttnn.typecast(x, ttnn.bfloat16), y.dtype),
    "constant": lambda x, y: ttnn.multiply(ttnn.full_like(x, 0.75), y),
    "moved": lambda x, y: ttnn.move(ttnn.add(x, y)),
}
"""Functions of two tensors of one shape, which is that of the result too."""


@st.composite
def programs(draw):
    """Steps, each with the numbers of its operands."""
    names = draw(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=6))
    operands = [draw(st.tuples(*[st.integers(0, 1 + number)] * 2)) for number, _ in enumerate(names)]
    # A written value is not read elsewhere in the same call.
    return [
        (name, i, j if i != j else (i + 1) % (2 + number))
        for number, (name, (i, j)) in enumerate(zip(names, operands, strict=True))
    ]


def run(program, x, y):
    values = [x, y]
    for name, i, j in program:
        values.append(STEPS[name](values[i], values[j]))
    return values[2:]


def numbers(shape, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(shape, generator=generator)
    drawn.view(-1)[:3] = torch.tensor([float("nan"), float("inf"), -0.0])
    return ttnn.from_torch(drawn, dtype=dtype, layout=ttnn.TILE_LAYOUT)


def stored(tensors):
    return [tensor.stored_bytes() for tensor in tensors]


@pytest.fixture
def threads(request, monkeypatch):
    """Kernels of any size are shared among so many threads."""
    monkeypatch.setattr(chunks, "HOST_COSTS", replace(HOST_COSTS, shared_from_ns=0.0, wakes_from_ns=0.0))
    monkeypatch.setattr(chunks, "MIN_ELEMENTS", 512)
    monkeypatch.setattr(chunks, "MAX_ELEMENTS", 512)
    monkeypatch.setenv("TTNN_JIT_NUM_THREADS", str(request.param))
    requested_threads.cache_clear()
    yield
    requested_threads.cache_clear()


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("threads", [1, 2], indirect=True)
@pytest.mark.parametrize("target", ["wormhole_b0", "cpu"])
def test_a_replay_has_the_bits_of_a_run(target, threads):  # noqa: ARG001
    @settings(max_examples=25, deadline=None)
    @given(programs(), st.sampled_from(SHAPES), st.sampled_from([ttnn.float32, ttnn.bfloat16]))
    def check(program, shape, dtype):
        device = ttnn.open_device(device_id=0, target=target)
        inputs = [ttnn.to_device(numbers(shape, dtype, seed), device) for seed in (1, 2)]
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        results = run(program, *inputs)
        ttnn.end_trace_capture(device, trace, cq_id=0)
        for seed in (3, 5):
            hosts = [numbers(shape, dtype, seed + number) for number in range(2)]
            again = [ttnn.to_device(host, device) for host in hosts]
            for host, tensor in zip(hosts, inputs, strict=True):
                ttnn.copy_host_to_device_tensor(host, tensor)
            # Twice on the same tensors: the next run sees updates of the inputs.
            for _ in range(2):
                ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
                expected = run(program, *again)
                assert stored([*results, *inputs]) == stored([*expected, *again])
        ttnn.close_device(device)

    check()
