"""Texts in the syntax of tt-mlir, StableHLO and Shardy, one for each class of syntax."""

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
