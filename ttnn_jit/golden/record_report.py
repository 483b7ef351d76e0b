"""The report of a comparison: its records, filters over them, and files of JSON lines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.golden.comparison_checks import require_file_name
from ttnn_jit.golden.comparison_page import page
from ttnn_jit.golden.comparison_records import (
    FAILURES,
    ComparisonRecord,
    Mode,
    Status,
    from_json_line,
    to_json_line,
)
from ttnn_jit.process.complete_file import complete_file, write_complete

if TYPE_CHECKING:
    from ttnn_jit.golden.comparison_recorder import Outcome


class Report(Sequence[ComparisonRecord]):
    """Records in the order in which they were made; while a comparison runs, new ones are added.

    Args:
        records: The records.
    """

    def __init__(self, records: Iterable[ComparisonRecord] = ()) -> None:
        self.records = list(records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # of a list
        return self.records[index]

    def __iter__(self) -> Iterator[ComparisonRecord]:
        return iter(self.records)

    def __repr__(self) -> str:
        return f"Report({self.summary()})"

    def filter(self, wanted: Callable[[ComparisonRecord], bool]) -> Self:
        """The report of the records that `wanted` accepts."""
        return type(self)(filter(wanted, self.records))

    def by_operation(self, pattern: str) -> Self:
        """The records of operations of a name, which may have the wildcards of shells: ``ttnn.*``."""
        return self.filter(lambda record: fnmatchcase(record.operation, pattern))

    def by_status(self, *statuses: Status | str) -> Self:
        """The records of one of these outcomes.

        Raises:
            ValueError: There is no such outcome.
        """
        wanted = {Status(each) for each in statuses}
        return self.filter(lambda record: record.status in wanted)

    def by_mode(self, mode: Mode | str) -> Self:
        """The records of one mode.

        Raises:
            ValueError: There is no such mode.
        """
        wanted = Mode(mode)
        return self.filter(lambda record: record.mode is wanted)

    def failures(self) -> Self:
        """The records of results that are wrong."""
        return self.filter(lambda record: record.status in FAILURES)

    def passes(self) -> Self:
        """The records of results that are right."""
        return self.filter(lambda record: record.status is Status.OK)

    def not_compared(self) -> Self:
        """The records of results that were not compared."""
        return self.filter(lambda record: record.matches is None)

    def summary(self) -> str:
        """The counts in a few words."""
        bad, unjudged = len(self.failures()), len(self.not_compared())
        rest = f", {unjudged} not compared" if unjudged else ""
        return f"{len(self) - unjudged} results compared with goldens, {bad} differ{rest}"

    def write_page(self, path: Path | str) -> None:
        """Write the HTML page.

        Raises:
            OSError: It cannot be written; an earlier page stays.
        """
        write_complete(Path(path), ["\n".join(page(self.records)).encode()])

    @classmethod
    def from_jsonl(cls, path: Path | str) -> Self:
        """The report of a file of JSON lines. A last line without an end, of a process that was killed, is left out.

        Raises:
            ArgumentError: A line is no record; the text names it.
            OSError: The file cannot be read.
        """
        return cls(records_of_lines(Path(path)))


def records_of_lines(path: Path) -> Iterator[ComparisonRecord]:
    """The records of the complete lines of a file.

    Raises:
        ArgumentError: A line is no record; the text names it.
    """
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith("\n"):
                return
            try:
                yield from_json_line(line)
            except ValueError as error:
                raise ArgumentError(f"{path}:{number}: {error}") from None


class JsonLines:
    """A file that records are appended to, one line each, as they are made. One process at a time writes to a file.

    Args:
        path: The file. Lines that it has already stay, without one that a killed process left incomplete.

    Raises:
        ArgumentError: Another comparison writes to it, or it is a folder, a device or a pipe.
        OSError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        require_file_name(path).parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            _lock_alone(self._file, path)
            _drop_incomplete_line(self._file)
        except BaseException:
            os.close(self._file)
            raise

    def write(self, record: ComparisonRecord) -> None:
        """Append a record, in one write.

        Raises:
            OSError: The disk is full: a part of the line is no record.
        """
        line = f"{to_json_line(record)}\n".encode()
        while line:
            line = line[os.write(self._file, line) :]

    def close(self) -> None:
        """Let others write to the file."""
        os.close(self._file)


def _lock_alone(file: int, path: Path) -> None:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ArgumentError(
            f"another comparison writes to {path}",
            help="give each process and each session a file of its own: `Report.from_jsonl` reads any of them",
        ) from None


def _drop_incomplete_line(file: int) -> None:
    size = os.fstat(file).st_size
    end, step = size, 1 << 16
    while end:
        start = max(0, end - step)
        newline = os.pread(file, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)


@contextlib.contextmanager
def written(path: Path) -> Iterator[Callable[[ComparisonRecord], None]]:
    """A block in which a function appends records to a file; at its end the page is written beside the file.

    Raises:
        ArgumentError: As `JsonLines`.
        OSError: A file cannot be written.
    """
    lines = JsonLines(path)
    try:
        yield lines.write
    finally:
        lines.close()
        Report.from_jsonl(path).write_page(path.with_suffix(".html"))


class TensorFolder:
    """The folder of the tensors of failures, each a file of `torch.save`: ``result``, ``golden``, ``operands``.

    Args:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def save(self, record: ComparisonRecord, outcome: Outcome) -> str:
        """Save what a record compares; returns the name of the file."""
        import torch

        self._path.mkdir(parents=True, exist_ok=True)
        device = "" if record.device is None else f"-device{record.device}"
        operation = "".join(each if each.isalnum() or each in "._" else "_" for each in record.operation)[-80:]
        name = f"{record.process}-{record.number:06}-{operation}-{record.mode}-{record.output}{device}.pt"
        path = self._path / name
        held = {"result": outcome.got, "golden": outcome.golden, "operands": [*outcome.operands]}
        with complete_file(path) as file:
            torch.save(held, file)
        return str(path)
