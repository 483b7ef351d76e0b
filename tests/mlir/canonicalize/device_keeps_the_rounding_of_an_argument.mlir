// Under device numerics the product flushes the argument's denormals and turns its NaN into infinity.
// CHECK: "ttir.multiply"(%arg0
// CHECK: "ttir.neg"

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttir.full"() <{fill_value = 1.000000e+00 : f32, shape = array<i32: 32, 32>}> : () -> tensor<32x32xbf16, #ttnn_layout>
    %1 = "ttir.multiply"(%arg0, %0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %2 = "ttir.neg"(%1) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %2 : tensor<32x32xbf16, #ttnn_layout>
  }
}
