"""Tracebacks of the user's errors have the user's frames only, without the frames of the compiler.

Public functions pass errors through `keep_user_frames`, which changes the traceback itself, so that scripts, pytest,
IPython and ``python -i`` show the same. They re-raise with a bare ``raise``, which adds no entry for its own frame.
``TTNN_JIT_DEBUG=1`` keeps every frame, and an `InternalError` always does.
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
from ttnn_jit.diagnostics.origin import THIS_PACKAGE, is_code_of_a_library, library_of_frame
from ttnn_jit.diagnostics.source import Location, whole_line

P = ParamSpec("P")
R = TypeVar("R")

_INTERNAL_PACKAGES = {THIS_PACKAGE, "contextlib", "xdsl"}
"""Packages whose frames are between the user's call and the error."""


def keep_user_frames(error: BaseException) -> None:
    """Remove the frames that are not the user's from the tracebacks of `error`."""
    if isinstance(error, InternalError) or debugging():
        return
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = _user_frames(link.__traceback__)
        link = link.__cause__


def keep_user_frames_of_call(error: BaseException) -> None:
    """`keep_user_frames` of an error that passes through a wrapper of a user's call.

    The error may be one of the user's own callbacks. An error that a library raised, or this package by accident, keeps
    every frame.
    """
    innermost = error.__traceback__
    while innermost is not None and innermost.tb_next is not None:
        innermost = innermost.tb_next
    is_the_users = innermost is not None and not _is_internal(innermost.tb_frame)
    if isinstance(error, TtnnJitError) or is_the_users:
        keep_user_frames(error)


def user_frames_only(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator of a public function: its errors have the user's frames only."""

    @functools.wraps(function)
    def public(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TtnnJitError as error:
            keep_user_frames(error)
            raise

    return public


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the current line of the user's code."""
    _, above = _user_frame()
    warnings.warn(text, category, stacklevel=above + 1)


def user_location() -> Location | None:
    """The current line of the user's code; None if no code of the user's runs."""
    frame, _ = _user_frame()
    return None if frame is None else whole_line(frame.f_code.co_filename, frame.f_lineno)


def raised_by(error: BaseException) -> Location | None:
    """The innermost line of the user's code through which an error was raised; None if there is none."""
    found, entry = None, error.__traceback__
    while entry is not None:
        frame = entry.tb_frame
        if not (_is_internal(frame) or is_code_of_a_library(frame.f_code)):
            found = whole_line(frame.f_code.co_filename, entry.tb_lineno)
        entry = entry.tb_next
    return found


def user_line() -> str:
    """The file and the number of the current line of the user's code: `user_location` without reading the file."""
    frame, _ = _user_frame()
    return "an unknown line" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def user_stack() -> str:
    """The current stack of the user's frames, innermost first, in the format of tracebacks."""
    import traceback

    frames = (entry for entry in traceback.walk_stack(sys._getframe(1)) if not _is_internal(entry[0]))
    return "\n".join(traceback.StackSummary.extract(frames).format())


def _user_frame() -> tuple[FrameType | None, int]:
    """The innermost frame of the user's, and the number of frames above it, from that of the caller on."""
    frame: FrameType | None = sys._getframe(1)
    above = 0
    while frame is not None and (_globals_name(frame) in _INTERNAL_MODULES or _is_internal(frame)):
        frame, above = frame.f_back, above + 1
    return frame, above


_INTERNAL_MODULES: set[str] = set()
"""Modules of the internal packages that have been met: eager collectives look up the user's line at each call."""


def _globals_name(frame: FrameType) -> str:
    name = frame.f_globals.get("__name__")
    return name if type(name) is str else ""


def _user_frames(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not _is_internal(traceback.tb_frame):
            kept.append(traceback)
        traceback = traceback.tb_next
    shown: TracebackType | None = None
    for entry in reversed(kept):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def _is_internal(frame: FrameType) -> bool:
    name = _globals_name(frame)
    if name.partition(".")[0] in _INTERNAL_PACKAGES:
        _INTERNAL_MODULES.add(name)
    return library_of_frame(frame) in _INTERNAL_PACKAGES
