"""Texts of other compilers: `ttnn-jit run`, `compare` and `bisect`."""

from copy import copy
from pathlib import Path

import numpy
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main
from ttnn_jit.tools.texts.inputs import draw_inputs

MLP = """
module {
  func.func @forward(%x: tensor<3x8xf32>, %w: tensor<8x5xf32>, %b: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %0 = "ttir.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x5xf32>) -> tensor<3x5xf32>
    %1 = "ttir.add"(%0, %b) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %2 = "ttir.relu"(%1) : (tensor<3x5xf32>) -> tensor<3x5xf32>
    return %2 : tensor<3x5xf32>
  }
}
"""


def cosh(x):
    return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)


@pytest.fixture
def file(tmp_path):
    def written(text: str, name: str = "module.mlir") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def test_a_text_without_layouts_runs_on_the_arrays_of_a_file(file, tmp_path):
    arrays = [numpy.random.default_rng(0).normal(size=shape).astype("f") for shape in ((3, 8), (8, 5), (3, 5))]
    numpy.savez(tmp_path / "inputs.npz", *arrays)
    saved = tmp_path / "results.pt"
    command = ["run", str(file(MLP)), "--inputs", str(tmp_path / "inputs.npz"), "--save", str(saved), "--golden"]
    assert main(command) == 0
    x, w, b = map(torch.from_numpy, arrays)
    torch.testing.assert_close(torch.load(saved)[0], torch.relu(x @ w + b))


