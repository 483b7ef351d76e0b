"""A transport by a process group of torch.distributed, of gloo or any backend that sends memory of a CPU.

Bytes travel as they lie: `isend` and `irecv` of uint8 views, whatever the dtype, because gloo refuses uint16, uint32
and fp8, and a group is unusable after any error.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
from datetime import timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Region

if TYPE_CHECKING:
    import torch

REPORT_SECONDS = 0.5
"""How long a rank waits for the report of another whose connection ended: the connection may be faster."""


class ProcessGroupTransport:
    """Transfers by a process group of its own over all ranks.

    torch.distributed is initialised from the environment unless the program has done so. The program's own groups are
    left alone.

    Args:
        timeout: Seconds for the set-up of the group.
        location: The line of the user's that joins the ranks, for errors.
        backend: The backend of the group.

    Raises:
        DistributedError: The ranks do not meet.
    """

    receives_early = True  # gloo sends to a waiting receiver at once, and asks another one first

    def __init__(self, timeout: float, location: Location | None, backend: str = "gloo") -> None:
        import torch.distributed as dist

        self._location = location
        within = timedelta(seconds=timeout)
        try:
            if not dist.is_initialized():
                dist.init_process_group(backend, timeout=within)
            self.rank = dist.get_rank()
            self.size = dist.get_world_size()
            self._group: Any = dist.new_group(backend=backend, timeout=within)
        except (RuntimeError, ValueError) as error:
            raise self._not_met(error) from None
        self._store = dist.distributed_c10d.PrefixStore("ttnn_jit", dist.distributed_c10d._get_default_store())

    def gathered(self, text: str) -> list[str]:
        """The texts that all ranks pass.

        Raises:
            DistributedError: A rank is lost or late.
        """
        import torch.distributed as dist

        found: list[Any] = [None] * self.size
        try:
            dist.all_gather_object(found, text, group=self._group)
        except RuntimeError as error:
            raise self._not_met(error) from None
        return found

    def _not_met(self, error: Exception) -> DistributedError:
        return DistributedError(
            f"the ranks did not meet: {_first_line(error)}",
            location=self._location,
            help="every rank needs the same MASTER_ADDR, MASTER_PORT and WORLD_SIZE, and a RANK of its own",
        )

    def view(self, region: Region) -> torch.Tensor:
        """The bytes as a tensor."""
        import torch

        return torch.frombuffer((ctypes.c_char * region.nbytes).from_address(region.address), dtype=torch.uint8)

    def send(self, view: torch.Tensor, receiver: int, tag: int) -> _Transfer:
        """Begin to send."""
        try:
            return _Transfer(self._group.send([view], receiver, tag), view)
        except (RuntimeError, AttributeError) as error:  # the second: the group is closed
            raise LostPeer(_first_line(error)) from None

    def receive(self, view: torch.Tensor, sender: int, tag: int) -> _Transfer:
        """Begin to receive."""
        try:
            return _Transfer(self._group.recv([view], sender, tag), view)
        except (RuntimeError, AttributeError) as error:
            raise LostPeer(_first_line(error)) from None

    def report(self, failure: str) -> None:
        """Leave a reason in the store."""
        with contextlib.suppress(RuntimeError):  # the process that keeps the store may be the lost one
            self._store.set(f"failure of {self.rank}", failure)

    def reported(self, rank: int) -> str | None:
        """The reason that a rank has left in the store, within a short time."""
        key = f"failure of {rank}"
        with contextlib.suppress(RuntimeError):
            end = time.monotonic() + REPORT_SECONDS
            while not self._store.check([key]):
                if time.monotonic() > end:
                    return None
                time.sleep(REPORT_SECONDS / 20)
            return str(self._store.get(key).decode(errors="replace"))
        return None

    def close(self) -> None:
        """Close the connections of the group."""
        import torch.distributed as dist

        group, self._group = self._group, None
        if group is not None and dist.is_initialized():
            with contextlib.suppress(RuntimeError, ValueError):
                dist.destroy_process_group(group)


class _Transfer:
    """A transfer of torch's."""

    def __init__(self, work: Any, view: torch.Tensor) -> None:
        self._work = work
        self._view = view  # in use until the end

    def wait(self, seconds: float) -> None:
        """Wait for the end of the transfer."""
        began = time.monotonic()
        try:
            self._work.wait(_timedelta(seconds))
        except RuntimeError as error:
            is_late = time.monotonic() - began >= seconds
            raise (LatePeer if is_late else LostPeer)(_first_line(error)) from None


@lru_cache(maxsize=8)
def _timedelta(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def _first_line(error: Exception) -> str:
    """The first sentence of an error, without the place in torch's source."""
    text = str(error).split("\n", 1)[0]
    return text.partition("] ")[2].split(". ")[0] if text.startswith("[/") else text
