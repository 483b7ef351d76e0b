"""The memory of a device's tensors that traces use: the tensor at capture, and the tensor that has the block now.

A trace keeps addresses, so their blocks stay reserved while it may run. If a captured tensor was freed, a new tensor of
the same spec reuses its block, as first fit by address does on a chip: programs free the input of a trace and allocate
it again. Among all free blocks of its size the new tensor gets the one that was mapped first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.memory.buffer import ADDRESS_IS_KNOWN, Buffer, SizeClass, address_of, freeing_address_type
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class CapturedTensor:
    """A tensor at its first use by a trace.

    Attributes:
        spec: Its spec.
        location: The user's line of that use.
    """

    spec: TensorSpec
    location: Location | None


@dataclass(slots=True)
class _Block:
    home: SizeClass
    spec: TensorSpec
    traces: set[object]
    reused_at: Location | None = None


class CapturedMemory:
    """The blocks of one device that its traces use.

    Attributes:
        freed: Addresses of blocks whose tensors were freed.
    """

    def __init__(self) -> None:
        self.freed: list[int] = []
        self._address_type = freeing_address_type(self.freed.append)
        self._blocks: dict[int, _Block] = {}
        self._reused: set[int] = set()
        self._lock = threading.RLock()

    def capture(self, trace_id: object, buffer: Buffer, spec: TensorSpec) -> None:
        """Reserve the memory of a tensor that a trace uses."""
        address = address_of(buffer)
        if getattr(buffer, "lease", None) is None:
            buffer.lease = ADDRESS_IS_KNOWN
        with self._lock:
            block = self._blocks.setdefault(int(address), _Block(buffer.home, spec, set()))
            block.traces.add(trace_id)
            block.spec = spec
            address.__class__ = self._address_type

    def take(self, spec: TensorSpec, *, on_purpose: bool, location: Location | None) -> Buffer | None:
        """Captured memory of a freed tensor of the same spec; None if there is none.

        Args:
            spec: The spec of the new tensor.
            on_purpose: Whether the reuse is intended, so that replays do not warn.
            location: The user's line of the allocation.
        """
        with self._lock:
            self._reclaim()
            fitting = [at for at in self.freed if (block := self._blocks[at]).spec is spec and block.traces]
            if not fitting:
                return None
            address = min(fitting, key=lambda at: self._blocks[at].home.order[at])
            block = self._blocks[address]
            if any(block.home.order[at] < block.home.order[address] for at in [*block.home.free]):
                return None
            block.reused_at = None if on_purpose else location
            (self._reused.discard if on_purpose else self._reused.add)(address)
            buffer = block.home.buffer()
            buffer._home = block.home
            buffer.lease = ADDRESS_IS_KNOWN
            index = self.freed.index(address)
            # Atomic: an address that an interrupt leaves without a buffer is freed again.
            del self.freed[index]
            buffer.address = self._address_type(address)
            return buffer

    def release(self, trace_id: object) -> None:
        """Release a trace: blocks that no other trace uses return to the pool, at once or when their tensors die."""
        with self._lock:
            for block in self._blocks.values():
                block.traces.discard(trace_id)
            self._reused = {at for at in self._reused if self._blocks[at].traces}
            self._reclaim()

    def discard(self, trace_id: object, address: int) -> None:
        """Release one block, which a trace does not use any more."""
        with self._lock:
            self._blocks[address].traces.discard(trace_id)
            self._reclaim()

    def _reclaim(self) -> None:
        """Return blocks to the pool that no trace uses and no tensor has."""
        for address in [at for at in self.freed if not self._blocks[at].traces]:
            index, free = self.freed.index(address), self._blocks[address].home.free
            # Atomic up to the end of the body.
            del self.freed[index], self._blocks[address]
            free += (address,)

    def warn(self, trace_id: object, captured: Mapping[int, CapturedTensor], warned: set[int]) -> None:
        """Warn once for each tensor of a trace that was freed, or whose memory another tensor reused by chance."""
        if not self.freed and not self._reused:
            return
        for address in self._changed():
            if address in captured and address not in warned:
                warned.add(address)
                warn_user(self._warning(trace_id, address, captured[address]))

    def _changed(self) -> Iterator[int]:
        yield from [*self.freed]
        yield from [*self._reused]

    def _warning(self, trace_id: object, address: int, tensor: CapturedTensor) -> str:
        what = f"{trace_id} uses the memory of a tensor that was freed, {tensor.spec}, captured at {tensor.location}"
        reused_at = self._blocks[address].reused_at
        if reused_at is None or address in self.freed:
            return (
                f"{what}: a replay reads the values last written there; keep the tensor for as long as the trace, or "
                "allocate it again by `ttnn.allocate_tensor_on_device`"
            )
        return (
            f"{what}; the tensor made at {reused_at} now has this memory, and a replay uses it; if this is intended, "
            "allocate it by `ttnn.allocate_tensor_on_device` and write into it"
        )
