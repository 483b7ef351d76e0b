"""Rules of creation, elementwise operations, transformers and weights: a changed operation is refused."""

from __future__ import annotations

import pytest

from tests.unit.dialects.test_upstream_verifying import error_of, module
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.rules.creation_rules import CREATIONS
from ttnn_jit.dialects.upstream.verifying import verify_upstream

CONV3D = (
    "ttnn.conv3d <{in_channels = 4 : i32, out_channels = 16 : i32, batch_size = 1 : i32, input_depth = 8 : i32, "
    "input_height = 28 : i32, input_width = 28 : i32, kernel_size = array<i32: 3, 3, 3>, stride = array<i32: 1, 1, 1>, "
    'padding = array<i32: 0, 0, 0>, padding_mode = "zeros", groups = 1 : i32, '
    "operandSegmentSizes = array<i32: 1, 1, 1, 1>}>"
)
VOLUME = (
    "tensor<1x6x26x26x16xbf16>",
    "tensor<1x8x28x28x4xbf16>",
    "tensor<108x16xbf16>",
    "tensor<1x16xbf16>",
    "!ttnn.device",
)
DECODE = "ttnn.nlp_concat_heads_decode <{num_heads = 16 : ui32}>"
SELECT = "ttir.index_select <{dim = -1 : si32, begin = 0 : si32, length = 2 : si32, stride = 4 : si32}>"
SPARSE = (
    "ttir.sparse_matmul <{is_input_a_sparse = false, is_input_b_sparse = true, nnz = 2 : i64}>",
    "tensor<2x3x1x4x5x7xf32>", "tensor<2x3x5x6xf32>", "tensor<1x4x6x7xf32>", "tensor<2x3x1x4xf32>",
)  # fmt: skip
LATENT = (
    "ttnn.flash_mla_prefill <{head_dim_v = 8 : ui32, is_causal = true, operandSegmentSizes = array<i32: 1, 1, 0, 0>}>"
)
STATISTICS = "ttnn.layer_norm_pre_all_gather <{operandSegmentSizes = array<i32: 1, 0, 0>}>"
TABLES = ("tensor<1x2x4x32xf32>", "tensor<1x2x4x32xf32>", "tensor<1x1x4x32xf32>", "tensor<1x1x4x32xf32>")

CASES = [
    (("ttir.add", "tensor<2x3xf32>", "tensor<2x1xf32>", "tensor<3xf32>"), [
        (1, "<2x3x", "<3x2x", "result shape (3, 2) doesn't match expected shape after broadcasting (2, 3)"),
        (3, "<3x", "<3x4x", "operand shape (3, 4) is not broadcast compatible with inferred operand shapes (2, 1)"),
    ]),
    (("ttir.full <{shape = array<i32: 2, 3>, fill_value = 1 : i32}>", "tensor<2x3xi32>"), [
        (1, "2x3", "3x2", "expected shape (3, 2), got (2, 3)"),
    ]),
    (("ttir.arange <{start = 0 : si64, end = 32 : si64, step = 2 : si64, arange_dimension = 1 : i64}>",
      "tensor<1x16xf32>"), [
        (1, "1x16", "1x32", "must be 16 at dim 1 (since start=0, end=32, step=2), but got 32"),
        (0, "step = 2", "step = 0", "Step value cannot be zero"),
        (0, "end = 32", "end = -1", "Invalid range: start=0, end=-1, step=2"),
    ]),
    (("ttir.repeat <{repeat_dimensions = array<i64: 1, 2>}>", "tensor<32x64xf32>", "tensor<32x32xf32>"), [
        (0, "1, 2", "2", "rank 2 doesn't match the number of repeat dimensions 1."),
        (1, "32x64", "32x128", "(32,32) at index 1 does not repeat to output (32,128) using repeat value 2."),
        (0, "1, 2", "0, 2", "Repeat dimension at index 0 must be greater than 0."),
    ]),
    (("ttnn.repeat <{repeat_dims = #ttnn.shape<1x2>}>", "tensor<32x64xf32>", "tensor<32x32xf32>"), [
        (1, "32x64", "1x32x64", "rank 2 doesn't match the output tensor rank 3."),
    ]),
    ((SELECT, "tensor<3x4xf32>", "tensor<3x8xf32>"), [
        (0, "dim = -1", "dim = 2", "Invalid dimension 2 for select op with input tensor rank 2"),
        (0, "stride = 4", "stride = -4", "Invalid stride -4 for dimension 1"),
        (0, "begin = 0", "begin = 8", "Invalid begin index 8 for dimension 1 with size 8"),
        (0, "length = 2", "length = 5", "Invalid length 5 for begin index 0 and stride 4"),
        (1, "3x4", "3x5", "Expected output dimension size: 5, but got 4"),
    ]),
    (("ttir.topk <{k = 3 : i32, dim = -1 : i32}>", "tensor<2x3xf32>, tensor<2x3xi32>", "tensor<2x8xf32>"), [
        (0, "k = 3", "k = 9", "K should be between 1 and the size of the specified dimension (1), but got: 9"),
        (0, "dim = -1", "dim = 2", "specified dimension should be between -2 and 1, but got: 2"),
    ]),
    (("ttnn.pow_scalar <{rhs = 2 : i32}>", "tensor<2xf32>", "tensor<2xf32>"), [
        (0, "rhs = 2", "rhs = -2", "exponent must be non-negative; but got -2"),
    ]),
    ((CONV3D, *VOLUME), [
        (2, "1x8x28", "8x28", "input must be a 5D tensor [N, D, H, W, C]"),
        (0, "stride = array<i32: 1, 1, 1>", "stride = array<i32: 1, -1, 1>",
         "stride values must be > 0, got: (1, -1, 1)"),
        (0, "groups = 1", "groups = 3", "in_channels (4) must be divisible by groups (3)"),
        (3, "108x", "109x", "weight flattened dimension (109) must equal kD*kH*kW*C_in/groups (108)"),
        (4, "1x16", "1x32", "bias output channels (32) must match weight output channels (16)"),
    ]),
    ((DECODE, "tensor<1x1x4x128xf32>", "tensor<1x4x32x8xf32>"), [
        (1, "1x1x4", "1x2x4", "output dimension 1 must be 1, got 2"),
        (1, "x128x", "x256x", "expected hidden size = 128, actual output hidden size = 256"),
        (2, "4x32x8", "4x8x8", "num_heads attribute must be less than or equal to input num_heads dimension"),
    ]),
    (("ttnn.nlp_concat_heads", "tensor<2x1x4x24xf32>", "tensor<2x3x4x8xf32>"), [
        (1, "2x1x4x24", "2x1x4x8", "expected output shape (2, 1, 4, 24), got (2, 1, 4, 8)"),
    ]),
    (SPARSE, [
        (0, "nnz = 2", "nnz = 0", "nnz must be greater than 0 when set"),
        (0, "b_sparse = true", "b_sparse = false",
         "At least one of is_input_a_sparse or is_input_b_sparse must be true"),
        (3, "1x4x6", "2x4x6", "Input B first dimension must be 1"),
        (1, "2x3x1x4x5x7", "2x3x4x5x7", "Output must be 6D for dense-sparse mode"),
    ]),
    ((LATENT, "tensor<1x4x32x8xf32>", "tensor<1x4x32x16xf32>", "tensor<1x2x32x16xf32>"), [
        (3, "xf32", "xbf16", "Query and key must have the same element type"),
        (0, "head_dim_v = 8", "head_dim_v = 17", "head_dim_v cannot exceed key's head dim when value is not provided"),
        (3, "1x2x32", "1x3x32", "Query num heads must be divisible by key num heads (GQA/MQA/MLA)"),
    ]),
    ((STATISTICS, "tensor<2x64xf32>", "tensor<2x128xf32>"), [
        (1, "2x64", "2x32",
         "output last dimension must be 64 (2 * TILE_WIDTH) for layernorm partial statistics, got 32"),
    ]),
    (("ttnn.rotary_embedding", *TABLES), [
        (3, "xf32", "xbf16", "cos and sin tensor dtypes must match."),
        (3, "1x1x4", "1x1x8", "cos and sin tensor shapes must match."),
    ]),
    (("ttnn.argmax <{dim = 1 : si32, keep_dim = true}>", "tensor<64x1xi32>", "tensor<64x64xf32>"), [
        (0, "dim = 1", "dim = 3", "dim attribute value 3 is out of range for input tensor of rank 2"),
        (1, "64x1", "64x64", "expected output shape (64, 1), got (64, 64)"),
    ]),
]  # fmt: skip
WRONG = [(valid, *change) for valid, changes in CASES for change in changes]


