"""What `chisel` knows while it is bound: what is checked, how single ops are treated, and where records go."""

from __future__ import annotations

import json
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.golden.comparison_checks import ChecksConfig
from ttnn_jit.golden.comparison_recorder import ComparedCall, Finding, Follower, Recorder
from ttnn_jit.golden.comparison_records import Mode, Status
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.ttmlir.chisel.chisel_callbacks import safely_checked
from ttnn_jit.ttmlir.chisel.chisel_records import (
    PASS_STATUS,
    ChiselChecksConfig,
    ChiselRecord,
    ChiselReport,
    NumericsMode,
    Payload,
    RecordStatus,
)
from ttnn_jit.ttmlir.mlir_views import view_of

if TYPE_CHECKING:
    pass


class Unset:
    """The default of arguments that leave a setting as it is."""


UNSET = Unset()

Handler = Callable[["ChiselContext", "ChiselOpConfig"], Any]
"""Called around an op instead of the default."""


@dataclass
class ChiselOpConfig:
    """How an op is treated.

    Attributes:
        no_golden: It is not compared; a record says so.
        skip_pcc: Its numbers are not compared; a record says so.
        pre_op: Called before the op.
        post_op: Called behind the op, whose numbers are then not compared.
    """

    no_golden: bool = False
    skip_pcc: bool = False
    pre_op: Handler | None = None
    post_op: Handler | None = None


