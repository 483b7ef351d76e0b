"""Upstream texts are refused in tt-mlir's words: counts, attributes and types of ODS, and rules of families."""

from __future__ import annotations

import re

import pytest

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.reading import parse_upstream
from ttnn_jit.dialects.upstream.rules import RULES
from ttnn_jit.dialects.upstream.verifying import verify_upstream
from ttnn_jit.dialects.verifier import InvalidModule


def module(op, results, *operands):
    arguments = ", ".join(f"%{index}: {type_}" for index, type_ in enumerate(operands))
    name, _, rest = op.partition(" ")
    values = ", ".join(f"%{index}" for index in range(len(operands)))
    return (
        f"func.func @f({arguments}) {{\n"
        f'  %r:{results.count("tensor")} = "{name}"({values}) {rest} : ({", ".join(operands)}) -> ({results})\n'
        "  return\n}"
    )


def error_of(text):
    with pytest.raises(InvalidModule) as raised:
        verify_upstream(parse_upstream(text))
    return raised.value


VALID = [
    module("ttir.matmul", "tensor<5x2x4xf32>", "tensor<5x2x3xf32>", "tensor<3x4xf32>"),
    module(
        "ttir.max_pool2d <{kernel = array<i32: 3, 3>, stride = 2 : i32, dilation = 1 : i32, padding = 1 : i32, "
        "ceil_mode = false}>",
        "tensor<1x4x4x8xf32>",
        "tensor<1x8x8x8xf32>",
    ),
    module(
        "ttir.slice_static <{begins = [0 : i32, -4 : i32], ends = [2 : i32, 8 : i32], step = [1 : i32, 2 : i32]}>",
        "tensor<2x2xf32>",
        "tensor<2x8xf32>",
    ),
    module("ttir.sum <{keep_dim = true, dim_arg = [-1 : i32]}>", "tensor<2x1xf32>", "tensor<2x8xf32>"),
    module(
        "ttir.conv2d <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}>",
        "tensor<1x6x6x4xf32>",
        "tensor<1x8x8x3xf32>",
        "tensor<4x3x3x3xf32>",
    ),
]

INPUT_4D = "tensor<1x2x1x8xf32>"
DISPATCHED = f"{INPUT_4D}, tensor<1x2x1x2xi32>"


def router(chosen, output):
    return module(
        f"ttir.topk_router_gpt <{{k = {chosen} : i32, num_experts = 16 : i32}}>",
        f"{output}, tensor<4x2xf32>",
        "tensor<4x8xf32>",
        "tensor<8x16xf32>",
        "tensor<4x16xf32>",
    )


def dispatch(attributes, indices="tensor<1x2x1x2xi32>"):
    return module(f"ttir.all_to_all_dispatch <{{{attributes}}}>", DISPATCHED, INPUT_4D, indices, "tensor<1x1x4x2xi32>")


def concat_into_destination(dim):
    return f"""
        func.func @f(%x: tensor<2x4xf32>) -> tensor<4x4xf32> {{
          %to = ttir.empty() : tensor<4x4xf32>
          %0 = "ttir.concat"(%x, %x, %to) <{{dim = {dim} : si32}}>
            : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
          return %0 : tensor<4x4xf32>
        }}"""


def chunked(query="2x8x64x64xbf16", cache="128x2x32x64xbf16", table="2x16xi32", start="1xi32"):
    types = [f"tensor<{each}>" for each in (query, cache, cache, table, start, query)]
    return module("ttir.chunked_scaled_dot_product_attention", types[0], *types)


def fill(heads, batch, *indices):
    types = "tensor<8x2x32x64xbf16>", f"tensor<{batch}x{heads}x65x64xbf16>", "tensor<4x16xi32>"
    return module("ttir.paged_fill_cache", types[0], *types, *indices)


def tt_lang(roles, results="tensor<4xf32>"):
    operands = ["tensor<4xf32>"] * 2
    attributes = f'kernel_id = "k", version_tag = "1", arg_roles = "{roles}", shard_spec = ""'
    return module(f"ttir.tt_lang_op <{{{attributes}}}>", results, *operands)


def sampled(batch):
    of_rows = [f"tensor<{batch}x{dtype}>" for dtype in ("i32", "f32", "f32")]
    return module(
        "ttnn.sampling", f"tensor<{batch}xi32>", f"tensor<{batch}x64xbf16>", f"tensor<{batch}x64xi32>", *of_rows
    )


