"""The report for the vendor's visualizer: operations, their tensors and the allocated buffers, in SQLite.

While `ttnn.CONFIG.enable_logging` is on, every call of an operation or a jitted function is written to ``db.sqlite``
under `ttnn.CONFIG.report_path`, beside the settings in ``config.json``. Tables and columns are those of ttnn's
reports. A CPU has one bank of DRAM; columns for features that a CPU lacks, such as first addresses, are 0.
"""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.tracebacks import user_stack
from ttnn_jit.dispatch.call_events import name_of
from ttnn_jit.dispatch.observers import Observer
from ttnn_jit.golden.comparison_records import ComparisonRecord, Mode
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device
from ttnn_jit.runtime.memory.l1 import core_bytes, in_l1, page_bytes
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.tensor_spec import Layout, MemoryConfig, Shape
from ttnn_jit.ttnn.observing.operation_graph import text_of_argument, ttnn_tensors_in

if TYPE_CHECKING:
    from ttnn_jit.golden.comparison_recorder import Finding, Outcome

DATABASE, SETTINGS = "db.sqlite", "config.json"

_COMPARED = "tensor_id int UNIQUE, golden_tensor_id int, matches bool, desired_pcc float, actual_pcc float"
_LOCAL_TABLE, _GLOBAL_TABLE = "local_tensor_comparison_records", "global_tensor_comparison_records"
TABLES = {
    "devices": (
        "device_id int, num_y_cores int, num_x_cores int, num_y_compute_cores int, num_x_compute_cores int, "
        "worker_l1_size int, l1_num_banks int, l1_bank_size int, address_at_first_l1_bank int, "
        "address_at_first_l1_cb_buffer int, num_banks_per_storage_core int, num_compute_cores int, "
        "num_storage_cores int, total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, "
        "total_l1_for_sharded_buffers int, cb_limit int"
    ),
    "tensors": (
        "tensor_id int UNIQUE, shape text, dtype text, layout text, memory_config text, device_id int, address int, "
        "buffer_type int"
    ),
    _LOCAL_TABLE: _COMPARED,
    _GLOBAL_TABLE: _COMPARED,
    "operations": "operation_id int UNIQUE, name text, duration float",
    "operation_arguments": "operation_id int, name text, value text",
    "stack_traces": "operation_id int, stack_trace text",
    "input_tensors": "operation_id int, input_index int, tensor_id int",
    "output_tensors": "operation_id int, output_index int, tensor_id int",
    "buffers": "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int",
    "buffer_pages": (
        "operation_id int, device_id int, address int, core_y int, core_x int, bank_id int, page_index int, "
        "page_address int, page_size int, buffer_type int"
    ),
    "errors": (
        "operation_id int, operation_name text, error_type text, error_message text, stack_trace text, timestamp text"
    ),
    "nodes": "operation_id int, unique_id int, node_operation_id int, name text",
    "edges": (
        "operation_id int, source_unique_id int, sink_unique_id int, source_output_index int, sink_input_index int, "
        "key int"
    ),
}
"""Table -> its columns."""


@dataclass(frozen=True)
class ReportOptions:
    """Optional contents of a report.

    Attributes:
        pages: The pages of buffers in L1 (`ttnn.CONFIG.enable_detailed_buffer_report`).
        graph: The edges between operations (`ttnn.CONFIG.enable_graph_report`).
    """

    pages: bool
    graph: bool


