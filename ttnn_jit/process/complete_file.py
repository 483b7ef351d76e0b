"""Atomic writes of files."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def complete_file(path: Path) -> Iterator[BinaryIO]:
    """A block that writes a file atomically, so that readers and other writers never see a part of it.

    A link stays a link to the file that is written. What is no file, such as a device or a pipe, is written directly.

    Raises:
        OSError: The file cannot be written; the error names `path`, and an existing file stays.
    """
    target = path.resolve() if path.is_symlink() and (path.is_file() or not path.exists()) else path
    is_special = path.exists() and not path.is_file() and not path.is_dir()
    written = target if is_special else target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        with written.open("wb" if is_special else "xb") as file:
            yield file
        if not is_special:
            written.replace(target)
    except BaseException as error:
        if not is_special:
            with suppress(OSError):  # the temporary file may not exist
                written.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_complete(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file by `complete_file`.

    Raises:
        OSError: See there.
    """
    with complete_file(path) as file:
        for part in parts:
            file.write(part)
