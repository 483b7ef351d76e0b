"""`ttnn.CONFIG.enable_logging`: the SQLite report that the vendor's visualizer opens."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import contextmanager

import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.ttnn.observing.comparison_mode import ComparisonWarning


@pytest.fixture
def report(tmp_path):
    """Enables logging with these settings, in a ``with``; then reads a table."""
    settings = {"root_report_path": tmp_path, "report_name": "run"}

    @contextmanager
    def logging(**others):
        before = {name: getattr(ttnn.CONFIG, name) for name in (*settings, *others)}
        ttnn.load_config_from_dictionary(settings | others)
        with ttnn.manage_config("enable_logging", True):
            yield
        ttnn.load_config_from_dictionary(before)

    def rows(query):
        with sqlite3.connect(tmp_path / "run" / "db.sqlite") as connection:
            return connection.execute(query).fetchall()

    logging.rows = rows
    logging.folder = tmp_path / "run"
    return logging


def tensor(device, *shape, memory_config=None):
    x = torch.randn(shape)
    return ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=memory_config)


def test_operations_are_reported_with_arguments_tensors_and_the_users_line(report, device):
    x = tensor(device, 64, 64)
    with report():
        ttnn.add(ttnn.exp(x), 1.5)
    ttnn.exp(x)
    operations = report.rows("SELECT name FROM operations WHERE duration > 0 ORDER BY operation_id")
    assert operations == [("ttnn.exp",), ("ttnn.add",)]
    assert report.rows("SELECT value FROM operation_arguments WHERE operation_id = 1 AND name = '1'") == [("1.5",)]
    ((made,),) = report.rows("SELECT tensor_id FROM output_tensors WHERE operation_id = 0")
    assert report.rows("SELECT input_index, tensor_id FROM input_tensors WHERE operation_id = 1") == [(0, made)]
    ((shape, dtype, address),) = report.rows(f"SELECT shape, dtype, address FROM tensors WHERE tensor_id = {made}")
    assert (shape, dtype) == (str(x.shape), str(x.dtype))
    assert address > 0
    assert all(__file__ in text for (text,) in report.rows("SELECT stack_trace FROM stack_traces"))
    assert json.loads((report.folder / "config.json").read_text())["report_name"] == "run"


def test_buffers_and_pages_report_l1_after_every_operation(report, device):
    sharded = ttnn.create_sharded_memory_config(
        (128, 64), core_grid=ttnn.CoreGrid(y=2, x=2), strategy=ttnn.ShardStrategy.HEIGHT
    )
    with report(enable_detailed_buffer_report=True):
        x = tensor(device, 128, 64, memory_config=sharded)
        y = ttnn.relu(x)
        address = y.buffer_address()
        ttnn.deallocate(y)
        z = ttnn.neg(x, memory_config=ttnn.DRAM_MEMORY_CONFIG)
    names = dict(report.rows("SELECT name, operation_id FROM operations"))
    held = {
        name: report.rows(f"SELECT address, max_size_per_bank FROM buffers WHERE operation_id = {number}")
        for name, number in names.items()
    }
    shard = 32 * 64 * 2
    assert (address, shard) in held["ttnn.relu"]
    assert (address, shard) not in held["ttnn.deallocate"]
    assert (z.buffer_address(), 128 * 64 * 2) in held["ttnn.neg"]
    pages = report.rows(
        f"SELECT core_y, core_x, page_size FROM buffer_pages WHERE address = {address} "
        f"AND operation_id = {names['ttnn.relu']}"
    )
    assert sorted(pages) == sorted(2 * [(row, column, 2048) for row in range(2) for column in range(2)])
    ((rows, columns, size),) = report.rows("SELECT num_y_cores, num_x_cores, worker_l1_size FROM devices")
    assert ((rows, columns), size) == (device.target.grid, device.target.l1_bytes)


def test_the_graph_has_edges_from_producers_to_consumers(report, cpu_device):
    x = tensor(cpu_device, 32, 32)
    jitted = ttnn_jit.jit()(lambda a, b: ttnn.multiply(a, b))
    with report(enable_graph_report=True):
        y = ttnn.exp(x)
        jitted(x, y)
    assert report.rows("SELECT unique_id, name FROM nodes WHERE operation_id = 1 AND unique_id = 0") == [
        (0, "ttnn.exp")
    ]
    edges = report.rows("SELECT source_unique_id, sink_unique_id, source_output_index, sink_input_index FROM edges")
    assert edges == [(0, 1, 0, 1)]


def test_a_report_continues_after_a_failed_operation_which_has_no_duration(report, cpu_device):
    x = tensor(cpu_device, 32, 32)
    for _ in range(2):
        with report():
            ttnn.exp(x)
            with pytest.raises(TtnnJitError):
                ttnn.matmul(x, tensor(cpu_device, 64, 64))
    told = report.rows("SELECT operation_id, name, duration IS NULL FROM operations WHERE name != 'ttnn.from_torch'")
    assert [name for _, name, _ in told] == ["ttnn.exp", "ttnn.matmul"] * 2
    assert [failed for *_, failed in told] == [0, 1] * 2
    assert len({number for number, *_ in told}) == 4


def test_nothing_is_written_without_a_report_name(report, cpu_device, tmp_path):
    with report(report_name=None):
        ttnn.exp(tensor(cpu_device, 32, 32))
    assert not any(tmp_path.glob("**/db.sqlite"))


def test_comparisons_with_goldens_are_reported_with_the_tensors(report, device):
    wrong = ttnn_jit.tile_op(lambda x: x * 3.0, golden=lambda x: torch.sin(3 * x))
    x = tensor(device, 64, 64)
    with report(), ttnn.manage_config("enable_comparison_mode", True), pytest.warns(ComparisonWarning):
        ttnn.neg(wrong(x))
    alike = {}
    for table in ("local", "global"):
        found = report.rows(
            f"SELECT name, matches, desired_pcc, actual_pcc, golden.dtype FROM {table}_tensor_comparison_records "
            "JOIN output_tensors USING (tensor_id) JOIN operations USING (operation_id) "
            "JOIN tensors AS golden ON golden.tensor_id = golden_tensor_id ORDER BY operation_id"
        )
        assert [(desired, dtype) for _, _, desired, _, dtype in found] == [(0.9999, "torch.float64")] * 2
        assert all(bool(matches) is (actual >= desired) for _, matches, desired, actual, _ in found)
        alike[table] = [matches for _, matches, *_ in found]
    assert alike == {"local": [0, 1], "global": [0, 0]}


def test_a_tensor_that_is_written_twice_has_the_comparison_of_the_second_time(report, device):
    x = tensor(device, 64, 64)
    with report(), ttnn.manage_config("enable_comparison_mode", True):
        ttnn.add_(x, 1.0)
        ttnn.add_(x, 1.0)
    assert report.rows("SELECT matches FROM local_tensor_comparison_records") == [(1,)]


def test_memory_configs_are_written_as_the_visualizer_reads_them(report, device):
    """The visualizer's patterns of layouts and shards, restated."""
    sharded = ttnn.create_sharded_memory_config(
        (128, 64), core_grid=ttnn.CoreGrid(y=2, x=2), strategy=ttnn.ShardStrategy.HEIGHT
    )
    with report():
        ttnn.to_memory_config(tensor(device, 128, 64), sharded)
    (whole,), (shards,) = report.rows("SELECT memory_config FROM tensors WHERE memory_config NOT NULL")
    assert whole == (
        "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::DRAM,"
        "shard_spec=std::nullopt)"
    )
    found = re.search(
        r"buffer_type=BufferType::L1,shard_spec=ShardSpec\(grid=\{(\[.*?\])\},shape=\{(\d+),\s*(\d+)\},"
        r"orientation=ShardOrientation::([A-Z_]+),halo=(\d+)\)",
        shards,
    )
    assert found is not None
    assert found.groups() == ("[(x=0,y=0) - (x=1,y=1)]", "32", "64", "ROW_MAJOR", "0")


def test_a_refused_call_is_reported_as_an_error(report, device):
    x = tensor(device, 64, 32)
    with report(), pytest.raises(TtnnJitError):
        ttnn.matmul(x, x)
    ((number, name, kind, message, stack),) = report.rows(
        "SELECT operation_id, operation_name, error_type, error_message, stack_trace FROM errors"
    )
    assert report.rows(f"SELECT name, duration FROM operations WHERE operation_id = {number}") == [(name, None)]
    assert (name, kind) == ("ttnn.matmul", "OperandShapeError")
    assert "32" in message
    assert __file__ in stack
