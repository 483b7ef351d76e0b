"""The three reports on a device's memory that ttnn writes.

Names, headers and columns are those of tt-metal's ``memory_reporter.cpp``, and sizes are in bytes, so that tools for
these files work.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.runtime.device import Device
from ttnn_jit.specs.cores.memory_config import BufferType
from ttnn_jit.ttnn.calling.host_function import host_function
from ttnn_jit.ttnn.devices.memory_banks import BankMemory, get_memory_view

_FOLDER = Path("generated/reports")


@host_function(observed=False)
def dump_device_memory_state(device: Device, prefix: str = "") -> None:
    """Write the use of DRAM and L1 to three files in ``generated/reports`` (ttnn.dump_device_memory_state).

    ``<prefix>memory_usage_summary.csv`` has a row for DRAM and one for L1: total, allocated and free bytes of a bank,
    and its largest free block. ``<prefix>l1_usage_summary.csv`` has the largest free block of a core and the free bytes
    of all cores. ``<prefix>detailed_memory_usage.csv`` has the totals of all banks, and every block; addresses are
    empty, since host memory has no banks. For a mesh the reports are those of the first device.

    Args:
        device: The device.
        prefix: Prefix of the file names.

    Raises:
        ArgumentError: An argument has the wrong type.
        DeviceError: The device is closed.
        OSError: The files cannot be written.
    """
    views = {kind: get_memory_view(device, kind) for kind in (BufferType.DRAM, BufferType.L1)}
    reports = {
        "memory_usage_summary": _memory_usage_summary(views),
        "l1_usage_summary": _l1_usage_summary(views[BufferType.L1]),
        "detailed_memory_usage": _detailed_memory_usage(views),
    }
    for name, lines in reports.items():
        path = _FOLDER / f"{prefix}{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_complete(path, [f"{line}\n".encode() for line in lines])


def _memory_usage_summary(views: dict[BufferType, BankMemory]) -> Iterator[str]:
    yield ", Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free Block (B)"
    for view in views.values():
        yield (
            f",{view.total_bytes_per_bank},{view.total_bytes_allocated_per_bank},{view.total_bytes_free_per_bank},"
            f"{view.largest_contiguous_bytes_free_per_bank}"
        )


def _l1_usage_summary(view: BankMemory) -> Iterator[str]:
    yield "This report indicates available space for interleaving L1 buffers"
    yield ", Largest Contiguous Free Block (B), Total Free L1 Space (B)"
    largest = view.largest_contiguous_bytes_free_per_bank
    yield f",{largest},{largest * view.num_banks}"


def _detailed_memory_usage(views: dict[BufferType, BankMemory]) -> Iterator[str]:
    for kind, view in views.items():
        yield f",{kind.name}"
        yield f",Total allocatable (B):,{view.total_bytes_per_bank * view.num_banks}"
        yield f",Total allocated (B):,{view.total_bytes_allocated_per_bank * view.num_banks}"
        yield f",Total free (B):,{view.total_bytes_free_per_bank * view.num_banks}"
        yield ",,Blocks:,Address (B),Size (B),Allocated (Y/N)"
        for block in view.block_table:
            yield f",,,,{block['size']},{'Y' if block['allocated'] == 'yes' else 'N'}"
