"""Tensors: storage, conversion, lifetime."""

from __future__ import annotations

import ctypes

import pytest
import torch

from tests.unit.runtime.kernels import row_major, tiled
from ttnn_jit.diagnostics.errors import DeallocatedError, DeviceError, ShapeError
from ttnn_jit.runtime.device import Device, implicit_cpu_device
from ttnn_jit.runtime.elements.torch_elements import torch_tensor
from ttnn_jit.runtime.tensors.tensors_from_host import from_torch
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec


@pytest.fixture
def chip():
    with Device(PRESETS["wormhole_b0"], 0) as opened:
        yield opened


def test_a_tensor_prints_as_its_spec(chip):
    spec = tiled(5, 40)
    tensor = from_torch(torch.zeros(5, 40), spec, chip)
    assert tensor.shape == (5, 40)
    assert tensor.padded_shape == (32, 64)
    assert tensor.dtype is DataType.FLOAT32
    assert tensor.layout is Layout.TILE
    assert tensor.memory_config() == spec.memory_config
    assert tensor.device() is chip
    assert tensor.volume() == 200
    assert not tensor.is_sharded()


def test_padding_of_tiles_is_zero_even_in_reused_memory(chip):
    nbytes = 32 * 64 * 4
    dirty = chip.first_fit.allocate(nbytes)
    ctypes.memset(dirty.address, 255, nbytes)
    address = int(dirty.address)
    del dirty
    tensor = from_torch(torch.ones(5, 40), tiled(5, 40), chip)
    assert tensor.buffer_address() == address
    stored = torch.frombuffer((ctypes.c_char * nbytes).from_address(address), dtype=torch.float32)
    stored = stored.view(32, 64)
    assert (stored[:5, :40] == 1).all()
    assert stored.sum() == 200


def test_from_torch_copies_from_any_strides(chip):
    source = torch.arange(24.0).reshape(4, 6)
    tensor = from_torch(source.T, row_major(6, 4), chip)
    expected = source.T.clone()
    source.zero_()
    assert torch.equal(tensor.to_torch(), expected)


def test_conversion_to_bf16_rounds_to_nearest_even_and_keeps_nan():
    values = torch.tensor([1.0 + 2**-8, 1.0 + 3 * 2**-8, float("nan"), 1e-40, 3.4e38])
    tensor = from_torch(values, TensorSpec((5,), DataType.BFLOAT16), None)
    result = tensor.to_torch()
    assert result.dtype is torch.bfloat16
    assert result[:2].tolist() == [1.0, 1.0 + 2**-6]
    assert result[2].isnan()
    assert result[3] != 0  # denormal
    assert result[4].isinf()


def test_a_torch_tensor_that_requires_grad_gives_its_values():
    values = torch.ones(3, requires_grad=True)
    assert from_torch(values, row_major(3), None).to_torch().tolist() == [1, 1, 1]


def test_to_torch_owns_its_memory(chip):
    tensor = from_torch(torch.ones(64, 64), row_major(64, 64), chip)
    result = tensor.to_torch()
    tensor.deallocate()
    filler = [from_torch(torch.zeros(64, 64), row_major(64, 64), chip) for _ in range(8)]
    assert (result == 1).all()
    assert len(filler) == 8


def test_a_torch_tensor_over_a_buffer_keeps_it_alive(chip):
    buffer = chip.pool.allocate(16)
    address = int(buffer.address)
    view = torch_tensor(row_major(4), buffer)[1:]
    del buffer
    assert chip.pool.allocate(16).address != address
    del view
    assert chip.pool.allocate(16).address == address


def test_cpu_returns_a_host_copy_and_host_tensors_themselves(chip):
    tensor = from_torch(torch.ones(2, 2), tiled(2, 2), chip)
    host = tensor.cpu()
    assert host.device() is None
    assert host.cpu() is host
    tensor.deallocate()
    assert torch.equal(host.to_torch(), torch.ones(2, 2))
    assert torch.equal(host.to(chip).to_torch(), torch.ones(2, 2))


def test_using_a_deallocated_tensor_names_the_operation_and_the_tensor(chip):
    tensor = from_torch(torch.ones(2, 3), row_major(2, 3), chip)
    tensor.deallocate()
    tensor.deallocate()
    assert not tensor.is_allocated()
    with pytest.raises(DeallocatedError, match=r"to_torch: the tensor was deallocated: .*Shape\(\[2, 3\]\)"):
        tensor.to_torch()
    with pytest.raises(RuntimeError, match="cpu: the tensor was deallocated"):
        tensor.cpu()


def test_repr_is_short_and_never_fails(chip):
    tensor = from_torch(torch.arange(2048.0 * 2048).reshape(2048, 2048), tiled(2048, 2048), chip)
    assert len(repr(tensor)) < 500
    tensor.deallocate()
    assert repr(tensor) == (
        "ttnn.Tensor(<buffer is not allocated>, shape=Shape([2048, 2048]), dtype=DataType.FLOAT32, layout=Layout.TILE)"
    )


def test_a_spec_of_another_shape_is_refused():
    with pytest.raises(ShapeError, match=r"shape \[2, 3\] cannot become"):
        from_torch(torch.ones(2, 3), row_major(3, 2), None)
    strided = TensorSpec((2, 3), DataType.FLOAT32, strides=(1, 2))
    with pytest.raises(ShapeError, match="has strides"):
        from_torch(torch.ones(2, 3), strided, None)


def test_a_closed_device_is_refused_by_name():
    device = Device(PRESETS["blackhole"], 3)
    tensor = from_torch(torch.ones(2), row_major(2), device)
    device.close()
    device.close()
    for use in (tensor.to_torch, tensor.cpu, lambda: from_torch(torch.ones(2), row_major(2), device)):
        with pytest.raises(DeviceError, match=r"Device\(blackhole rules on cpu, id=3\) is closed"):
            use()


def test_the_implicit_cpu_device_is_one_and_is_reopened_after_a_close():
    first = implicit_cpu_device()
    assert implicit_cpu_device() is first
    assert first.target.name == "cpu"
    first.close()
    assert not implicit_cpu_device().closed


def test_a_device_knows_its_cores(chip):
    assert (chip.core_grid.x, chip.core_grid.y) == (8, 8)
