"""The text is mlir-opt's, byte for byte."""

import re
from pathlib import Path

import pytest
from xdsl.dialects.builtin import FloatAttr, bf16, f32, f64
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.parser import Parser

from ttnn_jit.dialects import context, parse_module, print_module, verify
from ttnn_jit.dialects.spelling.affine_text import affine_map_text
from ttnn_jit.dialects.spelling.float_text import float_text

LISTINGS = Path(__file__).parent / "listings"


def test_the_cosh_module_of_the_document_round_trips_byte_for_byte() -> None:
    text = (LISTINGS / "cosh.mlir").read_text()
    module = parse_module(text)
    verify(module)
    assert print_module(module) == text


@pytest.mark.parametrize("name", ["unary_chain", "add_tree_8_to_1"])
def test_the_loops_of_the_document_round_trip_in_a_module_byte_for_byte(name: str) -> None:
    text = (LISTINGS / f"{name}.mlir").read_text()
    module = parse_module(text)
    verify(module)
    assert print_module(module) == text


@pytest.mark.parametrize("name", ["unary_chain", "add_tree_8_to_1"])
def test_the_loops_print_as_in_the_document(name: str) -> None:
    document = _compared_lines(LISTINGS / f"{name}.txt")
    ours = _without_the_two_ops_that_the_document_shortens(_compared_lines(LISTINGS / f"{name}.mlir"))
    start = next(index for index, line in enumerate(ours) if line.startswith("scf.for"))
    ours = ours[start : start + len(document)]
    assert _with_numbered_values(ours) == _with_numbered_values(document)


def _compared_lines(path: Path) -> list[str]:
    """Lines without comments and without the ops that only one of the listings shows."""
    text = (
        path.read_text().replace("#l1_1>", "#ttcore.memory_space<l1>>").replace("#dst>", "#ttcore.memory_space<dst>>")
    )
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not re.search("^//|memref.subview|acquire_dst", line)]


def _without_the_two_ops_that_the_document_shortens(lines: list[str]) -> list[str]:
    for name in ("tile_sin", "tile_neg"):
        found = next((index for index, line in enumerate(lines) if name in line), None)
        if found is not None:
            lines = lines[: found - 3] + lines[found + 4 :]
    return lines


def _with_numbered_values(lines: list[str]) -> list[str]:
    """Each value name by order of appearance; constants and %dst keep theirs."""
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        name = match.group()
        return name if re.fullmatch(r"%(c\d+|dst)", name) else numbers.setdefault(name, f"%v{len(numbers)}")

    return [re.sub(r"%\w+", number, line) for line in lines]


# The texts of LLVM-based tools for these numbers, among them LLVM's odd 9.99999974E-6.
@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (0.5, f32, "5.000000e-01"),
        (0.1, f32, "1.000000e-01"),
        (1e-3, f32, "1.000000e-03"),
        (1e-5, f32, "9.99999974E-6"),
        (1e-6, f32, "9.99999997E-7"),
        (1 / 3, f32, "0.333333343"),
        (6.2831855, f32, "6.28318548"),
        (-1.702, f32, "-1.702000e+00"),
        (1234.5678, f32, "1234.56775"),
        (16777216.0, f32, "0x4B800000"),
        (1e10, f32, "1.000000e+10"),
        (3.4028234663852886e38, f32, "3.40282347E+38"),
        (-0.0, f32, "-0.000000e+00"),
        (0.0, f32, "0.000000e+00"),
        (1.401298464324817e-45, f32, "1.401300e-45"),
        (float("inf"), f32, "0x7F800000"),
        (float("-inf"), f32, "0xFF800000"),
        (float("nan"), f32, "0x7FC00000"),
        (float("inf"), bf16, "0x7F80"),
        (0.1, bf16, "1.000980e-01"),
        (0.1, f64, "1.000000e-01"),
        (1 / 3, f64, "0.33333333333333331"),
    ],
)
def test_a_float_prints_as_llvm_prints_it(value: float, type_: object, text: str) -> None:
    stored = FloatAttr(value, type_).value.data  # type: ignore[call-overload]
    assert float_text(stored, type_) == text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "() -> ()",
        "() -> (0, 0)",
        "(d0) -> (0, d0)",
        "(d0, d1, d2, d3) -> (d0 * 1024 + d1 * 32 + d2, d3)",
        "(d0, d1)[s0] -> (d0 - s0, d1 floordiv 2)",
        "(d0, d1) -> ((d0 + d1) floordiv 2, (d0 - 3) mod 4)",
        "(d0, d1) -> (d0 ceildiv 8 + 1, -d1)",
        "(d0, d1) -> (d0 - d1, d0 - d1 * 3)",
    ],
)
def test_an_affine_map_has_no_redundant_parentheses(text: str) -> None:
    assert affine_map_text(Parser(context(), text).parse_affine_map()) == text


