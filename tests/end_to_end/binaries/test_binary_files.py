"""Binaries are written as flatbuffers, read back, and executed by their tables of operations."""

import json

import pytest
import torch

import ttnn_jit
from ttnn_jit.binaries.debug_information import Golden
from ttnn_jit.diagnostics.errors import CompileError, ProgramFormatError
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.schemas.binary_file import VERSION, write_file
from ttnn_jit.schemas.flatbuffer_writer import FlatbufferWriter
from ttnn_jit.schemas.schema import schema
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.tools.cli import main
from ttnn_jit.ttmlir.ttmlir_runtime import debug_hooks
from ttnn_jit.ttmlir.ttmlir_runtime import submission as runtime
from ttnn_jit.ttmlir.ttmlir_runtime.described_systems import SystemDescription
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary, load_binary_from_bytes, load_binary_from_path

ttnn_jit.register_as_ttnn()

import ttnn  # noqa: E402 - found where `register_as_ttnn` was called
from ttmlir import passes  # noqa: E402
from ttmlir.ir import Module  # noqa: E402

LAYOUT = (
    "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
    "memref<2x4x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>"
)
TEXT = f"""
#layout = {LAYOUT}
module {{
  func.func @main(%x: TENSOR, %y: TENSOR) -> TENSOR {{
    %0 = "ttnn.multiply"(%x, %y) : (TENSOR, TENSOR) -> TENSOR
    %1 = "ttnn.softmax"(%0) <{{dimension = 1 : si32}}> : (TENSOR) -> TENSOR
    return %1 : TENSOR
  }}
}}
""".replace("TENSOR", "tensor<64x128xbf16, #layout>")


def made(text=TEXT, **given):
    (module,) = parse_texts(text, "program.mlir")
    return Binary.of_module(module, **given)


def results(binary, *inputs):
    return binary.text_module.program("main")(*inputs)


@pytest.fixture
def inputs():
    return [torch.randn(64, 128).bfloat16() for _ in range(2)]


def test_a_binary_that_was_saved_and_loaded_gives_the_same_results(tmp_path, inputs):
    binary = made()
    binary.save(tmp_path / "program.ttnn")
    loaded = Binary.load(tmp_path / "program.ttnn")
    assert torch.equal(*results(binary, *inputs), *results(loaded, *inputs))
    assert loaded.to_bytes() == binary.to_bytes() == made().to_bytes()


def test_the_text_inside_a_binary_is_not_what_it_executes(inputs):
    data = made().to_bytes()
    assert data.count(b"ttnn.softmax") == 2  # of the module's text, and of the operation's for debugging
    damaged = data.replace(b"ttnn.softmax", b"ttnn.sigmoid").replace(b"ttnn.multiply", b"ttnn.nothing!")
    loaded = Binary.of_bytes(damaged)
    assert torch.equal(*results(made(), *inputs), *results(loaded, *inputs))


def test_the_text_inside_a_binary_is_executed_when_asked_for(inputs):
    loaded = Binary.of_bytes(made().to_bytes())
    assert torch.equal(*results(made(), *inputs), *results(loaded.of_text(), *inputs))


def test_an_operation_without_a_table_is_refused_at_its_place_and_nothing_is_written(tmp_path):
    text = TEXT.replace('"ttnn.softmax"(%0) <{dimension = 1 : si32}>', '"ttir.relu"(%0)')
    with pytest.raises(CompileError, match=r"program.mlir:6:5: a binary has no table for `ttir.relu`"):
        made(text).save(tmp_path / "program.ttnn")
    assert [*tmp_path.iterdir()] == []


def test_a_file_of_something_else_is_refused():
    with pytest.raises(ProgramFormatError, match=r"x\.ttnn is no flatbuffer of tt-mlir"):
        Binary.of_bytes(b"MLIR text or anything else", "x.ttnn")


def test_the_json_of_a_binary_names_its_tables():
    described = json.loads(Binary.of_bytes(made().to_bytes()).as_json())
    (program,) = described["programs"]
    assert [each["type_type"] for each in program["operations"]] == ["EltwiseBinaryOp", "SoftmaxOp"]
    assert program["operations"][1]["type"]["dimension"] == 1


def test_commands_write_a_binary_and_run_it(tmp_path, capsys):
    (tmp_path / "program.mlir").write_text(TEXT, encoding="utf-8")
    path = tmp_path / "program.ttnn"
    assert main(["translate", "--ttnn-to-flatbuffer", str(tmp_path / "program.mlir"), "-o", str(path)]) == 0
    for name, options in {"tables": [], "text": ["--from-text"], "golden": ["--golden"]}.items():
        assert main(["run", str(path), "--save", str(tmp_path / f"{name}.pt"), *options]) == 0
    saved = [torch.load(tmp_path / f"{name}.pt") for name in ("tables", "text", "golden")]
    assert torch.equal(*saved[0], *saved[1])
    assert torch.equal(*saved[0], *saved[2])
    assert "WRONG" not in capsys.readouterr().err


