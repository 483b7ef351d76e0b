"""Comparison sessions: what runs inside is compared, op by op, wherever it comes from."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest
import torch

import ttnn_jit
from tests.processes import run_python
from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.sessions import ChecksConfig, Mode, Report, Status, session
from ttnn_jit.sessions.text_runs import run_text
from ttnn_jit.specs.target import PRESETS

doubled = ttnn_jit.tile_op(lambda x: x * 2.0, golden=lambda x: x * 3.0)


@ttnn_jit.jit()
def program(x, y):
    z = ttnn.exp(x)
    return ttnn.add(z, y)


def tensor(device, data=None, dtype=ttnn.float32):
    data = torch.randn(32, 32) if data is None else data
    return ttnn.from_torch(data, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


def places(report):
    return [(each.operation.rpartition(".")[2], str(each.mode)) for each in report]


@pytest.mark.parametrize("library", ["ttnn", "torch"])
def test_ops_inside_a_jitted_function_are_compared_with_lines_of_its_source(device, library):
    x = tensor(device) if library == "ttnn" else torch.randn(16, 8)
    expected = program(x, x)
    with session() as report:
        got = program(x, x)
    assert torch.equal(*(ttnn.to_torch(each) if library == "ttnn" else each for each in (got, expected)))
    assert places(report) == [
        ("exp", "isolated"),
        ("exp", "accumulated"),
        ("add", "isolated"),
        ("add", "accumulated"),
        ("program", "whole"),
    ]
    assert [each.source for each in report][:4:2] == ["z = ttnn.exp(x)", "return ttnn.add(z, y)"]
    assert all(each.program.endswith(".program") for each in report[:4])
    assert report.summary() == "5 results compared with goldens, 0 differ"


def test_accumulated_goldens_flow_along_and_isolated_ones_do_not(device):
    with session() as report:
        y = doubled(tensor(device, torch.ones(32, 32)))
        ttnn.add(y, 1.0)
    assert [(each.mode, each.status) for each in report.by_operation("ttnn.add")] == [
        (Mode.ISOLATED, Status.OK),
        (Mode.ACCUMULATED, Status.NUMERICS_FAIL),
    ]
    assert len(report.failures()) == 3
    assert len(report.by_mode("isolated").by_status("numerics_fail")) == 1
    assert {each.operation for each in report.passes()} == {"ttnn.add"}


def test_checks_choose_modes_and_operations_and_make_bounds_stricter(device):
    x = tensor(device)
    strict = ChecksConfig(accumulated=False, operations=["ttnn.e*"], max_ulp=0.0)
    with session(checks_config=strict) as report:
        ttnn.neg(ttnn.exp(x))
    assert places(report) == [("exp", "isolated")]
    assert "ulp, and at most 0 are allowed" in report[0].reason
    for limits in ({"min_pcc": 1.1}, {"max_absolute": -1.0}):
        with session(checks_config=ChecksConfig(**limits)) as report:
            ttnn.neg(x)
        assert [each.status for each in report] == [Status.NUMERICS_FAIL] * 2


@pytest.mark.parametrize("arguments", [{"isolated": 1}, {"pcc": None}, {"max_ulp": "1"}, {"operations": "ttnn.*"}])
def test_checks_of_another_type_are_refused(arguments):
    with pytest.raises(ArgumentError, match="ChecksConfig: "):
        ChecksConfig(**arguments)


def test_nested_sessions_have_reports_of_their_own_and_an_error_inside_ends_them(device):
    x = tensor(device)
    inner = []

    def fails():
        with session() as report:
            inner.append(report)
            program(x, x)
            raise ValueError("mine")

    with session() as outer:
        ttnn.neg(x)
        with pytest.raises(ValueError, match="mine"):
            fails()
    ttnn.neg(x)
    assert places(outer)[:2] == [("neg", "isolated"), ("neg", "accumulated")]
    assert places(outer)[2:] == places(inner[0])
    assert len(inner[0]) == 5


def test_an_op_that_raises_is_in_the_report_and_the_error_is_the_same(device):
    x = tensor(device)
    with session() as report, pytest.raises(ArgumentError, match="must be a tensor or a number"):
        ttnn.add(x, "a")
    assert [each.status for each in report] == [Status.RAISED]
    assert not report.failures()


def test_a_session_sees_its_own_thread_or_all(device):
    x = tensor(device)

    def in_another_thread():
        thread = threading.Thread(target=lambda: ttnn.exp(x))
        thread.start()
        thread.join()

    with session() as own, session(all_threads=True) as every:
        in_another_thread()
        ttnn.neg(x)
    assert {each.operation for each in own} == {"ttnn.neg"}
    assert {each.operation for each in every} == {"ttnn.neg", "ttnn.exp"}
    assert len({each.thread for each in every}) == 2
    assert "ttnn.exp" not in {each.name for each in own.events}


cache: list[ttnn.Tensor] = []


@ttnn_jit.jit()
def update(x):
    ttnn.add_(cache[0], x)
    return ttnn.exp(cache[0])


def test_what_a_function_writes_in_place_is_written_once(device):
    x, hidden = tensor(device), tensor(device, torch.ones(32, 32))
    cache[:] = [hidden]
    with session() as report:
        update(x)
    assert torch.equal(ttnn.to_torch(hidden), 1.0 + ttnn.to_torch(x))
    assert not report.failures()
    assert ("add_", "isolated") in places(report)
    with session() as report, pytest.raises(ArgumentError, match="shares memory with argument 0"):
        update(hidden)
    assert report[-1].status is Status.RAISED
    assert torch.equal(ttnn.to_torch(hidden), 1.0 + ttnn.to_torch(x))


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        (ttnn.float32, torch.tensor([[1.0, float("nan"), -float("inf"), 0.0]])),
        (ttnn.bfloat16, torch.randn(3, 40)),
        (ttnn.bfloat8_b, torch.randn(32, 64)),
        (ttnn.int32, torch.arange(12, dtype=torch.int32).reshape(3, 4)),
        (ttnn.uint16, torch.arange(12, dtype=torch.int32).reshape(3, 4)),
        (ttnn.float32, torch.zeros(0, 4)),
    ],
)
def test_dtypes_nan_and_tensors_without_elements_are_compared(cpu_device, dtype, data):
    layout = ttnn.TILE_LAYOUT if data.numel() else ttnn.ROW_MAJOR_LAYOUT
    x = ttnn.from_torch(data, dtype=dtype, layout=layout, device=cpu_device)
    with session() as report:
        ttnn.add(x, x)
    assert [each.status for each in report] == [Status.OK] * 2, report.records
    assert report[0].shape == tuple(data.shape)
    assert report[0].dtype == x.dtype.mlir


@ttnn_jit.jit()
def with_a_method_of_torch(x):
    return ttnn.add(x.contiguous(), 1.0)


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    @ttnn_jit.jit()
    def __call__(self, x):
        return ttnn.multiply(x, self.factor)


def test_a_function_that_only_runs_as_a_whole_returns_its_result_and_says_why_it_is_not_compared():
    x = torch.randn(4, 4)
    with session() as report:
        assert torch.equal(with_a_method_of_torch(x), x + 1.0)
    assert [each.status for each in report] == [Status.SKIPPED]
    assert "does not run one operation after the other: AttributeError" in report[0].reason


def test_methods_are_compared_inside_and_a_tensor_without_memory_is_refused_as_ever(device):
    x, scaled = tensor(device), Scaled(3.0)
    with session() as report:
        scaled(x)
    assert places(report) == [("multiply", "isolated"), ("multiply", "accumulated"), ("__call__", "whole")]
    ttnn.deallocate(x)
    with session() as report:
        for call in (ttnn.neg, scaled):
            with pytest.raises(RuntimeError, match="deallocated"):
                call(x)
        ttnn.neg(tensor(device))
    assert [str(each.status) for each in report][-2:] == ["ok", "ok"]
    assert "raised" in {str(each.status) for each in report}


TEXT = """
func.func private @twice(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.add"(%x, %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}
func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = call @twice(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.sum"(%1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x32xf32>) -> tensor<32x1xf32>
  %3 = "ttir.subtract"(%1, %2) : (tensor<32x32xf32>, tensor<32x1xf32>) -> tensor<32x32xf32>
  return %3 : tensor<32x32xf32>
}
"""


def test_ops_of_a_text_are_compared_in_both_modes_and_its_results_as_a_whole():
    (parsed,) = parse_texts(TEXT, "model.mlir")
    module = TextModule(parsed, PRESETS["cpu"])
    x = torch.randn(32, 32)
    (expected,) = run_text(module, "main", [x])
    with session() as report:
        (got,) = run_text(module, "main", [x])
    assert torch.equal(got, expected)
    assert [(each.operation, str(each.mode)) for each in report] == [
        (f"ttir.{name}", mode)
        for name in ("exp", "add", "sum", "subtract")
        for mode in ("isolated", "accumulated")
    ] + [("main", "whole")]  # fmt: skip
    assert all(each.matches for each in report)
    assert report[2].location == "model.mlir:3:3"
    assert report.by_mode("accumulated")[-1].max_ulp >= report.by_mode("isolated")[-1].max_ulp


def test_lines_are_written_at_once_and_the_page_beside_them_at_the_end(device, tmp_path):
    path = tmp_path / "new" / "results.jsonl"
    with session(results_path=path, tensors_path=tmp_path / "failing") as report:
        doubled(tensor(device))
        assert len(path.read_text().splitlines()) == 2
    assert Report.from_jsonl(path).records == report.records
    assert "2 of 2 results differ from their goldens" in path.with_suffix(".html").read_text()
    held = torch.load(report[0].tensors)
    assert held.keys() == {"result", "golden", "operands"}
    assert torch.allclose(held["golden"], held["operands"][0] * 3.0)
    with session(results_path=path):
        ttnn.neg(tensor(device))
    assert len(Report.from_jsonl(path)) == 4


KILLED = """
import os, signal, sys, torch
from ttnn_jit import ttnn
from ttnn_jit.sessions import session
x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=ttnn.open_device(device_id=0))
with session(results_path=sys.argv[1]):
    ttnn.neg(x)
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.process
def test_lines_of_a_killed_process_are_readable_and_an_incomplete_one_is_dropped(device, tmp_path):
    path = tmp_path / "results.jsonl"
    done = run_python("-c", KILLED, path)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with path.open("a") as file:
        file.write('{"number": 7, "oper')
    assert len(Report.from_jsonl(path)) == 2
    with session(results_path=path):
        ttnn.neg(tensor(device))
    assert [json.loads(line)["operation"] for line in path.read_text().splitlines()] == ["ttnn.neg"] * 4


def test_a_file_that_another_session_writes_is_refused(tmp_path):
    path = tmp_path / "results.jsonl"
    with session(results_path=path):
        with (
            pytest.raises(ArgumentError, match="another comparison writes to"),
            session(results_path=path),
        ):
            pass
        with pytest.raises(ArgumentError, match="is a folder"), session(results_path=tmp_path):
            pass
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ArgumentError, match="is a device or a pipe"), session(results_path=pipe):
        pass
    path.write_text('{"number": 1}\n')
    with pytest.raises(ArgumentError, match=r"results\.jsonl:1: this is no record"):
        Report.from_jsonl(path)
