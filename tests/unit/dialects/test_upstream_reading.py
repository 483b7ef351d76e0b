"""Texts of tt-mlir become modules: attributes have types, constants stay splats, versions are told apart."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from xdsl.dialects.builtin import TensorType, UnregisteredAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.text.content import content_of
from ttnn_jit.dialects.ttcore import TileType
from ttnn_jit.dialects.ttnn_attributes import TTNNLayoutAttr
from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.formats import parsed_format
from ttnn_jit.dialects.upstream.reading import parse_upstream, pieces_of, read_upstream
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.dialects.upstream.upstream_parser import SplatElementsAttr
from ttnn_jit.dialects.verifier import InvalidModule

TTIR = """
module attributes {tt.device = "x"} {
  func.func @f(%x: tensor<2x8xf32> loc("x")) -> tensor<2x8xf32> {
    %one = "ttir.constant"() <{value = dense<1.0> : tensor<2x8xf32>}> : () -> tensor<2x8xf32>
    %sum = "ttir.add"(%x, %one) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %twice = "ttir.rms_norm"(%sum) <{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 8>,
      operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<2x8xf32>) -> tensor<2x8xf32>
    return %twice : tensor<2x8xf32>
  }
}
"""
TTNN = """
#l1 = #ttnn.buffer_type<l1>
#system = #ttnn.buffer_type<system_memory>
#host = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #system>>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #l1>, <interleaved>>
func.func @f(%x: tensor<32x32xf32, #host>) -> tensor<32x32xsi32, #tiles> {
  %device = "ttnn.get_device"() <{mesh_shape = #ttnn<mesh_shape 2x4>}> : () -> !ttnn.device
  %y = "ttnn.to_device"(%x, %device) <{memory_config = #ttnn.memory_config<#l1, <block_sharded>,
    #ttnn.shard_spec<<[#ttnn.core_range<(0, 0), (7, 3)>]>, <32x32>, <row_major>>>}>
    : (tensor<32x32xf32, #host>, !ttnn.device) -> tensor<32x32xsi32, #tiles>
  return %y : tensor<32x32xsi32, #tiles>
}
"""


def operations(text: str) -> dict[str, Operation]:
    return {op.name: op for op in parse_upstream(text).walk()}


def attribute(text: str) -> object:
    (op,) = parse_upstream(f'"ttir.add"() {{a = {text}}} : () -> ()').ops
    return op.attributes["a"]


def reprinted(text: str) -> str:
    return print_module(parse_upstream(text))


def test_ttir_is_read_with_the_declared_classes_and_a_splat_stays_one_element():
    found = operations(TTIR)
    assert type(found["ttir.add"]).__module__ == "ttnn_jit.dialects.declared_ops"
    constant = found["ttir.constant"].properties["value"]
    assert isinstance(constant, SplatElementsAttr)
    assert str(constant) == "dense<1.000000e+00> : tensor<2x8xf32>"


def test_operands_have_the_names_of_the_table():
    operands = named_operands(operations(TTIR)["ttir.rms_norm"])
    assert {name: len(values) for name, values in operands.items()} == {"input": 1, "weight": 0, "bias": 0}


def test_ttnn_attributes_are_typed():
    found = operations(TTNN)
    config = found["ttnn.to_device"].properties["memory_config"]
    assert config.value("tensorMemoryLayout").value("value") == "block_sharded"
    assert config.value("shardSpec").value("shape").data == (32, 32)
    (host,) = [argument.type.encoding for argument in found["func.func"].body.block.args]
    assert host.value("memref").get_shape() == (32, 32)
    assert host.value("mem_layout") is None


def test_a_declared_attribute_is_of_its_class_if_that_takes_the_text():
    result = operations(TTNN)["ttnn.to_device"].results[0].type
    assert isinstance(result, TensorType)
    assert isinstance(result.encoding, TTNNLayoutAttr)
    assert isinstance(result.encoding.memref.element_type, TileType)


FORMS = {
    "a format with literals, groups and types": """
        func.func @f(%cb: !ttkernel.cb<8, !ttcore.tile<32x32, f32>>, %n: i32, %noc: i8) {
          ttkernel.cb_push_back(%cb, %n) : (!ttkernel.cb<8, !ttcore.tile<32x32, f32>>, i32) -> ()
          %x = "ttkernel.my_x"(%noc) : (i8) -> index
          return
        }""",
    "a cached call and a device module": """
        module {
          ttcore.device_module {
            builtin.module attributes {tt.name = "inner"} {
              func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32>
              func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
                %0 = ttcore.load_cached(@g, [%x]) : (tensor<4xf32>) -> tensor<4xf32>
                return %0 : tensor<4xf32>
              }
            }
          }
          ttcore.cpu_module { builtin.module { } }
        }""",
    "stablehlo": """
        func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>, %p: tensor<2x4xi1>) -> tensor<2xf32> {
          %c = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [DEFAULT, HIGH]
            : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
          %1 = stablehlo.select %p, %0, %0 : tensor<2x4xi1>, tensor<2x4xf32>
          %2 = stablehlo.slice %1 [0:2, 0:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
          %3 = stablehlo.iota dim = 0 : tensor<2x2xf32>
          %4 = stablehlo.compare LT, %2, %3, FLOAT : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
          %5 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1]
            : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
          %6:2 = stablehlo.while(%a = %5, %b = %c) : tensor<2xf32>, tensor<f32>
            cond { %t = stablehlo.constant dense<true> : tensor<i1>
                   stablehlo.return %t : tensor<i1> }
            do { stablehlo.return %a, %b : tensor<2xf32>, tensor<f32> }
          %7 = stablehlo.custom_call @g(%6#0) {backend_config = ""} : (tensor<2xf32>) -> tensor<2xf32>
          %8 = stablehlo.composite "tt.gelu" %7 {decomposition = @g} : (tensor<2xf32>) -> tensor<2xf32>
          return %8 : tensor<2xf32>
        }""",
    "a convolution": """
        func.func @f(%x: tensor<1x8x8x3xf32>, %w: tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32> {
          %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
            window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x8x8x4xf32>
          return %0 : tensor<1x8x8x4xf32>
        }""",
    "shardy": """
        module {
          sdy.mesh @mesh = <["x"=2, "y"=4]>
          func.func @f(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}>}) {
            %0 = sdy.sharding_constraint %x <@mesh, [{"x", ?}p1, {}]> : tensor<8x8xf32>
            %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>]
              out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%a: tensor<4x8xf32>) {
              %2 = sdy.all_gather [{"y":(1)2}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>
              sdy.return %2 : tensor<4x8xf32>
            } : (tensor<8x8xf32>) -> tensor<8x8xf32>
            return
          }
        }""",
    "d2m of both versions": """
        #map = affine_map<(d0, d1) -> (d0, d1)>
        #p = #ttcore.iterator_type<parallel>
        func.func @f(%x: memref<1x1x2x2xf32>, %y: memref<1x1x2x2xf32>, %n: index) {
          d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map],
                       iterator_types = [#p, #p], threads = [#d2m.thread<compute>]}
              ins(%x : memref<1x1x2x2xf32>) outs(%y : memref<1x1x2x2xf32>) additionalArgs(%n : index) {
          ^compute0(%cb: !d2m.cb<memref<2x2xf32>>):
            %in = d2m.wait %cb : <memref<2x2xf32>> -> memref<2x2xf32>
            %c = arith.constant 1 : index
            %v = affine.load %in[%c * 1 + 0, 0] : memref<2x2xf32>
          }
          return
        }""",
    "emitpy": """
        module {
          emitpy.import import "ttnn" as "t"
          emitpy.import from "utils" import "a" as "b", "c"
          emitpy.global @g = #emitpy.opaque<"None">
          func.func @f(%x: !emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor"> {
            %0 = emitpy.call_opaque "ttnn.add"(%x, %x) {args = [0 : index]}
              : (!emitpy.opaque<"ttnn.Tensor">, !emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor">
            return %0 : !emitpy.opaque<"ttnn.Tensor">
          }
        }""",
    "quantized types": """
        func.func @f(%x: tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.5:3, 0.25}>>) -> () {
          %0 = "ttir.dequantize"(%x) : (tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.5:3, 0.25}>>)
            -> tensor<2x3xf32>
          return
        }""",
    "resources and spaces in shapes": """
        func.func @f() -> tensor<2 x 2 x f32> {
          %0 = "ttir.constant"() <{value = dense_resource<weights> : tensor<2x2xf32>}> : () -> tensor<2x2xf32>
          return %0 : tensor<2x2xf32>
        }
        {-# dialect_resources: { builtin: { weights: "0x04000000" } }, external_resources: { x: { y: true } } #-}""",
    "properties in the dictionary of attributes": """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = "ttir.all_gather"(%x) {all_gather_dim = 0 : si32, cluster_axis = 1 : ui32, other}
            : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }""",
}
"""What a text shows -> the text."""


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_an_operation_in_its_own_assembly_is_printed_back_as_an_equal_one(text):
    assert content_of(parse_upstream(reprinted(text))) == content_of(parse_upstream(text))


