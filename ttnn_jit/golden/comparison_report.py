"""The report of comparisons: every process writes a file of its own, and whoever ends merges them all.

Records reach their file when they are made, so that a process that is killed loses none. A folder serves one run: the
first process that compares into it, while no other does, forgets what an earlier run left. A process takes part in a
run from its first comparison to its end.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ttnn_jit.golden.comparison_page import page
from ttnn_jit.golden.comparison_records import ComparisonRecord, merged, of_line, to_line
from ttnn_jit.process.complete_file import write_complete

PARTS, RESULTS, PAGE = "comparison.parts", "comparison.json", "comparison.html"


class RecordFile:
    """The file of this process in a report's folder.

    Args:
        folder: Of the report.
        anew: Whether what is there is of an earlier run; None: it is if no other process compares into it.
    """

    def __init__(self, folder: Path, *, anew: bool | None = None) -> None:
        self._folder = folder
        self._parts = folder / PARTS
        self._parts.mkdir(parents=True, exist_ok=True)
        self._process, self._file = 0, self._parts
        names = (".present", ".merging")
        self._present, self._merging = (os.open(self._parts / name, os.O_CREAT | os.O_RDWR) for name in names)
        with _locked(self._merging):
            if anew if anew is not None else _taken_alone(self._present):
                for file in self._parts.glob("*.jsonl"):
                    file.unlink()
            _lock(self._present, shared=True)  # until the process ends

    def write(self, records: Iterable[ComparisonRecord]) -> None:
        """Add records to it."""
        if self._process != os.getpid():  # a fork has its parent's file
            self._process = os.getpid()
            self._file = self._parts / f"{self._process}-{uuid.uuid4().hex[:8]}.jsonl"
        with self._file.open("a", encoding="utf-8") as file:
            file.writelines(f"{to_line(record)}\n" for record in records)

    def merge(self) -> list[ComparisonRecord]:
        """Make the report of what all processes have written so far; their records.

        Raises:
            OSError: It cannot be written; the one that was there stays.
        """
        with _locked(self._merging):
            return write_report(self._folder)


_OF_FOLDERS: dict[Path, RecordFile] = {}


def record_file(folder: Path) -> RecordFile:
    """The one file that this process has in a folder."""
    whole = folder.absolute()
    return _OF_FOLDERS.get(whole) or _OF_FOLDERS.setdefault(whole, RecordFile(whole))


def write_report(folder: Path) -> list[ComparisonRecord]:
    """Merge the files of all processes in `folder` to ``comparison.json`` and ``comparison.html``; their records."""
    files = sorted((folder / PARTS).glob("*.jsonl"))
    records = merged([list(_records_in(file)) for file in files])
    lines = ",\n  ".join(map(to_line, records))
    write_complete(folder / RESULTS, [f"[\n  {lines}\n]\n".encode() if records else b"[]\n"])
    write_complete(folder / PAGE, ["\n".join(page(records)).encode()])
    return records


def _records_in(file: Path) -> Iterator[ComparisonRecord]:
    """The whole lines of a file: the last one of a process that was killed may be half of one."""
    with file.open(encoding="utf-8") as lines:
        yield from (of_line(line) for line in lines if line.endswith("\n"))


def _lock(file: int, *, shared: bool = False) -> None:
    """Wait for a lock that ends with the process, or with the file."""
    import fcntl

    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def _taken_alone(file: int) -> bool:
    """Whether nobody else has a lock of the file; this process has it then."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _locked(file: int) -> Iterator[None]:
    """In its body nobody else merges or begins."""
    import fcntl

    _lock(file)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