@pytest.mark.parametrize("valid", [valid for valid, _ in CASES], ids=[valid[0].split()[0] for valid, _ in CASES])
def test_a_valid_operation_is_accepted(valid):
    verify_upstream(parse_upstream(module(*valid)))


@pytest.mark.parametrize(("valid", "at", "old", "new", "message"), WRONG, ids=[each[-1][:40] for each in WRONG])
def test_a_changed_operation_is_refused_at_its_line(valid, at, old, new, message):
    assert old in valid[at]
    error = error_of(module(*valid[:at], valid[at].replace(old, new), *valid[at + 1 :]))
    assert message in error.message
    assert error.location.line == 2


def test_elementwise_operations_whose_operands_broadcast_are_verified():
    assert {"ttir.where", "ttir.gelu", "ttir.atan2"} <= {*CREATIONS}
    text = module("ttir.where", "tensor<1x2xf32>", "tensor<2xi1>", "tensor<2xf32>", "tensor<2xf32>")
    assert "result shape (1, 2) doesn't match expected shape after broadcasting (2)" in error_of(text).message


LAUNCH = """func.func @f(%a: memref<1x1x2x4xf32>, %b: memref<1x1x2x4xf32>) {
  "d2m.generic"(%a, %b) <{block_factors = [1, 1], grid = #ttcore.grid<1x1>,
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = [#ttcore.iterator_type<parallel>, #ttcore.iterator_type<parallel>],
      threads = [#d2m.thread<datamovement>, #d2m.thread<compute>], operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0:
  }, {
  ^bb0:
  }) : (memref<1x1x2x4xf32>, memref<1x1x2x4xf32>) -> ()
  return
}"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "(d0, d1) -> (d0, d1)>]",
            "(d0, d1, d2) -> (d0, d1)>]",
            "indexing maps must have the same number of dimensions",
        ),
        ("block_factors = [1, 1]", "block_factors = [1]", "block factors[1] must match the number of iterators[2]"),
        ("}, {\n  ^bb0:", "}, {\n  ^bb0(%s: i32):", "all regions must have the same number of arguments"),
    ],
)
def test_a_launch_whose_parts_do_not_fit_is_refused(old, new, message):
    verify_upstream(parse_upstream(LAUNCH))
    assert old in LAUNCH
    assert message in error_of(LAUNCH.replace(old, new)).message
