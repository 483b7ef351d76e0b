"""A mistake of the user's is shown with the user's frames: those of the compiler that found it say nothing of it.

The public calls pass errors through `keep_users_frames`, which cuts the traceback itself, so that scripts, pytest,
IPython and ``python -i`` show the same. They go on with a bare ``raise``: it alone adds no entry for the frame that it
stands in. ``TTNN_JIT_DEBUG=1`` keeps every frame, and an `InternalError` always does.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import ParamSpec, TypeVar

from ttnn_jit.diagnostics.debugging import debugging
from ttnn_jit.diagnostics.errors import InternalError, TtnnJitError
from ttnn_jit.diagnostics.origin import THIS_PACKAGE, library_of_frame
from ttnn_jit.diagnostics.source import Location, whole_line

P = ParamSpec("P")
R = TypeVar("R")

_MACHINERY = {THIS_PACKAGE, "contextlib", "xdsl"}
"""Packages whose frames lie between the user's call and the error."""


def keep_users_frames(error: BaseException) -> None:
    """Take the frames that are not the user's out of the tracebacks of `error`, which is on its way to the user."""
    if isinstance(error, InternalError) or debugging():
        return
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = _frames_of_the_user(link.__traceback__)
        link = link.__cause__


def keep_frames_of_a_call(error: BaseException) -> None:
    """What `keep_users_frames` does, of an error that a function around a user's call lets pass.

    It may be one of the user's own code that was called back. One that arose in a library or in this package without
    being raised on purpose keeps every frame.
    """
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    is_the_users = innermost is not None and not _is_machinery(innermost.tb_frame)
    if isinstance(error, TtnnJitError) or is_the_users:
        keep_users_frames(error)


def raises_for_the_user(function: Callable[P, R]) -> Callable[P, R]:
    """A public method whose errors show frames of the user's alone."""

    @functools.wraps(function)
    def public(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TtnnJitError as error:
            keep_users_frames(error)
            raise

    return public


def warn_the_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning that names the line of the user's that runs now."""
    _, above = _frame_of_the_user()
    warnings.warn(text, category, stacklevel=above + 1)


def user_location() -> Location | None:
    """The line of the user's that runs now; None where there is none."""
    frame, _ = _frame_of_the_user()
    return None if frame is None else whole_line(frame.f_code.co_filename, frame.f_lineno)


def stack_of_the_user() -> str:
    """The user's lines that run now, the innermost first, as tracebacks show them."""
    import traceback

    frames = (entry for entry in traceback.walk_stack(sys._getframe(1)) if not _is_machinery(entry[0]))
    return "\n".join(traceback.StackSummary.extract(frames).format())


def _frame_of_the_user() -> tuple[FrameType | None, int]:
    """The frame of the user's that runs now, and how many run above it, the first that of the function that asks."""
    frame: FrameType | None = sys._getframe(1)
    above = 0
    while frame is not None and _is_machinery(frame):
        frame, above = frame.f_back, above + 1
    return frame, above


def _frames_of_the_user(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not _is_machinery(traceback.tb_frame):
            kept.append(traceback)
        traceback = traceback.tb_next
    shown: TracebackType | None = None
    for entry in reversed(kept):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def _is_machinery(frame: FrameType) -> bool:
    return library_of_frame(frame) in _MACHINERY
