"""Ops of texts run, have the shape and the element type of the text, and agree with their goldens."""

import re
from unittest import mock

import pytest
import torch

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import SteppedRun
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.frontend.ir.texts import entries_of, parse_texts
from ttnn_jit.ops.texts import movement_texts
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.tools.texts.bisect import module_of_op
from ttnn_jit.tools.texts.inputs import draw_inputs

CONVOLUTION = (
    "#ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = 2x3, "
    "kernel_output_feature = 0, kernel_input_feature = 1, kernel_spatial_dimensions = 2x3, output_batch = 0, "
    "output_feature = 1, output_spatial_dimensions = 2x3>"
)
GATHER = (
    "offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, operand_batching_dims = array<i64>, "
    "start_indices_batching_dims = array<i64>, start_index_map = array<i64: 0>, index_vector_dim = 1 : si64, "
    "slice_sizes = array<i64: 1, 6>, indices_are_sorted = false"
)
POOL = (
    "kernel = array<i32: 3, 2>, stride = array<i32: 2, 1>, dilation = array<i32: 1, 1>, "
    "padding = array<i32: 1, 0, 1, 1>"
)
OPS = {
    "add, rounded once": "ttir.add : 3x8xbf16, 3x8xf32 -> 3x8xbf16",
    "comparison to bools": "ttir.lt : 3x8xf32, 3x8xf32 -> 3x8xi1",
    "bools": "ttir.logical_and : 3x8xi1, 3x8xi1 -> 3x8xi1",
    "int64 moved": "ttir.reshape {shape = [8 : i32, 3 : i32]} : 3x8xi64 -> 8x3xi64",
    **{
        f"int64 {name}": f"ttir.{name} : 3x8xi64, 1x8xi64 -> 3x8x{result}"
        for name, result in (("add", "i64"), ("multiply", "i64"), ("maximum", "i64"), ("lt", "i1"), ("ge", "i64"))
    },
    "int64 clamp": "ttir.clamp_tensor : 3x8xi64, 3x8xi64, 3x8xi64 -> 3x8xi64",
    "int64 between int32": "ttir.clamp_tensor : 3x8xi64, 3x8xi32, 3x8xi32 -> 3x8xi32",
    "int64 and int32": "ttir.maximum : 3x8xi64, 3x8xi32 -> 3x8xi64",
    "int64 where": "ttir.where : 3x8xi1, 3x8xi64, 3x8xi64 -> 3x8xi64",
    "where, with a condition of floats": "ttir.where : 3x8xf32, 3x8xf32, 3x8xf32 -> 3x8xf32",
    "int64 to float": "ttir.typecast : 3x8xi64 -> 3x8xf32",
    "padding that cuts": ("ttir.pad {padding = array<i32: 1, 0, -1, -2>, value = 2.0 : f32} : 3x8xf32 -> 4x5xf32"),
    "padding that only cuts": ("ttir.pad {padding = array<i32: 0, -1, 0, -2>, value = 2.0 : f32} : 3x8xf32 -> 2x6xf32"),
    "int32 mean": "ttir.mean {dim_arg = [1 : i32], keep_dim = true} : 3x8xi32 -> 3x1xi32",
    "norm of a sum and its activation": (
        'ttnn.dit_rms_norm_unary_fused {epsilon = 1.0e-5 : f32, activation = "silu",'
        " operandSegmentSizes = array<i32: 1, 1, 1, 1>} : 3x8xf32, 8xf32, 8xf32, 3x8xf32 -> 3x8xf32"
    ),
    "norm of a sum": (
        "ttnn.dit_rms_norm_unary_fused {epsilon = 0.5 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 1>}"
        " : 2x3x8xbf16, 2x3x8xbf16 -> 2x3x8xbf16"
    ),
    "unsigned shift": "ttir.logical_right_shift : 3x8xui32, 3x8xui32 -> 3x8xui32",
    "broadcast": "ttir.broadcast {broadcast_dimensions = array<i64: 3, 1>} : 1x8xf32 -> 3x8xf32",
    "backward slice": (
        "ttir.slice_static {begins = [0 : i32, 7 : i32], ends = [3 : i32, 0 : i32], step = [1 : i32, -2 : i32]}"
        " : 3x8xf32 -> 3x4xf32"
    ),
    "dot_general": (
        "ttir.dot_general {batch_dims_lhs = array<i64: 1>, batch_dims_rhs = array<i64: 0>, contract_dims_lhs ="
        " array<i64: 0>, contract_dims_rhs = array<i64: 2>} : 5x2x3xf32, 2x4x5xf32 -> 2x3x4xf32"
    ),
    **{
        f"group norm of dimension {axis}": (
            f"{dialect}.group_norm {{{given}epsilon = 1.0e-5 : f32, num_groups = 2 : i64, operandSegmentSizes = "
            f"array<i32: 1, 0, 1, 1>}} : {shape}xbf16, {vector}xbf16, {vector}xbf16 -> {shape}xbf16"
        )
        for dialect, axis, given, shape, vector in (
            ("ttir", 1, "channel_dim = 1 : i64, ", "2x6x4x5", "6"),
            ("ttir", 2, "channel_dim = 2 : i64, ", "2x3x6x5", "6"),
            ("ttnn", 3, "core_grid = #ttnn.core_coord<8, 8>, ", "2x1x20x6", "1x1x1x6"),
        )
    },
    "rotation of seven positions in a tile": (
        "ttnn.rotary_embedding : 1x4x7x64xbf16, 1x1x7x64xbf16, 1x1x7x64xbf16 -> 1x4x32x64xbf16"
    ),
    "matmul": "ttir.matmul {transpose_b = true} : 3x8xbf16, 5x8xbf16 -> 3x5xbf16",
    "convolution": (
        f"ttir.convolution {{convolution_layout = {CONVOLUTION}, feature_group_count = 2 : i64, batch_group_count = 1"
        " : i64, input_dilation = array<i64: 2, 1>, padding = array<i64: 1, 0, -1, 1>, weight_dilation ="
        " array<i64: 1, 2>, window_reversal = array<i1: true, false>, window_strides = array<i64: 1, 2>}"
        " : 1x4x5x9xf32, 6x2x3x2xf32 -> 1x6x8x4xf32"
    ),
    "conv2d": (
        "ttir.conv2d {stride = array<i32: 2, 1>, padding = array<i32: 1, 0, 2, 1>, dilation = 1 : i32, groups = 2 :"
        " i32} : 1x6x5x4xf32, 6x2x3x2xf32, 1x1x1x6xf32 -> 1x4x5x6xf32"
    ),
    "conv_transpose2d": (
        "ttir.conv_transpose2d {stride = 2 : i32, padding = array<i32: 1, 0>, output_padding = array<i32: 1, 0>,"
        " dilation = 1 : i32, groups = 1 : i32} : 1x3x4x4xf32, 4x2x3x3xf32 -> 1x6x9x2xf32"
    ),
    "latent attention": (
        "ttnn.flash_mla_prefill {operandSegmentSizes = array<i32: 1, 1, 0, 0>, head_dim_v = 5 : ui32, is_causal = true}"
        " : 2x4x6x8xf32, 2x2x6x8xf32 -> 2x4x6x5xf32"
    ),
    "latent attention with values and a mask": (
        "ttnn.flash_mla_prefill {operandSegmentSizes = array<i32: 1, 1, 1, 1>, head_dim_v = 3 : ui32, is_causal = "
        "false, scale = 0.5 : f32} : 2x4x6x8xbf16, 2x1x7x8xbf16, 2x1x7x3xbf16, 2x1x6x7xbf16 -> 2x4x6x3xbf16"
    ),
    "scores of an indexer": (
        "ttnn.indexer_score_dsa {chunk_start_idx = 2 : ui32} : 2x3x4x8xf32, 2x1x7x8xf32, 2x3x4x1xf32 -> 2x1x4x7xf32"
    ),
    "max_pool2d": f"ttir.max_pool2d {{{POOL}, ceil_mode = false}} : 1x6x5x2xbf16 -> 1x3x5x2xbf16",
    "max_pool2d of integers": (
        "ttir.max_pool2d {kernel = 2 : i32, stride = 2 : i32, dilation = 1 : i32, padding = 1 : i32, ceil_mode = false}"
        " : 1x6x4x2xi32 -> 1x4x3x2xi32"
    ),
    "avg_pool2d": (
        f"ttir.avg_pool2d {{{POOL}, ceil_mode = true, count_include_pad = false}} : 1x6x5x2xf32 -> 1x4x5x2xf32"
    ),
    "mean of windows with much padding": (
        "ttir.avg_pool2d {kernel = array<i32: 3, 2>, stride = array<i32: 1, 2>, dilation = array<i32: 1, 2>, padding ="
        " array<i32: 1, 2, 2, 1>, ceil_mode = true, count_include_pad = false} : 1x6x5x2xbf16 -> 1x7x4x2xbf16"
    ),
    "pooling": (
        "ttir.pooling {pooling_method = #ttir<pooling_method Average>, window_dimensions = array<i64: 1, 2, 2>,"
        " window_strides = array<i64: 1, 2, 1>, base_dilations = array<i64: 1, 1, 1>, window_dilations ="
        " array<i64: 1, 1, 2>, padding = array<i64: 0, 0, 1, 1, 0, 1>} : 2x4x5xf32 -> 2x3x4xf32"
    ),
    "batch_norm": (
        "ttir.batch_norm_inference {epsilon = 1.0e-05 : f32, dimension = 1 : i32}"
        " : 2x3x4xf32, 3xf32, 3xf32, 3xf32, 3xf32 -> 2x3x4xf32"
    ),
    "group_norm of channels in the middle": (
        "ttir.group_norm {num_groups = 2 : i64, epsilon = 1.0e-05 : f32, channel_dim = 1 : i64, operandSegmentSizes ="
        " array<i32: 1, 0, 1, 1>} : 2x6x3x2x4xf32, 6xf32, 6xf32 -> 2x6x3x2x4xf32"
    ),
    "much output padding": (
        "ttir.conv_transpose2d {stride = 1 : i32, padding = 0 : i32, output_padding = array<i32: 2, 3>, dilation = 1 :"
        " i32, groups = 1 : i32} : 1x3x4x4xf32, 4x2x3x3xf32 -> 1x7x9x2xf32"
    ),
    "embedding": "ttir.embedding : 2x4xi32, 1x1x9x5xbf16 -> 2x4x5xbf16",
    "gather of slices": f"ttir.gather {{{GATHER}}} : 7x6xf32, 4xi32 -> 4x6xf32",
    "argmax over two": "ttir.argmax {dim_arg = [0 : i32, 2 : i32], keep_dim = false} : 3x4x5xbf16 -> 4xi32",
    "any": "ttir.reduce_or {dim_arg = [1 : i32], keep_dim = false} : 3x4xbf16 -> 3xbf16",
    "quantize": "ttir.quantize : 3x8xf32 -> 3x8x!quant.uniform<i32:f32, 1.0e-1>",
    "rearrange": 'ttir.rearrange {pattern = "b h w c -> (h b) c w"} : 2x3x4x5xi64 -> 6x5x4xi64',
    "arithmetic shift": "ttir.right_shift : 3x8xi32, 3x8xi32 -> 3x8xi32",
    "dropout": "ttir.dropout {prob = 0.5 : f32, scale = 2.0 : f32, seed = 7 : ui32} : 3x8xbf16 -> 3x8xbf16",
    **{
        f"attention of training, {title}": (
            f"ttir.sdpa_fw {{mask_type = #ttcore.attention_mask_type<{kind}>}} : {queries}, {keys}, {keys}{mask} ->"
            f" {queries}"
        )
        for title, kind, queries, keys, mask in (
            ("causal", "causal", "2x4x5x8xbf16", "2x2x5x8xbf16", ""),
            ("masked", "arbitrary", "2x2x5x8xf32", "2x2x7x8xf32", ", 2x1x5x7xf32"),
            ("whole", "none", "2x2x5x8xf32", "2x2x7x8xf32", ""),
        )
    },
    "where, by a condition of another type": "ttnn.where : 3x8xbf16, 3x8xsi32, 3x8xsi32 -> 3x8xsi32",
    "where, by a condition of the same type": "ttnn.where : 3x8xf32, 3x8xf32, 3x8xf32 -> 3x8xf32",
    "group of ttnn": (
        "ttnn.conv2d {in_channels = 4 : i32, out_channels = 2 : i32, batch_size = 1 : i32, input_height = 5 : i32,"
        " input_width = 4 : i32, kernel_size = array<i32: 3, 2>, stride = array<i32: 1, 1>, padding ="
        " array<i32: 1, 0, 0, 1>, dilation = array<i32: 1, 1>, groups = 2 : i32}"
        " : 1x1x20x4xbf16, 2x2x3x2xbf16 -> 1x1x16x2xbf16"
    ),
}
"""A title -> ``name {attributes} : operands -> result``."""


