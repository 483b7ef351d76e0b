// A deallocate op is not converted: memory is freed automatically.
// CHECK-LABEL: func.func @f
// CHECK-NEXT:    %0 = "ttir.exp"(%arg0)
// CHECK-NEXT:    %1 = "ttir.add"(%0, %arg1)
// CHECK-NEXT:    %2 = "ttir.multiply"(%1, %arg1)
// CHECK-NEXT:    return %2

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<64x64xf32, #ttnn_layout>, %arg1: tensor<64x64xf32, #ttnn_layout>) -> tensor<64x64xf32, #ttnn_layout> {
    %0 = "ttnn.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<64x64xf32, #ttnn_layout>) -> tensor<64x64xf32, #ttnn_layout>
    %1 = "ttnn.add"(%0, %arg1) <{dtype = #ttcore.supportedDataTypes<f32>}> {ttnn.hoist_generic_via_d2m} : (tensor<64x64xf32, #ttnn_layout>, tensor<64x64xf32, #ttnn_layout>) -> tensor<64x64xf32, #ttnn_layout>
    "ttnn.deallocate"(%0) <{force = false}> : (tensor<64x64xf32, #ttnn_layout>) -> ()
    %2 = "ttnn.multiply"(%1, %arg1) <{dtype = #ttcore.supportedDataTypes<f32>}> {ttnn.hoist_generic_via_d2m} : (tensor<64x64xf32, #ttnn_layout>, tensor<64x64xf32, #ttnn_layout>) -> tensor<64x64xf32, #ttnn_layout>
    "ttnn.deallocate"(%1) : (tensor<64x64xf32, #ttnn_layout>) -> ()
    return %2 : tensor<64x64xf32, #ttnn_layout>
  }
}