def expression(body, yielded):
    return f"""
        func.func @f(%x: !emitpy.opaque<"float">) -> !emitpy.opaque<"float"> {{
          %0 = emitpy.expression(%x) : (!emitpy.opaque<"float">) -> !emitpy.opaque<"float"> {{
          ^bb0(%a: !emitpy.opaque<"float">):
            {body}
            emitpy.yield {yielded} : !emitpy.opaque<"float">
          }}
          return %0 : !emitpy.opaque<"float">
        }}"""


def called(result, *operands):
    types = ", ".join(['!emitpy.opaque<"float">'] * len(operands))
    return f'{result} = emitpy.call_opaque "g"({", ".join(operands)}) : ({types}) -> !emitpy.opaque<"float">'


def subscripts(count):
    """A chain in which each value is used twice: twice as many paths with each of them."""
    lines = [
        f"%s{index + 1} = emitpy.subscript %s{index}[%s{index}]"
        ' : (!emitpy.opaque<"float">, !emitpy.opaque<"float">) -> !emitpy.opaque<"float">'
        for index in range(count)
    ]
    return expression("\n".join(lines).replace("%s0[%s0]", "%a[%a]"), f"%s{count}")


def condition(text, *operands):
    values = f"args {', '.join(operands)} : ({', '.join(['i1'] * len(operands))})" if operands else ""
    return f"""
        func.func @f(%x: i1) {{
          emitpy.if "{text}" {values} {{ emitpy.call_opaque "g"() : () -> () }}
          return
        }}"""


def global_statement(name):
    return f"""
        module {{
          emitpy.global @known = #emitpy.opaque<"None">
          func.func @f() {{
            %0 = emitpy.global_statement @{name} : !emitpy.opaque<"int">
            return
          }}
        }}"""


def spatial(last, shape, mapping=""):
    layout = (
        "#ttcore.metal_layout<logical_shape = 128x128, dim_alignments = 32x32, collapsed_intervals = "
        "dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>"
    )
    tensor = f"tensor<1x1x2x2x!ttcore.tile<32x32, f32>, {layout}>"
    return f"""
        func.func @f(%0: {tensor}) -> {tensor} {{
          %1 = d2m.spatial {{grid_ranges = [#ttcore.core_range<(0, 0), {last}>]}}
              ins() outs(%0 : {tensor}) {{
            ^region_0:
              %2 = d2m.generic {{
                block_factors = [1, 1], grid = #ttcore.grid<{shape}{mapping}>,
                indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
                iterator_types = [#ttcore.iterator_type<parallel>, #ttcore.iterator_type<parallel>],
                threads = [#d2m.thread<unified>]
              }} ins() outs(%0 : {tensor}) {{
                %out = tensor.empty() : tensor<1x1x!ttcore.tile<32x32, f32>>
                d2m.yield %out : (tensor<1x1x!ttcore.tile<32x32, f32>>)
              }} : {tensor}
              d2m.spatial_yield %2 : ({tensor})
          }} : {tensor}
          return %1 : {tensor}
        }}"""


TRANSPOSED = ", virt_to_physical_map = (d0, d1) -> (0, d1, d0), physical_to_virt_map = (d0, d1) -> (0, d1, d0)"

VALID += [
    chunked(),
    fill(6, 1),
    fill(2, 4, "tensor<4xi32>"),
    tt_lang("in,out"),
    sampled(32),
    subscripts(3),
    condition("{} is None", "%x"),
    global_statement("known"),
    spatial("(1, 3)", "2x4"),
    spatial("(1, 3)", "4x2", TRANSPOSED),
    module(  # MLIR ignores sizes of segments where an operation has none
        "ttir.add <{operandSegmentSizes = array<i32: 2, 0>}>", "tensor<4xf32>", "tensor<4xf32>", "tensor<4xf32>"
    ),
    concat_into_destination(0),
    router(2, "tensor<4x2xui16>"),
    dispatch("num_devices = 2 : i64, cluster_axis = 0 : i64"),
    module("ttir.bitcast_convert", "tensor<4xi32>", "tensor<4xf32>"),
    module("ttir.gather <{dim = -1 : i32}>", "tensor<2x3xf32>", "tensor<2x8xf32>", "tensor<2x3xi32>"),
]


