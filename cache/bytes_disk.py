"""diskcache without pickle: text keys, bytes values, and nothing else in either direction.

diskcache pickles what it does not know and unpickles what the database says is pickled, so that whoever can write to
the folder runs code in the reader (CVE-2025-69872). Here both are refused.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import diskcache
from diskcache.core import MODE_RAW, UNKNOWN


class UnreadableEntryError(OSError):
    """A row that this class did not write; the store treats it as any other failure of the disk."""


class BytesDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Keys are str and values bytes. Values lie in the database itself, whose journal makes writes atomic."""

    def put(self, key: object) -> tuple[str, bool]:
        """A key as the database has it."""
        if type(key) is not str:
            raise TypeError(f"a key of the disk cache is a str, got {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: bool) -> str:
        """A key as it was put."""
        if type(key) is not str or not raw:
            raise UnreadableEntryError("the disk cache holds a key that is no text")
        return key

    def store(self, value: object, read: bool, key: object = UNKNOWN) -> tuple[int, int, None, Any]:  # noqa: ARG002
        """A value as the database has it: size of its file, mode, file name, value."""
        if type(value) is not bytes or read:
            raise TypeError(f"a value of the disk cache is bytes, got {type(value).__name__}")
        return 0, MODE_RAW, None, sqlite3.Binary(value)

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> bytes:
        """A value as it was stored."""
        if mode != MODE_RAW or filename is not None or type(value) is not bytes or read:
            raise UnreadableEntryError("the disk cache holds a value that is not plain bytes")
        return value

    def remove(self, file_path: object) -> None:
        """Nothing: no value lies in a file, so a row that names one is damaged, and the file is not ours."""
