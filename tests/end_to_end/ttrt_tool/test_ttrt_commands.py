"""`ttrt query`, `read`, `check`, `emitpy`; options, logs and artifacts of all commands."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
import torch

from ttnn_jit.specs.target import resolve_target
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.ttrt.option_declarations import COMMANDS
from ttnn_jit.tools.ttrt.ttrt_command import parser_of

IN_FILE, IN_FOLDER = "out.ttnn", "/dir/of/flatbuffers"
SHARED = (
    "--clean-artifacts",
    "--save-artifacts",
    "--log-file ttrt.log",
    "--save-artifacts --artifact-dir /path/to/some/dir",
    "--result-file result.json",
)
DOCUMENTED = {
    "query": ("--quiet", "--save-artifacts --log-file ttrt.log"),
    "read": (
        *(f"--section {name}" for name in ("version", "system_desc", "mlir", "inputs", "outputs", "op_stats")),
        "--section mesh_shape",
        "--section all --clean-artifacts",
    ),
    "run": (
        "--seed 0", "--init arange", "--identity", "--identity --rtol 1 --atol 1", "--loops 10", "--program-index all",
        "--program-index 0", "--load-kernels-from-disk", "--disable-golden", "--save-golden-tensors", "--debugger",
        "--print-input-output-tensors", "--memory --save-artifacts", "--memory --check-memory-leak",
    ),
    "perf": ("--loops 10", "--program-index all", "--program-index 0", "--host-only", "--loops 10 --host-only"),
    "check": ("--system-desc /path/to/system_desc.ttsys", "--system-desc /dir/of/system_desc"),
    "emitpy": (
        "--loops 10", "--program-index all", "--program-index 0", "--flatbuffer /path/to/flatbuffer",
        "--print-input-output-tensors", "--memory --save-artifacts",
    ),
}  # fmt: skip
"""What the documents of ttrt pass to its commands, beside `SHARED`."""


@pytest.mark.parametrize(
    ("command", "options"), [(name, each) for name, own in DOCUMENTED.items() for each in (*SHARED, *own, "")]
)
def test_the_command_lines_of_the_documents_are_accepted(command, options):
    for path in [""] if command == "query" else [IN_FILE, IN_FOLDER]:
        for words in (f"{path} {options}", f"{options} {path}"):  # an option stands before or behind
            assert parser_of().parse_args([command, *words.split()]).command == command


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_option_with_its_default(ttrt, command):
    done = ttrt(command, "--help")
    assert done.status == 0
    shown = " ".join(done.out.split())
    for option in COMMANDS[command].options:
        assert option.name in shown
        if option.kind is not bool and option.default != "" and not option.refusal:
            assert f"default: {option.default}" in shown.replace("- ", "-")


def test_help_lists_the_commands(ttrt):
    done = ttrt("--help")
    assert all(f"\n    {name}" in done.out for name in ("query", "read", "run", "perf", "check", "emitpy", "emitc"))
    assert ttrt("--version").out == "ttrt 0.1.0\n"


def test_a_query_describes_a_wormhole_or_the_chosen_system(ttrt, monkeypatch):
    described = json.loads(ttrt("query").out)["system_desc"]
    assert described["chip_descs"][0]["arch"] == "Wormhole_b0"
    assert json.loads(ttrt("query", "--target", "n300").out)["system_desc"]["chip_desc_indices"] == [0, 0]
    Path("mine.json").write_text(resolve_target("blackhole").to_json())
    monkeypatch.setenv("SYSTEM_DESC_PATH", "mine.json")
    assert json.loads(ttrt("query").out)["system_desc"]["chip_descs"][0]["arch"] == "Blackhole"
    assert json.loads(Path("query_results.json").read_text())[0]["device"] == "blackhole rules on cpu"
    done = ttrt("query", "--quiet")
    assert (done.status, done.out) == (0, "")
    assert ttrt("query", "--target", "grayskull").status == 2


@pytest.mark.parametrize("target", ["wormhole_b0", "n300", "p150"])
def test_a_saved_description_is_read_by_every_command_and_by_compilers(ttrt, target):
    assert ttrt("query", "--target", target, "--save-artifacts").status == 0
    saved = "ttrt-artifacts/system_desc.ttsys"
    shown = json.loads(ttrt("read", saved, "--section", "system_desc").out)
    assert shown["system_desc"] == json.loads(ttrt("query", "--target", target).out)["system_desc"]
    assert ttrt("query", "--target", saved).status == 0
    done = ttrt("read", saved, "--section", "inputs")
    assert done.status == 1
    assert "has no section 'inputs'" in done.err


def test_sections_of_a_binary_are_printed_and_saved(ttrt, binary):
    file = binary("softmax")

    def section(name):
        done = ttrt("read", file, "--section", name)
        assert done.status == 0, done.err
        return done.out

    assert json.loads(section("version"))["version"] == "0.1.0"
    assert "chip_descs" in json.loads(section("system_desc"))
    assert section("mlir").count('"ttnn.softmax"') == 1
    (inputs,) = (each["main"] for each in json.loads(section("inputs")))
    assert [each["desc"]["shape"] for each in inputs] == [[64, 128]] * 2
    (outputs,) = (each["main"] for each in json.loads(section("outputs")))
    assert outputs[0]["desc"]["layout"]["memory_desc"]["data_type"] == "Float32"
    counts = json.loads(section("op_stats"))[0]["main"]
    assert (counts["ttnn.add"], counts["ttnn.softmax"]) == (1, 1)
    assert json.loads(section("mesh_shape")) == [{"main": [1, 1]}]
    assert "programs" in json.loads(section("all"))
    assert json.loads(Path("read_sections.json").read_text())[0][0].keys() >= {"programs", "version"}
    done = ttrt("read", file, "--section", "cpp")
    assert done.status == 1
    assert "holds no C++" in done.err


def test_files_of_a_folder_are_printed_by_their_paths(ttrt, binary, tmp_path):
    files = {str(binary(name)) for name in ("two", "tan")}
    assert json.loads(ttrt("read", tmp_path, "--section", "mesh_shape").out).keys() == files


def test_a_check_names_what_differs_and_has_a_record_for_each_pair(ttrt, binary, monkeypatch):
    file = binary("tan")
    Path("systems").mkdir()
    own = json.loads(ttrt("read", file, "--section", "system_desc").out)
    Path("systems/own.json").write_text(json.dumps(own))
    Path("systems/other.json").write_text(resolve_target("p150").to_json())
    assert ttrt("check", file, "--system-desc", "systems/own.json").status == 0
    assert ttrt("check", file, "--system-desc", "systems").status == 1
    records = json.loads(Path("check_results.json").read_text())
    assert [(each["system_desc"], each["result"]) for each in records] == [
        ("systems/other.json", "error"),
        ("systems/own.json", "pass"),
    ]
    assert "arch is wormhole_b0 in the binary and blackhole here" in records[0]["exception"]
    monkeypatch.setenv("SYSTEM_DESC_PATH", "systems/own.json")
    assert ttrt("check", file).status == 0
    assert ttrt("run", file).status == 0
    monkeypatch.setenv("SYSTEM_DESC_PATH", "systems/other.json")
    assert ttrt("check", file).status == 1
    assert ttrt("run", file).status == 1
    assert json.loads(Path("run_results.json").read_text())[0]["result"] == "skip"
    done = ttrt("run", file, "--ignore-version")
    assert done.status == 0
    assert "was compiled for another system, and runs all the same: arch is wormhole_b0" in done.err


def test_a_binary_compiled_without_a_description_passes_where_no_system_is_chosen(ttrt, monkeypatch):
    from ttmlir import passes
    from ttmlir.ir import Module

    module = Module.parse(
        """func.func @main(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
          %0 = "ttir.exp"(%x) : (tensor<32x64xf32>) -> tensor<32x64xf32>
          return %0 : tensor<32x64xf32>
        }"""
    )
    passes.ttir_to_ttnn_backend_pipeline(module)
    passes.ttnn_to_flatbuffer_file(module, "out.ttnn")
    done = ttrt("check", "out.ttnn")
    assert done.status == 0
    assert "was compiled without a description: its bytes of L1 are not compared" in done.err
    assert ttrt("query", "--save-artifacts").status == 0
    monkeypatch.setenv("SYSTEM_DESC_PATH", "ttrt-artifacts/system_desc.ttsys")
    assert ttrt("check", "out.ttnn").status == 1
    assert "l1_bytes is 1,498,112 in the binary" in json.loads(Path("check_results.json").read_text())[0]["exception"]


def test_a_binary_compiled_with_a_saved_description_passes_its_check(ttrt, monkeypatch):
    from ttmlir import passes
    from ttmlir.ir import Module

    from tests.end_to_end.ttrt_tool.built_binaries import TEXTS

    assert ttrt("query", "--save-artifacts").status == 0
    ttrt("query", "--target", "wormhole_b0")
    Path("system.json").write_text(resolve_target("wormhole_b0").to_json())
    module = Module.parse(TEXTS["tan"])
    passes.ttir_to_ttnn_runtime_pipeline(module, "system-desc-path=system.json")
    passes.ttnn_to_flatbuffer_file(module, "out.ttnn")
    assert ttrt("check", "out.ttnn", "--system-desc", "ttrt-artifacts/system_desc.ttsys").status == 0
    assert ttrt("check", "out.ttnn").status == 0
    monkeypatch.setenv("SYSTEM_DESC_PATH", "system.json")
    assert ttrt("run", "out.ttnn").status == 0


def test_only_a_folder_that_ttrt_made_is_cleaned(ttrt, binary):
    file = binary("two")
    Path("mine").mkdir()
    Path("mine/work.txt").write_text("of weeks")
    done = ttrt("run", file, "--clean-artifacts", "--artifact-dir", "mine")
    assert (done.status, done.err.count("\n")) == (1, 1)
    assert "mine is not removed: ttrt did not make it" in done.err
    assert ttrt("run", file, "--save-artifacts", "--artifact-dir", "mine").status == 0
    assert ttrt("run", file, "--clean-artifacts", "--artifact-dir", "mine").status == 1  # it held other files
    assert Path("mine/work.txt").read_text() == "of weeks"
    assert ttrt("run", file, "--save-artifacts").status == 0
    Path("ttrt-artifacts/two.ttnn/old").touch()
    assert ttrt("run", file, "--clean-artifacts", "--save-artifacts").status == 0
    kept = {path.name for path in Path("ttrt-artifacts/two.ttnn").iterdir()}
    assert kept == {".ttrt", "two.ttnn", "run", "system_desc.ttsys"}
    assert ttrt("query", "--clean-artifacts").status == 0
    assert not Path("ttrt-artifacts").exists()


def test_artifacts_lie_in_the_home_of_tt_mlir_if_there_is_one(ttrt, tmp_path, monkeypatch):
    monkeypatch.setenv("TT_MLIR_HOME", str(tmp_path / "home"))
    assert ttrt("query", "--save-artifacts").status == 0
    assert (tmp_path / "home/ttrt-artifacts/system_desc.ttsys").is_file()


@pytest.mark.parametrize(
    ("variables", "lines"),
    [
        ({}, True),
        ({"TTRT_LOGGER_LEVEL": "error"}, False),
        ({"TTRT_LOGGER_LEVEL": "Info", "LOGGER_LEVEL": "ERROR"}, True),
        ({"LOGGER_LEVEL": "CRITICAL"}, False),
        ({"LOGGER_LEVEL": "trace"}, True),
    ],
)
def test_the_level_of_the_log_is_that_of_a_variable(ttrt, monkeypatch, variables, lines):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("PASS" in ttrt("query").err) == lines


def test_an_unknown_level_warns_and_is_that_of_information(ttrt, monkeypatch):
    monkeypatch.setenv("TTRT_LOGGER_LEVEL", "loud")
    with pytest.warns(UserWarning, match="TTRT_LOGGER_LEVEL is 'loud'"):
        assert "PASS" in ttrt("query").err


EMITTED = """
    import ttnn
    import utils


    def consteval_main(inputs):
        return inputs


    def main_program(inputs):
        x, y = inputs
        return [ttnn.softmax(ttnn.OPERATION(x, y), 1)]


    def create_inputs_for_main_program():
        device = utils.DeviceGetter.get_device((1, 1))
        return [ttnn.ones([64, 128], dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2)]


    def main():
        return main_program(create_inputs_for_main_program())
