"""What lies in the banks of a device's memory, as ttnn's allocator tells it."""

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
    """What `ttnn.get_memory_view` gives: bytes of one bank, the fullest one, of as many as there are.

    Attributes:
        num_banks: Cores, of L1; of DRAM what it is spread over.
        total_bytes_per_bank: That tensors may take.
        total_bytes_allocated_per_bank: That they take now.
        total_bytes_free_per_bank: The rest.
        largest_contiguous_bytes_free_per_bank: As many: memory of the host has no addresses of a bank, and no gaps.
        block_table: Of every tensor, and of what is free: its ``size``, and whether it is ``allocated``, as text.
    """

    num_banks: int
    total_bytes_per_bank: int
    total_bytes_allocated_per_bank: int
    total_bytes_free_per_bank: int
    largest_contiguous_bytes_free_per_bank: int
    block_table: list[dict[str, str]]

    @staticmethod
    def of(banks: int, total: int, blocks: Iterable[int], allocated: int | None = None) -> BankMemory:
        """Of `banks` with `total` bytes each and blocks of these bytes; `allocated` where cores are not alike."""
        held = [block for block in blocks if block]
        used = sum(held) if allocated is None else allocated
        free = max(0, total - used)
        table = [{"size": str(block), "allocated": "yes"} for block in held]
        return BankMemory(banks, total, used, free, free, [*table, {"size": str(free), "allocated": "no"}])


@host_function(observed=False)
def get_memory_view(device: Device, buffer_type: BufferType = BufferType.DRAM) -> BankMemory:
    """What lies in one kind of a device's memory, of a mesh in that of the first device (ttnn.get_memory_view).

    In DRAM every tensor is counted as spread over all banks.

    Raises:
        ArgumentError: An argument of another kind, or tensors of a device do not lie there.
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
                f"get_memory_view: no tensor lies in {buffer_type.name}",
                help="ask for `ttnn.BufferType.DRAM`, `L1` or `TRACE`",
            )