def test_an_inherent_attribute_is_a_property_wherever_the_text_has_it():
    (gather,) = [
        op for op in parse_upstream(FORMS["properties in the dictionary of attributes"]).walk() if "all" in op.name
    ]
    assert [*gather.properties] == ["all_gather_dim", "cluster_axis"]
    assert [*gather.attributes] == ["other"]


def test_the_resources_of_a_text_are_read():
    assert read_upstream(FORMS["resources and spaces in shapes"]).resources == {("builtin", "weights"): "0x04000000"}


def test_the_format_is_printed_as_mlir_prints_it():
    text = "%0 = stablehlo.slice %arg0 [0:2, 0:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>"
    module = f"func.func @f(%arg0: tensor<2x4xf32>) -> tensor<2x2xf32> {{\n{text}\nreturn %0 : tensor<2x2xf32>\n}}"
    assert f"    {text}\n" in reprinted(module)


@pytest.mark.parametrize("text", [TTIR, TTNN])
def test_a_module_that_is_printed_back_is_equal(text):
    assert content_of(parse_upstream(reprinted(text))) == content_of(parse_upstream(text))


@pytest.mark.parametrize(
    "text",
    [
        "#ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x1xbf16, #ttnn.buffer_type<l1>>, <height_sharded>, "
        "exactGrid = true>",
        "#ttnn.matmul_multi_core_reuse_program_config<compute_with_storage_grid_size = #ttnn.core_coord<7, 8>, "
        "in0_block_w = 2, out_subblock_h = 1, out_subblock_w = 1, per_core_m = 4, per_core_n = 4>",
        "#ttnn.conv2d_config<weights_dtype = bf16, act_block_h_override = 0, enable_kernel_stride_folding = false>",
        "#ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, "
        "collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>",
        "#ttcore.argument_type<parameter>",
        "#ttir.thread<compute>",
        "#ttir<reduce_dim RC>",
        "#d2m.thread<datamovement, @kernel, dm_core = 1>",
        "memref<8x8x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #ttcore.memory_space<l1>>",
        "affine_map<(d0)[s0] -> (d0 * s0 + 1)>",
        "dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>",
        "dense<0x7FC00000> : tensor<2xf32>",
        "dense<true> : tensor<2xi1>",
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>",
    ],
)
def test_an_attribute_is_printed_as_an_equal_one(text):
    op = f'"ttir.add"() {{a = {text}}} : () -> ()'
    read = attribute(text)
    assert not isinstance(read, UnregisteredAttr)
    (again,) = parse_upstream(print_module(parse_upstream(op))).ops
    assert again.attributes["a"] == read


