"""`ttrt run`, `perf`: what is computed, compared, reported, and which status says so."""

from __future__ import annotations

import csv
import json
import math
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from ttnn_jit.tools.ttrt.runs.golden_comparison import compared
from ttnn_jit.tools.ttrt.runs.operation_timings import COLUMNS


def results(name="run_results.json"):
    return json.loads(Path(name).read_text())


def loaded(folder):
    return {path.name: torch.load(path) for path in sorted(Path(folder).glob("*.pt"))}


def report(name, binary="softmax"):
    return json.loads(Path(f"ttrt-artifacts/{binary}.ttnn/run/program_0/{name}_results.json").read_text())


def test_a_run_has_the_fields_of_upstream_and_says_that_no_chip_ran(ttrt, binary):
    file = binary("softmax")
    assert ttrt("run", file, "--loops", "2").status == 0
    (record,) = results()
    loops = record.pop("program_results")["program_index_0"]
    assert record == {
        "file_path": str(file),
        "result": "pass",
        "exception": "",
        "log_file": "",
        "artifacts": str(Path.cwd() / "ttrt-artifacts"),
        "program_index": "all",
        "device": "wormhole_b0 rules on cpu",
    }
    assert [*loops] == ["loop_0", "loop_1"]
    for times in loops.values():
        assert times["total_duration_ns"] == times["total_submit_duration_ns"] + times["total_get_outputs_duration_ns"]
        assert times["total_device_kernel_duration_ns"] is None
    assert not Path("ttrt-artifacts").exists()
    assert {path.name for path in Path().iterdir()} == {"softmax.ttnn", "run_results.json", "ttrt_report.xml"}


def test_outputs_are_those_of_torch_and_equal_seeds_give_equal_tensors(ttrt, binary):
    file = binary("softmax")
    kept = []
    for seed, folder in (("3", "a"), ("3", "b"), ("4", "c")):
        assert ttrt("run", file, "--seed", seed, "--save-artifacts", "--artifact-dir", folder).status == 0
        kept.append(loaded(f"{folder}/softmax.ttnn/run/program_0"))
    first, again, other = kept
    expected = (first["input_0.pt"].double() + first["input_1.pt"].double()).softmax(1)
    torch.testing.assert_close(first["device_output_0.pt"].double(), expected, rtol=1e-5, atol=1e-7)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["input_0.pt"], other["input_0.pt"])


def test_numbers_are_those_of_the_chip_or_of_a_cpu(ttrt, binary):
    from ttnn_jit.compiler.texts.text_programs import TextModule
    from ttnn_jit.specs.target import resolve_target
    from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

    file, kept = binary("product"), {}
    for numerics, target in (("chip", "wormhole_b0"), ("cpu", "cpu")):
        run = ("run", file, "--numerics", numerics, "--enable-golden", "--save-artifacts", "--artifact-dir", numerics)
        done = ttrt(*run)
        assert done.status == 0, done.err
        assert f"runs on wormhole_b0 rules on cpu, with the numbers of a {numerics}" in done.err
        kept[numerics] = tensors = loaded(f"{numerics}/product.ttnn/run/program_0")
        module = TextModule(Binary.load(file).module, resolve_target(target), (1, 1))
        (expected,) = module.program("product")(tensors["input_0.pt"], tensors["input_1.pt"])
        assert torch.equal(tensors["device_output_0.pt"], expected)
    assert torch.equal(kept["chip"]["input_0.pt"], kept["cpu"]["input_0.pt"])
    assert not torch.equal(kept["chip"]["device_output_0.pt"], kept["cpu"]["device_output_0.pt"])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("arange", lambda: torch.arange(1024.0).reshape(32, 32)),
        ("zeros", lambda: torch.zeros(32, 32)),
        ("ones", lambda: torch.ones(32, 32)),
    ],
)
def test_inputs_are_made_as_init_says(ttrt, binary, kind, expected):
    run = ("run", binary("two"), "--program-index", "0", "--init", kind, "--save-artifacts")
    assert ttrt(*run).status == 0
    assert torch.equal(loaded("ttrt-artifacts/two.ttnn/run/program_0")["input_0.pt"], expected())


