// TTIR has different names for some ops; numbers stay properties; an op without the hoist attribute gets none.
// CHECK:      %0 = "ttir.div"(%arg0, %arg1) {ttnn.hoist_generic_via_d2m}
// CHECK-NEXT: %1 = "ttir.pow"(%0, %arg1) : (tensor
// CHECK-NEXT: %2 = "ttir.clamp_scalar"(%1) <{max = {{.*}} : f32, min = {{.*}} : f32}> {ttnn.hoist_generic_via_d2m}

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<32x32xbf16, #ttnn_layout>, %arg1: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttnn.divide"(%arg0, %arg1) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %1 = "ttnn.pow_tensor"(%0, %arg1) : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %2 = "ttnn.clamp_scalar"(%1) <{max = 3.40282347E+38 : f32, min = -3.40282347E+38 : f32}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %2 : tensor<32x32xbf16, #ttnn_layout>
  }
}
