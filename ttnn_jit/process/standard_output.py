"""Standard output of a command: all of it is written, or its status says that it is not."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def complete_output() -> Iterator[None]:
    """A block at whose end everything that it printed is written.

    The interpreter would report what fails at its exit, in words and with a status of its own: nothing is left to it.

    Raises:
        OSError: Standard output cannot be written, as of a full disk; a BrokenPipeError if its reader has exited.
    """
    try:
        yield
        if sys.stdout is not None:
            with _named():
                sys.stdout.flush()
    finally:
        _drop_unwritten()


@contextmanager
def _named() -> Iterator[None]:
    """A block whose errors name standard output."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def _drop_unwritten() -> None:
    """Sends what can no longer be written to nowhere."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):  # or it is closed
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


def write_output(data: str | bytes) -> None:
    """Writes all of a text or of bytes to standard output.

    With ``PYTHONUNBUFFERED`` one write may take a part, as where a disk gets full, and Python's own would stop there.

    Raises:
        OSError: It cannot be written.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:  # a stream of texts, which a caller in Python has put there
        sys.stdout.write(data if isinstance(data, str) else data.decode())
        return
    left = memoryview(data.encode(sys.stdout.encoding) if isinstance(data, str) else data)
    with _named():
        sys.stdout.flush()
        while left:
            left = left[binary.write(left) :]
