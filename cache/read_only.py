"""Access to the entries of a folder that is read-only: a read-only mount, or a container image with a cache in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ttnn_jit.cache.folder import Folder, ReadOnlyError


class ReadOnlyEntries:
    """The interface of ``diskcache.Cache`` that `ttnn_jit.cache.disk` uses, for a database that diskcache cannot open.

    diskcache writes when it opens a database: settings, and the write-ahead log, which locking needs. This class takes
    no locks. The log of a killed process holds entries, so an existing log and its index must be readable.

    Raises:
        sqlite3.Error: There is no database, or it cannot be read.
        UntrustedFolderError: Others may write to one of its files.
    """

    def __init__(self, folder: Folder, name: str) -> None:
        database = folder.path / name
        folder.require_trusted(name)
        log = database.with_name(f"{name}-wal")
        self._uri = f"{database.as_uri()}?{'mode=ro' if log.exists() else 'immutable=1'}"
        self._connection: sqlite3.Connection | None = None
        self._sql("SELECT key, value FROM Cache LIMIT 1")

    @property
    def _sql(self) -> Callable[..., sqlite3.Cursor]:
        if self._connection is None:
            # The store lets one thread at a time use the connection.
            self._connection = sqlite3.connect(self._uri, uri=True, isolation_level=None, check_same_thread=False)
        return self._connection.execute

    def __iter__(self) -> Iterator[str]:
        return (name for (name,) in self._sql("SELECT key FROM Cache ORDER BY rowid").fetchall())

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _refuse(self, *_: Any) -> NoReturn:
        raise ReadOnlyError("the disk cache is read-only")

    set = transact = delete = clear = _refuse
