"""A transport between the threads of one process, each of which is a rank, or from a process to itself."""

from __future__ import annotations

import ctypes
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence

from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Region


class InProcessTransport:
    """One end of a `Switchboard`."""

    receives_early = False

    def __init__(self, board: Switchboard, rank: int) -> None:
        self.rank = rank
        self.size = board.size
        self._board = board

    def gathered(self, text: str) -> list[str]:
        """The texts that all ranks pass."""
        return self._board.gather(self.rank, text)

    def view(self, region: Region) -> Region:
        """The region itself."""
        return region

    def send(self, view: Region, receiver: int, tag: int) -> _Transfer:
        """Begin to send."""
        return self._board.begin((self.rank, receiver, tag), view, is_send=True)

    def receive(self, view: Region, sender: int, tag: int) -> _Transfer:
        """Begin to receive."""
        return self._board.begin((sender, self.rank, tag), view, is_send=False)

    def report(self, failure: str) -> None:
        """Leave a reason."""
        self._board.reports.setdefault(self.rank, failure)

    def reported(self, rank: int) -> str | None:
        """The reason that a rank has left."""
        return self._board.reports.get(rank)

    def close(self) -> None:
        """Make the transfers with this rank fail."""
        self._board.close(self.rank)


class Switchboard:
    """The transfers between the threads of a process.

    Args:
        size: The number of ranks.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.reports: dict[int, str] = {}
        self._changed = threading.Condition()
        self._waiting: defaultdict[tuple[int, int, int, bool], deque[_Transfer]] = defaultdict(deque)
        self._closed: set[int] = set()
        self._gathered: list[dict[int, str]] = [{}]

    def transports(self) -> list[InProcessTransport]:
        """The transport of each rank."""
        return [InProcessTransport(self, rank) for rank in range(self.size)]

    def begin(self, key: tuple[int, int, int], region: Region, *, is_send: bool) -> _Transfer:
        """Begin one side of a transfer, and copy the bytes if the other side has begun.

        Args:
            key: Sender, receiver and tag.
            region: The memory of this side.
            is_send: Which side it is.
        """
        with self._changed:
            peer = key[1] if is_send else key[0]
            own = _Transfer(self, region, peer)
            others = self._waiting[(*key, not is_send)]
            if others:
                other = others.popleft()
                source, target = (own, other) if is_send else (other, own)
                ctypes.memmove(target.region.address, source.region.address, source.region.nbytes)
                own.is_done = other.is_done = True
                self._changed.notify_all()
            else:
                self._waiting[(*key, is_send)].append(own)
            return own

    def wait(self, condition: Callable[[], bool], peers: Sequence[int], seconds: float) -> None:
        """Wait until `condition` holds, while none of `peers` closes."""
        end = time.monotonic() + seconds
        with self._changed:
            while not condition():
                if self._closed.intersection(peers):
                    raise LostPeer("it closed its connections")
                left = end - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    raise LatePeer(f"nothing came for {seconds:g} s")

    def gather(self, rank: int, text: str) -> list[str]:
        """The texts of all ranks in one round."""
        with self._changed:
            this_round = self._gathered[-1]
            this_round[rank] = text
            if len(this_round) == self.size:
                self._gathered.append({})
                self._changed.notify_all()
        others = [other for other in range(self.size) if other != rank]
        self.wait(lambda: len(this_round) == self.size, others, seconds=60)
        return [this_round[each] for each in range(self.size)]

    def close(self, rank: int) -> None:
        """Make transfers with a rank fail; its memory is not used any more."""
        with self._changed:
            self._closed.add(rank)
            for sender, receiver, tag, is_send in [*self._waiting]:
                if rank == (sender if is_send else receiver):
                    del self._waiting[sender, receiver, tag, is_send]
            self._changed.notify_all()


class _Transfer:
    """One side of a transfer."""

    def __init__(self, board: Switchboard, region: Region, peer: int) -> None:
        self.region = region
        self.is_done = False
        self._board = board
        self._peer = peer

    def wait(self, seconds: float) -> None:
        """Wait for the other side."""
        self._board.wait(lambda: self.is_done, [self._peer], seconds)
