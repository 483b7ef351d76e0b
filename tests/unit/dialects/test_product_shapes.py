"""The verifier's errors about mismatched shapes of products: tt-mlir's messages."""

import pytest
import torch
from xdsl.utils.exceptions import VerifyException

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.dialects import parse_module


def product(a, b, result, transposes="transpose_a = false, transpose_b = false"):
    types = [f"tensor<{''.join(f'{extent}x' for extent in shape)}f32>" for shape in (a, b, result)]
    return f"""module {{
  func.func @f(%0: {types[0]}, %1: {types[1]}) -> {types[2]} {{
    %2 = "ttir.matmul"(%0, %1) <{{{transposes}}}> : ({types[0]}, {types[1]}) -> {types[2]}
    func.return %2 : {types[2]}
  }}
}}"""


@pytest.mark.parametrize(
    ("a", "b", "result", "message"),
    [
        ((), (4, 5), (5,), "Input A must be at least a 2D tensor"),
        ((3, 4), (), (3,), "Input B must be at least a 2D tensor"),
        ((2, 3, 4), (2, 4, 5), (3, 5), "Input A and B must have the same rank as the output"),
        ((3, 4), (5, 6), (3, 6), "Input A and B must have matching inner dimensions"),
        ((3, 4), (4, 6), (5, 6), "Output must have the same number of rows as input A"),
        ((2, 3, 4), (4, 6), (2, 3, 7), "Output must have the same number of columns as input B"),
    ],
)
def test_invalid_shapes_of_a_product_are_refused_with_the_message_of_tt_mlir(a, b, result, message):
    with pytest.raises(VerifyException, match=message):
        parse_module(product(a, b, result)).verify()


@pytest.mark.parametrize(
    ("a", "b", "result"), [((3, 4), (4, 6), (3, 6)), ((4,), (4, 6), (6,)), ((2, 1, 3, 4), (5, 4, 6), (2, 5, 3, 6))]
)
def test_vectors_and_batches_that_broadcast_are_products_here(a, b, result):
    parse_module(product(a, b, result)).verify()


def test_an_edited_dump_is_refused_with_this_message():
    text = ttnn_jit.jit()(lambda x, y: ttnn.matmul(x, y)).ir(torch.ones(32, 64), torch.ones(64, 96), stage="frontend")
    with pytest.raises(VerifyException, match="Output must have the same number of columns as input B"):
        parse_module(text.replace("32x96", "32x97")).verify()