WRONG = [
    (chunked(query="2x8x64xbf16"), "op Query must be a 4D tensor."),
    (chunked(start="2xi32"), "op Chunk start index must have shape [1] (a single prefix offset shared by all users)."),
    (chunked(table="2x16xf32"), "op Page table must be an integer tensor."),
    (chunked(cache="128x2x32x32xbf16"), "op Query head size must match key/value head size."),
    (chunked(cache="128x3x32x64xbf16"), "op Query num heads must be divisible by key/value num heads."),
    (chunked(cache="128x2x30x64xbf16"), "op Key/value block size must be divisible by 32."),
    (chunked(table="4x16xi32"), "op Page table number of users must match query number of users."),
    (fill(3, 1), "op Input must have the same number of heads as the cache."),
    (fill(2, 4), "op Input batch must be statically 1 when no batch_idx_tensor is provided, got 4"),
    (fill(2, 4, "tensor<3xi32>"), "op Batch index tensor must have dim 0 equal to input batch (4), got 3"),
    (tt_lang("in,in", "tensor<4xf32>"), 'op number of "out" roles (0) must match number of results (1).'),
    (tt_lang("in,in,out"), "op `arg_roles` token count (3) must match number of inputs (2)."),
    (tt_lang("out,in"), 'op `arg_roles` must list all "in" operands before any "out" operand'),
    (tt_lang("in,inout"), 'op `arg_roles` token must be "in" or "out", got: "inout".'),
    (sampled(33), "'ttnn.sampling' op batch (33) must be in [1, 32] (kernel limit)"),
    (expression("", "%a"), "'emitpy.expression' op yielded value has no defining op"),
    (
        expression("\n".join([called("%s", "%a"), called("%unused", "%a")]), "%s"),
        "'emitpy.expression' op contains an unused operation",
    ),
    (
        expression("\n".join([called("%s", "%a"), called("%t", "%s", "%s")]), "%t"),
        "'emitpy.expression' op requires exactly one use for operations with side effects",
    ),
    (condition(""), "'emitpy.if' op condition string must not be empty"),
    (condition("{} and {}", "%x"), "op requires operands for each placeholder in the condition string"),
    (condition("{x", "%x"), "'emitpy.if' op expected '}' after unescaped '{'"),
    (global_statement("unknown"), "'emitpy.global_statement' op 'unknown' does not reference a valid emitpy.global"),
    (
        spatial("(1, 3)", "3x4"),
        "'d2m.spatial' op generic op grid shape [3, 4] exceeds region CoreRange shape [2, 4]",
    ),
    (
        spatial("(1, 3)", "2x4", TRANSPOSED),
        "'d2m.spatial' op generic op grid not contained in region grid_ranges [0, 0] to [1, 3]",
    ),
    (concat_into_destination(2), "'ttir.concat' op Invalid dimension 2 for concatenation."),
    (router(0, "tensor<4x2xui16>"), "'ttir.topk_router_gpt' op k must be positive, but got: 0"),
    (router(2, "tensor<4x3xui16>"), "'ttir.topk_router_gpt' op expert_indices dim 1 (3) must equal k (2)"),
    (
        dispatch("num_devices = 2 : i64, cluster_axis = 2 : i64"),
        "'ttir.all_to_all_dispatch' op cluster_axis must be 0 or 1",
    ),
    (
        dispatch("num_devices = 2 : i64, cluster_axis = 0 : i64", "tensor<2x2xi32>"),
        "'ttir.all_to_all_dispatch' op expert_indices must be a 4D tensor [B, S, 1, K]",
    ),
    (
        module("ttir.bitcast_convert", "tensor<4xi16>", "tensor<4xf32>"),
        "'ttir.bitcast_convert' op Input and output tensor element types must have the same bit width",
    ),
    (
        module("ttir.gather <{dim = 2 : i32}>", "tensor<2x3xf32>", "tensor<2x8xf32>", "tensor<2x3xi32>"),
        "'ttir.gather' op Dimension must be in the range [-2, 2), got dim = 2",
    ),
    (module("ttir.abs", "tensor<4xf32>"), "'ttir.abs' op requires a single operand"),
    (module("ttir.add", "tensor<4xf32>", "tensor<4xf32>"), "'ttir.add' op expected 2 operands, but found 1"),
    (module("ttir.concat", "tensor<4xf32>", "tensor<4xf32>"), "'ttir.concat' op requires attribute 'dim'"),
    (
        module("ttir.concat <{dim = 0 : i64}>", "tensor<4xf32>", "tensor<4xf32>"),
        "'ttir.concat' op attribute 'dim' failed to satisfy constraint: 32-bit signed integer attribute",
    ),
    (
        module("ttir.abs", "tensor<4xf32>", "i32"),
        "'ttir.abs' op operand #0 must be ranked tensor of any type values, but got 'i32'",
    ),
    (
        module("ttir.matmul", "tensor<2x4xf32>", "tensor<2x3xf32>", "tensor<4x4xf32>"),
        "'ttir.matmul' op Input A[-1](3) and B[-2](4) must have matching inner dimensions",
    ),
    (
        module("ttir.linear", "tensor<2x4xf32>", "tensor<2x3xf32>", "tensor<3x4xf32>", "tensor<3xf32>"),
        "'ttir.linear' op Bias shape(3) is not broadcast compatible with the matmul output shape(2,4)",
    ),
    (
        VALID[1].replace("tensor<1x4x4x8xf32>", "tensor<1x5x4x8xf32>"),
        "'ttir.max_pool2d' op output tensor height and width dimension (5, 4) do not match the expected dimensions "
        "(4, 4)",
    ),
    (
        VALID[2].replace("2 : i32]}>", "0 : i32]}>"),
        "'ttir.slice_static' op Step value for dimension 1 cannot be zero",
    ),
    (
        VALID[3].replace("-1 : i32", "2 : i32"),
        "'ttir.sum' op Reduce dimension 2 is out of range for input tensor of rank 2",
    ),
    (
        VALID[4].replace("groups = 1", "groups = 2"),
        "'ttir.conv2d' op The number of input channels from the input tensor (3) is not divisible by the number of "
        "groups (2).",
    ),
    (
        module("ttir.reshape <{shape = [2 : i32, 3 : i32]}>", "tensor<2x3xf32>", "tensor<2x4xf32>"),
        "'ttir.reshape' op Input tensor number of elements 8 and output tensor number of elements 6 must be the same",
    ),
    (
        module(
            "ttir.collective_permute <{source_target_pairs = dense<[[0, 1], [0, 2]]> : tensor<2x2xi64>}>",
            "tensor<4xf32>",
            "tensor<4xf32>",
        ),
        "'ttir.collective_permute' op There are duplicate 'src' or 'dest' devices in source target pairs",
    ),
    (
        module("ttir.dequantize", "tensor<4xi8>", "tensor<4x!quant.uniform<i8:f32, 0.5>>"),
        "'ttir.dequantize' op Output element type must be float, but got 'i8'",
    ),
    (
        "func.func @f(%x: tensor<4xf32>) -> tensor<2xf32> { return %x : tensor<4xf32> }",
        "type of return operand 0 ('tensor<4xf32>') doesn't match function result type",
    ),
    ("func.func @f() { func.call @g() : () -> () return }", "'g' does not reference a valid function"),
    (
        'func.func @f() { %0 = "ttir.abs"(%1) : (tensor<4xf32>) -> tensor<4xf32>\n'
        '  %1 = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>\n  return }',
        "'ttir.abs' op operand #0 does not dominate this use",
    ),
]


