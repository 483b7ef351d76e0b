"""The exchanges of the ranks that share a mesh, in order and checked.

Every exchange begins with a header from and to each rank that takes part in it. At the first use of a key all ranks of
the channel exchange headers. Headers and data travel together: to agree costs no round trip.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.runtime.ranks.headers import KEY_BYTES, Call, Data, Header, HeaderMemory, Tags, is_inline
from ttnn_jit.runtime.ranks.rank_run import Run
from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Pending, Region


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

    def exchange(
        self,
        call: Call,
        sends: Sequence[Data],
        receives: Sequence[Data],
        *,
        with_all: bool = False,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Send and receive in place; returns when all bytes have arrived and those sent may be overwritten.

        Args:
            call: What is called.
            sends: The memory to send, in the order in which the receiver expects it.
            receives: The memory to receive into.
            with_all: Whether every rank of the channel takes part, even if no data goes to it.
            meanwhile: Is called while the data is under way.

        Raises:
            DistributedError: A rank calls something else, is lost or late, or the ranks exchange nothing more.
        """
        if self.run.rank not in self.ranks:
            if receives:
                raise DistributedError(
                    f"{call.text} needs devices of this rank, which has none of the mesh",
                    location=call.location,
                    help="ranks that have devices of a submesh read its tensors",
                )
            return
        with self.run.lock:
            self.run.require_usable(call.text, call.location if self.run.failure else None)
            self._sequence = (self._sequence + 1) & 0xFFFFFFFF
            by_peer: dict[int, _Both] = {}
            for is_send, several in ((True, sends), (False, receives)):
                for rank, region in several:
                    both = by_peer.get(rank) or by_peer.setdefault(rank, _Both([], []))
                    both[not is_send].append(region)
            if with_all or call.key not in self._agreed:
                for rank in self._peers:
                    by_peer.setdefault(rank, _Both([], []))
                self._agreed.add(call.key)
            if not by_peer:
                meanwhile()
                return
            try:
                self._exchange(Header(self._sequence, call.key, self.run.begin(call)), by_peer, meanwhile)
            except BaseException as error:  # noqa: BLE001 - re-raised
                raise self.run.failed(call, error) from None
            self.run.record.end()

    def _exchange(self, header: Header, by_peer: Mapping[int, _Both], meanwhile: Callable[[], None]) -> None:
        transport, peers = self.run.transport, self._peers
        tag, header_tag = self._tags.of_data(header), self._tags.of_headers
        headers, under_way = list[Pending](), list[tuple[int, Pending]]()
        peer = self.run.rank
        try:
            for peer, (_, receives) in by_peer.items():
                headers.append(transport.receive(peers[peer].received.whole(), peer, header_tag))
                if not is_inline(receives):
                    under_way += [(peer, transport.receive(transport.view(each), peer, tag)) for each in receives]
            for peer, (sends, _) in by_peer.items():
                inline = is_inline(sends)
                view = peers[peer].sent.written(header, sends if inline else ())
                under_way.append((peer, transport.send(view, peer, header_tag)))
                if not inline:
                    under_way += [(peer, transport.send(transport.view(each), peer, tag)) for each in sends]
            meanwhile()
            for (peer, (_, receives)), pending in zip(by_peer.items(), headers, strict=True):
                pending.wait(self.run.timeout)
                self.run.check(header, peer, peers[peer].received.read(), self._describe)
                if is_inline(receives):
                    peers[peer].received.read_data(receives)
            for each in under_way:
                peer, pending = each
                pending.wait(self.run.timeout)
        except (LostPeer, LatePeer) as reason:
            raise self.run.missed(peer, self._describe, reason) from None


class _Both(NamedTuple):
    """The memory that is sent to a rank and received from it."""

    sends: list[Region]
    receives: list[Region]


class _Peer(NamedTuple):
    """The headers to and from another rank."""

    sent: HeaderMemory
    received: HeaderMemory