"""
"""A program as tt-mlir writes it."""


def emitted(path, operation="add"):
    Path(path).write_text(textwrap.dedent(EMITTED).replace("OPERATION", operation))


def test_a_python_program_runs_and_agrees_with_its_binary(ttrt, binary):
    file = binary("softmax")
    emitted("softmax.py")
    assert ttrt("emitpy", "softmax.py", "--loops", "2", "--save-artifacts").status == 0
    (record,) = json.loads(Path("emitpy_results.json").read_text())
    fields = ("file_path", "result", "exception", "log_file", "artifacts", "program_index")
    assert all(name in record for name in fields)
    made = torch.load("ttrt-artifacts/softmax.py/emitpy/program_0/emitpy_output_0.pt")
    torch.testing.assert_close(made, torch.full((64, 128), 1 / 128), rtol=1e-2, atol=0.0)
    assert ttrt("emitpy", "softmax.py", "--flatbuffer", file).status == 0
    assert ttrt("emitpy", "softmax.py", "--flatbuffer", file.parent).status == 0
    emitted("softmax.py", "subtract")
    done = ttrt("emitpy", "softmax.py", "--flatbuffer", file)
    assert done.status == 42
    assert "output 0 of main_program differs from that of its binary" in done.err
    assert ttrt("emitpy", "softmax.py", "--program-index", "1").status == 1


TRANSLATED = """
module {
  func.func @NAME(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %few = "ttir.constant"() <{value = dense<[[2.0], [3.0]]> : tensor<2x1xf32>}> : () -> tensor<2x1xf32>
    %two = "ttir.reshape"(%x) <{shape = [2 : i32, 1024 : i32]}> : (tensor<32x64xf32>) -> tensor<2x1024xf32>
    %sum = "ttir.add"(%two, %few) : (tensor<2x1024xf32>, tensor<2x1xf32>) -> tensor<2x1024xf32>
    %0 = "ttir.reshape"(%sum) <{shape = [32 : i32, 64 : i32]}> : (tensor<2x1024xf32>) -> tensor<32x64xf32>
    return %0 : tensor<32x64xf32>
  }
}
"""
"""A module whose program has a function that makes its constant."""


@pytest.mark.parametrize("name", ["forward", "main", "prepare"])
def test_a_python_program_of_translate_takes_the_inputs_of_its_binary(ttrt, name):
    Path("a.mlir").write_text(TRANSLATED.replace("NAME", name))
    assert main(["opt", "--ttir-to-ttnn-runtime-pipeline", "a.mlir", "-o", "b.mlir"]) == 0
    assert main(["translate", "--ttnn-to-flatbuffer", "b.mlir", "-o", "a.ttnn"]) == 0
    assert main(["translate", "--mlir-to-python", "a.mlir", "-o", "a.py"]) == 0
    assert "[2.0], [3.0]" in Path("a.py").read_text()
    assert ttrt("emitpy", "a.py", "--flatbuffer", "a.ttnn").status == 0
    Path("a.py").write_text(Path("a.py").read_text().replace("[3.0]", "[4.0]"))
    done = ttrt("emitpy", "a.py", "--flatbuffer", "a.ttnn")
    assert done.status == 42
    assert f"output 0 of {name} differs from that of its binary" in done.err
    done = ttrt("emitpy", "a.py")
    assert done.status == 1
    assert "give its binary by --flatbuffer" in done.err


def test_a_python_program_that_starts_nothing_gives_all_its_functions(ttrt, binary):
    file = binary("softmax")
    Path("softmax.py").write_text("import ttnn\n\n\ndef main_(x, y):\n    return ttnn.softmax(ttnn.add(x, y), 1)\n")
    assert ttrt("emitpy", "softmax.py", "--flatbuffer", file).status == 0


@pytest.mark.parametrize("text", ["def broken(:\n", "x = 1\n", "raise ValueError('at import')\ndef f(x): pass\n"])
def test_a_python_file_that_is_no_program_fails_and_others_go_on(ttrt, tmp_path, text):
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/a.py").write_text(text)
    emitted(tmp_path / "programs/b.py")
    assert ttrt("emitpy", "programs").status == 1
    assert [each["result"] for each in json.loads(Path("emitpy_results.json").read_text())] == ["error", "pass"]
