"""The listeners of this process, and the measurement of what they hear of.

`LISTENERS` is empty unless someone listens; whoever emits looks at it first, so that nothing is measured for nobody.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from ttnn_jit.events.run_events import Event, Remark

R = TypeVar("R")
E = TypeVar("E", bound=Event)

Receiver = Callable[[Event], None]
"""Called with each event when it is over, in the thread of the event."""


class Listener(NamedTuple):
    """Someone who listens.

    Attributes:
        receive: Called with the events.
        thread: The thread whose events it hears of; None: of all.
    """

    receive: Receiver
    thread: int | None


LISTENERS: list[Listener] = []


@contextmanager
def hearing(listener: Listener) -> Iterator[None]:
    """A block in which `listener` hears of events of the compiler and the runtime, but of no calls of operations.

    `ttnn_jit.dispatch.operation_events.listening` adds these.
    """
    LISTENERS.append(listener)
    try:
        yield
    finally:
        LISTENERS.remove(listener)


class _Silence(threading.local):
    is_on = False


_SILENCE = _Silence()


@contextmanager
def silence() -> Iterator[None]:
    """A block whose events nobody hears of: what a comparison runs for itself."""
    before, _SILENCE.is_on = _SILENCE.is_on, True
    try:
        yield
    finally:
        _SILENCE.is_on = before


def emit(event: Event) -> None:
    """Pass an event of this thread to the listeners."""
    if _SILENCE.is_on:
        return
    for receive, thread in tuple(LISTENERS):
        if thread is None or thread == event.thread:
            receive(event)


def measured(kind: Callable[..., E], run: Callable[[], R], **fields: Any) -> R:
    """``run()``, whose event of this kind and with these fields is emitted after it; also if it raises."""
    started, error = time.perf_counter_ns(), ""
    try:
        return run()
    except BaseException as raised:
        error = error_text(raised)
        raise
    finally:
        emit_since(kind, started, error=error, **fields)


def emit_since(kind: Callable[..., E], started_ns: int, **fields: Any) -> None:
    """Emit an event of this thread that began at `started_ns` and ends now."""
    duration = time.perf_counter_ns() - started_ns
    own = {"process": os.getpid(), "thread": threading.get_ident()}
    emit(kind(**own, started_ns=started_ns, duration_ns=duration, **fields))


def error_text(error: BaseException) -> str:
    """The type of an error and its text."""
    return f"{type(error).__name__}: {error}"


def remark(name: str, location: object, message: str) -> None:
    """Emit what a pass says of the op `name` at `location`."""
    if LISTENERS:
        place = "" if location is None else str(location)
        emit_since(Remark, time.perf_counter_ns(), name=name, location=place, message=message)
