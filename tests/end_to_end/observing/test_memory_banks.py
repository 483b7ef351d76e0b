"""`ttnn.get_memory_view`: what lies in the banks of a device's memory."""

from __future__ import annotations

import gc

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError


def tensor(device, memory_config=None):
    return ttnn.from_torch(
        torch.ones(384, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config
    )


def test_tensors_in_dram_are_counted_over_its_banks_while_they_live(device):
    gc.collect()
    before = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
    x = tensor(device)
    held = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
    taken = held.total_bytes_allocated_per_bank - before.total_bytes_allocated_per_bank
    assert taken * held.num_banks == 384 * 64 * 2
    assert held.total_bytes_per_bank == device.dram_bytes // held.num_banks
    assert held.total_bytes_free_per_bank == held.total_bytes_per_bank - held.total_bytes_allocated_per_bank
    assert {"size": str(taken), "allocated": "yes"} in held.block_table
    assert sum(int(block["size"]) for block in held.block_table) == held.total_bytes_per_bank
    ttnn.deallocate(x)
    assert ttnn.get_memory_view(device, ttnn.BufferType.DRAM) == before


def test_tensors_in_l1_are_counted_on_the_fullest_core(device):
    config = ttnn.create_sharded_memory_config(
        (384, 64), core_grid=ttnn.CoreGrid(y=1, x=4), strategy=ttnn.ShardStrategy.HEIGHT
    )
    x = tensor(device, config)
    view = ttnn.device.get_memory_view(device, ttnn.BufferType.L1)
    rows, columns = device.target.grid
    assert (view.num_banks, view.total_bytes_per_bank) == (rows * columns, device.target.l1_bytes)
    assert view.total_bytes_allocated_per_bank == 96 * 64 * 2
    ttnn.deallocate(x)
    assert ttnn.get_memory_view(device, ttnn.BufferType.L1).total_bytes_allocated_per_bank == 0


def test_traces_are_counted_in_the_trace_region():
    device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)
    x = tensor(device)
    trace = ttnn.begin_trace_capture(device)
    ttnn.exp(x)
    ttnn.end_trace_capture(device, trace)
    view = ttnn.get_memory_view(device, ttnn.BufferType.TRACE)
    assert (view.num_banks, view.total_bytes_per_bank) == (1, 1 << 20)
    assert view.total_bytes_allocated_per_bank == trace.traces[0].nbytes > 0
    ttnn.release_trace(device, trace)
    assert ttnn.get_memory_view(device, ttnn.BufferType.TRACE).total_bytes_allocated_per_bank == 0
    ttnn.close_device(device)


def test_other_memory_is_refused_by_name(device):
    with pytest.raises(ArgumentError, match="no tensor is in SYSTEM_MEMORY"):
        ttnn.get_memory_view(device, ttnn.BufferType.SYSTEM_MEMORY)
    with pytest.raises(ArgumentError, match=r"`device` of get_memory_view must be a ttnn\.Device, got 0"):
        ttnn.get_memory_view(0, ttnn.BufferType.DRAM)


def test_a_call_that_takes_the_second_form_of_its_operation_keeps_nothing(device):
    def call():
        pixels = ttnn.from_torch(torch.ones(1, 3, 8, 8), dtype=ttnn.bfloat16, device=device)
        ttnn.fold(pixels, 2, 2, use_transpose_as_fold=True, pad_c=1, pad_h=0, pad_w=0)

    call()
    gc.collect()
    before = ttnn.get_memory_view(device, ttnn.BufferType.DRAM)
    gc.disable()
    try:
        call()
        assert ttnn.get_memory_view(device, ttnn.BufferType.DRAM) == before
    finally:
        gc.enable()
