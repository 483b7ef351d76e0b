"""Read-only inspection of a cache folder, for the command line.

`ttnn_jit.cache.disk` repairs damage: it removes a damaged entry and replaces a damaged database. This module only
reports damage.
"""

from __future__ import annotations

import enum
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from diskcache.core import MODE_RAW

from ttnn_jit.cache.disk import DATABASE_NAME, PROGRAM, counts, unsealed
from ttnn_jit.cache.folder import NOT_USED, Folder, UntrustedFolderError
from ttnn_jit.cache.read_only import ReadOnlyEntries
from ttnn_jit.diagnostics.errors import ProgramFormatError
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.programs.program import Program, ProgramPlan
from ttnn_jit.specs.options import Environment


class State(enum.Enum):
    """The state of a cache folder."""

    OFF = "turned off"
    ABSENT = "not there yet"
    REFUSED = "not used"
    DAMAGED = "damaged"
    READ_ONLY = "read-only"
    READY = "in use"


@dataclass(frozen=True)
class Contents:
    """A snapshot of a cache folder.

    Attributes:
        folder: The folder; None if the cache is turned off or the user has no home.
        state: Whether the folder is usable.
        reason: Why the folder is not used, or what is damaged; "" otherwise.
        programs: Number of stored programs.
        others: Number of other entries: manifests, and native code that programs share.
        nbytes: Size of all entries in bytes.
    """

    folder: Path | None
    state: State
    reason: str = ""
    programs: int = 0
    others: int = 0
    nbytes: int = 0


@dataclass(frozen=True)
class StoredProgram:
    """A program on disk.

    Attributes:
        key: The content key, hexadecimal.
        stored_at: Time of the store, in seconds since 1970.
        nbytes: Size in bytes.
        function: Name of the compiled function; None if the program is damaged or has another version's format.
        inputs: The specs of the input tensors, as text.
    """

    key: str
    stored_at: float
    nbytes: int
    function: str | None
    inputs: tuple[str, ...]


def contents_of(environment: Environment) -> Contents:
    """A snapshot of the environment's cache folder. Nothing is created, removed or repaired."""
    if not environment.cache_enabled:
        return Contents(None, State.OFF, "TTNN_JIT_CACHE says so")
    if environment.cache_dir is None:
        return Contents(None, State.OFF, "this user has no home folder")
    return _contents_of(environment.cache_dir)


def _contents_of(folder: Path) -> Contents:
    try:
        if folder.exists() and not folder.is_dir():
            return Contents(folder, State.REFUSED, f"{folder} is not a folder")
        with closing(Folder(folder)) as opened:
            (folder / DATABASE_NAME).stat()
            state = State.READ_ONLY if opened.read_only else _writable(folder)
        with _opened(folder) as entries:
            programs, others, nbytes = counts(entries)
    except UntrustedFolderError as error:
        return Contents(folder, State.REFUSED, str(error).removeprefix(NOT_USED))
    except FileNotFoundError:
        return _absent(folder)
    except sqlite3.Error as error:
        return Contents(folder, State.DAMAGED, f"its database cannot be read: {error}")
    except OSError as error:
        return Contents(folder, State.REFUSED, f"the folder cannot be looked into: {error}")
    return Contents(folder, state, "", programs, others, nbytes)


def _absent(folder: Path) -> Contents:
    """The contents of a folder without a database, which the next compile creates if the user may."""
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if nearest == folder or os.access(nearest, os.W_OK | os.X_OK, effective_ids=EFFECTIVE_IDS):
        return Contents(folder, State.ABSENT)
    return Contents(folder, State.REFUSED, f"{folder} does not exist, and this user may not write to {nearest}")


def stored_programs(folder: Path) -> Iterator[StoredProgram]:
    """Every program in `folder`, oldest first.

    Raises:
        sqlite3.Error: The database cannot be read, or reading stopped at damage.
    """
    for row in _rows(folder, f"WHERE key GLOB '{PROGRAM}*'"):
        plan = _plan(row)
        yield StoredProgram(
            key=row.name.removeprefix(PROGRAM),
            stored_at=row.stored_at,
            nbytes=len(row.value or b""),
            function=plan.name if plan else None,
            inputs=tuple(repr(spec).removeprefix("TensorSpec") for spec in plan.inputs) if plan else (),
        )


@dataclass(frozen=True)
class Damage:
    """A damaged entry.

    Attributes:
        name: The entry's name, as far as it can be read.
        reason: What is damaged.
    """

    name: str
    reason: str


def checked(folder: Path) -> Iterator[Damage | None]:
    """Per entry in `folder`, oldest first, its damage or None; then the damage of the database, if any.

    Raises:
        sqlite3.Error: The database cannot be read, or reading stopped at damage.
    """
    for row in _rows(folder):
        yield _damage_of(row)
    with _opened(folder) as entries:
        problems = [problem for (problem,) in entries._sql("PRAGMA quick_check") if problem != "ok"]
    yield from (Damage(DATABASE_NAME, problem) for problem in problems)


@dataclass(frozen=True)
class _Row:
    """A row of the database, which may be damaged.

    Attributes:
        name: The name, with undecodable bytes escaped.
        is_text: Whether the store could have written the name.
        value: The value; None if it is not plain bytes.
        stored_at: Time of the store, in seconds since 1970.
    """

    name: str
    is_text: bool
    value: bytes | None
    stored_at: float


def _rows(folder: Path, condition: str = "") -> Iterator[_Row]:
    # Names are read as bytes: a text that is not UTF-8 would end the query.
    query = (
        "SELECT CAST(key AS BLOB), TYPEOF(key) = 'text' AND raw, mode, filename, value, store_time "
        f"FROM Cache {condition} ORDER BY rowid"
    )
    with _opened(folder) as entries:
        for key, is_text, mode, filename, value, stored_at in entries._sql(query):
            plain = mode == MODE_RAW and filename is None and isinstance(value, bytes)
            yield _Row(
                name=(key or b"").decode(errors="backslashreplace"),
                is_text=bool(is_text),
                value=value if plain else None,
                stored_at=stored_at if isinstance(stored_at, float) else 0.0,
            )


def _damage_of(row: _Row) -> Damage | None:
    if not row.is_text:
        return Damage(row.name, "its name is not text")
    if row.value is None:
        return Damage(row.name, "its value is not plain bytes")
    if unsealed(row.name, row.value) is None:
        return Damage(row.name, "its checksum does not match")
    return None


def _plan(row: _Row) -> ProgramPlan | None:
    data = None if row.value is None else unsealed(row.name, row.value)
    try:
        return None if data is None else Program.from_bytes(data).plan
    except ProgramFormatError:
        return None


@contextmanager
def _opened(folder: Path) -> Iterator[ReadOnlyEntries]:
    try:
        with closing(Folder(folder)) as opened, closing(ReadOnlyEntries(opened, DATABASE_NAME)) as entries:
            yield entries
    except UnicodeDecodeError as error:
        # A text of a row, or SQLite's own message, which quotes the damaged text.
        raise sqlite3.DatabaseError(f"it holds a text that is not UTF-8: {error}") from error


def _writable(folder: Path) -> State:
    may = all(os.access(path, os.W_OK, effective_ids=EFFECTIVE_IDS) for path in (folder, folder / DATABASE_NAME))
    return State.READY if may else State.READ_ONLY


EFFECTIVE_IDS = os.access in os.supports_effective_ids
"""Whether `os.access` can check the rights of the effective user, not of the real one."""
