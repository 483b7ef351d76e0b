"""The world: the ranks of a run and their channels, and the world that this process has joined."""

from __future__ import annotations

import atexit
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context

from ttnn_jit.diagnostics.errors import DistributedError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.diagnostics.tracebacks import user_location
from ttnn_jit.runtime.memory.random_words import continue_as, state_words
from ttnn_jit.runtime.ranks.channel import Channel
from ttnn_jit.runtime.ranks.in_process import Switchboard
from ttnn_jit.runtime.ranks.link import RankLink
from ttnn_jit.runtime.ranks.rank_environment import Binding, is_launched, there_are_ranks, timeout_seconds
from ttnn_jit.runtime.ranks.rank_run import Run
from ttnn_jit.runtime.ranks.termination import end_on_termination, interrupted_location, is_requested
from ttnn_jit.runtime.ranks.transport import Transport


class World(Run):
    """The ranks of a run and their channels; the arguments are those of `Run`."""

    def __init__(self, transport: Transport, timeout: float | None = None, binding: Binding | None = None) -> None:
        super().__init__(transport, timeout, binding)
        self._channels = Counter[tuple[str, Sequence[int]]]()
        self._links: list[RankLink] = []
        self._everyone = self.channel("world", range(transport.size), lambda _: "its devices")

    def channel(self, kind: str, ranks: Sequence[int], describe: Callable[[int], str]) -> Channel:
        """A new channel; its ranks make their channels of one kind in the same order."""
        key = kind, tuple(ranks)
        self._channels[key] += 1
        return Channel(self, ranks, f"{kind} {self._channels[key]}", describe)

    def link(self, sender: int, receiver: int, describe: Callable[[int], str]) -> RankLink:
        """A new link; its two ranks make their links in the same order."""
        key = "link", (sender, receiver)
        self._channels[key] += 1
        made = RankLink(self, sender, receiver, f"link {self._channels[key]}", describe)
        self._links.append(made)
        return made

    def finish(self) -> None:
        """Wait until everything that this rank sends has arrived.

        Raises:
            DistributedError: A receiver is lost or late.
        """
        for link in self._links:
            link.finish()

    def leave(self) -> None:
        """Finish the sends of this rank, and close its connections."""
        try:
            self.finish()
        finally:
            self.transport.close()

    def barrier(self) -> None:
        """Wait for all ranks.

        Raises:
            DistributedError: One is lost or late, or calls something else.
        """
        self.finish()
        self._everyone.meet("`distributed_context_barrier`")


# --- The world of this process ----------------------------------------------------------------------------------------

SECONDS_TO_REPORT = 2.0
"""How much longer than its timeout torch may take to say what it waited for."""
RANK_OF_THREAD: ContextVar[World | None] = ContextVar("the world of a thread that is a rank", default=None)
"""Replaces the world of the process in threads that are ranks."""

_WORLDS: list[World] = []
"""The world of this process, once it is known."""


def current_world() -> World | None:
    """The world that this process or thread has joined; None before."""
    return RANK_OF_THREAD.get() or (_WORLDS[0] if _WORLDS else None)


def join_world() -> World:
    """The world of this process: the ranks that the environment names, or the process alone.

    Raises:
        DistributedError: The ranks have bindings or versions that do not fit each other.
    """
    world = current_world()
    if world is None:
        world = _new_world()
        _WORLDS.append(world)
    return world


def _new_world() -> World:
    if not there_are_ranks():
        (alone,) = Switchboard(1).transports()
        return World(alone, binding=Binding(0, 0))
    if is_launched() and threading.current_thread() is threading.main_thread():
        end_when_launcher_does()
    try:
        world = _met_in_thread(user_location())
        states = world.transport.gathered(json.dumps(state_words()))
    except DistributedError as error:
        _NOT_MET.append(error)
        raise
    continue_as(json.loads(states[world.ranks_of_own_mesh()[0]]))
    atexit.register(world.leave)
    return world


def _world_of_processes(location: Location | None) -> World:
    from ttnn_jit.runtime.ranks.process_group import ProcessGroupTransport

    return World(ProcessGroupTransport(timeout_seconds(), location))


def _met_in_thread(location: Location | None) -> World:
    """The world of processes, made in a thread.

    A signal interrupts this wait, but not one in torch; and torch waits several times before it gives up.
    """
    found: list[World | BaseException] = []

    def run() -> None:
        try:
            found.append(_world_of_processes(location))
        except BaseException as error:  # noqa: BLE001 - raised below
            found.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,), daemon=True)
    thread.start()
    last = time.monotonic() + timeout_seconds() + SECONDS_TO_REPORT
    while thread.is_alive() and time.monotonic() < last:
        thread.join(0.05)
        if is_requested():
            _end()
    if not found:
        raise DistributedError(
            f"the ranks did not meet within {timeout_seconds():g} s",
            location=location,
            help="some are not started, or ended; TTNN_JIT_RANKS_TIMEOUT sets how long others wait for them",
        )
    if isinstance(found[0], World):
        return found[0]
    raise found[0]


def end_when_launcher_does() -> None:
    """Raise a `DistributedError` in the main thread when the launcher ends this process, which tells the user why.

    A launcher terminates the other ranks when one has failed.
    """
    end_on_termination(_end)


_NOT_MET: list[DistributedError] = []
"""The error with which this process ends because it did not meet the others."""


def _end() -> None:
    world = current_world()
    if world is not None:
        world.terminate()
        return
    if _NOT_MET:  # another error in the middle of its handling would take its place
        return
    raise DistributedError(
        "the launcher ended this rank before it had met the others, because another rank has failed",
        location=interrupted_location(),
    )
