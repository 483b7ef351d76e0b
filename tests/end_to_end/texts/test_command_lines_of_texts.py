"""Inputs of files, the tile interpreter and exit statuses of commands on texts."""

import re

import numpy as np
import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main, opt_main, translate

TTIR = """func.func @main(%x: tensor<4x8xELEMENT>, %w: tensor<8x3xELEMENT>) -> tensor<4x3xELEMENT> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<4x8xELEMENT>, tensor<8x3xELEMENT>) -> tensor<4x3xELEMENT>
  %1 = "ttir.abs"(%0) : (tensor<4x3xELEMENT>) -> tensor<4x3xELEMENT>
  return %1 : tensor<4x3xELEMENT>
}
"""
STABLEHLO = """func.func @main(%x: tensor<4x8xELEMENT>, %w: tensor<8x3xELEMENT>) -> tensor<4x3xELEMENT> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
      (tensor<4x8xELEMENT>, tensor<8x3xELEMENT>) -> tensor<4x3xELEMENT>
  %1 = stablehlo.abs %0 : tensor<4x3xELEMENT>
  return %1 : tensor<4x3xELEMENT>
}
"""
KEPT = """module {
  func.func private @once(%w: tensor<8x3xf32>) -> tensor<3x8xf32> {
    %0 = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}> : (tensor<8x3xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
  func.func @main(%x: tensor<4x3xf32>, %w: tensor<8x3xf32>) -> tensor<4x8xf32> {
    %0 = ttcore.load_cached(@once, [%w]) : (tensor<8x3xf32>) -> tensor<3x8xf32>
    %c = "ttir.constant"() <{value = dense<[[1.5], [2.5], [3.5], [4.5]]> : tensor<4x1xf32>}> : () -> tensor<4x1xf32>
    %1 = "ttir.matmul"(%x, %0) : (tensor<4x3xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
    %2 = "ttir.add"(%1, %c) : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}
"""


def results(folder, text, *options):
    file, saved = folder / "text.mlir", folder / "results.pt"
    file.write_text(text)
    assert main(["run", str(file), "--save", str(saved), *options]) == 0
    return torch.load(saved)


TEXTS = [*(text.replace("ELEMENT", element) for text in (TTIR, STABLEHLO) for element in ("f32", "bf16", "i32")), KEPT]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_the_tile_interpreter_gives_the_bits_of_native_code(text, target, tmp_path):
    (native,), (own,) = (results(tmp_path, text, "--target", target, *more) for more in ((), ("--interpret",)))
    assert torch.equal(own, native)


