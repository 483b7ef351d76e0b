"""The command line: stages run by hand have the results of the compiler."""

from __future__ import annotations

import dataclasses
import importlib
import io
import re
import runpy
import shlex
import sys
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests import programs
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, PassError
from ttnn_jit.specs.options import USER_PASSES
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.texts.inputs import tensors_of_file
from ttnn_jit.transforms import pipeline


@pytest.fixture
def dumps(device, tmp_path):
    """The text of every stage of cosh, in files."""
    x = ttnn.from_torch(torch.zeros(64, 64, dtype=torch.bfloat16), layout=ttnn.TILE_LAYOUT, device=device)
    jitted = ttnn_jit.jit()(programs.cosh)
    paths = {}
    for stage in ("frontend", *pipeline.STAGES):
        paths[stage] = tmp_path / f"{stage}.mlir"
        paths[stage].write_text(jitted.ir(x, stage=stage))
    return paths


def test_stages_run_by_hand_leave_the_text_of_the_compile(dumps, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(dumps["frontend"].read_text()))
    assert main(["opt", "-p", ",".join(pipeline.STAGES), "--verify-each"]) == 0
    assert capsys.readouterr().out == dumps[pipeline.STAGES[-1]].read_text()


@pytest.mark.parametrize("stage", ["host", "codegen", "assembly", "ttkernel", "ttmetal"])
def test_stages_after_the_passes_print_the_text_of_a_dump(dumps, device, capsys, stage):
    x = ttnn.from_torch(torch.zeros(64, 64, dtype=torch.bfloat16), layout=ttnn.TILE_LAYOUT, device=device)
    wanted = ttnn_jit.jit()(programs.cosh).ir(x, stage=stage)
    for path in dumps.values():
        assert main(["opt", str(path), "--emit", stage]) == 0
        assert capsys.readouterr().out == wanted
    assert main(["opt", str(path), "--emit", "cse"]) == 2
    assert "there are host, codegen, assembly, ttkernel, ttmetal" in capsys.readouterr().err


def test_every_stage_of_a_dump_can_be_run_with_one_result(dumps, tmp_path):
    results = []
    for stage, path in dumps.items():
        for mode in ([], ["--interpret"]):
            saved = tmp_path / f"{stage}{mode}.pt"
            assert main(["run", str(path), "--seed", "3", "--save", str(saved), *mode]) == 0
            results += torch.load(saved, weights_only=True)
    assert all(torch.equal(result, results[0]) for result in results)


@pytest.mark.parametrize("stage", ["frontend", *pipeline.STAGES])
def test_a_program_that_makes_a_tensor_and_moves_another_runs_after_any_stage(device, tmp_path, stage):
    x = ttnn.from_torch(torch.zeros(64, 32), layout=ttnn.TILE_LAYOUT, device=device)

    def moved(x):
        return ttnn.full((32, 32), 2.5, layout=ttnn.TILE_LAYOUT), ttnn.permute(x, (1, 0)), ttnn.sort(x)

    path, saved = tmp_path / "dump.mlir", tmp_path / "results.pt"
    path.write_text(ttnn_jit.jit()(moved).ir(x, stage=stage))
    given = torch.randn(64, 32)
    torch.save([given], tmp_path / "x.pt")
    for mode in ([], ["--interpret"]):
        assert main(["run", str(path), "--inputs", str(tmp_path / "x.pt"), "--save", str(saved), *mode]) == 0
        full, permuted, ordered, _ = torch.load(saved, weights_only=True)
        assert torch.equal(full, torch.full((32, 32), 2.5))
        assert torch.equal(permuted, given.T)
        assert torch.equal(ordered, given.sort().values)


