"""Binaries are written as flatbuffers, read back, and executed by their tables of operations."""

import json

import pytest
import torch

from ttnn_jit.diagnostics.errors import CompileError, ProgramFormatError
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.ttmlir.ttmlir_runtime.program_binary import Binary

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
