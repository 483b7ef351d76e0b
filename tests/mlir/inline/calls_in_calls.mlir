// The innermost bodies come first; private functions that were inlined are removed, public and uncalled ones are kept.
// CHECK:      func.func @main(
// CHECK-NEXT: %0 = "ttir.exp"(%arg0)
// CHECK-NEXT: %1 = "ttir.neg"(%0)
// CHECK-NEXT: %2 = "ttir.exp"(%1)
// CHECK-NEXT: %3 = "ttir.neg"(%2)
// CHECK-NEXT: %4 = "ttir.add"(%3, %1)
// CHECK-NEXT: return %4, %1
// CHECK:      func.func @both(
// CHECK-NEXT: %0 = "ttir.exp"(%arg0)
// CHECK-NEXT: %1 = "ttir.neg"(%0)
// CHECK-NEXT: return %1, %arg0
// CHECK:      func.func private @unused(
// CHECK-NOT:  func.func
// CHECK-NOT:  call

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @main(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) {
    %0:2 = call @both(%arg0) : (tensor<32x32xbf16, #ttnn_layout>) -> (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>)
    %1:2 = call @both(%0#0) : (tensor<32x32xbf16, #ttnn_layout>) -> (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>)
    %2 = "ttir.add"(%1#0, %1#1) : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %2, %0#0 : tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>
  }
  func.func @both(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) {
    %0 = call @exp(%arg0) : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %1 = "ttir.neg"(%0) : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %1, %arg0 : tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>
  }
  func.func private @exp(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttir.exp"(%arg0) : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %0 : tensor<32x32xbf16, #ttnn_layout>
  }
  func.func private @unused(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    return %arg0 : tensor<32x32xbf16, #ttnn_layout>
  }
}
