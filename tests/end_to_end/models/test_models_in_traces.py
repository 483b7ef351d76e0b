"""Whole models in traces as public programs capture them: a first run prepares weights, the second is captured."""

import pytest
import torch

from benchmarks.programs.model_programs import module_of
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TraceError


def images(seed, config):
    pixels = torch.randn((1, 3, config.image, config.image), generator=torch.Generator().manual_seed(seed))
    return ttnn.from_torch(pixels, dtype=ttnn.bfloat16)


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_trace_of_resnet_is_captured_after_a_first_run_and_replays_on_other_images(target):
    module = module_of("resnet50")
    device = ttnn.open_device(device_id=0, target=target)
    _, network = module.load(module.SMALL, device, 1)
    pixels = ttnn.to_device(images(1, module.SMALL), device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    with pytest.raises(TraceError, match=r"resnet50\.py"):  # its weights lie on the host
        network(pixels)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.release_trace(device, trace)

    wanted = [ttnn.to_torch(network(ttnn.to_device(images(seed, module.SMALL), device))) for seed in (1, 2)]
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    logits = network(pixels)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    for seed, want in zip((1, 2), wanted, strict=True):
        ttnn.copy_host_to_device_tensor(images(seed, module.SMALL), pixels)
        ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
        assert torch.equal(ttnn.to_torch(logits), want)
    assert not torch.equal(*wanted)
    ttnn.close_device(device)
