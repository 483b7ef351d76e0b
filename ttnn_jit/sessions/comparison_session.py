"""`session`: a block whose operations are compared with their goldens."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dispatch.operation_events import listening
from ttnn_jit.events.run_events import Event
from ttnn_jit.golden.comparison_checks import ChecksConfig
from ttnn_jit.golden.comparison_recorder import Finding, Recorder
from ttnn_jit.golden.comparison_records import ComparisonRecord
from ttnn_jit.golden.record_report import Report, TensorFolder, written
from ttnn_jit.specs.checks import shown
from ttnn_jit.ttnn.observing.comparison_mode import ComparisonMode


class SessionReport(Report):
    """The records of a session, and its events.

    Args:
        records: The records.

    Attributes:
        events: What ran, in the order in which it ended: stages of compiles, native calls, operations, collectives
            (`ttnn_jit.events.run_events`). What a comparison runs for itself is not among them.
    """

    def __init__(self, records: Iterable[ComparisonRecord] = ()) -> None:
        super().__init__(records)
        self.events: list[Event] = []


@contextmanager
def session(
    *,
    results_path: Path | str | None = None,
    checks_config: ChecksConfig | None = None,
    tensors_path: Path | str | None = None,
    all_threads: bool = False,
) -> Iterator[SessionReport]:
    """Compare what runs in the body of a ``with`` with its goldens, in float64.

    Compared are operations of ttnn, jitted functions, on tensors of ttnn, torch or numpy, and functions of texts:
    those that `_ttmlir_runtime` submits. A program that runs as a whole also runs operation by operation; its own
    results are those without the session. Nothing is raised for a wrong result: the report has it. Sessions may be
    nested, and each has its own report.

    Args:
        results_path: A file that gets a line of JSON per record when it is made. At the end of the session, a page is
            written beside it with the suffix ``.html``. Lines that the file has already stay.
        checks_config: What is checked; None: each operation by its declared bound, and chains of operations.
        tensors_path: A folder for the result, the golden and the operands of each failure.
        all_threads: Whether operations of all threads are compared; otherwise those of the current one.

    Yields:
        The report, to which records are added while the session lasts.

    Raises:
        ArgumentError: An argument is of another type, or another comparison writes to `results_path`.
        OSError: `results_path` cannot be written.
    """
    checks = ChecksConfig() if checks_config is None else checks_config
    if not isinstance(checks, ChecksConfig):
        raise ArgumentError(f"`checks_config` is a ttnn_jit.sessions.ChecksConfig, got {shown(checks)}")
    report = SessionReport()
    with ExitStack() as stack:
        write = None if results_path is None else stack.enter_context(written(Path(results_path)))

        def receive(found: Finding) -> None:
            report.records.append(found.record)
            if write is not None:
                write(found.record)

        saved = None if tensors_path is None else TensorFolder(Path(tensors_path)).save
        thread = None if all_threads else threading.get_ident()
        recorder = Recorder(lambda: checks, receive, saved=saved, thread=thread)
        mode = ComparisonMode(recorder)
        stack.enter_context(listening(report.events.append, all_threads=all_threads))
        mode.begin()
        stack.callback(mode.end)
        yield report
