"""The disk store: named bytes in one folder, on diskcache, shared by processes.

The store never breaks a call. If the disk is full, the folder belongs to another user or the database is damaged, the
store warns once and continues without the disk. An entry is read whole or not at all: a damaged entry is a miss and is
removed. A read-only folder, as in a container image, is read and not written.

The folder is the trust boundary (`ttnn_jit.cache.folder`): programs hold machine code, so nobody but the user and root
may be able to write to it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ttnn_jit.cache.folder import NOT_USED, Folder, ReadOnlyError, UntrustedFolderError, files_of
from ttnn_jit.diagnostics.tracebacks import warn_user
from ttnn_jit.process.compile_lock import compiling, interrupts_postponed
from ttnn_jit.specs.options import Environment

if TYPE_CHECKING:
    import diskcache

    from ttnn_jit.cache.read_only import ReadOnlyEntries

SIZE_LIMIT = 256 << 20  # bytes; beyond, the entries stored longest ago are evicted
SETTINGS = {
    "size_limit": SIZE_LIMIT,
    "eviction_policy": "least-recently-stored",
    "sqlite_mmap_size": 0,  # truncating a mapped database, by damage or a full disk, kills its readers
}
LOCK_TIMEOUT = 5.0  # seconds that a call waits for another process's write before it continues without the cache
DATABASE_NAME = "cache.db"
PROGRAM = "program:"
MANIFEST = "manifest:"
TEMPLATES = "templates:"
CODE = "code:"

_MAGIC = b"TTJC1"
_DIGEST_BYTES = 32

Result = TypeVar("Result")


class DiskStore:
    """Bytes by name in `directory`. The first use opens the store; threads and processes may share it.

    If the folder cannot be used, every method returns the result of an empty store, and one warning says so.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._cache: diskcache.Cache | ReadOnlyEntries | None = None
        self._folder: Folder | None = None
        self._refused = False

    def get(self, name: str) -> bytes | None:
        """The bytes stored under `name`; None if there are none or they are damaged."""
        # Interrupts need no postponing: a read runs outside of transactions, so an interrupt leaves none open.
        with compiling():
            return self._without_failing(lambda entries: _read(entries, name), None)

    def set(self, name: str, value: bytes) -> None:
        """Store `value` under `name`, whole or not at all."""
        self._guarded(lambda entries: entries.set(name, _seal(name, value)), None)

    def update(
        self, name: str, change: Callable[[bytes | None], bytes], also_store: Mapping[str, bytes] | None = None
    ) -> None:
        """Replace the bytes under `name` by the result of `change`, in one transaction.

        Args:
            name: The entry to replace.
            change: From the stored bytes, or None, to the new ones.
            also_store: Further entries that are stored in the same transaction, by name.
        """

        def replace(entries: diskcache.Cache) -> None:
            with entries.transact():
                for other, value in (also_store or {}).items():
                    entries.set(other, _seal(other, value))
                entries.set(name, _seal(name, change(_read(entries, name))))

        self._guarded(replace, None)

    def names(self, prefix: str) -> list[str]:
        """Names that start with `prefix`, oldest first."""
        none: list[str] = []
        return self._guarded(lambda entries: [name for name in entries if str(name).startswith(prefix)], none)

    def usage(self) -> tuple[int, int]:
        """The number of stored programs, and the bytes of all entries. Does not create the folder."""
        programs, _, nbytes = self._guarded(counts, (0, 0, 0)) if self._exists() else (0, 0, 0)
        return programs, nbytes

    def clear(self) -> None:
        """Remove every entry. Does not create the folder."""
        if self._exists():
            self._guarded(lambda entries: entries.clear(), 0)

    @interrupts_postponed()
    def close(self) -> None:
        """Close this thread's connection; the next use opens it again."""
        if self._cache is not None:
            self._cache.close()

    def _exists(self) -> bool:
        # `Path.exists` raises if the folder belongs to another user.
        return self._cache is not None or os.path.exists(self.directory / DATABASE_NAME)  # noqa: PTH110

    def _guarded(self, use: Callable[[Any], Result], otherwise: Result) -> Result:
        # A child forked while another thread is inside SQLite would wait for SQLite's locks for ever.
        # An interrupt inside a transaction of diskcache would leave it open until its generator is collected.
        with compiling(), interrupts_postponed():
            return self._without_failing(use, otherwise)

    def _without_failing(self, use: Callable[[Any], Result], otherwise: Result) -> Result:
        import diskcache

        try:
            entries = self._open()
            return otherwise if entries is None else use(entries)
        except UntrustedFolderError as error:
            self._refused = True
            self._give_up_folder()
            self._warn_once(f"{error}; {_WITHOUT}")
        except ReadOnlyError:
            self._warn_once(
                f"the disk cache in {self.directory} is read-only: what it holds is used, nothing is kept or removed"
            )
        except (sqlite3.Error, OSError, UnicodeDecodeError, diskcache.Timeout) as error:
            if _shows_damage(error):
                self._discard_database(error)
            else:
                reason = str(error) or type(error).__name__
                self._warn_once(f"the disk cache in {self.directory} failed: {reason}; {_WITHOUT}")
        except BaseException:
            self._leave_transaction()
            raise
        self._leave_transaction()
        return otherwise

    def _leave_transaction(self) -> None:
        # After a failed commit or an interrupt the connection may still be inside its transaction.
        with contextlib.suppress(sqlite3.Error):
            self.close()

    def _open(self) -> diskcache.Cache | ReadOnlyEntries | None:
        if self._refused:
            return None
        if self._folder is not None and not self._folder.is_in_place():
            self._give_up_folder()
        if self._cache is None:
            self._cache = self._opened()
        return self._cache

    def _give_up_folder(self) -> None:
        """Close the folder; the next use opens the folder that is then at the path, if it can be trusted."""
        if self._folder is not None:
            self._leave_transaction()
            self._folder.close()
        self._cache = self._folder = None

    @interrupts_postponed()
    def _opened(self) -> diskcache.Cache | ReadOnlyEntries:
        import diskcache

        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder = self._folder or Folder(self.directory)
            entries = _entries_in(self._folder)
            if not self._folder.is_in_place():
                raise UntrustedFolderError(f"{NOT_USED}{self.directory} was replaced while it was opened")
            return entries
        except (sqlite3.Error, OSError, diskcache.Timeout) as error:
            # No retry: one at every compile would cost more than it is likely to save.
            self._refused = not _shows_damage(error)
            raise
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            # The arguments are constants, so only a damaged table of settings raises these.
            raise sqlite3.DatabaseError(f"its settings cannot be read, {error!r}") from error

    @interrupts_postponed()
    def _discard_database(self, error: Exception) -> None:
        """Remove the files of a database that SQLite cannot read; the next use starts with an empty one."""
        self._cache = None
        if self._folder is None or self._folder.read_only:
            self._refused = True
            self._warn_once(f"the disk cache in {self.directory} is damaged: {error}; {_WITHOUT}")
            return
        self._warn_once(f"the disk cache in {self.directory} is damaged and starts empty: {error}")
        for name in files_of(DATABASE_NAME):
            with contextlib.suppress(OSError):
                self._folder.remove(name)

    def _warn_once(self, text: str) -> None:
        if text not in _WARNED:
            _WARNED.add(text)
            warn_user(text, RuntimeWarning)