def test_ones_are_as_dense_as_is_asked_for(ttrt, binary):
    run = ("run", binary("two"), "--program-index", "0", "--init", "ones", "--ones-density", "4", "--save-artifacts")
    assert ttrt(*run).status == 0
    found = loaded("ttrt-artifacts/two.ttnn/run/program_0")["input_0.pt"]
    assert set(found.unique().tolist()) == {0.0, 1.0}
    assert 0.15 < float(found.mean()) < 0.35


def test_programs_are_chosen_by_number_and_all_run_by_default(ttrt, binary):
    file = binary("two")
    assert ttrt("run", file).status == 0
    assert [*results()[0]["program_results"]] == ["program_index_0", "program_index_1"]
    assert ttrt("run", file, "--program-index", "1").status == 0
    assert [*results()[0]["program_results"]] == ["program_index_1"]
    assert ttrt("run", file, "--program-index", "2").status == 1
    assert results()[0]["result"] == "skip"
    assert "2 programs, and none of the number 2" in results()[0]["exception"]


def test_outputs_that_must_equal_inputs_or_not_be_zero_decide_the_status(ttrt, binary):
    file = binary("two")
    assert ttrt("run", file, "--program-index", "0", "--identity", "--init", "ones").status == 0
    assert ttrt("run", file, "--program-index", "0", "--identity", "--init", "randn").status == 42
    assert results()[0]["result"] == "test_error"
    assert ttrt("run", file, "--program-index", "0", "--identity", "--atol", "100").status == 0
    assert ttrt("run", file, "--program-index", "0", "--non-zero").status == 0
    assert ttrt("run", file, "--program-index", "1", "--non-zero").status == 42
    assert "output 0 is all zero" in results()[0]["exception"]


def test_goldens_of_the_binary_are_compared_with_its_inputs_unless_disabled(ttrt, binary):
    assert ttrt("run", binary("softmax_with_goldens"), "--save-artifacts").status == 0
    entry = report("golden", "softmax_with_goldens")['loc("sum")']["0"]
    nine = ("expected_pcc", "actual_pcc", "atol", "rtol", "allclose", "max", "mean_absolute_error")
    assert [*entry][:9] == [*nine, "root_mean_square_error", "cosine_similarity"]
    assert entry["actual_pcc"] == 1.0
    assert (entry["max_ulp"], entry["differing_nans"], entry["golden"]) == (0.0, 0, "stored")
    wrong = binary("wrong")
    done = ttrt("run", wrong)
    assert done.status == 42
    assert 'golden comparison failed at loc("sum")' in results()[0]["exception"]
    assert "golden comparison failed" in done.err
    assert ttrt("run", wrong, "--disable-golden").status == 0
    assert ttrt("run", wrong, "--init", "randn").status == 0  # goldens belong to inputs
    assert ttrt("run", wrong, "--disable-ttrt-callbacks").status == 0
    assert ttrt("run", wrong, "--pcc", "-1").status == 0


def test_goldens_and_results_are_saved_by_location(ttrt, binary):
    run = ("run", binary("softmax_with_goldens"), "--save-artifacts", "--save-golden-tensors")
    assert ttrt(*run).status == 0
    found = loaded("ttrt-artifacts/softmax_with_goldens.ttnn/run/program_0")
    assert torch.equal(found["loc(_sum_)_0_golden.pt"], found["loc(_sum_)_0_device.pt"])
    assert torch.allclose(found["golden_output_0.pt"], found["device_output_0.pt"])


def test_operations_without_stored_goldens_are_compared_if_asked(ttrt, binary):
    assert ttrt("run", binary("softmax"), "--enable-golden", "--save-artifacts").status == 0
    found = report("golden")
    assert [*found] == ['loc("sum")', 'loc("softmax")']
    assert {entry["0"]["golden"] for entry in found.values()} == {"computed"}
    assert all(entry["0"]["matches"] for entry in found.values())
    assert all(entry["0"]["mean_absolute_error"] < 1e-6 for entry in found.values())


