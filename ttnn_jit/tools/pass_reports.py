"""What ``opt`` prints of each pass: its time, and the operations before and after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from time import perf_counter

from xdsl.dialects.builtin import ModuleOp

from ttnn_jit.process.dataclass import dataclass


@dataclass(frozen=True)
class _Record:
    name: str
    seconds: float
    before: Counter[str]
    after: Counter[str]


class PassReports:
    """Observes passes in order.

    Args:
        counts: Whether operations are counted.
    """

    def __init__(self, *, counts: bool) -> None:
        self._counts = counts
        self._records: list[_Record] = []
        self._start = perf_counter()
        self._last: Counter[str] = Counter()

    def begin(self, module: ModuleOp) -> None:
        """Is called before the first pass of a module."""
        self._last = self._counted(module)
        self._start = perf_counter()

    def after(self, name: str, module: ModuleOp) -> None:
        """Is called after a pass."""
        seconds = perf_counter() - self._start
        counted = self._counted(module)
        self._records.append(_Record(name, seconds, self._last, counted))
        self._last = counted
        self._start = perf_counter()

    def _counted(self, module: ModuleOp) -> Counter[str]:
        return Counter(op.name for op in module.walk()) if self._counts else Counter()

    def timing(self, total: float) -> str:
        """The report of ``--mlir-timing``: seconds of each pass, and its share of `total`."""
        rows = [(record.name, record.seconds) for record in self._records]
        rows.append(("Rest", max(total - sum(seconds for _, seconds in rows), 0.0)))
        lines = [f"  {seconds:8.4f} ({100 * seconds / total:5.1f}%)  {name}" for name, seconds in rows]
        banner = f"===-{'-' * 73}-===\n{'... Execution time report ...':^81}\n===-{'-' * 73}-==="
        return "\n".join(
            [banner, f"  Total Execution Time: {total:.4f} seconds", "", *lines, f"  {total:8.4f} (100.0%)  Total"]
        )

    def statistics(self) -> str:
        """The report of ``--mlir-pass-statistics``: operations before and after, and how each name's number changed."""
        banner = f"===-{'-' * 73}-===\n{'... Pass statistics report ...':^81}\n===-{'-' * 73}-==="
        return "\n".join([banner, *(line for record in self._records for line in _lines(record))])


def _lines(record: _Record) -> Iterator[str]:
    yield f"{record.name}\n  (S) {record.before.total()} operations before, {record.after.total()} after"
    for name in sorted(record.before.keys() | record.after.keys()):
        change = record.after[name] - record.before[name]
        if change:
            yield f"  (S) {change:+d} {name}"
