"""The launcher's SIGTERM as an error in the main thread, at a point where code of the user's runs.

An error that a signal raises in the middle of a library, such as an import, may come out as another one. So it waits
for code of the user's or for the next call that ranks make; after a time it is raised wherever the program is.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from types import FrameType

from ttnn_jit.diagnostics.source import Location, whole_line

PATIENCE = 5.0  # seconds; torch's agent kills a process 30 s after its SIGTERM
_INTERVAL = 0.02  # seconds between looks at what runs

_REQUESTED_AT: list[float] = []
"""When the launcher sent SIGTERM; empty before."""


def is_requested() -> bool:
    """Whether the launcher ends this process."""
    return bool(_REQUESTED_AT)


def end_on_termination(end: Callable[[], None]) -> None:
    """Call `end` in the main thread after a SIGTERM; it raises the error. A handler of the program's own is kept."""
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return

    def look(_signal: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if not _REQUESTED_AT:
            _REQUESTED_AT.append(time.monotonic())
        if _is_users(frame) or time.monotonic() - _REQUESTED_AT[0] > PATIENCE:
            end()
        elif signal.getsignal(signal.SIGALRM) in {signal.SIG_DFL, look}:
            signal.signal(signal.SIGALRM, look)
            signal.setitimer(signal.ITIMER_REAL, _INTERVAL)

    signal.signal(signal.SIGTERM, look)


def interrupted_location() -> Location | None:
    """The line of the user's own code that runs now, or that called what runs, such as an import; None without one.

    In a handler of a signal anything may be running, code of Python's own and of installed packages too.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_users(frame):
        frame = frame.f_back
    return None if frame is None else whole_line(frame.f_code.co_filename, frame.f_lineno)


def _is_users(frame: FrameType | None) -> bool:
    """Whether a frame is of code outside of Python's own and installed packages, and outside of this one."""
    if frame is None:
        return False
    file = frame.f_code.co_filename
    is_ours = frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]
    return not is_ours and not file.startswith(("<", sys.prefix, sys.base_prefix))
