"""Comparison mode for a run of pytest: one report of all its processes, and what differs in each test."""

from __future__ import annotations

from pathlib import Path

from ttnn_jit.dispatch.observers import start, stop
from ttnn_jit.golden.comparison_records import ComparisonRecord
from ttnn_jit.golden.comparison_report import PAGE, RecordFile
from ttnn_jit.ttnn.observing.comparison_mode import ComparisonMode
from ttnn_jit.ttnn.observing.session_config import CONFIG

_SHOWN = 20  # records of a test


class ComparedTests:
    """Compares every operation of this process from now on; `ttnn.CONFIG` asks for nothing of it but correlations.

    Args:
        folder: Of the report.
        is_worker: Whether another process merges what this one finds.
    """

    def __init__(self, folder: Path, *, is_worker: bool) -> None:
        self._folder = folder
        self._is_worker = is_worker
        self._file = RecordFile(folder, discard_earlier=not is_worker)
        self._mode = ComparisonMode(
            lambda: CONFIG.comparison_mode_pcc,
            lambda found: self._file.write([found.record]),
            lambda _: None,
            lambda: self._test,
        )
        self._first, self._test = 0, ""
        self._all: list[ComparisonRecord] = []
        start(self._mode)

    def begin(self, test: str) -> None:
        """The test of that name begins."""
        self._first, self._test = len(self._mode.records), test

    def differing(self) -> str:
        """What operations and jitted functions gave wrong since `begin`, a line for each; empty if nothing.

        What errors add up to in a chain of operations stands in the report.
        """
        found = self._mode.records[self._first :]
        bad = [record for record in found if record.matches is False and record.level != "globally"]
        more = [f"and {len(bad) - _SHOWN} more"] if len(bad) > _SHOWN else []
        head = [f"{len(bad)} results differ from their goldens (report: {self._folder / PAGE})"] if bad else []
        return "\n".join([*head, *map(str, bad[:_SHOWN]), *more])

    def end(self) -> None:
        """Compare no more, and merge what all processes found."""
        stop(self._mode)
        if not self._is_worker:
            self._all = self._file.merge()

    def summary(self) -> str:
        """A line on all that was compared."""
        bad, unjudged = (sum(record.matches is kind for record in self._all) for kind in (False, None))
        compared = len(self._all) - unjudged
        rest = f", {unjudged} not compared" if unjudged else ""
        return f"ttnn: {compared} results compared with goldens, {bad} differ{rest}: {self._folder / PAGE}"
