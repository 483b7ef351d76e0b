"""``ttrt perf``: measures every operation of binaries on this processor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.tools.ttrt.option_declarations import COMMANDS, PERF_FILTERS, perf_filters
from ttnn_jit.tools.ttrt.run_command import Run

if TYPE_CHECKING:
    from ttnn_jit.tools.ttrt.loaded_binaries import Binary, BinaryProgram
    from ttnn_jit.tools.ttrt.runs.operation_timings import OperationTimer, Row
    from ttnn_jit.tools.ttrt.runs.submitted_programs import Hooks, Submitted
    from ttnn_jit.ttmlir.ttmlir_runtime.submission import Device

NAME = "ops_perf_results"
_METADATA = ("--disable-eth-dispatch", "--enable-program-cache", "--dump-device-rate")
_SUFFIXES = {"const_eval": "const_eval", "input_layout_conversion": "input_layout_conversions"}


class Perf(Run):
    """Runs each loop twice: as a whole for the time of the program, then operation by operation for their times.

    All is compiled before it is measured.
    """

    declaration = COMMANDS["perf"]

    def __getitem__(self, name: str) -> Any:
        """The value of an option; options of `run` that this command lacks have their defaults."""
        own = self.declaration.option(name)
        inherited = Run.declaration.option(name)
        return super().__getitem__(name) if own or inherited is None else inherited.default

    def check_constraints(self) -> None:
        """Finds the binaries, and looks at the filters."""
        self._filters = perf_filters(self["--filter"])
        super().check_constraints()
        self._timers: dict[str, OperationTimer] = {}

    def submitted(self, device: Device, binary: Binary, program: BinaryProgram, loop: int, hooks: Hooks) -> Submitted:
        """Runs a program as a whole, then operation by operation, and records the times of both."""
        from ttnn_jit.tools.ttrt.runs.operation_timings import OperationTimer
        from ttnn_jit.tools.ttrt.runs.submitted_programs import submit

        timer = self._timers.setdefault(binary.file_path, OperationTimer())
        timer.metadata = {
            "loop_number": loop,
            "program_index": program.index,
            **{name.lstrip("-").replace("-", "_"): self[name] for name in _METADATA},
        }
        if loop == 0:
            for hooked in ({}, {"post_op": lambda *_: None}):
                submit(device, binary, program, program.input_tensors, hooked)
        before = len(timer.rows)
        whole = submit(device, binary, program, program.input_tensors, {})
        around = {
            "pre_op": _in_turn(hooks.get("pre_op"), timer.begin),
            "post_op": _in_turn(timer.end, hooks.get("post_op")),
        }
        found = submit(device, binary, program, program.input_tensors, around)
        spent = sum(row["HOST DURATION [ns]"] for row in timer.rows[before:])
        binary.add_program_results(program.index, loop, whole.submission, whole.fetching, spent)
        return found

    def execute(self) -> None:
        """Runs every binary, and writes the times of its operations."""
        super().execute()
        for path in self._paths:
            if path in self._timers:
                self._save_times(path, self._timers[path].rows)

    def _save_times(self, path: str, rows: Sequence[Row]) -> None:
        from ttnn_jit.tools.ttrt.runs.operation_timings import CONST_EVAL, LAYOUT_CONVERSION, as_csv

        columns = {"const_eval": CONST_EVAL, "input_layout_conversion": LAYOUT_CONVERSION}
        folder = f"{self.artifacts.folder_of_file(path)}/perf"
        chosen = self._filters or list(PERF_FILTERS)
        for left_out in ([], ["const_eval"], ["input_layout_conversion"], chosen):
            kept = [row for row in rows if all(row[columns[each]] == "false" for each in left_out)]
            self.artifacts.save_bytes(folder, f"{NAME}{_suffix(left_out)}.csv", as_csv(kept))
        self.log.info("the times of %s operations are in %s/%s.csv", len(rows), folder, NAME)


def _suffix(left_out: Iterable[str]) -> str:
    parts = [_SUFFIXES[each] for each in left_out]
    return f"_minus_{'_and_'.join(parts)}" if parts else ""


def _in_turn(*calls: Callable[..., Any] | None) -> Callable[..., None]:
    """One function that calls several."""
    there = [each for each in calls if each is not None]

    def run(*arguments: Any) -> None:
        for each in there:
            each(*arguments)

    return run
