"""`chisel`: submitted programs are compared op by op, with upstream's names of records, reports and settings."""

from __future__ import annotations

import json
import random

import pytest
import torch

import ttnn_jit
from tests.damage import damaged_json, damaged_text
from tests.end_to_end.built_modules.made_modules import built, run, softmax_of_sum, tensor
from ttnn_jit import ttnn
from ttnn_jit.sessions import session
from ttnn_jit.ttmlir.chisel import chisel_records

ttnn_jit.register_as_ttnn()

import chisel  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir.dialects import ttir  # noqa: E402

BOTH = chisel.ChiselChecksConfig(isolation=True, accumulation=True)


def submitted():
    return run(built(softmax_of_sum, tensor(4, 8), tensor(4, 8)), torch.randn(4, 8), torch.randn(4, 8))


def test_it_has_the_names_of_upstreams_module():
    assert sorted(chisel.__all__) == [
        "ChiselChecksConfig", "ChiselContext", "ChiselOpConfig", "ChiselRecord", "ChiselReport", "NumericsMode",
        "PCCConfig", "RecordStatus", "bind", "configure", "get_report", "register_op_config", "session", "unbind",
    ]  # fmt: skip


def test_both_modes_record_every_op_and_the_arguments_begin_chains(tmp_path):
    path = tmp_path / "results.jsonl"
    with chisel.session(results_path=str(path), checks_config=BOTH) as report:
        submitted()
    numerics = report.by_check("numerics")
    assert [(each.op, each.payload.mode) for each in numerics] == [
        (op, mode) for op in ("ttir.add", "ttir.softmax") for mode in ("isolated", "accumulated")
    ]
    assert all(each.status == chisel.RecordStatus.OK and each.payload.pcc > 0.99 for each in numerics)
    assert [each.ssa for each in report.by_check("golden_promoted")] == ["%arg0", "%arg1"]
    assert {(each.program_name, each.program_index) for each in report} == {("main", 0)}
    assert len({each.binary_id for each in report}) == 1
    assert numerics.records[-1].ssa == "%1"
    assert chisel.ChiselReport.from_jsonl(path).records == report.records
    assert not report.failures()
    assert len(report.by_op("ttir.add").by_program("main")) == 4


def test_a_threshold_fails_and_the_module_is_written_once(tmp_path):
    config = chisel.ChiselChecksConfig(pcc=chisel.PCCConfig(min_pcc=2.0))
    with (
        chisel.session(debug_chisel_dir=str(tmp_path / "debug"), checks_config=config) as report,
        pytest.warns(UserWarning, match=r"chisel wrote no binary_\d+\.ttnn: a binary has no table for `ttir\.add`"),
    ):
        submitted()
    failures = report.by_status("numerics_fail")
    assert len(failures) == len(report.by_check("numerics")) == 2
    assert '"ttir.add"' in failures.records[0].op_asm
    (text,) = (tmp_path / "debug").glob("binary_*.mlir")
    assert "ttir.softmax" in text.read_text()
    with chisel.session(checks_config=chisel.ChiselChecksConfig(max_atol=-1.0)) as report:
        submitted()
    assert len(report.failures()) == 2


def test_configs_of_ops_skip_replace_and_survive_errors():
    seen = []

    def before(context, config):
        seen.append((context.op.operation.name, config.skip_pcc))

    def fails(_context, _config):
        raise RuntimeError("mine")

    with chisel.session(checks_config=BOTH) as report:
        chisel.register_op_config(ttir.AddOp, chisel.ChiselOpConfig(skip_pcc=True, pre_op=before))
        chisel.register_op_config(ttir.SoftmaxOp, chisel.ChiselOpConfig(post_op=fails))
        submitted()
    assert seen == [("ttir.add", True)]
    assert {each.status for each in report.by_op("ttir.add").by_check("numerics")} == {"skipped_numerics"}
    (bug,) = report.by_status("chisel_bug")
    assert "RuntimeError: mine" in bug.payload.traceback
    assert [each.status for each in report.by_op("ttir.softmax")] == ["chisel_bug"]
    with chisel.session() as report:
        chisel.register_op_config(ttir.AddOp, chisel.ChiselOpConfig(no_golden=True))
        submitted()
    assert [each.status for each in report.by_op("ttir.add")] == ["no_golden", "golden_promoted", "golden_promoted"]


def test_it_is_bound_once_and_settings_need_it():
    with pytest.raises(RuntimeError, match="not bound"):
        chisel.configure(report_capacity=3)
    chisel.bind()
    try:
        with pytest.raises(RuntimeError, match="called twice"):
            chisel.bind()
        chisel.configure(report_capacity=3, checks_config=BOTH)
        submitted()
        assert len(chisel.get_report()) == chisel.get_report().capacity == 3
    finally:
        chisel.unbind()
    submitted()
    with pytest.raises(RuntimeError, match="not bound"):
        chisel.get_report()


def test_damaged_lines_are_refused_by_a_value_error_of_one_line():
    draw = random.Random(11)
    payload = chisel_records.Payload(chisel.RecordStatus("ok"), None, 1.0, 0.0, 0.0, 0, [2, 3], [2, 3])
    line = chisel.ChiselRecord("ttnn.add", "numerics", payload, "%0 = ...", "%0", 1, "main", 0).to_json()
    assert chisel.ChiselRecord.from_json(line).to_json() == line
    refused = []
    for number in range(1000):
        damaged = json.dumps(damaged_json(draw, json.loads(line))) if number % 2 else damaged_text(draw, line)
        try:
            chisel.ChiselRecord.from_json(damaged)
        except ValueError as error:
            refused.append(str(error))
    assert len(refused) > 400
    assert not [each for each in refused if "\n" in each]


@pytest.mark.parametrize("line", ["[]", "{}", '{"op": "a", "check": "b", "payload": {"status": "well"}}', "{"])
def test_lines_that_are_no_records_are_refused(tmp_path, line):
    (tmp_path / "results.jsonl").write_text(line)
    with pytest.raises(ValueError):  # noqa: PT011 - json's own text for some
        chisel.ChiselReport.from_jsonl(tmp_path / "results.jsonl")


def test_a_session_sees_submitted_programs_too_with_their_names_of_values():
    with session() as report:
        (result,) = submitted()
    assert [(each.operation, str(each.mode)) for each in report] == [
        *((op, mode) for op in ("ttir.add", "ttir.softmax") for mode in ("isolated", "accumulated")),
        ("main", "whole"),
    ]
    assert all(each.matches for each in report)
    assert result.shape == (4, 8)


def test_comparison_mode_raises_for_a_submitted_program_that_differs(monkeypatch):
    monkeypatch.setattr("ttnn_jit.sessions.text_goldens.JudgedOp.goldens", lambda _: [torch.full((4, 8), 9.0)])
    with (
        ttnn.manage_config("enable_comparison_mode", True),
        ttnn.manage_config("comparison_mode_should_raise_exception", True),
        pytest.raises(RuntimeError, match=r"ttir\.add: output 0 is not its golden, isolated"),
    ):
        submitted()


def test_a_check_that_is_replaced_and_fails_is_a_record(monkeypatch):
    from chisel import callbacks

    def fails(*_):
        raise RuntimeError("mine")

    monkeypatch.setattr("chisel.callbacks.check_numerics", fails)
    with chisel.session() as report:
        submitted()
    assert callbacks.check_numerics is fails
    bugs = report.by_status("chisel_bug")
    assert {each.op for each in bugs} == {"ttir.add", "ttir.softmax"}
    assert all("RuntimeError: mine" in each.payload.traceback for each in bugs)