@pytest.fixture
def of_two_functions(tmp_path):
    """A text whose two programs share a function, and the Python functions of these programs."""
    text = """
#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  func.func @twice(%x: tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l> {
    %0 = call @halved(%x) : (tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
    %1 = call @halved(%0) : (tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
    return %1 : tensor<64x32xf32, #l>
  }
  func.func @less(%x: tensor<64x32xf32, #l>) -> (tensor<64x32xf32, #l>, tensor<64x32xf32, #l>) {
    %0 = call @halved(%x) : (tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
    %1 = "DIALECT.subtract"(%x, %0) : (tensor<64x32xf32, #l>, tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
    return %1, %x : tensor<64x32xf32, #l>, tensor<64x32xf32, #l>
  }
  func.func private @halved(%x: tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l> {
    %0 = "DIALECT.add"(%x, %x) : (tensor<64x32xf32, #l>, tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
    %1 = "DIALECT.square"(%0) : (tensor<64x32xf32, #l>) -> tensor<64x32xf32, #l>
    return %1 : tensor<64x32xf32, #l>
  }
}
"""
    paths = {dialect: tmp_path / f"two_in_{dialect}.mlir" for dialect in ("ttnn", "ttir")}
    for dialect, path in paths.items():
        path.write_text(text.replace("DIALECT", dialect))

    def halved(x):
        return (x + x) * (x + x)

    return paths, {"twice": lambda x: [halved(halved(x))], "less": lambda x: [x - halved(x), x]}


@pytest.mark.parametrize("dialect", ["ttnn", "ttir"])
@pytest.mark.parametrize("until", ["", "cse", "d2m-generic-fusion", "convert-d2m-to-ttnn"])
@pytest.mark.parametrize("behind", ["", ",inline"], ids=["with calls", "inlined"])
@pytest.mark.parametrize("mode", [[], ["--interpret"]], ids=["native", "interpreted"])
def test_every_entry_point_of_a_text_runs_after_any_stage(of_two_functions, tmp_path, dialect, until, behind, mode):
    paths, programs_of_text = of_two_functions
    x = torch.randint(-8, 8, (64, 32)).float()
    torch.save([x], tmp_path / "x.pt")
    path = paths[dialect]
    if until:
        passes = ",".join(pipeline.STAGES[: pipeline.STAGES.index(until) + 1]) + behind
        assert main(["opt", "-p", passes, "--verify-each", str(path), "-o", str(path)]) == 0
    for entry, wanted in programs_of_text.items():
        saved = tmp_path / f"{entry}.pt"
        command = ["run", str(path), "--entry", entry, "--inputs", str(tmp_path / "x.pt"), "--save", str(saved), *mode]
        assert main(command) == 0
        results = torch.load(saved, weights_only=True)
        assert all(map(torch.equal, results, wanted(x)))
        assert len(results) == len(wanted(x))


def test_the_text_shown_for_an_entry_point_is_that_of_its_inlined_module(of_two_functions, tmp_path, capsys):
    path = of_two_functions[0]["ttnn"]
    inlined = tmp_path / "inlined.mlir"
    assert main(["opt", "-p", "inline", str(path), "-o", str(inlined)]) == 0
    assert "call" not in inlined.read_text()
    assert "@halved" not in inlined.read_text()
    for stage in ("host", "codegen"):
        shown = []
        for file in (path, inlined):
            assert main(["opt", str(file), "--emit", stage, "--entry", "less"]) == 0
            shown.append(capsys.readouterr().out)
        assert shown[0] == shown[1]


def test_an_entry_point_must_be_named_if_there_are_several(of_two_functions, capsys, tmp_path):
    path = of_two_functions[0]["ttir"]
    for command in (["run", str(path)], ["opt", str(path), "--emit", "host"]):
        assert main(command) == 1
        said = capsys.readouterr().err
        mark = "error: " if command[0] == "opt" else ""  # as mlir-opt prints it
        assert f"{path}:4:1: {mark}the module has 2 entry points: @twice, @less" in said
        assert "help: name one: `--entry NAME`" in said
    assert main(["run", str(path), "--entry", "halved"]) == 1
    said = capsys.readouterr().err
    assert "the module has no entry point @halved\n" in said
    assert "help: it has @twice, @less\n" in said
    assert main(["run", str(tmp_path / "some.ttjp"), "--entry", "twice"]) == 1
    assert "--entry takes a module" in capsys.readouterr().err


