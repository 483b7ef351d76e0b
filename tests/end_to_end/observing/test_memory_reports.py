"""`ttnn.dump_device_memory_state`: the reports that ttnn writes of a device's memory."""

from __future__ import annotations

import csv

import pytest
import torch

from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, DeviceError

NAMES = ("detailed_memory_usage", "l1_usage_summary", "memory_usage_summary")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "generated" / "reports"


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [[cell.strip() for cell in row] for row in csv.reader(file)]


def tensor(device, memory_config):
    x = torch.ones(384, 64)
    return ttnn.from_torch(x, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)


def test_three_reports_agree_with_the_memory_views(device, folder):
    held = [tensor(device, ttnn.DRAM_MEMORY_CONFIG), tensor(device, ttnn.L1_MEMORY_CONFIG)]
    ttnn.dump_device_memory_state(device, prefix="before_")
    assert sorted(path.name for path in folder.iterdir()) == [f"before_{name}.csv" for name in NAMES]
    dram, l1 = (ttnn.get_memory_view(device, kind) for kind in (ttnn.BufferType.DRAM, ttnn.BufferType.L1))
    _, *summary = rows(folder / "before_memory_usage_summary.csv")
    assert summary == [
        ["", *(str(getattr(view, f"{name}_per_bank")) for name in (
            "total_bytes", "total_bytes_allocated", "total_bytes_free", "largest_contiguous_bytes_free"
        ))]
        for view in (dram, l1)
    ]  # fmt: skip
    free = l1.largest_contiguous_bytes_free_per_bank
    assert rows(folder / "before_l1_usage_summary.csv")[2] == ["", str(free), str(free * l1.num_banks)]
    assert all(map(ttnn.is_tensor_storage_on_device, held))


def test_switches_of_reports_are_accepted_and_have_no_effect(device, folder):
    ttnn.device.EnableMemoryReports()
    assert not folder.exists()
    ttnn.device.DisableMemoryReports()
    ttnn.device.dump_device_memory_state(device)
    assert folder.exists()


def test_the_module_of_devices_has_the_names_of_devices_and_no_others(device):
    ttnn.device.SetDefaultDevice(device)
    assert ttnn.device.GetDefaultDevice() is device
    ttnn.device.SetDefaultDevice(None)
    with pytest.raises(AttributeError, match="did you mean `CloseDevice`"):
        ttnn.device.CloseDevic  # noqa: B018


def test_the_detailed_report_has_every_tensor_as_a_block(device, folder):
    x = tensor(device, ttnn.DRAM_MEMORY_CONFIG)
    nbytes = 384 * 64 * 2 // ttnn.get_memory_view(device).num_banks
    block = ["", "", "", "", str(nbytes), "Y"]

    def blocks():
        ttnn.device.dump_device_memory_state(device)
        found = rows(folder / "detailed_memory_usage.csv")
        assert [row[1] for row in found if len(row) == 2] == ["DRAM", "L1"]
        return found.count(block)

    before = blocks()
    ttnn.deallocate(x)
    assert blocks() == before - 1


def test_a_closed_device_and_arguments_of_another_kind_are_refused_and_write_nothing(folder):
    device = ttnn.open_device(device_id=0)
    with pytest.raises(ArgumentError, match="`prefix` of dump_device_memory_state must be a text, got 3"):
        ttnn.dump_device_memory_state(device, 3)
    ttnn.close_device(device)
    with pytest.raises(DeviceError, match="get_memory_view"):
        ttnn.dump_device_memory_state(device)
    with pytest.raises(ArgumentError):
        ttnn.dump_device_memory_state(0)
    assert not folder.exists()
