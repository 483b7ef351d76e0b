"""diskcache without pickle: text keys, bytes values, and nothing else in either direction.

diskcache pickles values of types that it does not know, and unpickles rows that the database marks as pickled. Whoever
can write to the folder then runs code in the reader (CVE-2025-69872). This class refuses both.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import diskcache
from diskcache.core import MODE_RAW, UNKNOWN


class UnreadableEntryError(OSError):
    """A row that this class did not write. The store treats it like any other disk failure."""


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Keys are str and values bytes. Values are stored in the database itself, whose journal makes writes atomic."""

    def put(self, key: object) -> tuple[str, bool]:
        """Encode a key for the database."""
        if type(key) is not str:
            raise TypeError(f"a key of the disk cache is a str, got {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: bool) -> str:
        """Decode a key of the database."""
        if type(key) is not str or not raw:
            raise UnreadableEntryError("the disk cache holds a key that is not text")
        return key

    def store(self, value: object, read: bool, key: object = UNKNOWN) -> tuple[int, int, None, Any]:  # noqa: ARG002
        """Encode a value for the database: size of its file, mode, file name, value."""
        if type(value) is not bytes or read:
            raise TypeError(f"a value of the disk cache is bytes, got {type(value).__name__}")
        return 0, MODE_RAW, None, sqlite3.Binary(value)

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> bytes:
        """Decode a value of the database."""
        if mode != MODE_RAW or filename is not None or type(value) is not bytes or read:
            raise UnreadableEntryError("the disk cache holds a value that is not plain bytes")
        return value

    def remove(self, file_path: object) -> None:
        """Do nothing: no value is stored in a file, so a row that names a file is damaged and the file is not ours."""