@pytest.mark.parametrize("stage", ["frontend", "convert-d2m-to-ttnn"])
@pytest.mark.parametrize("force", ["", " <{force = true}>"])
def test_a_module_that_deallocates_returns_the_same_results_as_without(device, tmp_path, capsys, stage, force):
    x = ttnn.from_torch(torch.zeros(64, 64), layout=ttnn.ROW_MAJOR_LAYOUT, device=device)
    jitted = ttnn_jit.jit(target="cpu")(lambda x: ttnn.matmul(ttnn.softmax(ttnn.exp(x)), x))
    text = jitted.ir(ttnn.to_torch(x), stage=stage)
    plain, freeing = tmp_path / "plain.mlir", tmp_path / "freeing.mlir"
    plain.write_text(text)
    made = re.search(r"(?m)^    (%\d+) = .* -> (tensor<.*>)$", text)
    last = re.search(r"(?m)^    return (%\w+) ", text)
    assert made[1] != last[1]
    free = f'    "ttnn.deallocate"({made[1]}){force} : ({made[2]}) -> ()\n'
    freeing.write_text(text[: last.start()] + free + text[last.start() :])
    results = []
    for path in (plain, freeing):
        for mode in ([], ["--interpret"]):
            assert main(["run", str(path), "--seed", "3", "--save", str(tmp_path / "r.pt"), *mode]) == 0
            results += torch.load(tmp_path / "r.pt", weights_only=True)
    assert all(torch.equal(result, results[0]) for result in results)
    shown = []
    for path in (plain, freeing):
        for emitted in ("host", "codegen"):
            assert main(["opt", str(path), "--emit", emitted]) == 0
            shown.append(capsys.readouterr().out)
    assert shown[:2] == shown[2:]
    assert main(["opt", str(freeing), "-p", "all" if stage == "frontend" else "cse"]) == 0


@pytest.mark.parametrize("where", ["device", "torch"])
def test_a_program_file_runs_on_the_inputs_of_its_module(dumps, tmp_path, device, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    data = torch.zeros(64, 64, dtype=torch.bfloat16)
    x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device) if where == "device" else data.T
    ttnn_jit.jit(compile_only=True, target="wormhole_b0")(programs.cosh)(x)
    (program,) = tmp_path.rglob("*.ttjp")
    results = []
    for path in (program, dumps["frontend"]):
        assert main(["run", str(path), "--seed", "3", "--save", str(tmp_path / "result.pt")]) == 0
        results += torch.load(tmp_path / "result.pt", weights_only=True)
    assert torch.equal(results[0], results[1])
    assert main(["run", str(program), "--interpret"]) == 1


@pytest.mark.parametrize("dtype", [ttnn.uint16, ttnn.int32, ttnn.uint8], ids=str)
def test_a_dump_of_integers_runs_on_integers_natively_and_interpreted(tmp_path, device, dtype):
    def program(x):
        return ttnn.typecast(ttnn.bitwise_xor(x, 5), ttnn.uint16), ttnn.gt(x, 3)

    x = ttnn.from_torch(torch.zeros(64, 32), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)
    results = []
    for stage in ("frontend", "d2m-insert-dst-register-access"):
        (tmp_path / "dump.mlir").write_text(ttnn_jit.jit()(program).ir(x, stage=stage))
        for mode in ([], ["--interpret"]):
            assert main(["run", str(tmp_path / "dump.mlir"), *mode, "--save", str(tmp_path / "result.pt")]) == 0
            results.append(torch.load(tmp_path / "result.pt", weights_only=True))
    assert [result.dtype for result in results[0]] == [torch.uint16, dtype.torch]
    assert results[0][0].view(torch.int16).unique().numel() > 200
    assert all(torch.equal(got, first) for each in results for got, first in zip(each, results[0], strict=True))


