"""The last exchanges of a rank, in memory that outlives its process if the launcher gave a folder for it.

A record is a ring of lines of fixed length in a mapped file: writing one is a copy, and what is written is there even
if the process is killed in the next instruction.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Iterator
from pathlib import Path

from ttnn_jit.process.dataclass import dataclass

ENTRIES = 64
_LINE = 256  # bytes
_STATE = 6  # bytes at the begin of a line


@dataclass(frozen=True)
class Entry:
    """One exchange.

    Attributes:
        number: Its number among the rank's exchanges.
        began: When it began, in seconds since the epoch.
        state: ``"began"``, ``"ended"`` or ``"failed"``.
        text: What was called, and where; of a failure, the reason.
    """

    number: int
    began: float
    state: str
    text: str


class FlightRecord:
    """The ring of a rank.

    Args:
        folder: Where the file lies; None for memory alone.
        rank: The number of the rank.
    """

    def __init__(self, folder: Path | None, rank: int) -> None:
        self._count = 0
        size = ENTRIES * _LINE
        if folder is None:
            self._memory = mmap.mmap(-1, size)
            return
        with (folder / f"{rank}.record").open("w+b") as file:
            file.truncate(size)
            self._memory = mmap.mmap(file.fileno(), size)

    def begin(self, text: bytes) -> None:
        """Note an exchange that begins."""
        self._count += 1
        self._write(b"began", text)

    def end(self) -> None:
        """Note that the last exchange ended."""
        start = self._start
        self._memory[start : start + 5] = b"ended"

    def fail(self, reason: str) -> None:
        """Note why no further exchange is possible."""
        self._count += 1
        self._write(b"failed", reason.encode())

    @property
    def _start(self) -> int:
        return (self._count - 1) % ENTRIES * _LINE

    def _write(self, state: bytes, text: bytes) -> None:
        line = b"%-*s\t%d\t%.6f\t%s" % (_STATE, state, self._count, time.time(), text)
        start = self._start
        self._memory[start : start + _LINE] = line[: _LINE - 1].ljust(_LINE, b"\0")

    def entries(self) -> list[Entry]:
        """The exchanges that are kept, oldest first."""
        return _entries(self._memory[:])


def read_records(folder: Path) -> Iterator[tuple[int, list[Entry]]]:
    """The rank and the exchanges of every record in a folder, by rank."""
    for file in sorted(folder.glob("*.record"), key=lambda file: int(file.stem)):
        yield int(file.stem), _entries(file.read_bytes())


def _entries(memory: bytes) -> list[Entry]:
    found = []
    for start in range(0, len(memory), _LINE):
        line = memory[start : start + _LINE].rstrip(b"\0").decode(errors="replace")
        if line:
            state, number, began, text = line.split("\t", 3)
            found.append(Entry(int(number), float(began), state.strip(), text.replace("\n", " ")))
    return sorted(found, key=lambda entry: entry.number)
