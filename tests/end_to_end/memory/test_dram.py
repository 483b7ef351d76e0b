"""DRAM has the size of the target: overflow is refused by name, and no memory is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import DramCapacityError
from ttnn_jit.specs.target import PRESETS

MB = 1 << 20


@pytest.fixture(params=["wormhole_b0", "cpu"])
def small(request):
    """A device with 8 MB of DRAM."""
    device = ttnn.open_device(device_id=0, target=replace(PRESETS[request.param], dram_bytes=8 * MB))
    yield device
    ttnn.close_device(device)


def on(device, megabytes, dtype=ttnn.float32, **keywords):
    per = {ttnn.float32: 4, ttnn.bfloat16: 2, ttnn.bfloat8_b: 1}[dtype]
    x = torch.zeros(megabytes * MB // 1024 // per, 1024)
    return ttnn.from_torch(x, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device, **keywords)


def test_a_tensor_beyond_dram_is_refused_with_the_largest_allocated_ones(small):
    big, little = on(small, 5), on(small, 2)
    with pytest.raises(DramCapacityError) as caught:
        on(small, 4, ttnn.bfloat16)
    text = str(caught.value)
    assert "of 8,388,608 there are 1,048,576 left" in text
    assert "4,194,304 bytes" in text
    assert text.index(f"5,242,880 bytes of {big.spec}") < text.index(f"2,097,152 bytes of {little.spec}")
    ttnn.deallocate(big)
    assert on(small, 6).is_allocated()


def test_stored_bytes_are_counted_and_views_once(small):
    packed = [on(small, 1, ttnn.bfloat8_b) for _ in range(7)]  # 1,088 bytes for 1,024 elements
    view = ttnn.reshape(packed[0], (1, *packed[0].shape))
    assert view.is_allocated()
    with pytest.raises(DramCapacityError):
        on(small, 1, ttnn.bfloat8_b)
    del packed[0]
    with pytest.raises(DramCapacityError):
        on(small, 1, ttnn.bfloat8_b)
    del view
    assert on(small, 1, ttnn.bfloat8_b).is_allocated()


@pytest.mark.parametrize("kind", ["eager", "jitted"])
def test_a_call_whose_result_does_not_fit_is_refused_warm_too_and_runs_when_it_does(small, kind):
    def f(x):
        return ttnn.exp(x)

    call = ttnn_jit.jit()(f) if kind == "jitted" else f
    x = on(small, 3)
    for _ in range(3):
        call(x)
    kept = [call(x)]
    with pytest.raises(DramCapacityError, match=r"largest tensors on .* are 3,145,728 bytes of"):
        kept.append(call(x))
    kept.clear()
    assert ttnn.to_torch(call(x)).eq(1).all()


def test_tensors_in_l1_on_the_host_or_on_another_device_use_no_dram(small, cpu_device):
    kept = [on(small, 7), on(cpu_device, 9), on(None, 9)]
    kept.append(on(small, 3, memory_config=ttnn.L1_MEMORY_CONFIG))
    assert on(small, 1).is_allocated()


def test_a_graph_captured_without_dispatch_reports_overflow(small):
    x = on(small, 3)
    ttnn.graph.begin_graph_capture(ttnn.graph.RunMode.NO_DISPATCH)
    try:
        y = ttnn.exp(x)
        with pytest.raises(DramCapacityError):
            ttnn.add(x, y)
    finally:
        ttnn.graph.end_graph_capture()


def test_chips_have_their_own_dram_and_the_cpu_has_the_hosts_memory(cpu_device):
    assert PRESETS["wormhole_b0"].dram_bytes == 12 << 30
    assert cpu_device.dram_bytes > 1 << 30