SEVERAL_RESULTS = {
    "attention with logarithms": (
        "ttir.sdpa_fw",
        "mask_type = #ttcore.attention_mask_type<causal>, return_intermediates = true",
        ["2x4x5x8xf32", "2x2x5x8xf32", "2x2x5x8xf32"],
        ["2x4x5x8xf32", "2x4x5x32xf32"],
    ),
    "gradients of attention": (
        "ttir.sdpa_bw",
        "mask_type = #ttcore.attention_mask_type<causal>",
        ["2x4x5x8xf32", "2x4x5x8xf32", "2x4x5x8xf32", "2x2x5x8xf32", "2x2x5x8xf32", "2x4x5x32xf32"],
        ["2x4x5x8xf32", "2x2x5x8xf32", "2x2x5x8xf32"],
    ),
    "router of experts": (
        "ttir.topk_router_gpt",
        "k = 3 : i32, num_experts = 16 : i32",
        ["5x8xf32", "8x16xf32", "5x16xf32"],
        ["5x3xui16", "5x3xf32"],
    ),
}
"""A title -> name, attributes, operands, results."""


def module_of_several(name: str, attributes: str, operands: list[str], results: list[str]) -> str:
    given, made = ([f"tensor<{each}>" for each in shapes] for shapes in (operands, results))
    arguments = ", ".join(f"%a{index}: {each}" for index, each in enumerate(given))
    values = ", ".join(f"%a{index}" for index, _ in enumerate(given))
    returned = ", ".join(f"%0#{index}" for index, _ in enumerate(made))
    return f"""
    func.func @main({arguments}) -> ({", ".join(made)}) {{
      %0:{len(made)} = "{name}"({values}) <{{{attributes}}}> : ({", ".join(given)}) -> ({", ".join(made)})
      return {returned} : {", ".join(made)}
    }}"""


