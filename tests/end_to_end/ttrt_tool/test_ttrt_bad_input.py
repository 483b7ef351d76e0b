"""Damaged binaries, descriptions and command lines: one line, a status, and nothing half-written."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from tests.damage import damaged_json
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.tools.ttrt.ttrt_logger import Logger

TRACE = "Traceback"


@pytest.mark.parametrize(
    "words",
    [
        "",
        "fly out.ttnn",
        "run",
        "run out.ttnn --loops",
        "run out.ttnn --loops many",
        "run out.ttnn --init gauss",
        "run out.ttnn --section mlir",
        "run out.ttnn other.ttnn",
        "run out.ttnn --fabric-config token_ring",
        "read out.ttnn --section nothing",
        "read out.ttnn --sect all",
    ],
)
def test_a_wrong_command_line_is_said_in_one_line_and_has_the_status_2(ttrt, words, tmp_path):
    done = ttrt(*words.split())
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "error: " in done.err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("command", ["read", "run", "perf", "check", "emitpy"])
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("absent.ttnn", "absent.ttnn does not exist"),
        ("text.txt", "text.txt does not end in"),
        ("empty", "the folder empty holds no file"),
    ],
)
def test_a_path_without_files_is_a_record_with_the_reason(ttrt, command, given, reason):
    Path("text.txt").touch()
    Path("empty").mkdir()
    done = ttrt(command, given)
    assert done.status == 1
    assert [line for line in done.err.splitlines() if reason in line]
    assert TRACE not in done.err
    (record,) = json.loads(Path(f"{command}_results.json").read_text())
    assert (record["result"], record["file_path"]) == ("error", given)
    assert reason in record["exception"]


def test_options_that_do_not_fit_are_refused_before_anything_is_written(ttrt, binary, tmp_path):
    file = binary("two")
    for options in ("--loops 0", "--dirty-tensor-schedule 1", "--ones-density 0 --init ones", "--golden-diff-topk -1"):
        done = ttrt("run", file, *options.split())
        assert done.status == 2, options
        assert TRACE not in done.err
    assert ttrt("run", file, "--log-file", "no/such/folder/x.log").status == 1
    done = ttrt("run", file, "--result-file", "no/such/folder/x.json")
    assert done.status == 1
    assert "error: no/such/folder/x.json: No such file or directory" in done.err
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_log_on_a_full_disk_costs_no_results(ttrt, binary):
    done = ttrt("run", binary("two"), "--log-file", "/dev/full")
    assert done.status == 1
    assert done.err.count("\n") == 1
    assert done.err.rstrip().endswith("ERROR - /dev/full: No space left on device; it has no further lines")
    (record,) = json.loads(Path("run_results.json").read_text())
    assert record["result"] == "pass"


def test_a_log_takes_names_that_are_no_text(tmp_path):
    log = Logger(str(tmp_path / "own.log"))
    log.get_logger().info("%s", os.fsdecode(b"no\xff.ttnn"))
    assert log.is_complete
    assert "no\\udcff.ttnn" in (tmp_path / "own.log").read_text()


def test_a_binary_of_another_version_says_what_it_is_and_what_to_do(ttrt, binary, monkeypatch):
    file = binary("two")
    monkeypatch.setattr("ttnn_jit.schemas.binary_file.VERSION", {"major": 9, "minor": 9, "patch": 9})
    done = ttrt("run", file)
    assert done.status == 1
    (record,) = json.loads(Path("run_results.json").read_text())
    assert "is of version 0.1.0" in record["exception"]
    assert "--ignore-version" in record["exception"]
    assert ttrt("run", file, "--ignore-version").status == 0


def test_damaged_binaries_are_refused_in_one_line_and_their_neighbours_run(ttrt, binary, tmp_path):
    draw = random.Random(3)
    whole = binary("two").read_bytes()
    folder = tmp_path / "all"
    folder.mkdir()
    for number in range(60):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 1, 4])):
            data[draw.randrange(len(data))] = draw.randrange(256)
        cut = len(data) if draw.random() < 0.8 else draw.randrange(len(data))
        (folder / f"{number}.ttnn").write_bytes(bytes(data[:cut]))
    (folder / "whole.ttnn").write_bytes(whole)
    for command in ("read", "check"):
        done = ttrt(command, folder, "--log-file", "own.log")
        assert TRACE not in done.err
        records = json.loads(Path(f"{command}_results.json").read_text())
        assert len(records) == 61
        assert all("\n" not in each["exception"] for each in records)
        own = [each["exception"] for each in records if each["result"] == "error"]
        assert not [each for each in own if each.startswith(("KeyError", "TypeError", "AttributeError", "IndexError"))]


def test_damaged_descriptions_are_refused_in_one_line(ttrt, binary):
    draw = random.Random(5)
    file = binary("tan")
    texts = [
        json.loads(ttrt("query", "--target", "n300").out),
        json.loads(resolve_target("wormhole_b0").to_json()),
    ]
    Path("systems").mkdir()
    for number in range(120):
        Path(f"systems/{number}.json").write_text(json.dumps(damaged_json(draw, draw.choice(texts))))
    Path("systems/deep.json").write_text("[" * 100_000)
    Path("systems/bytes.json").write_bytes(bytes(range(256)))
    Path("systems/short.ttsys").write_bytes(b"\x10\0\0\0\x10\0\0\0TTSY")
    done = ttrt("check", file, "--system-desc", "systems")
    assert (done.status, TRACE in done.err) == (1, False)
    records = json.loads(Path("check_results.json").read_text())
    assert len(records) == 123
    for each in records:
        assert "\n" not in each["exception"]
        assert not each["exception"].startswith(("KeyError", "TypeError", "AttributeError", "OverflowError"))


@pytest.mark.parametrize("command", ["run", "perf", "emitpy"])
@pytest.mark.parametrize("index", ["x", "-1", "1.0", "", "9" * 5000])
def test_a_program_is_chosen_by_its_number(ttrt, command, index):
    done = ttrt(command, "absent.ttnn", "--program-index", index)
    assert done.status == 2
    assert "argument --program-index: --program-index takes the number of a program, or all, got" in done.err
    assert TRACE not in done.err


@pytest.mark.parametrize("given", ["no/such/folder/x.json", "taken"])
def test_a_file_of_results_that_cannot_be_written_is_refused_before_anything_runs(ttrt, binary, given, tmp_path):
    Path("taken").mkdir()
    file = binary("two")
    for command in ("run", "check", "read", "perf"):
        done = ttrt(command, file, "--result-file", given)
        assert done.status == 1
        assert f"error: {given}: " in done.err
        assert "PASS" not in done.err
    done = ttrt("read", file, "--read-file", given)
    assert (done.status, f"error: {given}: " in done.err) == (1, True)
    assert {each.name for each in tmp_path.iterdir()} == {"taken", "two.ttnn"}


def test_results_may_go_to_a_device(ttrt, binary):
    assert ttrt("run", binary("two"), "--result-file", "/dev/null").status == 0
    assert not Path("/dev/ttrt_report.xml").exists()
