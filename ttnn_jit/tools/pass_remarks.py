"""What passes say of ops that they treat in a costly way, as mlir-opt prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

from ttnn_jit.events.listeners import Listener, hearing
from ttnn_jit.events.run_events import Event, Remark


@contextmanager
def collected_remarks() -> Iterator[list[Remark]]:
    """A block, and the remarks of the passes that this thread runs inside it."""
    found: list[Remark] = []

    def receive(event: Event) -> None:
        if isinstance(event, Remark):
            found.append(event)

    with hearing(Listener(receive, get_ident())):
        yield found


@contextmanager
def printed_remarks() -> Iterator[None]:
    """A block whose remarks are printed on stderr after it."""
    with collected_remarks() as remarks:
        yield
    for each in remarks:
        print(remark_line(each), file=sys.stderr)


def remark_line(remark: Remark) -> str:
    """``FILE:LINE:COLUMN: remark: MESSAGE``."""
    place = f"{remark.location}: " if remark.location else ""
    return f"{place}remark: {remark.message}"