class ReportLog(Observer):
    """Writes calls into the report.

    Args:
        folder: Returns the current folder of the report; with None nothing is written.
        options: Returns the current optional contents.
        save_settings: Writes the settings to a file.
    """

    def __init__(
        self,
        folder: Callable[[], Path | None],
        options: Callable[[], ReportOptions],
        save_settings: Callable[[Path], None],
    ) -> None:
        self._folder = folder
        self._options = options
        self._save_settings = save_settings
        self._lock = threading.RLock()
        self._thread_state = threading.local()
        self._reports: dict[Path, _Report] = {}

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Write the operation and its arguments."""
        folder = self._folder()
        vars(self._thread_state)["call"] = None
        if folder is None:
            return
        with self._lock:
            report = self._report(folder)
            number = report.begin(name_of(operation), args, kwargs, graph=self._options().graph)
        vars(self._thread_state)["call"] = report, number, time.perf_counter()

    def after(self, _operation: Any, _args: Sequence[Any], _kwargs: Mapping[str, Any], result: Any) -> None:
        """Write the results and the allocated buffers."""
        if (call := vars(self._thread_state)["call"]) is not None:
            report, number, start = call
            duration = time.perf_counter() - start
            with self._lock:
                report.end(number, duration, result, pages=self._options().pages)

    def failed(self, operation: Any, error: BaseException) -> None:
        """Write the error of an operation."""
        if (call := vars(self._thread_state)["call"]) is not None:
            report, number, _ = call
            with self._lock:
                report.fail(number, name_of(operation), error)

    def compared(self, found: Finding, required_pcc: float) -> None:
        """Write a comparison of a tensor with its golden."""
        if found.outcome is not None and (folder := self._folder()) is not None:
            with self._lock:
                self._report(folder).write_comparison(found.record, found.outcome, required_pcc)

    def close(self) -> None:
        """Close all reports."""
        for report in self._reports.values():
            report.close()

    def _report(self, folder: Path) -> _Report:
        if folder not in self._reports:
            folder.mkdir(parents=True, exist_ok=True)
            self._save_settings(folder / SETTINGS)
            self._reports[folder] = _Report(folder / DATABASE)
        return self._reports[folder]


class _Report:
    """One database; new calls are numbered after those that it has."""

    def __init__(self, file: Path) -> None:
        self._connection = sqlite3.connect(file, check_same_thread=False)
        self._connection.execute("PRAGMA synchronous=OFF")  # a report need not survive a crash of the system
        for table, columns in TABLES.items():
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        self._operations = self._count("operations", "operation_id")
        self._numbers = self._count("tensors", "tensor_id")
        self._tensors: dict[int, tuple[weakref.ref[Tensor], int]] = {}
        self._made_by: dict[int, tuple[int, int]] = {}
        self._devices: set[int] = set()

    def _count(self, table: str, column: str) -> int:
        ((last,),) = self._connection.execute(f"SELECT max({column}) FROM {table}")
        return 0 if last is None else last + 1

    def begin(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], *, graph: bool) -> int:
        """Write a call and its arguments; returns its number."""
        number, self._operations = self._operations, self._operations + 1
        self._insert("operations", [(number, name, None)])
        named = [*((str(index), value) for index, value in enumerate(args)), *kwargs.items()]
        self._insert("operation_arguments", [(number, key, text_of_argument(value)) for key, value in named])
        self._insert("stack_traces", [(number, user_stack())])
        inputs = [self._number(tensor) for tensor in ttnn_tensors_in([*args, *kwargs.values()])]
        self._insert("input_tensors", [(number, index, tensor) for index, tensor in enumerate(inputs)])
        if graph:
            self._write_graph(number, name, inputs)
        self._connection.commit()
        return number

    def end(self, number: int, duration: float, result: Any, *, pages: bool) -> None:
        """Write the results of a call, and the buffers that are allocated after it."""
        self._connection.execute("UPDATE operations SET duration = ? WHERE operation_id = ?", (duration, number))
        for index, tensor in enumerate(ttnn_tensors_in([result])):
            known = self._number(tensor)
            self._insert("output_tensors", [(number, index, known)])
            self._made_by[known] = number, index
        self._tensors = {key: each for key, each in self._tensors.items() if each[0]() is not None}
        live = (reference() for reference, _ in self._tensors.values())
        held = {tensor.buffer_address(): tensor for tensor in live if tensor is not None and _is_in_memory(tensor)}
        self._insert("buffers", [(number, *_buffer(tensor)) for tensor in held.values()])
        if pages:
            found = (page for tensor in held.values() if in_l1(tensor.spec) for page in _pages(tensor))
            self._insert("buffer_pages", [(number, *page) for page in found])
        self._connection.commit()

    def fail(self, number: int, name: str, error: BaseException) -> None:
        """Write the error of a call."""
        moment = datetime.now(UTC).isoformat(timespec="milliseconds")
        row = number, name, type(error).__name__, str(error), user_stack(), moment
        self._insert("errors", [row])
        self._connection.commit()

    def write_comparison(self, record: ComparisonRecord, found: Outcome, required_pcc: float) -> None:
        """Write a golden and its comparison with a tensor; replaces an earlier comparison of a reused tensor."""
        if not isinstance(found.tensor, Tensor):  # the visualizer knows tensors of ttnn alone
            return
        tensor, golden, self._numbers = self._number(found.tensor), self._numbers, self._numbers + 1
        shape, layout = Shape(found.golden.shape), Layout.ROW_MAJOR
        self._insert("tensors", [(golden, str(shape), str(found.golden.dtype), str(layout), *(None,) * 4)])
        table = _GLOBAL_TABLE if record.mode is Mode.ACCUMULATED else _LOCAL_TABLE
        self._connection.execute(f"DELETE FROM {table} WHERE tensor_id = ?", (tensor,))
        self._insert(table, [(tensor, golden, record.matches, required_pcc, record.pcc)])
        self._connection.commit()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _write_graph(self, number: int, name: str, inputs: Sequence[int]) -> None:
        made = [(index, *self._made_by[tensor]) for index, tensor in enumerate(inputs) if tensor in self._made_by]
        names = self._connection.execute("SELECT operation_id, name FROM operations WHERE duration IS NOT NULL")
        known = dict(names.fetchall()) if made else {}
        sources = dict.fromkeys(source for _, source, _ in made)
        self._insert("nodes", [(number, number, number, name), *((number, s, s, known[s]) for s in sources)])
        self._insert("edges", [(number, source, number, output, index, 0) for index, source, output in made])

    def _number(self, tensor: Tensor) -> int:
        """The number of a tensor; writes a new tensor."""
        reference, number = self._tensors.get(id(tensor), (None, 0))
        if reference is not None and reference() is tensor:
            return number
        number, self._numbers = self._numbers, self._numbers + 1
        self._tensors[id(tensor)] = weakref.ref(tensor), number
        spec = tensor.spec
        where: tuple[Any, ...] = (None,) * 4
        if _is_in_memory(tensor):
            device, address, _, kind = _buffer(tensor)
            where = _text_of_config(spec.memory_config), device, address, kind
            if device not in self._devices:
                self._devices.add(device)
                self._insert("devices", [_described(_device_of(tensor))])
        self._insert("tensors", [(number, str(spec.shape), str(spec.dtype), str(spec.layout), *where)])
        return number

    def _insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


def _text_of_config(config: MemoryConfig) -> str:
    """A memory config in the notation of tt-metal, which the visualizer parses."""
    shards = "std::nullopt"
    if config.shard_spec is not None:
        spec = config.shard_spec
        ranges = ", ".join(
            f"[(x={each.start.x},y={each.start.y}) - (x={each.end.x},y={each.end.y})]" for each in spec.grid.ranges()
        )
        height, width = spec.shape
        shards = (
            f"ShardSpec(grid={{{ranges}}},shape={{{height}, {width}}},"
            f"orientation=ShardOrientation::{spec.orientation.name},halo=0)"
        )
    return (
        f"MemoryConfig(memory_layout=TensorMemoryLayout::{config.memory_layout.name},"
        f"buffer_type=BufferType::{config.buffer_type.name},shard_spec={shards})"
    )


def _is_in_memory(tensor: Tensor) -> bool:
    return isinstance(tensor.device(), Device) and tensor.is_allocated()


def _device_of(tensor: Tensor) -> Device:
    device = tensor.device()
    assert device is not None, "a tensor in memory has a device"
    return device


def _described(device: Device) -> tuple[int, ...]:
    """The row of a device in the table `devices`."""
    rows, columns = device.target.grid
    cores, of_core = rows * columns, min(device.target.l1_bytes, 1 << 40)
    total = cores * of_core
    return device.id(), *(rows, columns) * 2, of_core, cores, of_core, 0, 0, 1, cores, 0, *(total,) * 4, of_core


def _buffer(tensor: Tensor) -> tuple[int, int, int, int]:
    """Device, address, bytes on the fullest core or in DRAM, and number of the buffer type."""
    device, spec = _device_of(tensor), tensor.spec
    nbytes = max(core_bytes(spec, device.target.grid)) if in_l1(spec) else spec.nbytes
    return device.id(), tensor.buffer_address(), nbytes, spec.memory_config.buffer_type.value


def _pages(tensor: Tensor) -> Iterator[tuple[int, ...]]:
    """Rows of the table `buffer_pages` for a tensor in L1, core by core."""
    (device, address, _, kind), spec = _buffer(tensor), tensor.spec
    grid = _device_of(tensor).target.grid
    columns, size, index = grid[1], page_bytes(spec), 0
    for core, nbytes in enumerate(core_bytes(spec, grid)):
        for begin in range(0, nbytes, size):
            yield device, address, core // columns, core % columns, core, index, address + begin, size, kind
            index += 1
