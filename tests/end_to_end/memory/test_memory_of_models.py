"""Memory of models, in bytes of plans and of the pool: dead buffers are reused and returned."""

from __future__ import annotations

import gc

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.runtime.memory.buffer import HOST_POOL


def layers(x, weights):
    """Per layer a product, softmax, a product of another width, and an operation that no reader is fused with."""
    for narrow, wide in weights:
        scores = ttnn.softmax(ttnn.matmul(x, narrow), -1)
        x = ttnn.add(x, ttnn.matmul(ttnn.permute(ttnn.exp(scores), (0, 1)), wide))
    return x


def of_depth(depth, device):
    def made(*shape):
        return ttnn.from_torch(torch.randn(shape), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

    return made(64, 96), [(made(96, 160), made(160, 96)) for _ in range(depth)]


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_intermediates_of_a_program_take_as_much_memory_of_three_layers_as_of_five(target):
    device = ttnn.open_device(device_id=0, target=target)
    requests = [ttnn_jit.jit()(layers).request(*of_depth(depth, device)) for depth in (3, 5)]
    plans = [compile_program(request, use_disk=False).program.plan for request in requests]
    few, many = (sum(spec.nbytes for spec in plan.intermediates) for plan in plans)
    assert len(plans[0].launches) < len(plans[1].launches)
    assert 0 < few == many


def test_layers_that_share_memory_give_what_they_give_one_after_the_other(device):
    x, weights = of_depth(5, device)
    jitted = ttnn_jit.jit()(layers)
    alone = x
    for pair in weights:
        alone = jitted(alone, [pair])
    assert torch.equal(ttnn.to_torch(jitted(x, weights)), ttnn.to_torch(alone))


@pytest.mark.parametrize("run", [layers, ttnn_jit.jit()(layers)], ids=["eager", "jitted"])
def test_a_call_leaves_no_more_in_the_pool_than_its_result(run, cpu_device):
    x, weights = of_depth(3, cpu_device)
    run(x, weights)
    gc.collect()
    before = HOST_POOL.statistics()
    for _ in range(3):
        result = run(x, weights)
    held = HOST_POOL.statistics()
    assert held.live_bytes - before.live_bytes == result.spec.nbytes
    del result
    after = HOST_POOL.statistics()
    assert (after.live_bytes, after.mapped_bytes) == (before.live_bytes, before.mapped_bytes)