def test_goldens_are_printed_op_by_op(file, capsys):
    assert main(["run", str(file(MLP)), "--golden"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in lines] == ["ok", "ok", "ok"]
    assert [line.split()[-2:] for line in lines] == [["4:5", "ttir.matmul"], ["5:5", "ttir.add"], ["6:5", "ttir.relu"]]


@pytest.mark.parametrize("target", ["wormhole_b0", "cpu"])
@pytest.mark.parametrize("stage", ["frontend", "cse"])
def test_a_dump_has_its_own_target_with_and_without_goldens(file, tmp_path, target, stage):
    """A value between the ops tells the targets apart: a chip rounds it to the bits that its type has."""
    with ttnn.open_device(target=target) as device:
        x = ttnn.from_torch(torch.randn(32, 64).bfloat16(), layout=ttnn.TILE_LAYOUT, device=device)
        dump = file(ttnn_jit.jit()(cosh).ir(x, stage=stage))
    saved = [tmp_path / name for name in ("alone.pt", "beside.pt")]
    assert main(["run", str(dump), "--save", str(saved[0])]) == 0
    assert main(["run", str(dump), "--golden", "--save", str(saved[1])]) == 0
    ((alone,), (beside,)) = map(torch.load, saved)
    assert torch.equal(alone, beside)
    assert (
        main(["run", str(dump), "--target", "wormhole_b0" if target == "cpu" else "cpu", "--save", str(saved[1])]) == 0
    )
    assert not torch.equal(alone, *torch.load(saved[1]))


@pytest.mark.parametrize("stage", ["host", "codegen", "assembly"])
def test_the_text_of_a_stage_that_is_no_module_says_so(file, capsys, stage):
    text = file(ttnn_jit.jit()(cosh).ir(torch.zeros(32, 64), stage=stage))
    assert main(["run", str(text)]) == 1
    assert f"is what the stage `{stage}` prints, and no module" in capsys.readouterr().err


def test_an_unknown_op_is_an_error_at_its_place(file, capsys):
    path = file(MLP.replace("ttir.relu", "ttir.rely"))
    assert main(["run", str(path)]) == 1
    first, line, carets, *_ = capsys.readouterr().err.splitlines()
    assert first == f"error: {path}:6:5: `ttir.rely` is not executed here"
    assert carets.index("^") == line.index("%2")


def test_a_result_of_another_shape_is_refused(file, capsys):
    path = file(MLP.replace("3x5", "3x7"))
    assert main(["run", str(path)]) == 1
    assert "`ttir.matmul`: it results in [3, 5], and the text says [3, 7]" in capsys.readouterr().err


def test_two_texts_of_one_program_are_compared(file, capsys):
    other = MLP.replace('"ttir.relu"(%1)', '"ttir.neg"(%1)')
    first, second = file(MLP), file(other, "other.mlir")
    assert main(["compare", str(first), str(first)]) == 0
    assert main(["compare", str(first), str(second)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1].split(",")[0] for line in lines] == ["equal", "DIFFERENT"]


def give_golden(monkeypatch, name, golden):
    """Another golden for an op, in place of its own."""
    other = copy(text_operations()[name])
    object.__setattr__(other, "golden", golden)
    monkeypatch.setitem(text_operations(), name, other)


def test_bisect_writes_the_first_op_that_leaves_its_golden(file, tmp_path, monkeypatch, capsys):
    give_golden(monkeypatch, "ttir.add", lambda _, call: call.input_tensor_a)
    single = tmp_path / "single.mlir"
    assert main(["bisect", str(file(MLP)), "-o", str(single)]) == 1
    assert ":5:5: `ttir.add`: " in capsys.readouterr().err
    monkeypatch.undo()
    assert main(["run", str(single), "--golden"]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().err.splitlines()] == ["ttir.add"]


def test_an_op_that_is_not_its_golden_fails_the_command(file, monkeypatch, capsys):
    give_golden(monkeypatch, "ttir.relu", lambda _, call: call.input_tensor)
    assert main(["run", str(file(MLP)), "--golden"]) == 1
    assert "1 of 3 ops are not their goldens, the first `ttir.relu`" in capsys.readouterr().err


def test_arrays_of_other_shapes_are_refused(file, tmp_path, capsys):
    numpy.savez(tmp_path / "inputs.npz", numpy.zeros((2, 2)))
    assert main(["run", str(file(MLP)), "--inputs", str(tmp_path / "inputs.npz")]) == 1
    assert "holds arrays of shapes [[2, 2]], and the arguments have [[3, 8], [8, 5], [3, 5]]" in capsys.readouterr().err


def inputs_of_two():
    return torch.randn(3, 3), torch.randn(3, 3)


SUBTRACT = """
func.func @f(%first: tensor<3x3xf32>, %second: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = "ttir.subtract"(%first, %second) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
"""


@pytest.mark.parametrize("names", [("first", "second"), ("second", "first"), ("a", "b"), ()])
def test_inputs_are_bound_by_the_names_of_arguments_else_in_order(file, tmp_path, names):
    given, saved = inputs_of_two(), tmp_path / "results.pt"
    inputs = tmp_path / ("inputs.npz" if names else "inputs.pt")
    if names:
        numpy.savez(inputs, **{name: each.numpy() for name, each in zip(names, given, strict=True)})
    else:
        torch.save([*given], inputs)
    assert main(["run", str(file(SUBTRACT)), "--inputs", str(inputs), "--save", str(saved)]) == 0
    (result,) = torch.load(saved)
    assert torch.equal(result, given[1] - given[0] if names[:1] == ("second",) else given[0] - given[1])


@pytest.mark.parametrize("written", ["words", "dictionary", "nothing"])
def test_a_file_without_tensors_is_refused(file, tmp_path, capsys, written):
    inputs = tmp_path / "inputs"
    with inputs.open("wb") as stream:
        if written == "words":
            numpy.savez(stream, numpy.full((3, 3), "x"))
        elif written == "dictionary":
            torch.save({"first": torch.zeros(3, 3)}, stream)
    assert main(["run", str(file(SUBTRACT)), "--inputs", str(inputs)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {inputs} ")
    assert "help: `numpy.savez(file, x, y)` or `torch.save([x, y], file)` writes one" in said


def test_an_error_of_a_declaration_shows_its_cause_under_the_debug_switch(file, monkeypatch, capsys):
    def refuse(*_):
        raise LookupError("no such axis")

    other = copy(text_operations()["ttir.subtract"])
    object.__setattr__(other, "write", refuse)
    monkeypatch.setitem(text_operations(), "ttir.subtract", other)
    path = file(SUBTRACT)
    assert main(["run", str(path)]) == 1
    said = capsys.readouterr().err
    assert ":3:3: `ttir.subtract`: its operands, attributes and results do not fit one another" in said
    assert "please report this: `LookupError: no such axis`" in said
    assert "Traceback" not in said
    monkeypatch.setenv("TTNN_JIT_DEBUG", "1")
    assert main(["run", str(path)]) == 1
    assert "in refuse" in capsys.readouterr().err


def test_an_error_that_is_none_of_the_users_says_so(file, monkeypatch, capsys):
    monkeypatch.setattr("ttnn_jit.tools.run.read_text", lambda _: 1 / 0)
    assert main(["run", str(file(SUBTRACT))]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: internal error: ZeroDivisionError: division by zero\nhelp: please report it")


def test_a_text_with_zero_bytes_is_none(file, capsys):
    assert main(["opt", str(file("TTNN\n  \0\1"))]) == 1
    assert (
        "module.mlir:2:3: a file with a zero byte is no text, and this command reads MLIR text"
        in capsys.readouterr().err
    )


def test_a_truncated_text_is_refused_at_its_end_whatever_the_options(file, capsys):
    assert main(["run", "--golden", str(file(SUBTRACT[:100]))]) == 1
    assert "module.mlir:3:8: this string is not closed" in capsys.readouterr().err


@pytest.mark.parametrize(("mesh", "said"), [("0,1", "positive extents, got 0x1"), ("1000,1000", "1,000,000 devices")])
def test_a_mesh_of_no_or_too_many_devices_is_refused(file, capsys, mesh, said):
    assert main(["opt", f"--ttcore-register-device=mesh-shape={mesh}", str(file(SUBTRACT))]) == 1
    assert said in capsys.readouterr().err


def test_a_mesh_of_no_devices_in_a_text_is_refused(file, capsys):
    text = 'module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 0x0>]>} {' + SUBTRACT + "}"
    assert main(["run", str(file(text))]) == 1
    assert "a mesh has positive extents, and the text says 0x0" in capsys.readouterr().err


def test_stages_are_emitted_of_kernels_of_a_text_and_of_no_other_text(file, capsys):
    path = str(file(SUBTRACT))
    assert main(["opt", "--emit", "host", path]) == 1
    assert "`--emit` takes a dump of a stage here" in capsys.readouterr().err
    assert main(["opt", "--ttir-to-ttmetal-pipeline", "--emit", "host", path]) == 0
    assert capsys.readouterr().out.startswith("launch 0: sub")


def test_a_tensor_too_large_for_any_machine_is_refused_at_its_place(file, capsys):
    path = file(MLP.replace("3x8xf32", "999999x999999xf32"))
    assert main(["run", str(path)]) == 1
    assert "takes 3,999,992,000,004 bytes" in capsys.readouterr().err


def test_indices_that_a_function_passes_on_are_drawn_below_the_limit_of_their_reader():
    text = """module {
  func.func private @kept(%i: tensor<1x8xi32>) -> tensor<8xi32> {
    %0 = "ttir.reshape"(%i) <{shape = [8 : i32]}> : (tensor<1x8xi32>) -> tensor<8xi32>
    return %0 : tensor<8xi32>
  }
  func.func @main(%i: tensor<1x8xi32>, %rows: tensor<5x4xf32>) -> tensor<8x4xf32> {
    %0 = ttcore.load_cached(@kept, [%i]) : (tensor<1x8xi32>) -> tensor<8xi32>
    %1 = "ttir.embedding"(%0, %rows) : (tensor<8xi32>, tensor<5x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}
"""
    (module,) = parse_texts(text, "model.mlir")
    made = TextModule(module, PRESETS["cpu"])
    indices, _ = draw_inputs(made.functions["main"], made.program("main").arguments, 0)
    assert 0 <= int(indices.min()) <= int(indices.max()) < 5


@pytest.mark.parametrize("command", [["opt"], ["translate", "--mlir-to-python"]])
def test_a_dash_as_output_is_standard_output(file, tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    path = file(MLP)
    assert main([*command, str(path), "-o", "-"]) == 0
    assert "matmul" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [path]


def test_all_entry_points_of_two_texts_are_compared_in_order(tmp_path, capsys):
    first, second, other = (tmp_path / f"{name}.mlir" for name in ("first", "second", "other"))
    function = """module {{
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = "ttir.{}"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
}}
"""
    first.write_text(function.format("exp") + function.format("neg"))
    second.write_text(function.format("exp") + function.format("abs"))
    other.write_text(function.format("exp"))
    assert main(["compare", str(first), str(first)]) == 0
    assert main(["compare", str(first), str(second)]) == 1
    said = capsys.readouterr().out
    assert said.count("@main, entry point 1:") == 2
    assert said.count("DIFFERENT") == 1
    assert main(["compare", str(first), str(other)]) == 1
    assert "has 2 entry points" in capsys.readouterr().err


DRAWN = """
module {
  func.func @main(%x: tensor<2x64x3x3xf32>, %w: tensor<32x64x3x3xf32>
      {ttcore.argument_type = #ttcore.argument_type<parameter>},
      %s: tensor<64xf32>, %v: tensor<64xf32>, %i: tensor<50x1xi32>, %j: tensor<50x1xi32>, %m: tensor<64x64xf32>)
      -> (tensor<2x64x3x3xf32>, tensor<50xf32>, tensor<64x64xf32>, tensor<32x64x3x3xf32>) {
    %0 = "stablehlo.batch_norm_inference"(%x, %s, %s, %s, %v) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
      : (tensor<2x64x3x3xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<2x64x3x3xf32>
    %1 = stablehlo.concatenate %i, %j, dim = 1 : (tensor<50x1xi32>, tensor<50x1xi32>) -> tensor<50x2xi32>
    %2 = stablehlo.slice %m [0:7, 0:5] : (tensor<64x64xf32>) -> tensor<7x5xf32>
    %3 = "ttir.gather"(%2, %1) <{offset_dims = array<i64>, collapsed_slice_dims = array<i64: 0, 1>,
      operand_batching_dims
      = array<i64>, start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0, 1>, index_vector_dim
      = 1 : si64, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}>
      : (tensor<7x5xf32>, tensor<50x2xi32>) -> tensor<50xf32>
    %4 = stablehlo.custom_call @tt.mark_argument(%m) {api_version = 0 : i32, mhlo.frontend_attributes =
      {ttcore.argument_type = "parameter", ttir.name = "m"}} : (tensor<64x64xf32>) -> tensor<64x64xf32>
    return %0, %3, %4, %w : tensor<2x64x3x3xf32>, tensor<50xf32>, tensor<64x64xf32>, tensor<32x64x3x3xf32>
  }
}
"""


def test_drawn_inputs_are_parameters_variances_and_indices_as_programs_have_them():
    (module,) = parse_texts(DRAWN, "text.mlir")
    text = TextModule(module, PRESETS["cpu"])
    x, w, s, v, i, j, m = draw_inputs(text.functions["main"], text.program("main").arguments, 0)
    assert float(x.std()) == pytest.approx(1.0, abs=0.1)
    assert float(w.std()) == pytest.approx(576**-0.5, rel=0.1)
    assert float(m.std()) == pytest.approx(64**-0.5, rel=0.1)
    assert bool((v >= 0).all())
    assert bool((s < 0).any())
    assert {*i.flatten().tolist(), *j.flatten().tolist()} <= {*range(5)}