def module_of(op: str) -> str:
    name, attributes, operands, result = re.fullmatch(r"(\S+)(?: \{(.*)\})? : (.*) -> (.*)", op).groups()
    types = [f"tensor<{each}>" for each in operands.split(", ")]
    arguments = ", ".join(f"%a{index}: {each}" for index, each in enumerate(types))
    values = ", ".join(f"%a{index}" for index, _ in enumerate(types))
    properties = f" <{{{attributes}}}>" if attributes else ""
    return f"""
    func.func @main({arguments}) -> tensor<{result}> {{
      %0 = "{name}"({values}){properties} : ({", ".join(types)}) -> tensor<{result}>
      return %0 : tensor<{result}>
    }}"""


def loaded(text: str, mesh: tuple[int, ...] = (1,), target: str = "cpu") -> TextModule:
    (module,) = parse_texts(text, "text.mlir")
    return TextModule(module, PRESETS[target], mesh)


def checked(module: TextModule, name: str = "main") -> list[torch.Tensor]:
    """The results of a function, each op of which was compared with its golden."""
    program = module.program(name)
    inputs = draw_inputs(module.functions[name], program.arguments, seed=0)
    results = program(*inputs)
    run = GoldenRun(module, name, inputs)
    wrong = [reason for each in run.compared() for reason in each.failures]
    assert not wrong
    for result, spec in zip(results, program.results, strict=True):
        assert result.dtype is spec.dtype.torch
    return results


