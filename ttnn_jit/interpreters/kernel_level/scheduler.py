"""Runs threads in turns until all have ended, or none can go on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from ttnn_jit.diagnostics.errors import KernelError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.interpreters.kernel_level.faults import Wait, fail
from ttnn_jit.interpreters.kernel_level.kernel_core import Thread, Transfer
from ttnn_jit.interpreters.kernel_level.kernel_steps import Step, run
from ttnn_jit.process.dataclass import dataclass

_SHOWN = 12
"""The threads that the message of a deadlock lists."""


@dataclass(frozen=True)
class Started:
    """A thread, and its coroutine.

    Attributes:
        thread: The thread.
        steps: The coroutine, which yields when it has to wait.
        end: The op at which it ends.
        computes: Whether it is a compute kernel.
    """

    thread: Thread
    steps: Iterator[Wait]
    end: Operation
    computes: bool

    @staticmethod
    def of(thread: Thread, steps: Sequence[Step], end: Operation, *, computes: bool) -> Started:
        """A thread that has run nothing."""
        return Started(thread, run(thread, steps), end, computes)


def run_all(started: Sequence[Started]) -> None:
    """Runs threads until all have ended.

    Raises:
        KernelError: One breaks the protocol, or those that are left wait for each other.
    """
    waiting: list[tuple[Started, Wait | None]] = [(each, None) for each in started]
    while waiting:
        left: list[tuple[Started, Wait | None]] = []
        went_on = False
        for each, before in waiting:
            resumed = each.thread.resumed
            wait = next(each.steps, None)
            if wait is None:
                _end(each)
            else:
                left.append((each, wait))
            went_on = went_on or wait is None or before is None or each.thread.resumed != resumed
        if not went_on:
            _deadlock(left)
        waiting = left


def _end(started: Started) -> None:
    """Checks what a kernel leaves behind."""
    thread, end = started.thread, started.end
    core = thread.core
    for transfers, word, barrier in ((core.reads, "read", "read"), (core.writes, "write", "write")):
        own = [each for each in transfers if each.by is thread]
        if own:
            _unfinished(own[0], thread, word, barrier)
    if started.computes:
        core.dst.require_idle(end, thread)


def _unfinished(transfer: Transfer, thread: Thread, word: str, barrier: str) -> None:
    fail(
        transfer.op,
        thread,
        f"the kernel ends, and no barrier has completed this {word}",
        f"`ttkernel.noc_async_{barrier}_barrier` precedes the end",
    )


def _deadlock(waiting: Sequence[tuple[Started, Wait | None]]) -> None:
    """Raises the error of threads that wait for each other; its place is where the first of them waits."""
    lines = [
        f"  {each.thread.text}: `{wait.op.name}`{_line(wait.op)} {wait.reason}"
        for each, wait in waiting
        if wait is not None
    ]
    shown = lines[:_SHOWN] + ([f"  and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])
    first = next(wait for _, wait in waiting if wait is not None)
    raise KernelError("deadlock: no thread can go on\n" + "\n".join(shown), location=location_of(first.op))


def _line(op: Operation) -> str:
    location = location_of(op)
    return "" if location is None else f" at {location}"
