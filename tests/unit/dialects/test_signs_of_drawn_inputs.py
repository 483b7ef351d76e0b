"""Drawn inputs are not negative where a later op has no value at negative numbers."""

import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.dialects.text_calls.signs import Signs
from ttnn_jit.frontend.ir.texts import functions_in, parse_texts
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.texts.inputs import draw_inputs

_UNARY = '"ttir.{0}"({1}) : (tensor<4x8xf32>) -> tensor<4x8xf32>'
_BINARY = '"ttir.{0}"({1}, {2}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>'
_CONSTANT = '%c = "ttir.constant"() <{value = dense<2.0> : tensor<4x8xf32>}> : () -> tensor<4x8xf32>'


def _function(*ops: str) -> str:
    """A function of x and y, whose ops are %0, %1, ...; the last one is returned."""
    lines = "\n".join(f"%{index} = {op}" for index, op in enumerate(ops))
    return f"""
    func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {{
      {_CONSTANT}
      {lines}
      return %{len(ops) - 1} : tensor<4x8xf32>
    }}"""


CASES = {
    "a root": ([_UNARY.format("sqrt", "%x")], "x"),
    "a logarithm": ([_UNARY.format("log", "%x")], "x"),
    "a variance plus a number": ([_BINARY.format("add", "%x", "%c"), _UNARY.format("rsqrt", "%0")], "x"),
    "a sum of two": ([_BINARY.format("add", "%x", "%y"), _UNARY.format("rsqrt", "%0")], "xy"),
    "a base": ([_BINARY.format("pow", "%x", "%y")], "x"),
    "the base of a square": ([_BINARY.format("pow", "%x", "%c")], ""),
    "a square": ([_BINARY.format("multiply", "%x", "%x"), _UNARY.format("sqrt", "%0")], ""),
    "an exponential": ([_UNARY.format("exp", "%x"), _UNARY.format("log", "%0")], ""),
    "a negated value": ([_UNARY.format("neg", "%x"), _UNARY.format("sqrt", "%0")], ""),
    "a softmax": (
        [
            '"ttir.softmax"(%x) <{dimension = 1 : si32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>',
            _UNARY.format("log", "%0"),
        ],
        "",
    ),
    "a moved variance": (
        [
            '"ttir.reshape"(%x) <{shape = [32 : i32]}> : (tensor<4x8xf32>) -> tensor<32xf32>',
            '"ttir.sqrt"(%0) : (tensor<32xf32>) -> tensor<32xf32>',
            '"ttir.reshape"(%1) <{shape = [4 : i32, 8 : i32]}> : (tensor<32xf32>) -> tensor<4x8xf32>',
        ],
        "x",
    ),
}


@pytest.mark.parametrize(("ops", "wanted"), CASES.values(), ids=CASES.keys())
def test_an_argument_is_not_negative_where_a_later_op_has_no_value_else(ops, wanted):
    (module,) = parse_texts(_function(*ops), "signs.mlir")
    signs, arguments = Signs(), functions_in(module)["main"].body.block.args
    assert "".join(name for name, each in zip("xy", arguments, strict=True) if signs.is_not_negative(each)) == wanted


def test_a_decomposed_norm_of_drawn_inputs_has_no_nan():
    text = _function(*CASES["a variance plus a number"][0], _BINARY.format("multiply", "%y", "%1"))
    (module,) = parse_texts(text, "norm.mlir")
    made = TextModule(module, PRESETS["cpu"])
    x, y = draw_inputs(made.functions["main"], made.program("main").arguments, 0)
    assert bool((x >= 0).all())
    assert bool((y < 0).any())
    assert not torch.stack(made.program("main")(x, y)).isnan().any()


def test_a_chain_of_thousands_of_ops_is_followed_to_its_end():
    ops = [_BINARY.format("add", "%x", "%c")]
    ops += (_BINARY.format("add", f"%{each}", "%c") for each in range(2_999))
    (module,) = parse_texts(_function(*ops, _UNARY.format("sqrt", "%2999")), "chain.mlir")
    assert Signs().is_not_negative(functions_in(module)["main"].body.block.args[0])