@pytest.mark.parametrize("op", OPS.values(), ids=OPS.keys())
def test_an_op_agrees_with_its_golden(op):
    checked(loaded(module_of(op)))


@pytest.mark.parametrize("op", SEVERAL_RESULTS.values(), ids=SEVERAL_RESULTS.keys())
def test_all_results_of_an_op_agree_with_their_goldens(op):
    checked(loaded(module_of_several(*op)))


def test_the_golden_of_a_rearrangement_tells_another_order_of_axes(monkeypatch):
    right = movement_texts.rearrangement
    monkeypatch.setattr(movement_texts, "rearrangement", lambda *given: (right(*given)[0][::-1], right(*given)[1]))
    module = loaded(module_of('ttir.rearrange {pattern = "a b c -> (b a) c"} : 4x4x4xf32 -> 16x4xf32'))
    (compared,) = GoldenRun(module, "main", [torch.randn(4, 4, 4)]).compared()
    assert not compared.matches


def test_dropped_elements_are_zero_and_the_others_scaled():
    op = "ttir.dropout {prob = 0.25 : f32, scale = 2.0 : f32, seed = 7 : ui32} : 100x100xf32 -> 100x100xf32"
    x = torch.rand(100, 100) + 1.0
    (found,) = loaded(module_of(op)).program("main")(x)
    dropped = found == 0.0
    assert torch.equal(found[~dropped], 2.0 * x[~dropped])
    assert dropped.float().mean().item() == pytest.approx(0.25, abs=0.02)


