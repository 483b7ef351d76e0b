"""Makes the records of comparisons: the one place for all sources of results, and for all that reads records."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_jit.diagnostics.source import Location, line_text
from ttnn_jit.golden.comparison_checks import ChecksConfig, largest_difference
from ttnn_jit.golden.comparison_records import ComparisonRecord, Mode, Status
from ttnn_jit.golden.verdict import Verdict
from ttnn_jit.process.dataclass import dataclass

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class ComparedCall:
    """A call of an operation whose results are compared.

    Attributes:
        number: The number of the call since the comparison began.
        operation: The name of the operation.
        location: The line of the user, or of a text; None if it is unknown.
        target: The target that it ran for, as it prints.
        program: The jitted function or the function of a text that it belongs to; empty for eager calls.
        device: The number of the device in its mesh; None without a mesh.
        text: The text of the op, if it is one of a text.
        origin: What was submitted, for whoever knows it: the binary and the number of its program.
    """

    number: int
    operation: str
    location: Location | None
    target: str = ""
    program: str = ""
    device: int | None = None
    text: Callable[[], str] = str
    origin: Any = None

    def on(self, device: int | None) -> ComparedCall:
        """The same call on this device."""
        return replace(self, device=device)


class Outcome(NamedTuple):
    """A result, its golden, and the verdict.

    Attributes:
        verdict: The verdict by the bound of the operation.
        got: The result.
        whole_golden: Its golden, or what computes it, if it was judged part by part, and the whole is nowhere.
        dtype: The element type of the result, as MLIR spells it.
        bound: The allowed difference.
        operands: What the operation read.
        tensor: The result as the user has it; None if that is `got`.
        name: The name of the value, in a text: ``%0``.
    """

    verdict: Verdict
    got: torch.Tensor
    whole_golden: torch.Tensor | Callable[[], torch.Tensor]
    dtype: str
    bound: str
    operands: Sequence[torch.Tensor] = ()
    tensor: Any = None
    name: str = ""

    @property
    def golden(self) -> torch.Tensor:
        """The golden of the result; it is computed where it is asked, if it was judged part by part."""
        return self.whole_golden() if callable(self.whole_golden) else self.whole_golden


class Finding(NamedTuple):
    """A record, the call, and what was compared; None where nothing was."""

    record: ComparisonRecord
    call: ComparedCall
    outcome: Outcome | None = None


class Follower:
    """The base of those who follow a run of a text beside its comparisons (`ttnn_jit.sessions.text_runs`)."""

    def before(self, call: ComparedCall, op: Any) -> None:
        """An op of the run follows, whether it is compared or not."""

    def after(self, call: ComparedCall, op: Any) -> None:
        """An op of the run is over, and so are its comparisons."""

    def chain_begins(self, call: ComparedCall, name: str) -> None:
        """An operand of this name has no golden: a chain begins with its value."""


RECORDERS: list[Recorder] = []
"""Those that record now, in the order in which they began."""


def recorders_of_this_thread() -> list[Recorder]:
    """The recorders that operations of the current thread are compared for."""
    return [recorder for recorder in RECORDERS if recorder.watches_this_thread]


class Recorder:
    """Makes records and passes them on.

    Attributes:
        numbers: Counts the calls.

    Args:
        checks: Returns what is checked.
        receive: Called with every finding.
        running_test: Returns the name of the running test.
        saved: Saves the tensors of a failure, and returns the name of the file; empty if it saves none.
        thread: The thread whose operations are compared; None: of all threads.
        follower: Follows runs of texts.
    """

    def __init__(
        self,
        checks: Callable[[], ChecksConfig],
        receive: Callable[[Finding], None],
        running_test: Callable[[], str] = str,
        saved: Callable[[ComparisonRecord, Outcome], str] | None = None,
        thread: int | None = None,
        follower: Follower | None = None,
    ) -> None:
        self._checks = checks
        self._receive = receive
        self._running_test = running_test
        self._saved = saved
        self._thread = thread
        self.follower = follower or Follower()
        self.numbers = count()

    @property
    def watches_this_thread(self) -> bool:
        """Whether operations of the current thread are compared."""
        return self._thread is None or self._thread == threading.get_ident()

    def also(self, receive: Callable[[Finding], None]) -> Recorder:
        """A recorder that passes every finding to `receive` too."""

        def both(found: Finding) -> None:
            receive(found)
            self._receive(found)

        return Recorder(self._checks, both, self._running_test, self._saved, self._thread, self.follower)

    @property
    def checks(self) -> ChecksConfig:
        """What is checked now."""
        return self._checks()

    def compared(self, call: ComparedCall, mode: Mode, output: int, outcome: Outcome) -> ComparisonRecord | None:
        """Record the verdict on a result; returns the record, None if this comparison is not wanted."""
        checks = self._checks()
        if not checks.compares(call.operation, mode):
            return None
        verdict = outcome.verdict
        reason = verdict.reason or checks.broken_by(verdict, lambda: largest_difference(outcome.got, outcome.golden))
        record = replace(
            self._record(call, mode, output, Status.NUMERICS_FAIL if reason else Status.OK, reason),
            pcc=verdict.pcc,
            max_ulp=verdict.max_ulp,
            differing_nans=verdict.differing_nans,
            first_nan=verdict.first_nan,
            allclose=verdict.allclose,
            bound=outcome.bound,
            shape=tuple(outcome.got.shape),
            dtype=outcome.dtype,
        )
        if reason and self._saved is not None:
            record = replace(record, tensors=self._saved(record, outcome))
        self._receive(Finding(record, call, outcome))
        return record

    def noted(self, call: ComparedCall, mode: Mode, status: Status, reason: str, output: int = 0) -> None:
        """Record that a result was not compared, or has another shape than its golden."""
        if self._checks().compares(call.operation, mode):
            self._receive(Finding(self._record(call, mode, output, status, reason), call))

    def _record(self, call: ComparedCall, mode: Mode, output: int, status: Status, reason: str) -> ComparisonRecord:
        return ComparisonRecord(
            call.number,
            call.operation,
            mode,
            output,
            status,
            reason=reason,
            location=str(call.location or ""),
            source=line_text(call.location),
            program=call.program,
            target=call.target,
            device=call.device,
            process=os.getpid(),
            thread=threading.get_ident(),
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
            test=self._running_test(),
        )
