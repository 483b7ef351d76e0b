"""The ranks of a run: who they are, their transport, and whether they can still exchange."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.runtime.ranks.flight_record import FlightRecord
from ttnn_jit.runtime.ranks.headers import Call, Header, shortened
from ttnn_jit.runtime.ranks.member import Member
from ttnn_jit.runtime.ranks.rank_environment import Binding, record_folder, timeout_seconds
from ttnn_jit.runtime.ranks.termination import interrupted_location, is_requested
from ttnn_jit.runtime.ranks.transport import LatePeer, LostPeer, Transport

MAX_TEXTS = 1024
"""The most calls whose texts are kept."""


class Run:
    """The ranks of a run, as one of them sees them.

    Every rank makes its own at the same point.

    Args:
        transport: Moves bytes between the ranks.
        timeout: Seconds that a rank waits for another; None: as the environment says.
        binding: The mesh of this rank; None: as the environment says.

    Attributes:
        rank: The number of this rank.
        members: All ranks.
        transport: Moves bytes between them.
        timeout: Seconds that a rank waits for another.
        record: The last exchanges of this rank.
        failure: The error after which the ranks exchange nothing more; None before.
        lock: Held during an exchange.
    """

    def __init__(self, transport: Transport, timeout: float | None = None, binding: Binding | None = None) -> None:
        self.transport = transport
        self.rank = transport.rank
        self.timeout = timeout_seconds() if timeout is None else timeout
        self.members = self._introduced(Member.own(self.rank, binding))
        self.record = FlightRecord(record_folder(), self.rank)
        self.failure: DistributedError | None = None
        self._is_ending = False
        self._texts: dict[tuple[Call, str], bytes] = {}
        self.lock = threading.RLock()

    def _introduced(self, own: Member) -> list[Member]:
        members = [Member.from_json(text) for text in self.transport.gathered(own.to_json())]
        bindings = Counter((each.mesh_id, each.mesh_host_rank) for each in members)
        for each in members:
            if bindings[each.mesh_id, each.mesh_host_rank] > 1:
                raise DistributedError(
                    f"several ranks, among them {each}, have position {each.mesh_host_rank} in mesh {each.mesh_id}",
                    help="TT_MESH_ID and TT_MESH_HOST_RANK together are different for every rank",
                )
            if each.version != own.version:
                raise DistributedError(f"{own} has ttnn_jit {own.version}, and {each} {each.version}")
        return members

    @property
    def own(self) -> Member:
        """This rank."""
        return self.members[self.rank]

    def ranks_of_own_mesh(self) -> list[int]:
        """The ranks that share the mesh of this one, in the order of their parts of it."""
        mates = [each for each in self.members if each.mesh_id == self.own.mesh_id]
        return [each.rank for each in sorted(mates, key=lambda each: each.mesh_host_rank)]

    def require_usable(self, operation: str, location: Location | None = None) -> None:
        """Refuse `operation`, which the user calls at `location`, after a failure.

        Raises:
            DistributedError: The ranks exchange nothing more, or the launcher ends this one.
        """
        self.check_termination()
        if self.failure is not None:
            raise DistributedError(
                f"{operation}: the ranks exchange nothing more since a failure: {self.failure.message}",
                location=location or user_location(),
                help="start all ranks again",
            )

    def begin(self, call: Call) -> bytes:
        """Note that an exchange begins; returns what is called where, for headers."""
        line = call.line
        text = self._texts.get((call, line))
        if text is None:
            if len(self._texts) >= MAX_TEXTS:
                self._texts.clear()
            text = self._texts[call, line] = shortened(f"{call.text} at {line}")
        self.record.begin(text)
        return text

    def failed(self, call: Call, error: BaseException) -> BaseException:
        """End all exchanges because of an error in one; returns the error to raise."""
        location = call.location
        if isinstance(error, DistributedError):
            error = DistributedError(f"{error.message}, in {call.text}", location=location, help=error.help)
            self.fail(error)
        else:  # an interrupt: data of this exchange may still be under way
            self.fail(DistributedError(f"{call.text} was interrupted", location=location))
        return error

    def missed(self, peer: int, describe: Callable[[int], str], reason: LostPeer | LatePeer) -> DistributedError:
        """The error of a rank that is lost or late."""
        self._is_ending = True
        if isinstance(reason, LatePeer):
            return DistributedError(
                f"{self.name(peer, describe)} took no part within {self.timeout:g} s",
                help="it waits or computes elsewhere; TTNN_JIT_RANKS_TIMEOUT sets how long others wait for it",
            )
        report = self.transport.reported(peer)
        end = f"was lost: {reason}" if report is None else f"exchanges nothing more: {report}"
        return DistributedError(f"{self.name(peer, describe)} {end}")

    def check(self, own: Header, peer: int, theirs: Header, describe: Callable[[int], str]) -> None:
        """Refuse a header that is not of the same exchange.

        Raises:
            DistributedError: The ranks call different operations.
        """
        if (theirs.sequence, theirs.key) != (own.sequence, own.key):
            other = "" if theirs.sequence == own.sequence else f" as exchange {theirs.sequence}"
            raise DistributedError(
                f"ranks disagree on exchange {own.sequence}: {self.name(self.rank, describe)} calls {own}, and "
                f"{self.name(peer, describe)}{other} {theirs}",
                help="ranks that share a mesh make the same calls in the same order",
            )

    def name(self, rank: int, describe: Callable[[int], str]) -> str:
        """A rank and what it has, for errors."""
        return f"{self.members[rank]} with {describe(rank)}"

    def fail(self, error: DistributedError) -> None:
        """End all exchanges because of an error, and let the other ranks know."""
        if self.failure is None:
            self.failure = error
            self.record.fail(error.message)
            self.transport.report(error.message)
            self.transport.close()

    def check_termination(self) -> None:
        """Raise the error of the launcher's SIGTERM, if there was one."""
        if is_requested():
            self.terminate()

    def terminate(self) -> None:
        """End this rank because the launcher ends it, unless it has an error of its own.

        Raises:
            DistributedError: It has none.
        """
        if self._is_ending or self.failure is not None:
            return
        last = self.record.entries()[-1:]
        doing = f"; its last exchange was {last[0].text}" if last else ""
        error = DistributedError(
            f"the launcher ended {self.own}, because another rank has failed{doing}",
            location=interrupted_location(),
        )
        self.fail(error)
        raise error