def test_masked_keys_have_no_weight():
    shape = "1x1x4x8xf32"
    op = f"ttir.sdpa_fw {{mask_type = #ttcore.attention_mask_type<causal>}} : {shape}, {shape}, {shape} -> {shape}"
    query, key, value = torch.randn(3, 1, 1, 4, 8).unbind()
    (found,) = loaded(module_of(op)).program("main")(query, key, value)
    expected = torch.nn.functional.scaled_dot_product_attention(
        query.double(), key.double(), value.double(), is_causal=True
    )
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-6)
    assert torch.equal(found[0, 0, 0], value[0, 0, 0])


CACHED = """
module {
  func.func private @const_eval(%w: tensor<4x5xf32>) -> tensor<5x4xf32> attributes {tt.function_type = "const_eval"} {
    %0 = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}> : (tensor<4x5xf32>) -> tensor<5x4xf32>
    return %0 : tensor<5x4xf32>
  }
  func.func @main(%x: tensor<3x5xf32>, %w: tensor<4x5xf32>) -> tensor<3x4xf32> {
    %0 = ttcore.load_cached(@const_eval, [%w]) : (tensor<4x5xf32>) -> tensor<5x4xf32>
    %1 = "ttir.matmul"(%x, %0) : (tensor<3x5xf32>, tensor<5x4xf32>) -> tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
}
"""


def test_a_function_of_constants_runs_once_until_its_tensors_change():
    module = loaded(CACHED)
    checked(module)
    x, w = torch.ones(3, 5), torch.ones(4, 5)
    main = module.program("main")
    with mock.patch.object(module.program("const_eval"), "_run", wraps=module.program("const_eval")._run) as run:
        for _ in range(2):
            assert torch.equal(main(x, w)[0], x @ w.T)
        assert run.call_count == 1
        w[0, 0] = 2.0
        assert torch.equal(main(x, w)[0], x @ w.T)
        assert run.call_count == 2


def test_infinities_of_f64_are_compared():
    module = loaded("""
    func.func @main(%x: tensor<4xf32>) -> tensor<4xi1> {
      %0 = "ttir.constant"() <{value = dense<0xFFF0000000000000> : tensor<4xf64>}> : () -> tensor<4xf64>
      %1 = "ttir.typecast"(%x) : (tensor<4xf32>) -> tensor<4xf64>
      %2 = "ttir.eq"(%1, %0) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xi1>
      return %2 : tensor<4xi1>
    }""")
    checked(module)
    x = torch.tensor([1.0, -torch.inf, torch.nan, torch.inf])
    assert module.program("main")(x)[0].tolist() == [False, True, False, False]