@pytest.mark.parametrize("text", VALID)
def test_a_valid_operation_is_accepted(text):
    verify_upstream(parse_upstream(text))


@pytest.mark.parametrize(("text", "message"), WRONG, ids=[message[:50] for _, message in WRONG])
def test_an_invalid_operation_is_refused_in_the_words_of_tt_mlir_at_its_line(text, message):
    error = error_of(text)
    assert message in error.message
    assert error.location is not None


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (
            "#ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32, collapsed_intervals = "
            "dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>",
            "dim_alignments size (1) must match logical_shape rank (2)",
        ),
        (
            "#ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = "
            "dense<[[0, 3]]> : tensor<1x2xi64>, l1, sharded>",
            "collapsed_intervals end index 3 (normalized: 3) is out of bounds for logical_shape rank 2",
        ),
        (
            "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #ttnn.buffer_type<system_memory>>, "
            "<interleaved>>",
            "Memory layout is not allowed for SystemMemory buffer type.",
        ),
        (
            "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #ttnn.buffer_type<dram>>>",
            "Memory layout is required for non-SystemMemory buffer type.",
        ),
    ],
)
def test_an_invalid_attribute_is_refused_where_it_stands(attribute, message):
    with pytest.raises(InvalidModule, match=f"<string>:1:.*{re.escape(message)}"):
        parse_upstream(f'"ttir.abs"() {{a = {attribute}}} : () -> ()')


