// An op that no kernel contains becomes a ttnn op of the host program.
// CHECK:      %0 = "ttnn.permute"(%arg0) <{permutation = array<i64: 1, 0>}>
// CHECK-NEXT: return %0
// CHECK-NOT:  func.func private

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  func.func @moved(%arg0: tensor<64x32xf32, #ttnn_layout>) -> tensor<32x64xf32, #ttnn_layout1> {
    %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<64x32xf32, #ttnn_layout>) -> tensor<32x64xf32, #ttnn_layout1>
    return %0 : tensor<32x64xf32, #ttnn_layout1>
  }
}