def test_a_binary_of_ttmetal_is_not_run(tmp_path, capsys):
    assert main(["run", str(tmp_path / "program.ttm")]) == 1
    assert "is a binary of ttmetal, whose kernels are not executed here" in capsys.readouterr().err


def test_a_jitted_function_is_written_as_a_binary(inputs):
    @ttnn_jit.jit()
    def function(x, y):
        return ttnn.exp(x) + y

    binary = Binary.parse(function.ir(*inputs))
    loaded = Binary.of_bytes(binary.to_bytes())
    (name,) = loaded.names
    assert torch.equal(loaded.text_module.program(name)(*inputs)[0], function(*inputs))


def test_goldens_and_stages_are_in_a_binary():
    golden = Golden("total", (2, 2), (2, 1), "Float32", torch.arange(4.0).numpy().tobytes())
    loaded = Binary.of_bytes(
        made().of_module(made().module, {'loc("x")': {0: golden}}, [("ttir", "module {}")]).to_bytes()
    )
    assert loaded.goldens() == {'loc("x")': {0: golden}}
    found = loaded.get_debug_info_golden('loc("x")')[0]
    assert (found.name, found.shape, found.stride, found.dtype.name) == ("total", [2, 2], [2, 1], "Float32")
    assert found.get_data_buffer() == golden.data
    assert loaded.get_debug_info_golden("elsewhere") == {}
    assert loaded.stages() == [("ttir", "module {}")]


def test_a_binary_of_ttmetal_is_described_and_not_executed(tmp_path):
    head = {"version": VERSION, "schema_hash": schema().hash, "mlir": {"name": "ttmetal", "source": "module {}"}}
    data = FlatbufferWriter(schema()).write(head | {"programs": [{"name": "main", "inputs": []}]}, "TTM0")
    (tmp_path / "program.ttm").write_bytes(data)
    loaded = load_binary_from_path(str(tmp_path / "program.ttm"))
    assert (loaded.file_identifier, loaded.get_num_programs(), loaded.get_program_name(0)) == ("TTM0", 1, "main")
    assert json.loads(loaded.get_mlir_as_json())["source"] == "module {}"
    with pytest.raises(CompileError, match="holds kernels, which are not executed here"):
        runtime.submit(runtime.open_mesh_device(), loaded, 0, [])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('loc("total")', 'loc("total")'),
        ('loc("model.py":3:5)', 'loc("model.py":3:5)'),
        ('loc("total"("model.py":3:5))', 'loc("total"("model.py":3:5))'),
        ('loc(fused["a", "b"])', 'loc(fused["a", "b"])'),
        ("loc(nothing", "loc(unknown)"),
        ("loc(" * 5000, "loc(unknown)"),
        ("", "loc(unknown)"),
    ],
)
def test_operations_keep_their_locations(text, found):
    loaded = made()
    tree = loaded._tree["programs"][0]["operations"][0] | {"loc_info": text}
    program = loaded._tree["programs"][0] | {"operations": [tree, *loaded._tree["programs"][0]["operations"][1:]]}
    data = write_file(loaded._tree | {"programs": [program]}, "TTNN")
    (op, *_) = Binary.of_bytes(data).module.body.block.first_op.body.block.ops
    assert str(op.location) == found


def test_a_number_in_the_table_of_its_user_is_no_operation_of_the_program():
    type_ = "!quant.uniform<i32:f32, 0.5>"
    text = f"""
        func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32x{type_}> {{
          %0 = "ttir.quantize"(%x) : (tensor<32x32xf32>) -> tensor<32x32x{type_}>
          return %0 : tensor<32x32x{type_}>
        }}"""
    module = Module.parse(text)
    passes.ttir_to_ttnn_runtime_pipeline(module, "")
    binary = load_binary_from_bytes(passes.ttnn_to_flatbuffer_bin(module).to_bytes())
    programs = range(binary.get_num_programs())
    tables = [each["type_type"] for index in programs for each in json.loads(binary.get_program_ops_as_json(index))]
    walked, hooked = [], []
    for index in programs:
        debug_hooks.walk_program(binary, index, walked.append)
    x = torch.linspace(-4, 4, 1024).reshape(32, 32)
    debug_hooks.DebugHooks(pre_op=lambda *seen: hooked.append(seen)).run(binary, 0, [x])
    (result,) = results(binary, x)
    assert len(walked) == len(hooked) == len(tables)
    assert "EltwiseQuantizationOp" in tables
    assert torch.equal(result, torch.round(x / 0.5).to(torch.int32))


def test_a_description_says_its_system_as_a_binary_does():
    described = SystemDescription.of_target(resolve_target("n150"))
    assert json.loads(described.get_system_desc_as_json()) == json.loads(described.as_json())["system_desc"]
