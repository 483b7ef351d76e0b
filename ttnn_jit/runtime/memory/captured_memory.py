"""What traces read and write of a device's tensors: whose memory it was when it was captured, and whose it is now.

A trace keeps addresses. Their blocks go to nobody else while it may run; but a tensor that is allocated once the one
that had such a block is gone, and is like it, comes to lie there, as first fit by address places it on a chip: programs
free the input of a trace and allocate it again. Of all free blocks of its size it takes the one that was mapped first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.memory.buffer import ADDRESS_IS_KNOWN, Buffer, SizeClass, address_of, returning
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class CapturedTensor:
    """A tensor as a trace met it first.

    Attributes:
        spec: Of it.
        location: The user's line.
    """

    spec: TensorSpec
    location: Location | None


@dataclass(slots=True)
class _Block:
    home: SizeClass
    spec: TensorSpec
    traces: set[object]
    given: Location | None = None


class CapturedMemory:
    """The blocks of one device that its traces use.

    Attributes:
        freed: Addresses of those whose tensors are gone.
    """

    def __init__(self) -> None:
        self.freed: list[int] = []
        self._owned = returning(self.freed.append)
        self._blocks: dict[int, _Block] = {}
        self._given: set[int] = set()
        self._lock = threading.RLock()

    def capture(self, trace_id: object, buffer: Buffer, spec: TensorSpec) -> None:
        """A trace uses the memory of a tensor."""
        address = address_of(buffer)
        if getattr(buffer, "lease", None) is None:
            buffer.lease = ADDRESS_IS_KNOWN
        with self._lock:
            block = self._blocks.setdefault(int(address), _Block(buffer.home, spec, set()))
            block.traces.add(trace_id)
            block.spec = spec
            address.__class__ = self._owned

    def take(self, spec: TensorSpec, *, on_purpose: bool, location: Location | None) -> Buffer | None:
        """Memory for a tensor like one that is gone; None if there is none.

        Args:
            spec: Of the tensor.
            on_purpose: Whether it takes the other's place, so that no replay warns.
            location: The user's line.
        """
        with self._lock:
            self._settle()
            fitting = [at for at in self.freed if (block := self._blocks[at]).spec is spec and block.traces]
            if not fitting:
                return None
            address = min(fitting, key=lambda at: self._blocks[at].home.order[at])
            block = self._blocks[address]
            if any(block.home.order[at] < block.home.order[address] for at in [*block.home.free]):
                return None
            block.given = None if on_purpose else location
            (self._given.discard if on_purpose else self._given.add)(address)
            buffer = block.home.buffer()
            buffer._home = block.home
            buffer.lease = ADDRESS_IS_KNOWN
            index = self.freed.index(address)
            # One step: an address that an interrupt leaves without a buffer is freed again.
            del self.freed[index]
            buffer.address = self._owned(address)
            return buffer

    def release(self, trace_id: object) -> None:
        """A trace is gone: blocks of no other go to the pool, now or once their tensors are gone."""
        with self._lock:
            for block in self._blocks.values():
                block.traces.discard(trace_id)
            self._given = {at for at in self._given if self._blocks[at].traces}
            self._settle()

    def _settle(self) -> None:
        """Give what no trace uses, and no tensor has, to the pool."""
        for address in [at for at in self.freed if not self._blocks[at].traces]:
            index, free = self.freed.index(address), self._blocks[address].home.free
            # One step up to the end of the body.
            del self.freed[index], self._blocks[address]
            free += (address,)

    def warn(self, trace_id: object, captured: Mapping[int, CapturedTensor], told: set[int]) -> None:
        """Warn, once each, of tensors of a trace that are gone, and of those that lie where one was by chance."""
        if not self.freed and not self._given:
            return
        for address in self._changed():
            if address in captured and address not in told:
                told.add(address)
                warn_user(self._warning(trace_id, address, captured[address]))

    def _changed(self) -> Iterator[int]:
        yield from [*self.freed]
        yield from [*self._given]

    def _warning(self, trace_id: object, address: int, tensor: CapturedTensor) -> str:
        what = f"{trace_id} uses the memory of a tensor that was freed, {tensor.spec}, met at {tensor.location}"
        given = self._blocks[address].given
        if given is None or address in self.freed:
            return (
                f"{what}: a replay reads there what was last written; keep the tensor for as long as the trace, or "
                "allocate it again by `ttnn.allocate_tensor_on_device`"
            )
        return (
            f"{what}, where the tensor lies now that was made at {given}: a replay uses that one; allocate it by "
            "`ttnn.allocate_tensor_on_device`, and write into it, if this is meant"
        )
