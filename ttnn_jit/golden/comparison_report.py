"""The report of comparisons: each process appends to its own file, and every process that ends merges all files.

A record is written when it is made, so that a process that is killed loses none. A folder holds the report of one run:
the first process that compares into it, while no other does, deletes the files of an earlier run. A process belongs to
a run from its first comparison to its end.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ttnn_jit.golden.comparison_records import ComparisonRecord, merged, to_json_line
from ttnn_jit.golden.record_report import Report, records_of_lines
from ttnn_jit.process.complete_file import write_complete

PARTS, RESULTS, PAGE = "comparison.parts", "comparison.jsonl", "comparison.html"


class RecordFile:
    """The file of this process in a report's folder.

    Args:
        folder: The folder of the report.
        discard_earlier: Delete the files of an earlier run; None: delete them if no other process compares into the
            folder.
    """

    def __init__(self, folder: Path, *, discard_earlier: bool | None = None) -> None:
        self._folder = folder
        self._parts = folder / PARTS
        self._parts.mkdir(parents=True, exist_ok=True)
        self._process, self._file = 0, self._parts
        names = (".present", ".merging")
        self._present, self._merging = (os.open(self._parts / name, os.O_CREAT | os.O_RDWR) for name in names)
        with _locked(self._merging):
            if discard_earlier if discard_earlier is not None else _try_lock_alone(self._present):
                for file in self._parts.glob("*.jsonl"):
                    file.unlink()
            _lock(self._present, shared=True)  # until the process ends

    def write(self, records: Iterable[ComparisonRecord]) -> None:
        """Append records."""
        if self._process != os.getpid():  # a forked process inherits its parent's file
            self._process = os.getpid()
            self._file = self._parts / f"{self._process}-{uuid.uuid4().hex[:8]}.jsonl"
        with self._file.open("a", encoding="utf-8") as file:
            file.writelines(f"{to_json_line(record)}\n" for record in records)

    def merge(self) -> Report:
        """Write the report of all records that processes have written so far, and return them.

        Raises:
            OSError: The report cannot be written; the earlier one stays.
        """
        with _locked(self._merging):
            return write_report(self._folder)


_FILES: dict[Path, RecordFile] = {}


def record_file(folder: Path) -> RecordFile:
    """The file of this process in a folder, the same at every call."""
    absolute = folder.absolute()
    return _FILES.get(absolute) or _FILES.setdefault(absolute, RecordFile(absolute))


def write_report(folder: Path) -> Report:
    """Merge all record files of `folder` to one file of JSON lines and the page, and return the records."""
    files = sorted((folder / PARTS).glob("*.jsonl"))
    report = Report(merged([list(records_of_lines(file)) for file in files]))
    write_complete(folder / RESULTS, [f"{to_json_line(record)}\n".encode() for record in report])
    report.write_page(folder / PAGE)
    return report


def _lock(file: int, *, shared: bool = False) -> None:
    """Wait for a lock, which is released when the process ends or the file is closed."""
    import fcntl

    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def _try_lock_alone(file: int) -> bool:
    """Take an exclusive lock unless another process holds one; whether it was taken."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _locked(file: int) -> Iterator[None]:
    """A block in which no other process merges or begins."""
    import fcntl

    _lock(file)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
