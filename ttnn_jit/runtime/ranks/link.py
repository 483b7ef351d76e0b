"""One direction between two meshes: what one end sends, the other receives in the same order; the sender does not wait.

The ends are of two ranks (`RankLink`) or of this process (`LocalLink`).
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.runtime.ranks.headers import Call, Header, HeaderMemory, Tags, is_inline
from ttnn_jit.runtime.ranks.rank_run import Run
from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Pending, Region

MAX_UNDER_WAY = 16
"""The sends after which a sender waits for the oldest: their memory is in use until they arrive."""


class _Send(NamedTuple):
    """Transfers under way, and what holds their memory."""

    transfers: Sequence[Pending]
    keeps: object


class Link(Protocol):
    """One direction between two meshes."""

    def send(self, call: Call, regions: Sequence[Region], keeps: object) -> None:
        """Begin to send memory that nobody writes meanwhile.

        Args:
            call: What is called, of which the receiver has the same key.
            regions: The memory.
            keeps: What holds it.

        Raises:
            DistributedError: The receiver is lost, or the ranks exchange nothing more.
        """

    def receive(self, call: Call, regions: Sequence[Region]) -> None:
        """Receive into memory what is sent next.

        Raises:
            ArgumentError: Nothing was sent within this process, or something else.
            DistributedError: The sender sends something else, is lost or late, or the ranks exchange nothing more.
        """


class LocalLink:
    """Sends within this process."""

    def __init__(self) -> None:
        self._sent: deque[tuple[Call, Sequence[Region], object]] = deque()

    def send(self, call: Call, regions: Sequence[Region], keeps: object) -> None:
        """Keep what is sent."""
        self._sent.append((call, regions, keeps))

    def receive(self, call: Call, regions: Sequence[Region]) -> None:
        """Copy what was sent first."""
        if not self._sent:
            raise ArgumentError(
                f"{call.text}: nothing was sent", help="within one process, send before the tensor is received"
            )
        sent, sources, keeps = self._sent[0]
        if sent.key != call.key:
            raise ArgumentError(f"{call.text}: what was sent is of {sent.text}")
        for source, target in zip(sources, regions, strict=True):
            ctypes.memmove(target.address, source.address, target.nbytes)
        self._sent.popleft()
        del keeps  # not before


class RankLink:
    """Sends from a rank to another.

    Args:
        run: The ranks of the run.
        sender: The rank that sends.
        receiver: The rank that receives.
        name: Distinguishes the link from others between the same ranks.
        describe: What a rank has, for errors.
    """

    def __init__(self, run: Run, sender: int, receiver: int, name: str, describe: Callable[[int], str]) -> None:
        self.run = run
        self.sender = sender
        self.receiver = receiver
        self._describe = describe
        self._tags = Tags(f"{name} from {sender} to {receiver}")
        self._sent = self._received = 0
        self._arriving = HeaderMemory(run.transport.view)  # receives end before the next begins
        self._under_way: deque[_Send] = deque()

    def send(self, call: Call, regions: Sequence[Region], keeps: object) -> None:
        """Begin to send."""
        with self.run.lock:
            self.run.require_usable(call.text)
            while len(self._under_way) >= MAX_UNDER_WAY:
                self.finish_oldest()
            self._sent += 1
            transport, inline = self.run.transport, is_inline(regions)
            memory = HeaderMemory(transport.view, sum(each.nbytes for each in regions) if inline else 0)
            header = Header(self._sent, call.key, self.run.begin(call))
            view = memory.written(header, regions if inline else ())
            tag = self._tags.of_data(header)
            try:
                begun = [transport.send(view, self.receiver, self._tags.of_headers)]
                if not inline:
                    begun += [transport.send(transport.view(each), self.receiver, tag) for each in regions]
            except LostPeer as reason:
                raise self.run.failed(call, self.run.missed(self.receiver, self._describe, reason)) from None
            self.run.record.end()
            self._under_way.append(_Send(begun, (memory, keeps)))

    def finish_oldest(self) -> None:
        """Wait for the oldest send under way.

        Raises:
            DistributedError: The receiver is lost or late.
        """
        oldest = self._under_way[0]  # which holds the memory meanwhile
        try:
            for transfer in oldest.transfers:
                transfer.wait(self.run.timeout)
            self._under_way.popleft()
        except (LostPeer, LatePeer) as reason:
            error = self.run.missed(self.receiver, self._describe, reason)
            self.run.fail(error)
            raise error from None

    def finish(self) -> None:
        """Wait for every send under way.

        Raises:
            DistributedError: The receiver is lost or late.
        """
        while self._under_way and self.run.failure is None:
            self.finish_oldest()

    def receive(self, call: Call, regions: Sequence[Region]) -> None:
        """Receive, and wait for it."""
        with self.run.lock:
            self.run.require_usable(call.text)
            self._received += 1
            transport, memory = self.run.transport, self._arriving
            header, inline = Header(self._received, call.key, self.run.begin(call)), is_inline(regions)
            tag = self._tags.of_data(header)
            try:
                begun = [transport.receive(memory.whole(), self.sender, self._tags.of_headers)]
                if not inline:
                    begun += [transport.receive(transport.view(each), self.sender, tag) for each in regions]
                for transfer in begun:
                    transfer.wait(self.run.timeout)
                    if transfer is begun[0]:
                        self.run.check(header, self.sender, memory.read(), self._describe)
            except (LostPeer, LatePeer) as reason:
                raise self.run.failed(call, self.run.missed(self.sender, self._describe, reason)) from None
            except BaseException as error:  # noqa: BLE001 - re-raised
                raise self.run.failed(call, error) from None
            if inline:
                memory.read_data(regions)
            self.run.record.end()
