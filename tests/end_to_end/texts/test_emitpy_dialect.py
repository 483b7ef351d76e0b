"""Modules of the dialect emitpy become Python that computes what their operations say."""

import ast

import pytest
import torch

import ttnn_jit
from tests.end_to_end.texts.test_translated_texts import KEPT
from ttnn_jit import ttnn
from ttnn_jit.compiler.texts.emitpy_pipelines import emitpy_passes
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.emitpy import is_of_emitpy, python_of_emitpy
from ttnn_jit.frontend.ir.texts import parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.cli import main, opt_main
from ttnn_jit.tools.texts.inputs import draw_inputs
from ttnn_jit.tools.ttrt.runs.emitted_programs import imported

INT = '!emitpy.opaque<"int">'
CLASSES = f"""
emitpy.import import "math"
emitpy.import from "operator" import "add" as "plus"
emitpy.global @calls = 0 : i64
emitpy.class @Model {{
  func.func @__init__(%self: !emitpy.class<"Model">, %by: {INT} {{emitpy.name = "by"}}) {{
    emitpy.set_attr %self, "by", %by : (!emitpy.class<"Model">, {INT})
    return
  }}
  func.func @twice(%x: {INT} {{emitpy.name = "x"}}) -> {INT} attributes {{emitpy.method_kind = "staticmethod"}} {{
    %0 = emitpy.call_opaque "plus"(%x, %x) : ({INT}, {INT}) -> {INT}
    return %0 : {INT}
  }}
}}
func.func @forward(%model: !emitpy.class<"Model">, %list: {INT}) -> {INT} {{
  %g = emitpy.global_statement @calls : {INT}
  %0 = emitpy.expression(%list) : ({INT}) -> {INT} {{
  ^bb0(%inner: {INT}):
    %index = emitpy.literal "1" : index
    %1 = emitpy.subscript %inner[%index] : ({INT}, index) -> {INT}
    %2 = emitpy.call_opaque "math.isqrt"(%1) : ({INT}) -> {INT}
    emitpy.yield %2 : {INT}
  }}
  %by = emitpy.get_attr %model, "by" : (!emitpy.class<"Model">) -> {INT}
  %sum = emitpy.call_opaque "plus"(%g, %by) {{emitpy.name = "sum"}} : ({INT}, {INT}) -> {INT}
  emitpy.assign_global @calls = %sum : {INT}
  emitpy.if "{{}} > 3" args %0 : ({INT}) {{
    emitpy.call_opaque "util_create_list"(%0) : ({INT}) -> ()
  }} else {{
    emitpy.if "{{}} > 2" args %0 : ({INT}) {{
      emitpy.assign_global @calls = %0 : {INT}
    }}
  }}
  %r = emitpy.call_opaque "max"(%0, %sum) {{args = [1 : index, 0 : index, #emitpy.opaque<"abs">],
      keyword_args = ["", "", "key"]}} : ({INT}, {INT}) -> {INT}
  return %r : {INT}
}}
"""


def python_of(text):
    modules = parse_texts(text, "text.mlir")
    assert is_of_emitpy(modules)
    return python_of_emitpy(modules)


def test_classes_globals_conditions_and_expressions_compute_what_they_say():
    source = python_of(CLASSES)
    names: dict = {}
    exec(compile(source, "emitted.py", "exec"), names)
    model = names["Model"](7)
    assert names["Model"].twice(4) == 8
    assert names["forward"](model, [0, 4]) == 7
    assert names["calls"] == 7
    assert names["forward"](model, [0, 9]) == 14
    assert names["calls"] == 3, "the branch of `else` assigns the global"
    assert "elif" in source


def test_an_expression_is_written_where_it_is_read_unless_it_must_not_be():
    text = """func.func @f(%a: !emitpy.opaque<"int">) -> !emitpy.opaque<"int"> {{
      %0 = emitpy.expression(%a) {flag} : (!emitpy.opaque<"int">) -> !emitpy.opaque<"int"> {{
      ^bb0(%b: !emitpy.opaque<"int">):
        %1 = emitpy.call_opaque "abs"(%b) : (!emitpy.opaque<"int">) -> !emitpy.opaque<"int">
        emitpy.yield %1 : !emitpy.opaque<"int">
      }}
      return %0 : !emitpy.opaque<"int">
    }}"""
    assert "return abs(inputs)" in python_of(text.format(flag=""))
    assert "return abs(" not in python_of(text.format(flag="{do_not_inline}"))