BROKEN_PASS = """
from dataclasses import dataclass
from xdsl.passes import ModulePass
from ttnn_jit.transforms.pipeline import register_pass

@dataclass(frozen=True)
class Broken(ModulePass):
    name = "broken"
    verbose: bool = False

    def apply(self, ctx, op):
        raise ValueError("out of ideas")

register_pass(Broken, after="cse")
"""


def test_the_reproducer_of_a_users_pass_repeats_its_failure(tmp_path, device, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
    (tmp_path / "my_passes.py").write_text(BROKEN_PASS)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("my_passes")
    x = ttnn.from_torch(torch.zeros(32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(PassError, match="`broken`: ValueError: out of ideas"):
        ttnn_jit.jit(extra_pipeline_options="broken{verbose=true}")(programs.cosh)(x)
    monkeypatch.delitem(USER_PASSES, "broken")
    monkeypatch.delitem(sys.modules, "my_passes")
    folder = tmp_path / "generated" / "jit" / "reproducer"
    program, *arguments = shlex.split((folder / "command.txt").read_text())
    assert program == "ttnn-jit"
    monkeypatch.chdir(folder)
    assert main(arguments) == 1
    assert "`broken`: ValueError: out of ideas" in capsys.readouterr().err
    assert main(["opt", "--load", "nothing.py", "--list"]) == 1


def stages_listed(capsys):
    return [
        line
        for line in capsys.readouterr().out.splitlines()
        if not line.endswith(("(over texts)", "(not in a compile)"))
    ]


@mock.patch.dict(USER_PASSES, clear=True)
def test_the_list_of_stages_has_the_passes_of_a_loaded_file_after_the_stage_that_they_follow(tmp_path, capsys):
    assert main(["opt", "--list"]) == 0
    assert stages_listed(capsys) == list(pipeline.STAGES)
    texts = {
        "a.py": BROKEN_PASS,
        "b.py": BROKEN_PASS.replace('"broken"', '"other"'),
        "c.py": BROKEN_PASS.replace('"broken"', '"first"').replace('"cse"', '"frontend"'),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    loads = [argument for name in texts for argument in ("--load", str(tmp_path / name))]
    assert main(["opt", "--list", *loads]) == 0
    listed = stages_listed(capsys)
    index = listed.index("cse")
    assert listed[0] == "first  (from a loaded file, after frontend)"
    assert listed[index + 1 : index + 3] == [f"{name}  (from a loaded file, after cse)" for name in ("broken", "other")]
    assert [line for line in listed if "loaded" not in line] == list(pipeline.STAGES)


def test_a_module_becomes_a_python_program_that_runs(dumps, device, tmp_path, monkeypatch, capsys):
    file = tmp_path / "cosh.py"
    assert main(["translate", "--mlir-to-python", str(dumps["frontend"]), "-o", str(file)]) == 0
    monkeypatch.setitem(sys.modules, "ttnn", ttnn)
    monkeypatch.setattr(ttnn, "open_device", lambda **_: device)
    monkeypatch.setattr(ttnn, "close_device", lambda _: None)
    runpy.run_path(str(file), run_name="__main__")
    assert "shape=Shape([64, 64]), dtype=DataType.BFLOAT16, layout=Layout.TILE" in capsys.readouterr().out
    assert main(["translate", "--mlir-to-python", str(dumps["convert-ttir-to-d2m"])]) == 1
    assert "convert-ttir-to-d2m.mlir:8:5: `d2m.empty` has no call in ttnn" in capsys.readouterr().err


def test_version_is_the_packages(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"ttnn-jit {ttnn_jit.__version__}\n"


def test_an_edited_dump_gives_another_result(dumps, tmp_path):
    path = dumps["d2m-insert-dst-register-access"]
    assert main(["run", str(path), "--save", str(tmp_path / "a.pt")]) == 0
    path.write_text(path.read_text().replace("d2m.tile_add", "d2m.tile_sub"))
    assert main(["run", str(path), "--save", str(tmp_path / "b.pt")]) == 0
    (before,), (after,) = (torch.load(tmp_path / name, weights_only=True) for name in ("a.pt", "b.pt"))
    assert not torch.equal(before, after)


def test_print_ir_after_all_names_every_stage(dumps, capsys):
    assert main(["opt", str(dumps["frontend"]), "-p", "all", "--print-ir-after-all", "-o", "/dev/null"]) == 0
    shown = capsys.readouterr().err
    assert [line.split()[5] for line in shown.splitlines() if "IR Dump After" in line] == list(pipeline.STAGES)


def test_the_command_lines_of_the_document_run_with_a_target_from_a_file(dumps, tmp_path, capsys):
    described = tmp_path / "desc.json"
    described.write_text(dataclasses.replace(PRESETS["blackhole"], grid=(1, 2), name="two_cores").to_json())
    assert main(["opt", "--convert-ttnn-to-ttir", str(dumps["frontend"])]) == 0
    ttir = tmp_path / "ttir.mlir"
    ttir.write_text(capsys.readouterr().out)
    assert ttir.read_text() == dumps["convert-ttnn-to-ttir"].read_text()
    options = f"system-desc-path={described} ttnn-mode=true"
    command = ["opt", "--mlir-print-ir-after-all", f"--ttir-to-ttmetal-pipeline={options}", str(ttir)]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "two_cores" in shown.out
    assert "#ttcore.grid<1x2>" in shown.err
    assert "#ttcore.grid<2x2>" not in shown.err
    assert "IR Dump After convert-d2m-to-ttnn" in shown.err
    assert main(["opt", f"--ttir-to-ttmetal-pipeline={options.replace(str(described), '')}", str(ttir)]) == 0
    assert capsys.readouterr().out == dumps["convert-d2m-to-ttnn"].read_text()
    assert main(["opt", f"--ttir-to-ttmetal-pipeline={options.replace('desc.json', 'no.json')}", str(ttir)]) == 1
    assert "no.json cannot be read: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["opt", "/no/such/file"], "cannot be read"),
        (["run", "/no/such/file"], "cannot be read"),
        (["names", "--write", "/no/such/file"], "error: /no/such/file: No such file or directory\n"),
    ],
)
def test_errors_go_to_stderr_with_status_one(arguments, text, capsys):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert text in captured.err
    assert captured.out == ""


def test_an_interrupt_ends_a_command_with_the_status_of_shells_and_without_a_traceback(capsys, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ttnn_jit.tools.demo.main", interrupted)
    assert main(["demo"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_broken_module_and_an_unknown_pass_are_errors(tmp_path, capsys, dumps):
    broken = tmp_path / "broken.mlir"
    broken.write_text("module {")
    assert main(["opt", str(broken)]) == 1
    assert main(["opt", str(dumps["frontend"]), "-p", "convert-ttnn-to-tir"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_query_prints_what_system_desc_path_reads(tmp_path, capsys, monkeypatch):
    assert main(["query", "--target", "blackhole"]) == 0
    path = tmp_path / "system_desc.json"
    path.write_text(capsys.readouterr().out)
    monkeypatch.setenv("SYSTEM_DESC_PATH", str(path))
    with ttnn.open_device(device_id=0) as device:
        assert device.target.name == "blackhole"


def test_the_demo_prints_the_output_in_the_readme(capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    for text in (
        '"ttnn.exp"',
        "1 kernel",
        "peak 3 of 8 DST tiles",
        "largest relative error",
        "warm call",
        "eager torch",
    ):
        assert text in printed


SQUARE = """func.func @f(%a: tensor<NxNxf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<NxNxf32, \
#ttnn.buffer_type<dram>>, <interleaved>>>) -> tensor<NxNxf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, \
memref<NxNxf32, #ttnn.buffer_type<dram>>, <interleaved>>> {
  return %a : tensor<NxNxf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<NxNxf32, \
#ttnn.buffer_type<dram>>, <interleaved>>>
}
"""


def test_tensors_too_large_for_memory_or_time_are_refused(tmp_path, capsys):
    path = tmp_path / "module.mlir"
    path.write_text(SQUARE.replace("NxN", "8200x8200"))
    assert main(["run", str(path), "--interpret"]) == 1
    assert "module.mlir:1:1: the tensors of @f have 67,240,000 elements" in capsys.readouterr().err
    path.write_text(SQUARE.replace("NxN", "1000000x1000000"))
    assert main(["run", str(path)]) == 1
    assert "the inputs take 4,000,000,000,000 bytes" in capsys.readouterr().err


def saved_bytes():
    stream = io.BytesIO()
    torch.save([torch.ones(2, 3)], stream)
    return stream.getvalue()


SAVED = saved_bytes()


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=40)
    | st.builds(lambda end: SAVED[:end], st.integers(0, len(SAVED) - 1))
    | st.builds(lambda at, byte: SAVED[:at] + bytes([byte]) + SAVED[at + 1 :], st.integers(0, 500), st.integers(0, 255))
)
def test_invalid_files_of_inputs_are_refused_with_our_own_message(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "inputs.pt"
    path.write_bytes(data)
    try:
        outcome = [type(tensor) for tensor in tensors_of_file(path).values()]
    except ArgumentError as error:
        outcome = str(error)
    refusal = (
        f"{path} is no file of arrays of numbers or of tensors\n"
        "help: `numpy.savez(file, x, y)` or `torch.save([x, y], file)` writes one, in the order of the arguments"
    )
    assert outcome in ([torch.Tensor], refusal)


def test_an_error_about_a_python_file_names_python_dash_m(tmp_path, capsys):
    file = tmp_path / "model.py"
    file.write_text("import ttnn\n")
    for command in (["run", str(file)], ["opt", "-p", "all", str(file)]):
        assert main(command) == 1
        shown = capsys.readouterr().err
        assert f"{file} is Python" in shown
        assert f"`python -m ttnn_jit {file}` runs it" in shown


def test_an_infinite_loop_is_refused(dumps, capsys):
    path = dumps["d2m-insert-dst-register-access"]
    path.write_text(path.read_text().replace("affine.for %arg3 = 0 to 1 {", "affine.for %arg3 = 0 to 99999999999 {"))
    for mode in ([], ["--interpret"]):
        assert main(["run", str(path), *mode]) == 1
        assert re.match(rf"error: {re.escape(str(path))}:\d+:\d+: `affine", capsys.readouterr().err)


def test_a_missing_folder_for_results_is_an_error(dumps, tmp_path, capsys):
    assert main(["run", str(dumps["frontend"]), "--save", str(tmp_path / "none" / "x.pt")]) == 1
    assert main(["run", str(dumps["frontend"]), "--inputs", str(tmp_path / "none.pt")]) == 1
    assert capsys.readouterr().err.count("error: ") == 2


def test_a_module_of_torchs_memory_runs_natively_and_literally(tmp_path):
    path, saved = tmp_path / "module.mlir", tmp_path / "result.pt"
    path.write_text(ttnn_jit.jit()(programs.add_mul_exp_sigmoid).ir(torch.zeros(7, 5), torch.zeros(5, 7).T))
    results = []
    for mode in ([], ["--interpret"]):
        assert main(["run", str(path), "--save", str(saved), *mode]) == 0
        results += torch.load(saved, weights_only=True)
    assert torch.equal(*results)
