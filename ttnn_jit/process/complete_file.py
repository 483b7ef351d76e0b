"""Atomic writes of files."""

from __future__ import annotations

import errno
import io
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO


@contextmanager
def complete_file(path: Path) -> Iterator[BinaryIO]:
    """A block that writes a file atomically, so that readers and other writers never see a part of it.

    A link stays a link to the file that is written. What is no file, such as a device or a pipe, is written directly.

    Raises:
        OSError: The file cannot be written; the error names `path`, and an existing file stays.
    """
    target, is_direct = _target(path), is_special(path)
    written, failures = target if is_direct else _beside(target), list[OSError]()
    try:
        with _File(io.FileIO(written, "w" if is_direct else "x"), failures) as file:
            yield file
        if not is_direct:
            written.replace(target)
    except BaseException as error:
        if not is_direct:
            with suppress(OSError):  # the temporary file may not exist
                written.unlink()
        failure = next(iter(failures), error)
        if isinstance(failure, OSError):
            raise OSError(failure.errno, failure.strerror, str(path)) from error
        raise


class _File(io.BufferedWriter):
    """A file that remembers why it could not be written: a writer such as torch's raises an error of its own then."""

    def __init__(self, raw: io.FileIO, failures: list[OSError]) -> None:
        super().__init__(raw)
        self._failures = failures

    def write(self, data: Any) -> int:
        """As that of any file."""
        try:
            return super().write(data)
        except OSError as error:
            self._failures.append(error)
            raise


def check_writable(path: Path) -> None:
    """Refuses a path where `complete_file` could write no file, and leaves everything as it is.

    Raises:
        OSError: It could not; the error names `path`.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if is_special(path):
        return  # opening a pipe would wait for its reader
    trial = _beside(_target(path))
    try:
        trial.touch(exist_ok=False)
        trial.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _target(path: Path) -> Path:
    """The file that is replaced: that of a link, if it is one of a file."""
    return path.resolve() if path.is_symlink() and (path.is_file() or not path.exists()) else path


def is_special(path: Path) -> bool:
    """Whether it is a device, a pipe or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _beside(target: Path) -> Path:
    """A file that is not there, in the folder of another one."""
    return target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")


def write_complete(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file by `complete_file`.

    Raises:
        OSError: See there.
    """
    with complete_file(path) as file:
        for part in parts:
            file.write(part)
