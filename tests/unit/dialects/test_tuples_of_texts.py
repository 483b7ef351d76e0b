"""Tuples of StableHLO are taken apart: of functions, of custom calls, inside one another."""

import pytest
import torch

from tests.end_to_end.texts.converted_texts import ran
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.rewriting.tuples import take_apart
from ttnn_jit.dialects.upstream.verifying import verify_upstream

T = "tensor<3xf32>"
TUPLES = f"""
module {{
  func.func private @two(%a: {T}, %t: tuple<{T}, tuple<{T}>>) -> tuple<{T}, {T}> {{
    %0 = stablehlo.get_tuple_element %t[1] : (tuple<{T}, tuple<{T}>>) -> tuple<{T}>
    %1 = stablehlo.get_tuple_element %0[0] : (tuple<{T}>) -> {T}
    %2 = stablehlo.add %a, %1 : {T}
    %3 = stablehlo.tuple %2, %a : tuple<{T}, {T}>
    return %3 : tuple<{T}, {T}>
  }}
  func.func @main(%x: {T}, %y: {T}) -> tuple<{T}, {T}> {{
    %0 = stablehlo.tuple %y : tuple<{T}>
    %1 = stablehlo.tuple %x, %0 : tuple<{T}, tuple<{T}>>
    %2 = call @two(%x, %1) : ({T}, tuple<{T}, tuple<{T}>>) -> tuple<{T}, {T}>
    %3 = stablehlo.get_tuple_element %2[0] : (tuple<{T}, {T}>) -> {T}
    %4 = stablehlo.get_tuple_element %2[1] : (tuple<{T}, {T}>) -> {T}
    %5 = stablehlo.multiply %3, %4 : {T}
    %6 = stablehlo.tuple %3, %5 : tuple<{T}, {T}>
    return %6 : tuple<{T}, {T}>
  }}
}}
"""
CALL = """
func.func @main(%x: tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>) {
  %0 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} :
      (tensor<4x8xf32>) -> tuple<tensor<4x2xf32>, tensor<4x2xi32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4x2xf32>, tensor<4x2xi32>>) -> tensor<4x2xi32>
  %2 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4x2xf32>, tensor<4x2xi32>>) -> tensor<4x2xf32>
  return %2, %1 : tensor<4x2xf32>, tensor<4x2xi32>
}
"""


@pytest.mark.parametrize("text", [TUPLES, CALL], ids=["functions", "a custom call"])
def test_nothing_of_a_tuple_is_left_and_the_module_is_valid(text):
    module = parse_upstream(text)
    assert take_apart(module)
    assert "tuple" not in op_text(module)
    verify_upstream(module)
    assert not take_apart(module)


def test_functions_take_and_return_the_parts_of_tuples():
    (x, y), (first, second) = ran(TUPLES)
    assert torch.equal(first, x + y)
    assert torch.equal(second, (x + y) * x)


def test_a_custom_call_has_a_result_for_each_part():
    (x,), (values, index) = ran(CALL)
    assert torch.equal(values, torch.topk(x, 2).values)
    assert torch.equal(x.gather(1, index.long()), values)