@pytest.mark.parametrize(
    ("golden", "result", "matches"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], True),
        ([1.0, 2.0, math.nan], [1.0, 2.0, math.nan], True),
        ([1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 3.0, math.nan], False),  # the others correlate
        ([5.0, 5.0], [7.0, 7.0], False),  # a constant has no correlation
        ([5.0], [5.0], True),
        ([0.0, 0.0], [0.0, 1.0], False),
        ([], [], True),
    ],
)
def test_a_result_is_right_by_correlation_and_places_of_nan(golden, result, matches):
    assert compared(torch.tensor(golden), torch.tensor(result), 0.99, 1e-8, 1e-5)["matches"] is matches


def test_the_memory_behind_a_tangent_is_that_of_the_document_with_its_free_bytes_put_right(ttrt, binary):
    assert ttrt("run", binary("tan"), "--memory", "--save-artifacts").status == 0
    entry, *freed = report("memory", "tan").values()
    assert [each["dram"]["total_bytes_allocated_per_bank"] for each in freed] == [8_192]  # the argument is freed
    assert entry["loc"] == 'loc("tan")'
    assert entry["debug_str"].startswith('%0 = "ttnn.tan"(%')
    dram = entry["dram"]
    assert (dram["num_banks"], dram["total_bytes_per_bank"]) == (12, 1_071_181_792)
    assert dram["total_bytes_allocated_per_bank"] == 16_384  # 16 tiles over 12 banks: 2 tiles of a bank, twice
    assert dram["total_bytes_free_per_bank"] == 1_071_165_408  # the document has 1,071,167,456
    assert [(each["allocated"], each["address"], each["size"]) for each in dram["block_table"]] == [
        ("yes", "0", "8192"),
        ("yes", "8192", "8192"),
        ("no", "16384", "1071165408"),
    ]
    facts = {name: (entry[name]["num_banks"], entry[name]["total_bytes_per_bank"]) for name in ("l1_small", "trace")}
    assert facts == {"l1_small": (64, 32_768), "trace": (12, 0)}
    assert entry["l1"]["num_banks"] == 64


def test_memory_that_grows_along_a_program_is_a_leak_if_asked(ttrt, binary, monkeypatch):
    file = binary("softmax")
    assert ttrt("run", file, "--memory", "--check-memory-leak").status == 0
    monkeypatch.setattr("ttnn_jit.ttmlir.ttmlir_runtime.chip_memory.DeviceMemory.free", lambda *_: None)
    assert ttrt("run", file, "--memory", "--check-memory-leak").status == 42
    assert "memory leak in dram" in results()[0]["exception"]


def test_a_benchmark_runs_program_0_twice(ttrt, binary):
    assert ttrt("run", binary("two"), "--benchmark").status == 0
    assert [*results()[0]["program_results"]["program_index_0"]] == ["loop_0", "loop_1"]


def test_the_debugger_starts_behind_every_operation(ttrt, binary, monkeypatch):
    seen = []
    monkeypatch.setattr("pdb.set_trace", lambda: seen.append("stopped"))
    assert ttrt("run", binary("softmax"), "--debugger").status == 0
    assert seen == ["stopped"] * 5  # two of them compute, and three free a tensor


def test_tensors_are_printed_if_asked(ttrt, binary):
    done = ttrt("run", binary("two"), "--program-index", "1", "--print-input-output-tensors")
    assert "program 1, input 0:\ntensor([[" in done.err
    assert "program 1, output 0:\ntensor([[0., 0." in done.err


def test_options_without_effect_are_named_and_refused_ones_say_what_to_do(ttrt, binary):
    file = binary("two")
    done = ttrt("run", file, "--load-kernels-from-disk", "--disable-eth-dispatch")
    assert done.status == 0
    assert "--load-kernels-from-disk has no effect here: a .ttnn holds operations" in done.err
    done = ttrt("run", file, "--enable-perf-trace")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "`ttrt perf` measures every operation" in done.err
    done = ttrt("emitc", "out.so")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "`ttrt emitpy` runs the Python of the same module" in done.err