class ChiselContext(Follower):
    """The state of `chisel` between `bind` and `unbind`.

    Attributes:
        checks_config: What is checked.
        op_configs: How ops are treated, by their classes.
        report: The latest records.
        results_path: The file of lines of JSON; None: there is none.
        debug_chisel_dir: The folder for the text and the file of each binary that has a failure; None: none is written.
    """

    def __init__(self) -> None:
        self.checks_config = ChiselChecksConfig()
        self.op_configs: dict[type, ChiselOpConfig] = {}
        self.report = ChiselReport()
        self.results_path: str | None = None
        self.debug_chisel_dir: str | None = None
        self._dumped: set[int] = set()
        self._op: Any = None
        self._call: ComparedCall | None = None
        self.recorder = Recorder(self._checks, self._receive, follower=self)

    @property
    def op(self) -> Any:
        """The op that runs, in a handler.

        Raises:
            RuntimeError: No op runs.
        """
        if self._op is None:
            raise RuntimeError("ChiselContext.op is unset (accessed outside its lifecycle scope)")
        return view_of(self._op)

    def register_op_config(self, op_type: type, config: ChiselOpConfig) -> None:
        """Treat an op in another way."""
        self.op_configs[op_type] = config

    def get_op_config(self, op: object) -> ChiselOpConfig:
        """How an op is treated."""
        return self.op_configs.get(type(op), ChiselOpConfig())

    def configure(self, *, results_path: Any, report_capacity: Any, debug_chisel_dir: Any, checks_config: Any) -> None:
        """Change the settings that are given."""
        if results_path is not UNSET:
            self.results_path = results_path
        if report_capacity is not UNSET:
            self.report.resize(report_capacity)
        if debug_chisel_dir is not UNSET:
            self.debug_chisel_dir = debug_chisel_dir
        if checks_config is not UNSET:
            self.checks_config = checks_config

    def write_record(self, record: ChiselRecord) -> None:
        """Add a record, whose binary and program are filled in if an op runs."""
        call = self._call
        if call is not None:
            binary, index = call.origin or (None, None)
            record = replace(
                record,
                binary_id=record.binary_id if binary is None else binary.id,
                program_name=record.program_name or call.program,
                program_index=record.program_index if index is None else index,
                op_asm=record.op_asm or (None if record.status in PASS_STATUS else call.text()),
            )
        self.report.append(record)
        if self.results_path is not None:
            with Path(self.results_path).open("a", encoding="utf-8") as file:
                file.write(f"{record.to_json()}\n")
        if record.status not in PASS_STATUS and call is not None and self.debug_chisel_dir is not None:
            self._dump(call)

    # --- What the run says --------------------------------------------------------------------------------------------

    def before(self, call: ComparedCall, op: Any) -> None:
        """An op follows."""
        self._op, self._call = op, call
        config = self._config(call)
        if config.no_golden:
            self.write_record(_happened(call, RecordStatus.NO_GOLDEN, "golden_not_implemented"))
        self._call_handler(config.pre_op, config, call)

    def after(self, call: ComparedCall, op: Any) -> None:
        """An op is over."""
        self._op, self._call = op, call
        config = self._config(call)
        self._call_handler(config.post_op, config, call)
        self._op = self._call = None

    def chain_begins(self, call: ComparedCall, name: str) -> None:
        """The value of an operand begins a chain."""
        self._call = call
        self.write_record(replace(_happened(call, RecordStatus.GOLDEN_PROMOTED), ssa=name))

    def _config(self, call: ComparedCall) -> ChiselOpConfig:
        named = (each for kind, each in self.op_configs.items() if call.operation == kind.OPERATION_NAME)  # type: ignore[attr-defined]
        return next(named, ChiselOpConfig())

    def _call_handler(self, handler: Handler | None, config: ChiselOpConfig, call: ComparedCall) -> None:
        if handler is None:
            return
        try:
            handler(self, config)
        except Exception:  # noqa: BLE001 - a handler of the user does not end the program
            name = getattr(handler, "__name__", "handler")
            payload = Payload(RecordStatus.CHISEL_BUG, traceback=traceback.format_exc())
            self.write_record(ChiselRecord(call.operation, name, payload))

    def _checks(self) -> ChecksConfig:
        return ChecksConfig(isolated=self.checks_config.isolation, accumulated=self.checks_config.accumulation)

    def _receive(self, found: Finding) -> None:
        record, call = found.record, found.call
        config = self._config(call)
        if record.mode is Mode.WHOLE or config.no_golden or config.post_op is not None:
            return
        self._call = call
        if found.outcome is None:
            status = _STATUS.get(record.status, RecordStatus.ERROR)
            check = "golden_not_implemented" if status is RecordStatus.NO_GOLDEN else "numerics"
            self.write_record(_happened(call, status, check))
            return
        mode = NumericsMode(record.mode)
        if config.skip_pcc:
            payload = Payload(RecordStatus.SKIPPED_NUMERICS, mode)
        else:
            payload = safely_checked(self.checks_config, call.operation, found.outcome, mode, record.device or 0)
        self.write_record(ChiselRecord(call.operation, "numerics", payload, ssa=found.outcome.name))

    def _dump(self, call: ComparedCall) -> None:
        """Write the text and the binary of a failure, once per binary."""
        binary, _ = call.origin or (None, None)
        if binary is None or binary.id in self._dumped:
            return
        self._dumped.add(binary.id)
        folder = Path(str(self.debug_chisel_dir))
        folder.mkdir(parents=True, exist_ok=True)
        stem = folder / f"binary_{binary.id}"
        write_complete(stem.with_suffix(".mlir"), [json.loads(binary.get_mlir_as_json())["source"].encode()])
        try:
            binary.store(str(stem.with_suffix(".ttnn")))
        except TtnnJitError as error:  # the program goes on without the file
            warnings.warn(f"chisel wrote no {stem.name}.ttnn: {error.message}", stacklevel=2)


_STATUS = {
    Status.SHAPE_MISMATCH: RecordStatus.SHAPE_MISMATCH,
    Status.NO_GOLDEN: RecordStatus.NO_GOLDEN,
    Status.SKIPPED: RecordStatus.SKIPPED_NUMERICS,
}


def _happened(call: ComparedCall, status: RecordStatus, check: str = "") -> ChiselRecord:
    return ChiselRecord(call.operation, check or str(status), Payload(status))