def test_an_operation_that_one_version_takes_is_accepted():
    of_2025 = module(
        "ttir.conv2d <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}>",
        "tensor<1x6x6x4xf32>",
        "tensor<1x8x8x3xf32>",
        "tensor<4x3x3x3xf32>",
    )
    verify_upstream(parse_upstream(of_2025))
    verify_upstream(parse_upstream(of_2025.replace("groups = 1 : i32", "groups = 1 : i32, channel_dim = 3 : i64")))


def test_an_expression_with_many_paths_is_verified_in_time_linear_in_its_operations():
    verify_upstream(parse_upstream(subscripts(200)))


def test_every_rule_is_one_of_an_operation_of_the_tables():
    of_xdsl = {"func.func"}
    assert {*RULES} - of_xdsl <= {*tables.operation_names()}


def test_the_first_error_of_each_function_is_told():
    text = """
    func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = "ttir.reshape"(%x) <{shape = [7 : i32]}> : (tensor<2x3xf32>) -> tensor<7xf32>
      %1 = "ttir.reshape"(%x) <{shape = [8 : i32]}> : (tensor<2x3xf32>) -> tensor<8xf32>
      return %x : tensor<2x3xf32>
    }
    func.func @g(%x: tensor<2x3xf32>) -> tensor<2x3xf32> { return %x : tensor<2x3xf32> }
    func.func @h(%x: tensor<2x3xf32>) -> tensor<9xf32> {
      %0 = "ttir.reshape"(%x) <{shape = [9 : i32]}> : (tensor<2x3xf32>) -> tensor<9xf32>
      return %0 : tensor<9xf32>
    }"""
    with pytest.raises(InvalidModule) as caught:
        verify_upstream(parse_upstream(text))
    (further,) = caught.value.further
    assert [each.location.line for each in (caught.value, further)] == [3, 9]


TILED = (
    "tensor<32x32x!ttcore.tile<32x32, bfp_bf8>, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, "
    "memref<1x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>>"
)


@pytest.mark.parametrize(
    ("kind", "line", "said"),
    [
        (
            TILED,
            f'%0 = "ttnn.abs"(%x) : ({TILED}) -> {TILED}',
            "must match the scalar element type from encoding. Element type: '!ttcore.tile<32x32, bfp_bf8>', "
            "Scalar element type: 'bf16'",
        ),
        (
            "!ttcore.dict",
            '"ttcore.set_key_value"(%x) <{key = "k"}> : (!ttcore.dict) -> ()',
            "requires at least one value",
        ),
        (
            "i32",
            '%0 = arith.constant 16 : i32 "ttkernel.noc_async_read_barrier_with_trid"(%0) : (i32) -> ()',
            "trid must be in [0, 15].",
        ),
    ],
    ids=["block floats", "pairs", "transaction"],
)
def test_rules_of_layouts_pairs_and_transactions(kind, line, said):
    with pytest.raises(InvalidModule, match=re.escape(said)):
        verify_upstream(parse_upstream(f"func.func @f(%x: {kind}) {{ {line} return }}"))


METHOD = "module {{ emitpy.class @C {{ func.func @{}(%self: {}) {} {{ return }} }} }}"


@pytest.mark.parametrize(
    ("name", "kind", "attributes", "said"),
    [
        ("f", '!emitpy.class<"C">', "", ""),
        ("f", '!emitpy.class<"D">', "", "self type must match class name 'C'"),
        ("f", '!emitpy.opaque<"C">', "", "self argument must have !emitpy.class type"),
        ("f", '!emitpy.opaque<"C">', 'attributes {emitpy.method_kind = "staticmethod"}', ""),
        ("f", '!emitpy.opaque<"C">', 'attributes {emitpy.method_kind = "other"}', "emitpy.method_kind must be one of"),
        ("__init__", '!emitpy.class<"C">', 'attributes {emitpy.method_kind = "classmethod"}', "must be an instance"),
    ],
)
def test_methods_of_classes_have_their_receivers(name, kind, attributes, said):
    module = parse_upstream(METHOD.format(name, kind, attributes))
    if not said:
        verify_upstream(module)
        return
    with pytest.raises(InvalidModule, match=re.escape(said)):
        verify_upstream(module)
