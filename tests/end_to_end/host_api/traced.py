"""Shared helpers of the tests of traces: programs, their tensors, and the capture of a call."""

from __future__ import annotations

import torch

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn


def host(shape=(64, 64), dtype=torch.float32):
    return ttnn.from_torch(torch.randn(shape, dtype=dtype), layout=ttnn.TILE_LAYOUT)


def on(device, shape=(64, 64), **keywords):
    return ttnn.to_device(host(shape), device, **keywords)


def overwrite(*tensors):
    for tensor in tensors:
        ttnn.copy_host_to_device_tensor(host(tuple(tensor.shape)), tensor)


def captured(device, function, *args):
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    result = function(*args)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    return trace, result


def same(a, b):
    return torch.equal(ttnn.to_torch(a), ttnn.to_torch(b))


jitted = ttnn_jit.jit()(programs.add_mul_exp_sigmoid)


def layers(x, y):
    z = jitted(x, y)
    z = ttnn.matmul(z, ttnn.permute(x, (1, 0)))
    return ttnn.softmax(ttnn.to_layout(ttnn.to_layout(z, ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT), dim=-1)
