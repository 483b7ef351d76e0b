"""Comparison mode for a run of pytest: one report for all processes, and the differences in each test."""

from __future__ import annotations

from pathlib import Path

from ttnn_jit.golden.comparison_checks import ChecksConfig
from ttnn_jit.golden.comparison_recorder import Finding, Recorder
from ttnn_jit.golden.comparison_records import Mode
from ttnn_jit.golden.comparison_report import PAGE, RecordFile
from ttnn_jit.golden.record_report import Report
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
        self._first, self._test = 0, ""
        self._report = Report()
        recorder = Recorder(lambda: ChecksConfig(pcc=CONFIG.comparison_mode_pcc), self._receive, lambda: self._test)
        self._mode = ComparisonMode(recorder)
        self._mode.begin()

    def _receive(self, found: Finding) -> None:
        self._report.records.append(found.record)
        self._file.write([found.record])

    def begin(self, test: str) -> None:
        """Start the test of this name."""
        self._first, self._test = len(self._report), test

    def differing(self) -> str:
        """The results of operations and jitted functions that differ since `begin`, one line each; empty if none.

        Accumulated errors of chains of operations are only in the report.
        """
        found = Report(self._report.records[self._first :])
        bad = [record for record in found.failures() if record.mode is not Mode.ACCUMULATED]
        more = [f"and {len(bad) - _MAX_SHOWN} more"] if len(bad) > _MAX_SHOWN else []
        head = [f"{len(bad)} results differ from their goldens (report: {self._folder / PAGE})"] if bad else []
        return "\n".join([*head, *map(str, bad[:_MAX_SHOWN]), *more])

    def end(self) -> None:
        """Stop comparing, and merge the records of all processes."""
        self._mode.end()
        if not self._is_worker:
            self._report = self._file.merge()

    def summary(self) -> str:
        """A line with the counts of all comparisons."""
        return f"ttnn: {self._report.summary()}: {self._folder / PAGE}"