def test_texts_of_constants_are_texts_of_python():
    constants = '[#emitpy.opaque<"None">, "a\\\\b\\"", 1.5 : f32, -3 : i32, 0x7F800000 : f32]'
    source = python_of(f"""func.func @f() {{
      emitpy.call_opaque "print"() {{args = {constants}, keyword_args = ["", "", "", "", ""]}} : () -> ()
      return
    }}""")
    assert 'print(None, "a\\\\b\\"", 1.5, -3, float("inf"))' in source


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('emitpy.call_opaque "f"() {args = [2 : index], keyword_args = [""]} : () -> ()', "has no operand 2"),
        ('emitpy.if "{} is {}" args %x : (!emitpy.opaque<"int">) {\n}', "has 1 operands for `{} is {}`"),
        ("%0 = arith.constant 1 : i32", "`arith.constant` stands for no statement of Python"),
    ],
)
def test_what_stands_for_no_python_is_refused_at_its_place(body, message):
    with pytest.raises(CompileError, match="2:") as error:
        python_of(f'emitpy.global @g = 1 : i32\nfunc.func @f(%x: !emitpy.opaque<"int">) {{ {body}\n return }}')
    assert message in error.value.message


def test_passes_of_ttmlir_write_emitpy_whose_helpers_tools_tell_from_programs():
    ttnn_jit.register_as_ttnn()
    from ttmlir import ir, passes
    from ttmlir.passmanager import PassManager

    with ir.Context():
        module, managed = (ir.Module.parse(KEPT.replace("@main(", "@forward(")) for _ in range(2))
        passes.ttir_to_emitpy_pipeline(module, "split-files=false")
        assert 'emitpy.import import "ttnn"' in str(module)
        source = passes.translate_to_python(module)
        PassManager.parse("builtin.module(ttir-to-emitpy-pipeline)").run(managed.operation)
        assert passes.translate_to_python(managed) == source
    defined = [each.name for each in ast.parse(source).body if isinstance(each, ast.FunctionDef)]
    programs = {each for each in defined if "_const_eval_" not in each and not each.startswith("consteval_")}
    assert "consteval_forward" in defined
    assert programs == {"forward", "create_inputs_for_forward", "main"}


def test_a_text_runs_as_emitpy_with_the_results_that_it_has_itself(tmp_path):
    source, emitted, program = (tmp_path / name for name in ("text.mlir", "emitted.mlir", "emitted.py"))
    source.write_text(KEPT.replace("@main(", "@forward("))
    assert opt_main(["--ttir-to-emitpy-pipeline", str(source), "-o", str(emitted)]) == 0
    assert main(["translate", "--mlir-to-python", str(emitted), "-o", str(program)]) == 0
    (module,) = parse_texts(source.read_text(), "text.mlir")
    text = TextModule(module, PRESETS["cpu"])
    drawn = draw_inputs(text.functions["forward"], text.program("forward").arguments, seed=3)
    inputs = [(each * 4).round() for each in drawn]  # whole numbers, whose products are exact on every target
    expected = text.program("forward")(*inputs)
    with imported(str(program)) as names:
        made = names.create_inputs_for_forward()
        assert [tuple(each.shape) for each in made] == [tuple(each.shape) for each in inputs]
        given = [
            ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=like.device())
            for each, like in zip(inputs, made, strict=True)
        ]
        for _ in range(2):  # the second call reads what the first one prepared
            for own, wanted in zip(names.forward(given), expected, strict=True):
                assert torch.equal(ttnn.to_torch(own), wanted)
    assert opt_main(["--ttir-to-emitpy-pipeline=target-module=true", str(source), "-o", str(emitted)]) == 0
    assert main(["translate", "--mlir-to-python", str(emitted), "-o", str(program)]) == 0
    assert "def forward(input, device):" in program.read_text()
    assert "get_device" not in program.read_text()
    with imported(str(program)) as names, ttnn.manage_device(0) as device:
        again = [ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in inputs]
        for own, wanted in zip(names.forward(again, device), expected, strict=True):
            assert torch.equal(ttnn.to_torch(own), wanted)
    with pytest.raises(ArgumentError, match="one file is written"):
        emitpy_passes("ttir-to-emitpy-pipeline", "split-files=true")
