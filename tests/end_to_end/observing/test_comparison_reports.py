"""Reports of comparisons: each record of all concurrent processes is in one report exactly once."""

from __future__ import annotations

import json
import math
import os
import random
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.damage import damaged_json, damaged_text
from tests.processes import run_python
from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.golden.comparison_page import page
from ttnn_jit.golden.comparison_records import ComparisonRecord, Mode, Status, from_json_line, merged, to_json_line
from ttnn_jit.golden.comparison_report import PAGE, PARTS, RESULTS, RecordFile, record_file
from ttnn_jit.golden.record_report import Report

RECORDS = st.builds(
    ComparisonRecord,
    number=st.integers(0, 9),
    operation=st.text(max_size=9),
    mode=st.sampled_from(Mode),
    output=st.integers(0, 3),
    status=st.sampled_from(Status),
    pcc=st.none() | st.floats(allow_nan=False),
    max_ulp=st.none() | st.floats(min_value=0.0, allow_nan=False),
    differing_nans=st.integers(0, 9),
    location=st.text(max_size=9),
    source=st.text(max_size=9),
    reason=st.text(max_size=9),
    shape=st.lists(st.integers(0, 9), max_size=3).map(tuple),
    device=st.none() | st.integers(0, 9),
    first_nan=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)),
    allclose=st.sampled_from([True, False, None]),
    process=st.integers(0, 9),
    test=st.text(max_size=9),
)


@given(record=RECORDS)
def test_a_line_holds_a_whole_record(record):
    line = to_json_line(record)
    assert "\n" not in line
    assert json.loads(line, parse_constant=pytest.fail)
    assert from_json_line(line) == record


def full_record():
    return ComparisonRecord(
        3, "ttnn.exp", Mode.WHOLE, 0, Status.NUMERICS_FAIL, 0.5, math.inf, 2, (0, 1), allclose=False, shape=(2, 3),
        device=1, source="y = ttnn.exp(x)", tensors="failing/3.pt",
    )  # fmt: skip


def test_two_thousand_damaged_result_files_are_refused_with_one_line_or_read(tmp_path):
    draw, line = random.Random(7), to_json_line(full_record())
    path, refused = tmp_path / "results.jsonl", []
    for number in range(2000):
        is_value = number % 2
        text = json.dumps(damaged_json(draw, json.loads(line))) if is_value else damaged_text(draw, line)
        path.write_text(text.replace("\n", " ") + "\n", encoding="utf-8")
        try:
            report = Report.from_jsonl(path)
        except ArgumentError as error:
            refused.append(str(error))
        else:
            assert number % 16 or "</table>" in "\n".join(page(report.records))
    assert len(refused) > 900
    assert all("\n" not in each and each.startswith(f"{path}:1: ") for each in refused)


@given(parts=st.lists(st.lists(RECORDS, max_size=4), max_size=4))
def test_merging_neither_loses_nor_duplicates_records_and_keeps_the_order_of_each_process(parts):
    found = merged(parts)
    assert sorted(map(to_json_line, found)) == sorted(to_json_line(record) for part in parts for record in part)
    for part in parts:
        left = iter(found)
        assert all(any(each is record for each in left) for record in part)


def record(number, *, status=Status.OK, max_ulp=0.0, mode=Mode.ISOLATED):
    return ComparisonRecord(number, f"ttnn.op{number}", mode, 0, status, 1.0, max_ulp)


def test_the_page_lists_the_worst_first_and_the_number_of_differences():
    failed = Status.NUMERICS_FAIL
    bad = [
        record(1, status=failed, max_ulp=3.0),
        record(2, status=failed, max_ulp=9e9, mode=Mode.ACCUMULATED),
        record(3, status=failed, max_ulp=70.0),
    ]
    unjudged = ComparisonRecord(4, "ttnn.op4", Mode.ISOLATED, 0, Status.GOLDEN_FAILED, reason="its golden failed")
    text = "\n".join(page([record(0), *bad, unjudged]))
    assert "<h1>3 of 4 results differ from their goldens</h1>" in text
    offsets = [text.index(f"ttnn.op{number}") for number in (3, 1, 2, 4, 0)]
    assert offsets == sorted(offsets)
    assert "<h1>All 1 results are right</h1>" in "\n".join(page([record(0)]))
    assert "<h1>No result was compared with a golden</h1>" in "\n".join(page([unjudged]))


SCRIPT = """
    import os, time
    from multiprocessing import get_context
    import torch, ttnn_jit
    from ttnn_jit import ttnn

    def compare(count):
        x = ttnn.from_torch(torch.ones(32, 32), layout=ttnn.TILE_LAYOUT, device=ttnn.open_device(device_id=0))
        for _ in range(count):
            x = ttnn.neg(x)

    if __name__ == "__main__":
        compare(2)
        for way in ("fork", "spawn"):
            with get_context(way).Pool(2) as pool:
                pool.map(compare, [1, 3, 5], chunksize=1)
                pool.close()
                pool.join()
        if pid := os.fork():
            os.waitpid(pid, 0)
        else:
            compare(4)
            os._exit(0)
"""


@pytest.mark.process
def test_processes_of_multiprocessing_and_forks_lose_no_record(tmp_path):
    (tmp_path / "script.py").write_text(textwrap.dedent(SCRIPT))
    settings = {"enable_comparison_mode": True, "root_report_path": str(tmp_path), "report_name": "run"}
    environment = {**os.environ, "TTNN_CONFIG_OVERRIDES": json.dumps(settings)}
    run_python("script.py", cwd=tmp_path, env=environment, check=True)
    rows = Report.from_jsonl(tmp_path / "run" / RESULTS)
    assert len(rows) == 2 * (2 + 2 * (1 + 3 + 5) + 4)
    assert len({row.process for row in rows}) >= 4
    assert (tmp_path / "run" / PAGE).exists()


def test_an_incomplete_line_is_dropped_and_the_others_are_kept(tmp_path):
    file = RecordFile(tmp_path)
    file.write([record(1)])
    (tmp_path / PARTS / "9-killed.jsonl").write_text(to_json_line(record(2)) + "\n" + to_json_line(record(3))[:20])
    assert sorted(each.number for each in file.merge()) == [1, 2]


def test_a_run_starts_when_no_process_compares_and_is_joined_by_later_processes(tmp_path):
    program = (
        "import sys, pathlib; from ttnn_jit.golden.comparison_report import *\n"
        "from ttnn_jit.golden.comparison_records import *\n"
        "file = RecordFile(pathlib.Path(sys.argv[1]))\n"
        "file.write([ComparisonRecord(7, 'late', Mode.ISOLATED, 0, Status.OK)])\n"
        "print(len(file.merge()))"
    )

    def other():
        return int(run_python("-c", program, tmp_path, check=True).stdout)

    assert other() == 1
    assert other() == 1  # the first has ended
    record_file(tmp_path).write([record(1)])
    assert other() == 2
    assert other() == 3
    assert len(record_file(tmp_path).merge()) == 3
