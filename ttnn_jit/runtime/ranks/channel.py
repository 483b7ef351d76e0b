"""The exchanges of the ranks that share a mesh, in order and checked.

Every exchange begins with a header from and to each rank that takes part in it. At the first use of a key all ranks of
the channel exchange headers. Headers and data travel together: to agree costs no round trip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ttnn_jit.runtime.ranks.headers import KEY_BYTES, Call, Data, Header, HeaderMemory, Tags
from ttnn_jit.runtime.ranks.rank_run import Run
from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Pending


class Channel:
    """The exchanges of some ranks.

    Args:
        run: The ranks of the run.
        ranks: Those that take part, in order.
        name: Distinguishes the channel from others of the same ranks.
        describe: What a rank has, for errors: ``"devices 4 to 7"``.
    """

    def __init__(self, run: Run, ranks: Sequence[int], name: str, describe: Callable[[int], str]) -> None:
        self.run = run
        self.ranks = tuple(ranks)
        self._describe = describe
        self._tags = Tags(f"{name} of {self.ranks}")
        self._sequence = 0
        self._agreed: set[bytes] = set()
        view = run.transport.view
        self._peers = {rank: _Peer(HeaderMemory(view), HeaderMemory(view)) for rank in self.ranks if rank != run.rank}

    def meet(self, name: str) -> None:
        """Wait for every rank of the channel.

        Raises:
            DistributedError: As `exchange` does.
        """
        self.exchange(Call(name, name.encode()[:KEY_BYTES].ljust(KEY_BYTES)), (), (), with_all=True)

    def exchange(self, call: Call, sends: Sequence[Data], receives: Sequence[Data], *, with_all: bool = False) -> None:
        """Send and receive in place; returns when all bytes have arrived and those sent may be overwritten.

        Args:
            call: What is called.
            sends: The memory to send, in the order in which the receiver expects it.
            receives: The memory to receive into.
            with_all: Whether every rank of the channel takes part, even if no data goes to it.

        Raises:
            DistributedError: A rank calls something else, is lost or late, or the ranks exchange nothing more.
        """
        with self.run.lock:
            self.run.require_usable(call.text)
            self._sequence = (self._sequence + 1) & 0xFFFFFFFF
            if with_all or call.key not in self._agreed:
                partners = [*self._peers]
                self._agreed.add(call.key)
            else:
                partners = sorted({data.rank for data in (*sends, *receives)})
            if partners:
                with self.run.exchanging(call) as text:
                    self._exchange(Header(self._sequence, call.key, text), partners, sends, receives)

    def _exchange(
        self, header: Header, partners: Sequence[int], sends: Sequence[Data], receives: Sequence[Data]
    ) -> None:
        transport, under_way = self.run.transport, list[tuple[int, Pending]]()
        tag, header_tag = self._tags.of_data(header), self._tags.of_headers
        peer = partners[0]
        try:
            for peer in partners:
                under_way.append((peer, transport.receive(self._peers[peer].received.view, peer, header_tag)))
            for peer, region in receives:
                under_way.append((peer, transport.receive(transport.view(region), peer, tag)))
            for peer in partners:
                self._peers[peer].sent.write(header)
                under_way.append((peer, transport.send(self._peers[peer].sent.view, peer, header_tag)))
            for peer, region in sends:
                under_way.append((peer, transport.send(transport.view(region), peer, tag)))
            for index, (peer, pending) in enumerate(under_way):
                pending.wait(self.run.timeout)
                if index < len(partners):
                    self.run.check(header, peer, self._peers[peer].received.read(), self._describe)
        except (LostPeer, LatePeer) as reason:
            raise self.run.missed(peer, self._describe, reason) from None


class _Peer(NamedTuple):
    """The headers to and from another rank."""

    sent: HeaderMemory
    received: HeaderMemory
