"""Listening to all that runs, from the stages of compiles to calls of operations: where a profiler begins."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ttnn_jit.dispatch.call_events import is_jitted
from ttnn_jit.dispatch.observers import Observer, observing
from ttnn_jit.events.listeners import Listener, Receiver, hearing


@contextmanager
def listening(receive: Receiver, *, all_threads: bool = False) -> Iterator[None]:
    """Call `receive` with every event in the body of a ``with``, when it is over.

    Calls take the slow path meanwhile: remembered calls are looked up anew, so that each native call is an event.

    Args:
        receive: Takes a `ttnn_jit.events.run_events.Event`, in the thread of the event.
        all_threads: Whether it hears of other threads too.
    """
    thread = None if all_threads else threading.get_ident()
    with hearing(Listener(receive, thread)), observing(_Calls()):
        yield


class _Calls(Observer):
    """Makes calls go where their events are emitted (`call_with_observers`), also those inside the host API."""

    def looks_inside(self, operation: Any) -> bool:
        """Whether the operation is a function of the host API, which calls operations."""
        return not is_jitted(operation) and not hasattr(operation, "golden_call")
