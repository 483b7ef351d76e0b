"""An eager operation that ran on such tensors before goes straight to its program, and no call is wrong for that."""

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.errors import ArgumentError, DeallocatedError, DeviceError


@pytest.fixture
def device():
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)


def on(device, *shape):
    return ttnn.from_torch(torch.randn(shape), layout=ttnn.TILE_LAYOUT, device=device)


def warmed(operation, *tensors):
    for _ in range(3):
        result = operation(*tensors)
    return result


def test_every_call_gives_the_bits_of_the_first(device):
    x, y = on(device, 32, 64), on(device, 32, 64)
    first = ttnn.add(x, y)
    assert torch.equal(ttnn.to_torch(warmed(ttnn.add, x, y)), ttnn.to_torch(first))
    assert torch.equal(ttnn.to_torch(ttnn.add(y, y)), ttnn.to_torch(y) * 2)


def test_a_warm_call_asks_neither_for_a_declaration_nor_for_a_key(device, monkeypatch):
    x = on(device, 32, 32)
    first = warmed(ttnn.exp, x)
    monkeypatch.setattr("ttnn_jit.ttnn.operation.bind", None)
    monkeypatch.setattr("ttnn_jit.ttnn.operation.scalar_key", None)
    assert torch.equal(ttnn.to_torch(ttnn.exp(x)), ttnn.to_torch(first))


def test_what_is_wrong_is_refused_on_a_warm_call_too(device):
    x, y = on(device, 32, 32), on(device, 32, 32)
    warmed(ttnn.add, x, y)
    with pytest.raises(ArgumentError, match="different devices"):
        ttnn.add(x, on(ttnn.open_device(device_id=1), 32, 32))
    ttnn.deallocate(y)
    with pytest.raises(DeallocatedError):
        ttnn.add(x, y)
    ttnn.close_device(device)
    with pytest.raises(DeviceError):
        ttnn.add(x, x)


def test_a_jitted_function_records_an_operation_that_is_warm(device):
    x = on(device, 32, 32)
    warmed(ttnn.add, x, x)
    doubled = ttnn_jit.jit(graph_capture=True)(lambda v: ttnn.add(v, v))
    assert torch.equal(ttnn.to_torch(doubled(x)), ttnn.to_torch(x) * 2)


def test_a_users_operation_follows_its_function(device):
    x = on(device, 32, 32)
    operation = ttnn_jit.tile_op(lambda v: v * SCALES["now"])
    SCALES["now"] = 2.0
    warmed(operation, x)
    SCALES["now"] = 4.0
    assert torch.equal(ttnn.to_torch(operation(x)), ttnn.to_torch(x) * 4)


def test_clear_forgets_warm_programs(device):
    x = on(device, 32, 32)
    warmed(ttnn.abs, x)
    ttnn.abs.clear()
    assert ttnn.abs.num_entries == 0
    ttnn.abs(x)
    assert ttnn.abs.num_entries == 1


SCALES = {"now": 1.0}
