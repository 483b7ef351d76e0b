"""Atomic writes of files."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_complete(path: Path, parts: Iterable[bytes]) -> None:
    """Write a file atomically, so that readers and other writers never see a part of it.

    Raises:
        OSError: The file cannot be written; the error names `path`, and an existing file stays.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with beside.open("xb") as file:
            for part in parts:
                file.write(part)
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):  # the temporary file may not exist
            beside.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
