"""Entry points and invalid calls: the error, its location, and an alternative."""

from __future__ import annotations

import pytest

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import InvalidModule, parse_module, print_module, verify
from ttnn_jit.dialects.functions import entry_points
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.tools.stage_of_module import schedule
from ttnn_jit.transforms.passes import inline
from ttnn_jit.transforms.passes.inline import reduce_to_entry_point

HEAD = """#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
"""
T = "tensor<32x32xf32, #l>"


def function(name, body="", returned="%arg0", *, visibility="", attributes=""):
    said = f" attributes {{{attributes}}}" if attributes else ""
    return f"func.func {visibility} @{name}(%arg0: {T}) -> {T}{said} {{\n{body}\n  return {returned} : {T}\n}}\n"


def call(name, result="%0", operand="%arg0"):
    return f"  {result} = call @{name}({operand}) : ({T}) -> {T}"


def module(*texts):
    return parse_module(f"{HEAD}module {{\n{''.join(texts)}}}\n", "two.mlir")


def refused(action, *texts):
    with pytest.raises(CompileError) as caught:
        action(module(*texts))
    assert caught.value.location is not None
    assert caught.value.location.file == "two.mlir"
    assert caught.value.help
    return caught.value


@pytest.mark.parametrize(
    ("visibility", "attributes", "is_one"),
    [
        ("", "", True),
        ("public", "", True),
        ("private", "", False),
        ("nested", "", False),
        ("", 'tt.function_type = "forward_device"', True),
        ("", 'tt.function_type = "const_eval"', False),
        ("", "d2m.kernel", False),
    ],
)
def test_an_entry_point_is_a_public_function_without_another_mark(visibility, attributes, is_one):
    found = entry_points(module(function("f", visibility=visibility, attributes=attributes)))
    assert [each.sym_name.data for each in found] == ["f"] * is_one


def test_an_error_about_a_missing_entry_point_defines_one():
    error = refused(reduce_to_entry_point, function("f", visibility="private"))
    assert error.message == "the module has no entry point"
    assert error.help == "a function that has a body and is not private is one"


def test_one_of_several_entry_points_must_be_named():
    error = refused(reduce_to_entry_point, function("f"), function("g"))
    assert error.message == "the module has 2 entry points: @f, @g"
    assert "--entry" in error.help
    error = refused(lambda each: reduce_to_entry_point(each, "h"), function("f"), function("g", visibility="private"))
    assert (error.message, error.help) == ("the module has no entry point @h", "it has @f")
    chosen = module(function("f"), function("g"))
    reduce_to_entry_point(chosen, "g")
    assert "@f" not in print_module(chosen)


def test_a_call_of_an_unknown_function_names_the_nearest_one():
    error = refused(verify, function("f", call("gelo"), "%0"), function("gelu"))
    assert isinstance(error, InvalidModule)
    assert "calls @gelo, and the module has no such function" in error.message
    assert error.help == "did you mean @gelu?"
    assert error.location.line == 5


def test_a_call_with_other_types_names_them():
    other = "tensor<32x64xf32>"
    text = f"  %0 = call @g(%arg0) : ({T}) -> {other}"
    with pytest.raises(
        InvalidModule, match=r"the result of @g #0 is tensor<32x32xf32.*, the call has tensor<32x64xf32>"
    ):
        verify(module(function("f", text), function("g")))
    text = f"  %0 = call @g(%arg0, %arg0) : ({T}, {T}) -> {T}"
    with pytest.raises(InvalidModule, match="there are 1 arguments of @g, the call has 2"):
        verify(module(function("f", text), function("g")))


def test_a_declaration_is_accepted_in_a_module_and_cannot_be_called():
    declared = f"func.func private @host({T}) -> {T}\n"
    verify(module(function("f"), declared))
    reduce_to_entry_point(module(function("f"), declared))
    error = refused(reduce_to_entry_point, function("f", call("host")), declared)
    assert error.message == "`func.call` calls @host, which has no body"


def test_recursion_is_refused_with_the_cycle():
    texts = function("f", call("g"), "%0"), function("g", call("h"), "%0"), function("h", call("g"), "%0")
    error = refused(lambda each: reduce_to_entry_point(each, "f"), *texts)
    assert error.message == "@g calls itself: @g -> @h -> @g"
    assert error.location.line == 13
    for action in (schedule, lambda each: interpret(each, [])):
        with pytest.raises(CompileError, match="@f calls itself: @f -> @f"):
            action(module(function("f", call("f"), "%0")))


def test_functions_that_an_entry_point_does_not_call_are_not_checked():
    recursive = function("loop", call("loop"), "%0", visibility="private")
    chosen = module(function("f", call("g"), "%0"), recursive, function("g", visibility="private"))
    reduce_to_entry_point(chosen)
    assert print_module(chosen) == print_module(module(function("f")))


def test_calls_that_expand_exponentially_are_refused_before_inlining(monkeypatch):
    monkeypatch.setattr(inline, "MAX_OPERATIONS", 10)
    doubled = [
        function(f"f{k}", f"{call(f'f{k + 1}')}\n{call(f'f{k + 1}', '%1', '%0')}", "%1", visibility="private" * (k > 0))
        for k in range(64)
    ]
    last = function("f64", f'  %0 = "ttir.exp"(%arg0) : ({T}) -> {T}', "%0", visibility="private")
    error = refused(reduce_to_entry_point, *doubled, last)
    assert "has more than" in error.message


def test_a_function_that_updates_its_argument_can_be_an_entry_point_but_not_called():
    writing = (
        f"func.func @g(%arg0: {T} {{ttcore.updated_by = 0 : i64}}) -> {T} {{\n"
        f'  %0 = "ttir.exp"(%arg0) : ({T}) -> {T}\n  return %0 : {T}\n}}\n'
    )
    error = refused(lambda each: reduce_to_entry_point(each, "f"), function("f", call("g"), "%0"), writing)
    assert error.message == "`func.call` calls @g, which writes into its argument #0"
    assert "use result #0" in error.help
    reduce_to_entry_point(module(function("f"), writing), "g")
