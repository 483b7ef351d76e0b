"""The exchanges of the ranks that share a mesh or a socket, in order and checked.

Every exchange begins with a header from and to each rank that takes part in it: its sequence number, the hash of its
key, and what is called where. At the first use of a key all ranks of the channel exchange headers. The tag of the data
depends on the same numbers, so that data of different calls never meet, whatever their sizes. Headers and data travel
together: agreeing costs no round trip.
"""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable, Sequence
from struct import Struct
from typing import NamedTuple

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.runtime.ranks.rank_run import Run
from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Pending, Region, View

_HEADER = Struct("<4sI16s232s")
_MARK = b"TTJR"
KEY_BYTES = 16
_TEXT_BYTES = 232
_TAG_BITS = 0x3FFFFFFF
_HEADER_TAG = 0x40000000


class Call(NamedTuple):
    """What the ranks of a channel call together.

    Attributes:
        text: The name, the operand and the attributes, for errors.
        key: The hash of everything that the ranks must agree on.
    """

    text: str
    key: bytes


class Data(NamedTuple):
    """Memory that goes to a rank or comes from it."""

    rank: int
    region: Region


class _Peer:
    """Another rank of a channel, with the memory of headers from and to it."""

    def __init__(self, view: Callable[[Region], View]) -> None:
        self.sent, self.received = (ctypes.create_string_buffer(_HEADER.size) for _ in range(2))
        self.views = [view(Region(ctypes.addressof(each), _HEADER.size)) for each in (self.sent, self.received)]


class Channel:
    """The exchanges of some ranks.

    Args:
        world: The ranks of the run.
        ranks: Those that take part, in order.
        name: Distinguishes the channel from others of the same ranks.
        describe: What a rank has, for errors: ``"devices 4 to 7"``.
    """

    def __init__(self, world: Run, ranks: Sequence[int], name: str, describe: Callable[[int], str]) -> None:
        self.world = world
        self.ranks = tuple(ranks)
        self._tag = zlib.crc32(f"{name} of {self.ranks}".encode()) & _TAG_BITS
        self._describe = describe
        self._sequence = 0
        self._agreed: set[bytes] = set()
        self._peers = {rank: _Peer(world.transport.view) for rank in self.ranks if rank != world.rank}

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
        with self.world.lock:
            self.world.require_usable(call.text)
            self._sequence = (self._sequence + 1) & 0xFFFFFFFF
            if with_all or call.key not in self._agreed:
                partners = [*self._peers]
                self._agreed.add(call.key)
            else:
                partners = sorted({data.rank for data in (*sends, *receives)})
            if not partners:
                return
            location = user_location()
            self.world.record.begin(f"{call.text} at {location}")
            try:
                self._exchange(call, location, partners, sends, receives)
            except DistributedError as error:
                self.world.fail(error)
                raise
            except BaseException:  # an interrupt: data of this exchange may still be under way
                self.world.fail(DistributedError(f"{call.text} was interrupted", location=location))
                raise
            self.world.record.end()

    def meet(self, name: str) -> None:
        """Wait for every rank of the channel.

        Raises:
            DistributedError: As `exchange` does.
        """
        self.exchange(Call(name, name.encode()[:KEY_BYTES].ljust(KEY_BYTES)), (), (), with_all=True)

    def _exchange(
        self,
        call: Call,
        location: Location | None,
        partners: Sequence[int],
        sends: Sequence[Data],
        receives: Sequence[Data],
    ) -> None:
        transport, under_way = self.world.transport, list[tuple[int, Pending]]()
        header = _HEADER.pack(_MARK, self._sequence, call.key, _shortened(f"{call.text} at {location}"))
        tag = (zlib.crc32(call.key, self._sequence) ^ self._tag) & _TAG_BITS
        peer = partners[0]
        try:
            for peer in partners:
                under_way.append((peer, transport.receive(self._peers[peer].views[1], peer, self._tag | _HEADER_TAG)))
            for peer, region in receives:
                under_way.append((peer, transport.receive(transport.view(region), peer, tag)))
            for peer in partners:
                self._peers[peer].sent.raw = header
                under_way.append((peer, transport.send(self._peers[peer].views[0], peer, self._tag | _HEADER_TAG)))
            for peer, region in sends:
                under_way.append((peer, transport.send(transport.view(region), peer, tag)))
            for index, (peer, pending) in enumerate(under_way):
                pending.wait(self.world.timeout)
                if index < len(partners):
                    self._check(peer, call, location)
        except LostPeer as error:
            raise self._lost(peer, call, location, str(error)) from None
        except LatePeer:
            raise DistributedError(
                f"{self._name(peer)} took no part in {call.text} within {self.world.timeout:g} s",
                location=location,
                help="it waits or computes elsewhere; TTNN_JIT_RANKS_TIMEOUT sets how long others wait for it",
            ) from None

    def _check(self, peer: int, call: Call, location: Location | None) -> None:
        """Refuse a header that is not of the same exchange."""
        mark, sequence, key, text = _HEADER.unpack(self._peers[peer].received.raw)
        if (mark, sequence, key) == (_MARK, self._sequence, call.key):
            return
        theirs = text.rstrip(b"\0").decode(errors="replace")
        numbers = "" if sequence == self._sequence else f" as exchange {sequence}"
        raise DistributedError(
            f"ranks disagree on exchange {self._sequence}: {self._name(self.world.rank)} calls {call.text} at "
            f"{location}, and {self._name(peer)}{numbers} {theirs}",
            location=location,
            help="ranks that share a mesh make the same calls in the same order",
        )

    def _lost(self, peer: int, call: Call, location: Location | None, reason: str) -> DistributedError:
        report = self.world.transport.reported(peer)
        if report is not None:
            return DistributedError(f"{self._name(peer)} exchanges nothing more: {report}", location=location)
        return DistributedError(f"{self._name(peer)} was lost during {call.text}: {reason}", location=location)

    def _name(self, rank: int) -> str:
        return f"{self.world.members[rank]} with {self._describe(rank)}"


def _shortened(text: str) -> bytes:
    """The text within the bytes of a header; of a long one the begin and the end, which has the line."""
    encoded = text.encode()
    if len(encoded) <= _TEXT_BYTES:
        return encoded
    half = (_TEXT_BYTES - 5) // 2
    return encoded[:half] + b" ... " + encoded[-half:]
