"""What a cache folder holds, seen without changing it: for people, and the command line.

`ttnn_jit.cache.disk` repairs what it meets: it drops a damaged entry, and starts a damaged database anew. Here
damage is reported and stays.
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
    """What a cache folder is good for."""

    OFF = "turned off"
    ABSENT = "not there yet"
    REFUSED = "not used"
    DAMAGED = "damaged"
    READ_ONLY = "read-only"
    READY = "in use"


@dataclass(frozen=True)
class Contents:
    """A cache folder as it was when looked at.

    Attributes:
        folder: None where there is none: the cache is turned off, or the user has no home.
        state: What it is good for.
        reason: Why it is not used, or what is damaged; "" otherwise.
        programs: Programs stored.
        others: Other entries: what programs are found by, and native code that programs share.
        nbytes: Bytes of all entries.
    """

    folder: Path | None
    state: State
    reason: str = ""
    programs: int = 0
    others: int = 0
    nbytes: int = 0


@dataclass(frozen=True)
class StoredProgram:
    """A program on disk, as far as it says itself.

    Attributes:
        key: Its content key, hexadecimal.
        stored_at: When it was stored, in seconds since 1970.
        nbytes: Its size.
        function: Name of the compiled function; None if the program is damaged, or of another version's format.
        inputs: The specs of its tensors, as text.
    """

    key: str
    stored_at: float
    nbytes: int
    function: str | None
    inputs: tuple[str, ...]


def contents_of(environment: Environment) -> Contents:
    """How the environment's cache folder stands. Nothing is made, removed or repaired."""
    if not environment.cache_enabled:
        return Contents(None, State.OFF, "TTNN_JIT_CACHE says so")
    if environment.cache_dir is None:
        return Contents(None, State.OFF, "this user has no home folder")
    return _contents_of(environment.cache_dir)


def _contents_of(folder: Path) -> Contents:
    try:
        if folder.exists() and not folder.is_dir():
            return Contents(folder, State.REFUSED, f"{folder} is no folder")
        with closing(Folder(folder)) as opened:
            (folder / DATABASE_NAME).stat()
            state = State.READ_ONLY if opened.read_only else _writable(folder)
        with _opened(folder) as entries:
            programs, others, nbytes = counts(entries)
    except UntrustedFolderError as error:
        return Contents(folder, State.REFUSED, str(error).removeprefix(NOT_USED))
    except FileNotFoundError:
        return Contents(folder, State.ABSENT)
    except sqlite3.Error as error:
        return Contents(folder, State.DAMAGED, f"its database cannot be read: {error}")
    except OSError as error:
        return Contents(folder, State.REFUSED, f"the folder cannot be looked into: {error}")
    return Contents(folder, state, "", programs, others, nbytes)


def stored_programs(folder: Path) -> Iterator[StoredProgram]:
    """Every program in `folder`, oldest first.

    Raises:
        sqlite3.Error: The database cannot be read, or no further.
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
    """An entry that is not what was stored.

    Attributes:
        name: The entry's, as far as it can be read.
        reason: What is wrong with it.
    """

    name: str
    reason: str


def checked(folder: Path) -> Iterator[Damage | None]:
    """For every entry in `folder`, oldest first, its damage or None; at last that of the database, if it has any.

    Raises:
        sqlite3.Error: The database cannot be read, or no further.
    """
    for row in _rows(folder):
        yield _damage_of(row)
    with _opened(folder) as entries:
        problems = [problem for (problem,) in entries._sql("PRAGMA quick_check") if problem != "ok"]
    yield from (Damage(DATABASE_NAME, problem) for problem in problems)


@dataclass(frozen=True)
class _Row:
    """A row of the database, in which damage may have left anything.

    Attributes:
        name: What is left of it.
        is_text: Whether the name is one that the store could have written.
        value: None if it is no plain bytes.
        stored_at: Seconds since 1970.
    """

    name: str
    is_text: bool
    value: bytes | None
    stored_at: float


def _rows(folder: Path, condition: str = "") -> Iterator[_Row]:
    # Names as bytes, for a text that is no UTF-8 would end the query.
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
        return Damage(row.name, "its name is no text")
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
        # Of a text, or of SQLite's own message, which quotes what is damaged.
        raise sqlite3.DatabaseError(f"it holds a text that is no UTF-8: {error}") from error


def _writable(folder: Path) -> State:
    may = all(os.access(path, os.W_OK, effective_ids=EFFECTIVE_IDS) for path in (folder, folder / DATABASE_NAME))
    return State.READY if may else State.READ_ONLY


EFFECTIVE_IDS = os.access in os.supports_effective_ids
"""Whether the system asks for the rights of the user as whom the process acts, not of the one who started it."""
