"""``ttnn-jit cache``: what the cache folder holds, whether it is sound, and how it is emptied."""

from __future__ import annotations

import argparse
import json
import sqlite3
import warnings
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from ttnn_jit.cache.contents import Contents, Damage, State, StoredProgram, checked, contents_of, stored_programs
from ttnn_jit.cache.disk import DATABASE_NAME, SIZE_LIMIT, DiskStore
from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.process.progress import with_progress
from ttnn_jit.specs.options import Environment


def info(options: argparse.Namespace) -> int:
    """Prints folder, state and sizes, of a cache that is not used too."""
    found = contents_of(Environment.read())
    state = found.state.value + (f": {found.reason}" if found.reason else "")
    _show(
        options,
        {**asdict(found), "folder": found.folder and str(found.folder), "state": found.state.name},
        f"folder  {found.folder or 'none'}\nstate   {state}\nholds   {_amount(found)} of at most {_size(SIZE_LIMIT)}",
    )
    return 0


def list_programs(options: argparse.Namespace) -> int:
    """Prints a line for every program."""
    found = _used()
    try:
        stored = () if found.state is State.ABSENT else stored_programs(_folder(found))
        programs = list(with_progress(stored, found.programs, "reading"))
    except sqlite3.Error as error:
        raise TtnnJitError(
            f"the disk cache in {found.folder} cannot be read: {error}",
            help="`ttnn-jit cache clear` removes it; it holds nothing that is not compiled again",
        ) from error
    lines = [f"{_amount(found)} in {found.folder}", *map(_line, programs)]
    _show(options, {"folder": str(found.folder), "programs": list(map(asdict, programs))}, "\n".join(lines))
    return 0


def verify(options: argparse.Namespace) -> int:
    """Prints what is damaged; status 1 if anything is."""
    found = _used()
    entries, damaged = _checked(found) if found.state is not State.ABSENT else (0, [])
    lines = [f"{damage.name}: {damage.reason}" for damage in damaged]
    _show(
        options,
        {"folder": str(found.folder), "entries": entries, "damaged": list(map(asdict, damaged))},
        "\n".join([*lines, f"{entries} entries, {len(damaged)} damaged, in {found.folder}"]),
    )
    return 1 if damaged else 0


def clear(options: argparse.Namespace) -> int:
    """Removes every entry, and prints what was removed.

    Raises:
        TtnnJitError: Something is left: the folder is read-only, or another process holds it locked.
    """
    before = _used()
    size = _file_size(before)
    if before.state is not State.ABSENT:
        _clear(before)
    removed = {name: getattr(before, name) for name in ("programs", "others", "nbytes")}
    amount = f"a damaged database, {_size(size)}" if before.state is State.DAMAGED else _amount(before)
    _show(options, {"folder": str(before.folder), "removed": removed}, f"removed {amount}, from {before.folder}")
    return 0


def _used() -> Contents:
    """The contents of a cache that is used.

    Raises:
        ArgumentError: It is turned off, or may not be used.
    """
    found = contents_of(Environment.read())
    if found.state in {State.OFF, State.REFUSED}:
        raise ArgumentError(f"the disk cache is {found.state.value}: {found.reason}")
    return found


def _checked(found: Contents) -> tuple[int, list[Damage]]:
    """How many entries could be read, and every damage."""
    entries = 0
    damaged = []
    try:
        for damage in with_progress(checked(_folder(found)), found.programs + found.others, "checking"):
            entries += damage is None or damage.name != DATABASE_NAME
            damaged += [damage] if damage else []
    except sqlite3.Error as error:
        damaged.append(Damage(DATABASE_NAME, f"it cannot be read: {error}"))
    return entries, damaged


def _clear(before: Contents) -> None:
    with warnings.catch_warnings(record=True) as said, closing(DiskStore(_folder(before))) as store:
        warnings.simplefilter("always")
        store.clear()
    after = contents_of(Environment.read())
    if after.state not in {State.ABSENT, State.READY} or after.programs + after.others > 0:
        raise TtnnJitError("; ".join(str(warning.message) for warning in said) or f"{before.folder} was not cleared")


def _folder(found: Contents) -> Path:
    assert found.folder is not None  # or the cache were not used
    return found.folder


def _file_size(found: Contents) -> int:
    path = _folder(found) / DATABASE_NAME
    return path.stat().st_size if path.exists() else 0


def _line(program: StoredProgram) -> str:
    when = datetime.fromtimestamp(program.stored_at).isoformat(" ", "seconds")
    what = "cannot be read" if program.function is None else f"{program.function}  {' '.join(program.inputs)}"
    return f"{when}  {_size(program.nbytes):>9}  {what}"


def _amount(found: Contents) -> str:
    programs = "1 program" if found.programs == 1 else f"{found.programs} programs"
    return f"{programs} and {found.others} other entries, {_size(found.nbytes)}"


def _size(nbytes: int) -> str:
    return f"{nbytes / 1e6:.1f} MB" if nbytes >= 1e6 else f"{nbytes / 1e3:.1f} kB"


def _show(options: argparse.Namespace, values: dict[str, Any], text: str) -> None:
    print(json.dumps(values, indent=2) if options.json else text)