def test_a_sum_that_is_subtracted_keeps_its_parentheses() -> None:
    d0, d1, d2 = (AffineDimExpr(k) for k in range(3))
    total = AffineBinaryOpExpr(AffineBinaryOpKind.Add, d1, d2)
    minus = AffineBinaryOpExpr(AffineBinaryOpKind.Mul, total, AffineConstantExpr(-1))
    difference = AffineBinaryOpExpr(AffineBinaryOpKind.Add, d0, minus)
    assert affine_map_text(AffineMap(3, 0, (difference,))) == "(d0, d1, d2) -> (d0 - (d1 + d2))"


def test_aliases_are_numbered_by_stem_and_defined_before_they_are_used() -> None:
    text = """\
#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#l1_1 = #ttcore.memory_space<l1>
#ttnn_layout = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #l1>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<64xf32, #ttnn_layout>, %arg1: tensor<64xf32, #ttnn_layout1>) {
    %alloc = memref.alloc() : memref<2x2x!ttcore.tile<32x32, f32>, #l1_1>
    return
  }
}
"""
    assert print_module(parse_module(text)) == text


def test_names_come_from_the_ops_and_conflicts_share_one_counter() -> None:
    text = """\
module {
  func.func @f(%arg0: index) -> i1 {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 1.000000e+00 : f32
    %c0_0 = arith.constant 0 : index
    %cst_1 = arith.constant 2.000000e+00 : f32
    %c-1_i32 = arith.constant -1 : i32
    %true = arith.constant true
    scf.for %arg1 = %c0 to %arg0 step %c0_0 {
      %0 = arith.addi %arg1, %c0 : index
      %c0_2 = arith.constant 0 : index
    }
    scf.for %arg1 = %c0 to %arg0 step %c0_0 {
      %c0_2 = arith.constant 0 : index
      %0 = arith.addi %arg1, %c0_2 : index
    }
    return %true : i1
  }
}
"""
    assert print_module(parse_module(text)) == text


def test_several_results_share_a_name() -> None:
    text = """\
module {
  func.func private @g() -> (f32, f32)
  func.func @f() -> f32 {
    %0:2 = call @g() : () -> (f32, f32)
    return %0#1 : f32
  }
}
"""
    assert print_module(parse_module(text)) == text


def test_dictionaries_are_sorted_and_arrays_leave_out_i64_and_f64() -> None:
    written = 'module attributes {b = [1, 2 : i32, 1.5, {z, a = 1 : i64}], a = 3 : i64, c = [0.5 : f32, "x"]} {\n}\n'
    printed = (
        "module attributes {a = 3 : i64, b = [1, 2 : i32, 1.500000e+00, {a = 1 : i64, z}], "
        'c = [5.000000e-01 : f32, "x"]} {\n}\n'
    )
    assert print_module(parse_module(written)) == printed


def test_an_op_printed_alone_marks_its_operands_as_external() -> None:
    module = parse_module("func.func @f(%a: f32) -> f32 {\n  return %a : f32\n}")
    function = module.body.block.first_op
    assert function is not None
    returned = function.regions[0].block.first_op
    assert returned is not None
    assert print_module(returned) == "func.return <<UNKNOWN SSA VALUE>> : f32\n"
    constant = parse_module("%a = arith.constant 3 : index").body.block.first_op
    assert constant is not None
    assert print_module(constant) == "%c3 = arith.constant 3 : index\n"