def test_destinations_are_written_and_constants_are_read():
    text = """
    func.func @main() -> tensor<2x2xf32> {
      %0 = "ttir.constant"() <{value = dense<[[1.0, -2.0], [3.0, -4.0]]> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
      %1 = ttir.empty() : tensor<2x2xf32>
      %2 = "ttir.relu"(%0, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      return %2 : tensor<2x2xf32>
    }"""
    (result,) = checked(loaded(text))
    assert result.tolist() == [[1.0, 0.0], [3.0, 0.0]]


def test_the_numbers_of_a_constant_may_stand_at_the_end_of_the_text():
    text = """
    func.func @main() -> tensor<2xf32> {
      %0 = "ttir.constant"() <{value = dense_resource<weights> : tensor<2xf32>}> : () -> tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-# dialect_resources: { builtin: { weights: "0x040000000000803F00000040" } } #-}"""
    (result,) = checked(loaded(text))
    assert result.tolist() == [1.0, 2.0]


def test_an_op_without_results_updates_its_operand():
    text = """
    func.func @main(%c: tensor<1x2x4x3xf32>, %x: tensor<1x2x1x3xf32>, %i: tensor<1xi32>) -> tensor<1x2x4x3xf32> {
      "ttir.update_cache"(%c, %x, %i) <{batch_offset = 0 : i32}>
        : (tensor<1x2x4x3xf32>, tensor<1x2x1x3xf32>, tensor<1xi32>) -> ()
      return %c : tensor<1x2x4x3xf32>
    }"""
    cache, row = torch.zeros(1, 2, 4, 3), torch.ones(1, 2, 1, 3)
    (result,) = loaded(text).program("main")(cache, row, torch.tensor([2], dtype=torch.int32))
    assert result.sum(3)[0, 0].tolist() == [0.0, 0.0, 3.0, 0.0]
    assert not cache.any()


SHARDED = """
module {
  func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = "ttir.mesh_shard"(%x) <{shard_dims = array<i64: 0, 1>, shard_shape = array<i64: 2, 3>,
      shard_direction = #ttcore.shard_direction<full_to_shard>, shard_type = #ttcore.shard_type<devices>}>
      : (tensor<4x6xf32>) -> tensor<2x2xf32>
    %1 = "ttir.all_reduce"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}>
      : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = "ttir.mesh_shard"(%1) <{shard_dims = array<i64: 0, 1>, shard_shape = array<i64: 2, 3>,
      shard_direction = #ttcore.shard_direction<shard_to_full>, shard_type = #ttcore.shard_type<devices>}>
      : (tensor<2x2xf32>) -> tensor<4x6xf32>
    return %2 : tensor<4x6xf32>
  }
}
"""


def test_the_devices_of_a_mesh_exchange_their_shards():
    module = loaded(SHARDED, (2, 3))
    checked(module)
    x = torch.arange(24.0).reshape(4, 6)
    (result,) = module.program("main")(x)
    assert torch.equal(result, x.reshape(4, 3, 2).sum(1).repeat(1, 3))


def test_calls_are_followed_and_entries_are_what_nobody_calls():
    text = """
    module {
      func.func @half(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0 = "ttir.add"(%x, %x) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }
      func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0 = call @half(%x) : (tensor<3xf32>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }
    }"""
    module = loaded(text)
    assert entries_of(module.module) == ["main"]
    checked(module)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("ttir.add : 3x8xf80, 3x8xf80 -> 3x8xf80", "tensors of f80 are not computed here"),
        ("ttir.atan2 : 3x8xi64, 3x8xi64 -> 3x8xi64", "`atan2` does not take INT64 tensors"),
        ("ttir.conv2d : 1x6x5x4xf32, 6x4x3x2xf32 -> 1x4x4x6xf32", "it needs the attribute `stride`"),
        ("ttir.relu {slope = 1 : i32} : 3xf32 -> 3xf32", "it has an attribute `slope`, and that is not known here"),
        ("ttir.relu : 3x!quant.uniform<i32:f32,0.1> -> 3x!quant.uniform<i32:f32,0.1>", "it does not compute with"),
        ("ttir.moe_gpt : 3xf32, 3xf32 -> 3xf32", "`ttir.moe_gpt` is not executed here"),
    ],
)
def test_what_is_not_executed_is_refused_by_name_and_place(op, message):
    with pytest.raises(CompileError, match=re.escape(message)) as refused:
        loaded(module_of(op)).program("main")
    assert refused.value.location is not None


