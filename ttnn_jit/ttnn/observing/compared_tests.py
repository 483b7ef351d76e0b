"""Comparison mode for a run of pytest: one report for all processes, and the differences in each test."""

from __future__ import annotations

from pathlib import Path

from ttnn_jit.dispatch.observers import start, stop
from ttnn_jit.golden.comparison_records import ComparisonRecord
from ttnn_jit.golden.comparison_report import PAGE, RecordFile
from ttnn_jit.ttnn.observing.comparison_mode import ComparisonMode
from ttnn_jit.ttnn.observing.session_config import CONFIG

_MAX_SHOWN = 20  # records of a test


class ComparedTests:
    """Compares every operation of this process from now on; of `ttnn.CONFIG` only `comparison_mode_pcc` is read.

    Args:
        folder: Folder of the report.
        is_worker: Whether another process merges the records of this one.
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
        """Start the test of this name."""
        self._first, self._test = len(self._mode.records), test

    def differing(self) -> str:
        """The results of operations and jitted functions that differ since `begin`, one line each; empty if none.

        Accumulated errors of chains of operations are only in the report.
        """
        found = self._mode.records[self._first :]
        bad = [record for record in found if record.matches is False and record.level != "globally"]
        more = [f"and {len(bad) - _MAX_SHOWN} more"] if len(bad) > _MAX_SHOWN else []
        head = [f"{len(bad)} results differ from their goldens (report: {self._folder / PAGE})"] if bad else []
        return "\n".join([*head, *map(str, bad[:_MAX_SHOWN]), *more])

    def end(self) -> None:
        """Stop comparing, and merge the records of all processes."""
        stop(self._mode)
        if not self._is_worker:
            self._all = self._file.merge()

    def summary(self) -> str:
        """A line with the counts of all comparisons."""
        bad, unjudged = (sum(record.matches is kind for record in self._all) for kind in (False, None))
        compared = len(self._all) - unjudged
        rest = f", {unjudged} not compared" if unjudged else ""
        return f"ttnn: {compared} results compared with goldens, {bad} differ{rest}: {self._folder / PAGE}"
