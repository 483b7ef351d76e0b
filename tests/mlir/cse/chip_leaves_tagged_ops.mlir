// Merged constants cost nothing; a merged tagged op would have two users and be stored.
// CHECK: "ttir.exp"(%arg0)
// CHECK-NEXT: %1 = "ttir.full"()
// CHECK-NEXT: %2 = "ttir.multiply"(%0, %1)
// CHECK-NEXT: %3 = "ttir.exp"(%arg0)
// CHECK-NEXT: %4 = "ttir.multiply"(%3, %1)

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttir.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %1 = "ttir.full"() <{fill_value = 5.000000e-01 : f32, shape = array<i32: 32, 32>}> : () -> tensor<32x32xbf16, #ttnn_layout>
    %2 = "ttir.multiply"(%0, %1) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %3 = "ttir.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %4 = "ttir.full"() <{fill_value = 5.000000e-01 : f32, shape = array<i32: 32, 32>}> : () -> tensor<32x32xbf16, #ttnn_layout>
    %5 = "ttir.multiply"(%3, %4) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %6 = "ttir.add"(%2, %5) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %6 : tensor<32x32xbf16, #ttnn_layout>
  }
}