def test_an_alias_that_is_defined_anew_has_its_new_meaning():
    text = """
    #a = #ttcore.grid<1x1>
    "ttir.add"() {g = #a, t = tensor<1xf32, #a>} : () -> ()
    #a = #ttcore.grid<2x2>
    "ttir.add"() {g = #a, t = tensor<1xf32, #a>} : () -> ()
    """
    first, second = (op.attributes for op in parse_upstream(text).ops)
    assert first["g"] != second["g"]
    assert first["t"] != second["t"]


def test_a_body_that_does_not_parse_is_an_error_and_kept_only_on_request():
    text = '"ttir.add"() {a = #ttcore.grid<what is [this]>} : () -> ()'
    with pytest.raises(InvalidModule, match="<string>:1:32"):
        parse_upstream(text)
    reading = read_upstream(text, keep_bodies=True)
    assert reading.kept == ("ttcore.grid",)
    assert "#ttcore.grid<what is [this]>" in print_module(reading.module)


def test_an_unknown_operation_is_refused_with_one_that_is_near():
    with pytest.raises(InvalidModule, match=r"ttir\.addd is not registered") as raised:
        parse_upstream('"ttir.addd"() : () -> ()')
    assert "`ttir.add`" in raised.value.help
    parse_upstream('"other.op"() : () -> ()', allow_unregistered=True)


def test_a_file_is_split_at_its_marks_and_lines_are_counted():
    assert [*pieces_of("a\n// -----\nb\n")] == [(0, "a\n"), (1, "// -----\nb\n")]


def test_every_format_of_the_tables_parses():
    rows = [row for name in tables.operation_names() for row in tables.operation_rows(name)]
    rows += [row for is_type, name in tables.attribute_names() for row in tables.attribute_rows(name, is_type=is_type)]
    formats = {row.format for row in rows} - {"", "C++"}
    assert len(formats) > 300
    for form in formats:
        parsed_format(form)


def test_the_declared_operations_stand_in_the_tables_or_are_additions_of_this_package():
    from ttnn_jit.dialects.ttnn import TTNN as DIALECT

    declared = {op.name for op in DIALECT.operations}
    assert len(declared & {*tables.operation_names()}) > 100


def test_a_function_keeps_its_arguments_and_their_locations():
    (function,) = [op for op in parse_upstream(TTIR).walk() if isinstance(op, FuncOp)]
    assert str(function.body.block.args[0].location) == 'loc("x")'


@pytest.mark.process
def test_nothing_of_the_tables_is_loaded_with_the_package():
    program = """
        import sys, ttnn_jit, ttnn_jit.dialects
        assert not [name for name in sys.modules if name.startswith("ttnn_jit.dialects.upstream")]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)