def test_times_of_operations_are_rows_whose_device_columns_are_empty(ttrt, binary):
    assert ttrt("perf", binary("softmax"), "--loops", "2").status == 0
    with Path("ttrt-artifacts/softmax.ttnn/perf/ops_perf_results.csv").open() as file:
        reader = csv.DictReader(file)
        rows = [*reader]
    assert [name for name in reader.fieldnames if name != "INPUT_LAYOUT_CONVERSION_OP"] == [*COLUMNS]
    assert len(COLUMNS) == 70
    assert [row["OP CODE"] for row in rows] == ["ttnn.add", "ttnn.softmax"] * 2
    assert [row["GLOBAL CALL COUNT"] for row in rows] == ["1", "2", "3", "4"]
    for row in rows:
        assert int(row["HOST END TS"]) - int(row["HOST START TS"]) == int(row["HOST DURATION [ns]"]) > 0
        assert {value for name, value in row.items() if name.startswith(("DEVICE ", "PM ", "DISPATCH "))} == {""}
        assert [row[f"INPUT_0_{name}"] for name in "WZYX"] == ["1", "1", "64", "128"]
        assert (row["OP TYPE"], row["INPUT_0_MEMORY"]) == ("tt_dnn_cpu", "DRAM_INTERLEAVED")
    assert "'loop_number': 1" in rows[-1]["PROGRAM_METADATA"]
    loops = results("perf_results.json")[0]["program_results"]["program_index_0"]
    for number, times in enumerate(loops.values()):
        own = [int(row["HOST DURATION [ns]"]) for row in rows if f"'loop_number': {number}" in row["PROGRAM_METADATA"]]
        assert times["total_ttnn_api_duration_ns"] == sum(own)


def test_filters_leave_operations_out_of_one_more_file(ttrt, binary):
    file = binary("tan")
    assert ttrt("perf", file, "--filter", "input_layout_conversion,const_eval").status == 0
    names = {path.name for path in Path("ttrt-artifacts/tan.ttnn/perf").iterdir()}
    assert names == {
        "ops_perf_results.csv",
        "ops_perf_results_minus_const_eval.csv",
        "ops_perf_results_minus_input_layout_conversions.csv",
        "ops_perf_results_minus_input_layout_conversions_and_const_eval.csv",
    }
    done = ttrt("perf", file, "--filter", "matmul")
    assert (done.status, done.err.count("\n")) == (2, 1)


def test_a_folder_runs_whole_and_its_status_says_if_one_failed(ttrt, written, tmp_path):
    folder = tmp_path / "all"
    (folder / "deep").mkdir(parents=True)
    for name, path in (("two", "a.ttnn"), ("tan", "deep/a.ttnn"), ("wrong", "wrong.ttnn")):
        (folder / path).write_bytes((written / f"{name}.ttnn").read_bytes())
    assert ttrt("run", folder, "--save-artifacts").status == 42
    assert [each["result"] for each in results()] == ["pass", "pass", "test_error"]
    assert len([*Path("ttrt-artifacts").glob("*a.ttnn")]) == 2  # files of one name have folders of their own
    (folder / "broken.ttnn").write_bytes(b"no binary")
    done = ttrt("run", folder, "--log-file", "run.log")
    assert done.status == 1
    assert {each["result"] for each in results()} == {"pass", "test_error", "error"}
    assert "broken.ttnn is no flatbuffer" in done.err
    assert Path("run.log").read_text().count("PASS") == 2
    suite = ElementTree.parse("ttrt_report.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), len(suite.findall(".//failure"))) == ("4", "2", 2)


@pytest.mark.parametrize("options", [(), ("--artifact-dir", "all/new"), ("--artifact-dir", "all/sub")])
def test_binaries_that_a_run_saved_do_not_run_with_those_of_a_folder(ttrt, written, tmp_path, options):
    folder = tmp_path / "all"
    folder.mkdir()
    shutil.copy(written / "two.ttnn", folder / "two.ttnn")
    (folder / "sub").mkdir()
    (folder / "sub/notes.txt").touch()  # a folder that others made
    for place in (".", "all"):
        for _ in range(2):
            assert ttrt("run", place, "--save-artifacts", *options).status == 0
            assert [Path(each["file_path"]).name for each in results()] == ["two.ttnn"]
    saved = next(each for each in tmp_path.rglob("two.ttnn/two.ttnn"))
    assert ttrt("run", saved.parent).status == 0
    saved.unlink()
    (folder / "two.ttnn").unlink()
    shutil.copy(written / "tan.ttnn", saved)
    done = ttrt("run", ".")
    assert done.status == 1
    assert "holds no file that ends in .ttnn or .ttm, apart from 1 in folders of artifacts" in done.err
