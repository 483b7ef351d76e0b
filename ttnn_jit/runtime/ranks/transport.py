"""The protocol by which ranks move bytes: sends and receives in place, matched by their tag and order."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias

View: TypeAlias = Any
"""Memory in the form that a transport takes."""


class Region(NamedTuple):
    """Memory to send or to receive into.

    Attributes:
        address: Address of the first byte.
        nbytes: Number of bytes, at least one.
    """

    address: int
    nbytes: int


class LostPeer(Exception):  # noqa: N818 - it says what happened
    """The other end of a transfer ended or closed its connections; the text has the transport's reason."""


class LatePeer(Exception):  # noqa: N818 - it says what happened
    """The other end of a transfer did not take part in it in time."""


class Pending(Protocol):
    """A transfer under way; its memory is in use until `wait` returns."""

    def wait(self, seconds: float) -> None:
        """Wait until the bytes have arrived or the memory may be reused.

        Raises:
            LostPeer: The other end is gone.
            LatePeer: This takes longer than `seconds`; no transfer is possible any more.
        """


class Transport(Protocol):
    """Transfers between the ranks of a run.

    Transfers of one sender, receiver and tag arrive in the order in which they were sent.

    Attributes:
        rank: The number of this rank.
        size: The number of ranks.
        receives_early: Whether a transfer is faster if its receive begins before its send.
    """

    rank: int
    size: int
    receives_early: bool

    def gathered(self, text: str) -> list[str]:
        """The texts that all ranks pass, by rank; every rank calls this."""

    def view(self, region: Region) -> View:
        """The form of a region that `send` and `receive` take, valid as long as the memory."""

    def send(self, view: View, receiver: int, tag: int) -> Pending:
        """Begin to send.

        Raises:
            LostPeer: The receiver is gone.
        """

    def receive(self, view: View, sender: int, tag: int) -> Pending:
        """Begin to receive; the sender sends as many bytes or fewer.

        Raises:
            LostPeer: The sender is gone.
        """

    def report(self, failure: str) -> None:
        """Leave the reason for which this rank ends its exchanges, for the ranks that will miss it."""

    def reported(self, rank: int) -> str | None:
        """The reason that a rank has left; None if there is none, or it cannot be read."""

    def close(self) -> None:
        """End all transfers; the other ranks see their end of them fail. A second close does nothing."""
