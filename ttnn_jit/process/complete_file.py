"""Files that are complete or not there."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_complete(path: Path, parts: Iterable[bytes]) -> None:
    """Put a complete file at `path` in one step, so that readers and other writers never meet half of one.

    Raises:
        OSError: It cannot be written; it names `path`, and what was there stays.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with beside.open("xb") as file:
            for part in parts:
                file.write(part)
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):  # what cannot be written need not be there
            beside.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