def test_the_interpreter_compares_no_goldens_and_a_text_is_after_no_stage(tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(TEXTS[0])
    assert main(["run", str(file), "--interpret", "--golden"]) == 1
    assert "--golden compares native code" in capsys.readouterr().err
    assert main(["run", str(file), "--after", "cse"]) == 1
    assert "is a text of another compiler" in capsys.readouterr().err


GIVEN = {
    "float64 is rounded": ("f32", np.linspace(0, 1, 32), None),
    "integers become floats": ("bf16", np.arange(32), None),
    "integers keep their numbers": ("i32", np.arange(-16, 16), None),
    "booleans are integers": ("i32", np.arange(32) % 3 == 0, None),
    "a float is no integer": ("i32", np.linspace(0, 1, 32), "holds float64 for the argument 0, which is of si32"),
    "an integer is too large": ("i32", np.arange(32) + 2**31, "holds 2147483679 for the argument 0, which is of si32"),
    "a negative integer": ("ui8", np.arange(32) - 1, "holds -1 for the argument 0, which is of ui8"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_arrays_of_a_file_keep_their_numbers_or_are_refused(name, tmp_path, capsys):
    element, array, refusal = GIVEN[name]
    kind = f"tensor<32x{element}>"
    text = f"func.func @main(%x: {kind}) -> {kind} {{\n  return %x : {kind}\n}}\n"
    np.savez(tmp_path / "inputs.npz", array)
    given = ("--inputs", str(tmp_path / "inputs.npz"))
    if refusal is None:
        (own,) = results(tmp_path, text, *given)
        assert torch.equal(own, torch.from_numpy(array).to(own.dtype))
        return
    (tmp_path / "text.mlir").write_text(text)
    assert main(["run", str(tmp_path / "text.mlir"), *given]) == 1
    assert refusal in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["-p", "nope"],
        ["-p", "cse{x=1}"],
        ["-p", "cse{"],
        ["--pass-pipeline=builtin.module(nope)"],
        ["--ttir-fusing=nope=1"],
        ["--ttir-erase-inverse-ops=max-iterations=many"],
        ["--cse", "--until=nope"],
        ["--cse", "--mlir-print-ir-after=nope"],
    ],
)
def test_a_pass_or_an_option_that_is_not_there_is_a_wrong_command_line(arguments, tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(TEXTS[0])
    assert opt_main([*arguments, str(file)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("ttmlir-opt: error: ")


def test_a_pass_that_is_refused_by_name_is_no_wrong_command_line(tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(TEXTS[0])
    for option in ("--ttnn-optimizer", "--ttir-to-ttnn-backend-pipeline=enable-optimizer=true"):
        assert opt_main([option, str(file)]) == 1
        assert "here: " in capsys.readouterr().err


PRODUCTS = {
    "matmul": '"ttir.matmul"(%x, %w) : (tensor<4x8xE>, tensor<8x3xE>)',
    "linear": '"ttir.linear"(%x, %w, %b) : (tensor<4x8xE>, tensor<8x3xE>, tensor<3xE>)',
    "dot_general": '"ttir.dot_general"(%x, %w) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, '
    "contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<4x8xE>, tensor<8x3xE>)",
}


@pytest.mark.parametrize("element", ["i8", "ui8", "ui16", "i32", "ui32", "i64"])
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_products_of_integers_are_exact_modulo_their_width(element, product, target):
    text = f"""func.func @main(%x: tensor<4x8xE>, %w: tensor<8x3xE>, %b: tensor<3xE>) -> tensor<4x3xE> {{
      %0 = {PRODUCTS[product]} -> tensor<4x3xE>
      return %0 : tensor<4x3xE>
    }}"""
    (module,) = parse_texts(text.replace("E>", f"{element}>"), "text.mlir")
    program = TextModule(module, PRESETS[target]).program("main")
    generator = torch.Generator().manual_seed(0)
    dtype = program.arguments[0].dtype.torch
    bounds = torch.iinfo(dtype)
    low, high = max(bounds.min, -(2**62)), min(bounds.max, 2**62)
    x, w, b = (torch.randint(low, high, each, generator=generator) for each in ((4, 8), (8, 3), (3,)))
    (own,) = program(x.to(dtype), w.to(dtype), b.to(dtype))
    wanted = (x[:, :, None] * w[None]).sum(1) + (b if product == "linear" else 0)
    assert torch.equal(own, wanted.to(dtype))


VHLO = """module {
  vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<2x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<2x!vhlo.f32_v1>) {
    %0 = "vhlo.abs_v1"(%arg0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
    "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> ()
  }
}
"""


@pytest.mark.parametrize("command", [lambda file: main(["run", file]), lambda file: opt_main([file])])
def test_texts_of_vhlo_are_refused_with_what_converts_them(command, tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(VHLO)
    assert command(str(file)) == 1
    err = capsys.readouterr().err
    assert f"{file}:2:3: " in err
    assert "`vhlo.func_v1` is of VHLO" in err
    assert "help: `stablehlo-opt --vhlo-legalize-to-stablehlo`" in err


def test_a_translation_without_a_language_shows_the_usage_of_its_own_command(capsys):
    with pytest.raises(SystemExit) as exit_status:
        translate(["module.mlir"])
    assert exit_status.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ttmlir-translate [-h]")


def test_a_text_that_ends_inside_a_block_is_refused_where_it_ends(tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text(TEXTS[0][: TEXTS[0].index("  return")].rstrip())
    assert main(["run", str(file)]) == 1
    assert f"{file}:3:61: expected an operation or '}}'" in capsys.readouterr().err


WIDE = """func.func @main(%x: tensor<5xf16>, %y: tensor<5xf64>, %z: tensor<5xi64>)
    -> (tensor<5xf16>, tensor<5xf64>, tensor<5xi64>) {
  %0 = "ttir.exp"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %1 = "ttir.sqrt"(%y) : (tensor<5xf64>) -> tensor<5xf64>
  %2 = "ttir.multiply"(%z, %z) : (tensor<5xi64>, tensor<5xi64>) -> tensor<5xi64>
  return %0, %1, %2 : tensor<5xf16>, tensor<5xf64>, tensor<5xi64>
}
"""
PACKED = """func.func @main(%x: tensor<32x32xbf16>) -> tensor<32x32x!ttcore.tile<32x32, bfp_bf8>> {
  %0 = "ttir.typecast"(%x) : (tensor<32x32xbf16>) -> tensor<32x32x!ttcore.tile<32x32, bfp_bf8>>
  return %0 : tensor<32x32x!ttcore.tile<32x32, bfp_bf8>>
}
"""
ON_DEVICES = """module {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", "y"}, {}]>] out_shardings=[<@mesh, [{"x", "y"}, {}]>]
        manual_axes={"x", "y"} (%a: tensor<1x6xf32>) {
      %1 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1], [3, 0]]> : tensor<2x2xi64>}> :
          (tensor<1x6xf32>) -> tensor<1x6xf32>
      sdy.return %1 : tensor<1x6xf32>
    } : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
}
"""


@pytest.mark.parametrize("text", [WIDE, PACKED, ON_DEVICES])
def test_the_tile_interpreter_has_all_element_types_and_meshes(text, tmp_path):
    native, own = (results(tmp_path, text, *more) for more in ((), ("--interpret",)))
    for left, right in zip(native, own, strict=True):
        assert left.dtype is right.dtype
        assert torch.equal(left.nan_to_num(), right.nan_to_num())


TRANSLATED = {
    "`emitpy.file`: its operands, attributes and results do not fit": (
        "--mlir-to-python",
        '"emitpy.file"() ({\n  emitpy.import import "ttnn"\n}) : () -> ()\n',
    ),
    "ttnn has no values of the type memref<1x1xbf16>": (
        "--mlir-to-python",
        "func.func @f(%x: memref<1x1xbf16>) -> memref<1x1xbf16> {\n  return %x : memref<1x1xbf16>\n}\n",
    ),
    "#sdy.sharding<@mesh, .* is no sharding": (
        "--mlir-to-python",
        """sdy.mesh @mesh = <["x"=2]>
func.func @f(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{%x}, {"x"}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.abs %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
""",
    ),
    "#sdy.sharding<@mesh, .*-1.* is no sharding": (
        "--mlir-to-python",
        """sdy.mesh @mesh = <["x"=2]>
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.abs %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x",-1 ?}]>]>} : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
""",
    ),
    "#ttcore.device<.* is no device": (
        "--ttnn-to-flatbuffer",
        """ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, nothing = 3>
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttnn.abs"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
""",
    ),
    "`ttnn.reshape`: its operands, attributes and results do not fit|does not fit a field of 32 bits": (
        "--ttnn-to-flatbuffer",
        """func.func @f(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = "ttnn.reshape"(%x) <{shape = [4294967296 : i64]}> : (tensor<4x8xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
""",
    ),
}


@pytest.mark.parametrize("said", TRANSLATED)
def test_a_translation_of_a_wrong_attribute_is_refused_and_leaves_no_file(said, tmp_path, capsys):
    option, text = TRANSLATED[said]
    file, written = tmp_path / "text.mlir", tmp_path / "written"
    file.write_text(text)
    assert translate([option, str(file), "-o", str(written)]) == 1
    assert re.match(rf"error: .*({said})", capsys.readouterr().err)
    assert not written.exists()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("no memory for a block of 5 bytes"),
        RuntimeError("[f.cpp:1] DefaultCPUAllocator: can't allocate memory"),
    ],
    ids=["own", "torch"],
)
def test_too_little_memory_is_no_error_to_be_reported(error, monkeypatch, capsys):
    def fails(_):
        raise error

    monkeypatch.setattr("ttnn_jit.tools.environment.main", fails)
    assert main(["env"]) == 1
    assert re.fullmatch(r"error: this process gets no more memory \(.*\)\n", capsys.readouterr().err)


def test_a_run_says_which_results_are_mostly_no_numbers(tmp_path, capsys):
    file = tmp_path / "text.mlir"
    file.write_text("""func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.neg"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.sqrt"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
""")
    assert main(["run", str(file), "--golden"]) == 0
    said = capsys.readouterr().err
    assert "note: 100% of result 0 of @main is NaN or infinite" in said
    assert re.search(r"note: 1 of 3 ops give mostly NaN, the first `ttir.sqrt` at \S+text.mlir:4:3", said)
