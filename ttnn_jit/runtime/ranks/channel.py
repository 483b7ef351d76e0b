"""The exchanges of the ranks that share a mesh, in order and checked.

Every exchange begins with a header from and to each rank that takes part in it. At the first use of a key all ranks of
the channel exchange headers. Headers and data travel together: to agree costs no round trip. After an exchange with a
rank the next header from it is awaited already, so that what comes early is there when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.runtime.ranks.headers import KEY_BYTES, Call, Data, Header, HeaderMemory, Tags, is_inline
from ttnn_jit.runtime.ranks.rank_run import Run
from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Pending, Region, Transport, View


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
        self._peers = {rank: _Peer(view) for rank in self.ranks if rank != run.rank}

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
            by_peer: dict[int, _Both[list[Region]]] = {}
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

    def _exchange(
        self, header: Header, by_peer: Mapping[int, _Both[list[Region]]], meanwhile: Callable[[], None]
    ) -> None:
        transport, peers = self.run.transport, self._peers
        headers, under_way = list[Pending](), list[tuple[int, Pending]]()
        inline = {rank: _Both(*map(is_inline, both)) for rank, both in by_peer.items()}
        tag = 0 if all(map(all, inline.values())) else self._tags.of_data(header)
        peer = self.run.rank
        try:
            for peer, (_, receives) in by_peer.items():
                headers.append(peers[peer].taken(transport, peer, self._tags.of_headers))
                if not inline[peer].receives:
                    under_way += [(peer, transport.receive(transport.view(each), peer, tag)) for each in receives]
            for peer, (sends, _) in by_peer.items():
                view = peers[peer].sent.written(header, sends if inline[peer].sends else ())
                under_way.append((peer, transport.send(view, peer, self._tags.of_headers)))
                if not inline[peer].sends:
                    under_way += [(peer, transport.send(transport.view(each), peer, tag)) for each in sends]
            meanwhile()
            for (peer, (_, receives)), pending in zip(by_peer.items(), headers, strict=True):
                pending.wait(self.run.timeout)
                self.run.check(header, peer, peers[peer].received.read(), self._describe)
                if inline[peer].receives:
                    peers[peer].received.read_data(receives)
                if transport.receives_early:
                    peers[peer].begin(transport, peer, self._tags.of_headers)
            for each in under_way:
                peer, pending = each
                pending.wait(self.run.timeout)
        except (LostPeer, LatePeer) as reason:
            raise self.run.missed(peer, self._describe, reason) from None


T = TypeVar("T")


class _Both(NamedTuple, Generic[T]):
    """What is sent to a rank and received from it."""

    sends: T
    receives: T


class _Peer:
    """The headers to and from another rank.

    Attributes:
        sent: The header of this rank.
        received: The header of the other one.
    """

    def __init__(self, view: Callable[[Region], View]) -> None:
        self.sent = HeaderMemory(view)
        self.received = HeaderMemory(view)
        self._next: Pending | None = None

    def begin(self, transport: Transport, rank: int, tag: int) -> None:
        """Begin to receive the header of the next exchange."""
        self._next = transport.receive(self.received.whole(), rank, tag)

    def taken(self, transport: Transport, rank: int, tag: int) -> Pending:
        """The transfer of the header of this exchange."""
        if self._next is None:
            self.begin(transport, rank, tag)
        found, self._next = self._next, None
        assert found is not None, "it has begun"
        return found