def test_one_op_is_written_as_a_module_that_runs():
    (module,) = parse_texts(module_of(OPS["matmul"]), "text.mlir")
    op = next(each for each in module.walk() if each.name == "ttir.matmul")
    checked(TextModule(module_of_op(op), PRESETS["cpu"]))


@pytest.mark.parametrize(
    ("placements", "part", "dims", "override"),
    [
        ("<shard, 0 : i64>, <shard, 1 : i64>", "3x3", "0 : i32, 1 : i32", ""),
        ("<replicate>, <shard, 0 : i64>", "2x9", "1 : i32, 0 : i32", ", mesh_shape_override = [1 : i32, 3 : i32]"),
    ],
)
def test_a_tensor_is_distributed_over_a_mesh_and_aggregated(placements, part, dims, override):
    text = f"""
    func.func @main(%x: tensor<6x9xf32>) -> tensor<6x9xf32> {{
      %d = "ttnn.get_device"() <{{mesh_shape = #ttnn<mesh_shape 2x3>}}> : () -> !ttnn.device
      %0 = "ttnn.distribute_tensor"(%x, %d) <{{mapper_config = #ttnn.mesh_mapper_config<placements = [{placements}]>}}>
        : (tensor<6x9xf32>, !ttnn.device) -> tensor<{part}xf32>
      %1 = "ttnn.exp"(%0) : (tensor<{part}xf32>) -> tensor<{part}xf32>
      %2 = "ttnn.aggregate_tensor"(%1, %d)
        <{{composer_config = #ttnn.mesh_composer_config<dims = [{dims}]{override}>}}>
        : (tensor<{part}xf32>, !ttnn.device) -> tensor<6x9xf32>
      return %2 : tensor<6x9xf32>
    }}"""
    module = loaded(text, mesh=(2, 3))
    checked(module)
    x = torch.randn(6, 9)
    torch.testing.assert_close(module.program("main")(x)[0], x.exp())


def test_marks_in_a_text_change_nothing():
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %0 = "debug.region_start"(%x) <{region_id = "r"}> : (tensor<3xf32>) -> tensor<3xf32>
      "debug.breakpoint"(%0) : (tensor<3xf32>) -> ()
      %1 = "debug.annotate"(%0) <{annotation = "a"}> : (tensor<3xf32>) -> tensor<3xf32>
      return %1 : tensor<3xf32>
    }"""
    x = torch.randn(3)
    assert torch.equal(loaded(text).program("main")(x)[0], x)


def test_a_run_beside_goldens_forgets_values_that_no_later_op_reads():
    module = loaded("""
      func.func private @twice(%a: tensor<4xf32>) -> tensor<4xf32> {
        %0 = "ttir.add"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %1 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
        %1 = "ttir.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
        %2 = "ttir.add"(%1, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %3 = "ttir.exp"(%2) : (tensor<4xf32>) -> tensor<4xf32>
        return %3 : tensor<4xf32>
      }""")
    run = SteppedRun(module, "main", [torch.ones(4)], frees=True)
    held = [len(run.values) for _ in run.steps()]
    assert held == [3, 4, 2, 3, 2]
    assert torch.equal(run.results[0], torch.ones(4))
    assert len(run.values) == 1


def test_an_index_that_the_program_computes_is_held_within_the_table():
    module = loaded("""
      func.func @main(%i: tensor<4xi32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
        %0 = "ttir.add"(%i, %i) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
        %1 = "ttir.embedding"(%0, %w) : (tensor<4xi32>, tensor<3x2xf32>) -> tensor<4x2xf32>
        return %1 : tensor<4x2xf32>
      }""")
    inputs = [torch.tensor([-7, 0, 1, 2**30 - 1], dtype=torch.int32), torch.arange(6.0).reshape(3, 2)]
    assert not [reason for each in GoldenRun(module, "main", inputs).compared() for reason in each.failures]
    assert torch.equal(module.program("main")(*inputs)[0], inputs[1][torch.tensor([0, 0, 2, 2])])
