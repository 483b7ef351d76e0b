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
_FIELDS = "\t"


@dataclass(frozen=True)
class Entry:
    """One exchange.

    Attributes:
        number: Its number among the rank's exchanges.
        began: When it began, in seconds since the epoch.
        state: ``"began"`` or ``"ended"``, or the reason of a failure.
        text: What was called, and where.
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
        self._last = (0.0, "")
        size = ENTRIES * _LINE
        if folder is None:
            self._memory = mmap.mmap(-1, size)
            return
        with (folder / f"{rank}.record").open("w+b") as file:
            file.truncate(size)
            self._memory = mmap.mmap(file.fileno(), size)

    def begin(self, text: str) -> None:
        """Note an exchange that begins."""
        self._count += 1
        self._last = time.time(), text
        self._write("began")

    def end(self, state: str = "ended") -> None:
        """Note that the last exchange ended, or why it failed."""
        self._write(state)

    def _write(self, state: str) -> None:
        began, text = self._last
        line = _FIELDS.join((str(self._count), f"{began:.6f}", state, text)).replace("\n", " ")
        start = (self._count - 1) % ENTRIES * _LINE
        self._memory[start : start + _LINE] = line.encode()[: _LINE - 1].ljust(_LINE, b"\0")

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
            number, began, state, text = (line.split(_FIELDS, 3) + [""] * 3)[:4]
            found.append(Entry(int(number), float(began), state, text))
    return sorted(found, key=lambda entry: entry.number)