_WARNED: set[str] = set()
_WITHOUT = "ttnn_jit goes on without it"


def _entries_in(folder: Folder) -> diskcache.Cache | ReadOnlyEntries:
    import diskcache

    from ttnn_jit.cache.bytes_disk import BytesDisk
    from ttnn_jit.cache.read_only import ReadOnlyEntries

    if folder.read_only:
        return ReadOnlyEntries(folder, DATABASE_NAME)
    folder.require_trusted(DATABASE_NAME)
    try:
        _wait_until_unlocked(folder.path / DATABASE_NAME)
        entries = diskcache.Cache(str(folder.path), timeout=LOCK_TIMEOUT, disk=BytesDisk, **SETTINGS)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}:
            raise
        return ReadOnlyEntries(folder, DATABASE_NAME)
    _require_sound_settings(entries)
    return entries


def _wait_until_unlocked(database: Path) -> None:
    """Wait for a writer, `LOCK_TIMEOUT` at most. diskcache writes when it opens a database, and waits a minute."""
    if database.exists():
        with closing(sqlite3.connect(database, timeout=LOCK_TIMEOUT, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")


def store_of(environment: Environment) -> DiskStore | None:
    """The process's store of the environment's cache folder; None if there is no folder or the cache is turned off."""
    folder = environment.cache_dir if environment.cache_enabled else None
    return None if folder is None else _store_in(folder)


_store_in = cache(DiskStore)


def _shows_damage(error: Exception) -> bool:
    """Whether an error shows a damaged database, not a disk failure, a lock or missing rights."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return isinstance(error, (sqlite3.DatabaseError, UnicodeDecodeError))
    # An SQL error is damage too: the statements are constants, so a table or column that they name is missing.
    return code & 0xFF in {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH}


def _require_sound_settings(entries: diskcache.Cache) -> None:
    """Check the table of settings, which diskcache trusts: damage there causes failures that look like bugs."""
    import diskcache

    expected: dict[str, object] = diskcache.DEFAULT_SETTINGS | {"count": 0, "size": 0, "hits": 0, "misses": 0}
    for name, value in expected.items():
        if name != "disk_pickle_protocol" and type(getattr(entries, name, None)) is not type(value):
            raise sqlite3.DatabaseError(f"setting {name} is damaged")


def counts(entries: diskcache.Cache | ReadOnlyEntries) -> tuple[int, int, int]:
    """The number of stored programs, the number of other entries, and the bytes of all."""
    # In SQL: diskcache does not count the bytes of values that are stored in the database.
    query = f"SELECT TOTAL(key GLOB '{PROGRAM}*'), COUNT(*), TOTAL(LENGTH(value)) FROM Cache"
    ((programs, entries_in_all, nbytes),) = entries._sql(query).fetchall()
    return int(programs), entries_in_all - int(programs), int(nbytes)


def _seal(name: str, value: bytes) -> bytes:
    # The digest covers the name: a damaged index may find an intact row of another name.
    return _MAGIC + hashlib.sha256(name.encode() + b"\0" + value).digest() + value


def unsealed(name: str, sealed: bytes) -> bytes | None:
    """The value of a sealed entry; None if the entry is damaged or has another name."""
    value = sealed[len(_MAGIC) + _DIGEST_BYTES :]
    return value if sealed == _seal(name, value) else None


def _read(entries: diskcache.Cache | ReadOnlyEntries, name: str) -> bytes | None:
    # In SQL: diskcache reads columns that our entries do not use.
    found = entries._sql("SELECT value FROM Cache WHERE key = ? AND raw = 1", (name,)).fetchone()
    if found is None:
        return None
    value = unsealed(name, found[0]) if type(found[0]) is bytes else None
    if value is None:
        with interrupts_postponed():
            entries.delete(name)
    return value
