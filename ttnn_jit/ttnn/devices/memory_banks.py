"""The use of a device's memory banks, as ttnn's allocator reports it."""

from __future__ import annotations

from collections.abc import Iterable

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.l1 import in_l1
from ttnn_jit.specs.cores.memory_config import BufferType
from ttnn_jit.ttnn.calling.host_function import host_function


@dataclass(frozen=True)
class BankMemory:
    """The result of `ttnn.get_memory_view`: the bytes of the fullest bank.

    Attributes:
        num_banks: Number of banks: the cores for L1, the target's banks for DRAM.
        total_bytes_per_bank: Bytes that tensors may use.
        total_bytes_allocated_per_bank: Bytes that tensors use.
        total_bytes_free_per_bank: Bytes that are free.
        largest_contiguous_bytes_free_per_bank: The free bytes, since host memory has no fragmented banks.
        block_table: A row for every tensor and for the free rest: ``size`` and ``allocated``, as text.
    """

    num_banks: int
    total_bytes_per_bank: int
    total_bytes_allocated_per_bank: int
    total_bytes_free_per_bank: int
    largest_contiguous_bytes_free_per_bank: int
    block_table: list[dict[str, str]]

    @staticmethod
    def of(banks: int, total: int, blocks: Iterable[int], allocated: int | None = None) -> BankMemory:
        """The use of `banks` with `total` bytes each and `blocks` of these sizes; `allocated` if cores differ."""
        held = [block for block in blocks if block]
        used = sum(held) if allocated is None else allocated
        free = max(0, total - used)
        table = [{"size": str(block), "allocated": "yes"} for block in held]
        return BankMemory(banks, total, used, free, free, [*table, {"size": str(free), "allocated": "no"}])


@host_function(observed=False)
def get_memory_view(device: Device, buffer_type: BufferType = BufferType.DRAM) -> BankMemory:
    """The use of one kind of a device's memory; for a mesh that of its first device (ttnn.get_memory_view).

    In DRAM every tensor is counted as interleaved over all banks.

    Raises:
        ArgumentError: An argument has the wrong type, or tensors of a device cannot have this buffer type.
        DeviceError: The device is closed.
    """
    device.require_open("get_memory_view")
    member = device.members()[0]
    match buffer_type:
        case BufferType.DRAM:
            banks = member.target.dram_banks
            blocks = [-(-spec.nbytes // banks) for spec in member.live_specs() if not in_l1(spec)]
            return BankMemory.of(banks, member.dram_bytes // banks, blocks)
        case BufferType.L1:
            view = member.memory_view()
            blocks = [nbytes for _, nbytes in view.tensors]
            return BankMemory.of(len(view.cores), view.cores[0].capacity, blocks, view.used)
        case BufferType.TRACE:
            return BankMemory.of(1, member.trace_region_size, [trace.nbytes for trace in member.traces.values()])
        case _:
            raise ArgumentError(
                f"get_memory_view: no tensor is in {buffer_type.name}",
                help="ask for `ttnn.BufferType.DRAM`, `L1` or `TRACE`",
            )
