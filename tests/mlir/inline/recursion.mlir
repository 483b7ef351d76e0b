// Recursive calls cannot be inlined.
// FAILS
// CHECK: @even calls itself: @even -> @odd -> @even
// CHECK: help: a program runs every call once, in order: write the repetitions out

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @even(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = call @odd(%arg0) : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %0 : tensor<32x32xbf16, #ttnn_layout>
  }
  func.func @odd(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = call @even(%arg0) : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %0 : tensor<32x32xbf16, #ttnn_layout>
  }
}
