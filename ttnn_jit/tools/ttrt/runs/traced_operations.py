"""``profiler.trace``: a block whose operations are measured on this host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ttnn_jit.dispatch.operation_events import listening
from ttnn_jit.events.run_events import Collective, EagerOperation, Event
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.tools.ttrt.runs.operation_timings import ON_HOST, OperationTimer, as_csv
from ttnn_jit.ttmlir.ttmlir_runtime.debug_hooks import DebugHooks

NAME = "ops_perf_results.csv"


@contextmanager
def trace(log_dir: str, port: int = 0) -> Iterator[None]:  # noqa: ARG001 - of tracy's server, and there is none
    """A block whose operations are written to ``log_dir/ops_perf_results.csv`` when it ends.

    Programs that are submitted in it run operation by operation. Columns that only a device can fill are empty.

    Args:
        log_dir: The folder, which is made.
        port: Of no effect.

    Raises:
        OSError: The folder cannot be made or written.
    """
    folder = Path(log_dir)
    folder.mkdir(parents=True, exist_ok=True)
    timer = OperationTimer()

    def receive(event: Event) -> None:
        if isinstance(event, EagerOperation | Collective):
            timer.rows.append(
                {
                    "OP CODE": event.name,
                    "OP TYPE": ON_HOST,
                    "GLOBAL CALL COUNT": len(timer.rows) + 1,
                    "HOST START TS": event.started_ns,
                    "HOST END TS": event.started_ns + event.duration_ns,
                    "HOST DURATION [ns]": event.duration_ns,
                    "LOC": event.location,
                }
            )

    hooks = DebugHooks.current
    if hooks is None:
        DebugHooks.get(pre_op=timer.begin, post_op=timer.end)
    try:
        with listening(receive):
            yield
    finally:
        DebugHooks.current = hooks
        write_complete(folder / NAME, [as_csv(timer.rows)])


__all__ = ["trace"]
