// Device ops are removed; names, types and the hoist attribute are kept; the dtype property is that of the result type.
// CHECK-LABEL: func.func @cosh(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
// CHECK-NOT:     get_device
// CHECK-NEXT:    %0 = "ttir.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
// CHECK-NEXT:    %1 = "ttir.neg"(%arg0) {ttnn.hoist_generic_via_d2m}
// CHECK-NEXT:    %2 = "ttir.exp"(%1) {ttnn.hoist_generic_via_d2m}
// CHECK-NEXT:    %3 = "ttir.add"(%0, %2) {ttnn.hoist_generic_via_d2m}
// CHECK-NEXT:    %4 = "ttir.full"() <{fill_value = 5.000000e-01 : f32, shape = array<i32: 32, 32>}> : () -> tensor<32x32xbf16, #ttnn_layout>
// CHECK-NEXT:    %5 = "ttir.multiply"(%3, %4) {ttnn.hoist_generic_via_d2m}
// CHECK-NEXT:    return %5 : tensor<32x32xbf16, #ttnn_layout>

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @cosh(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttnn.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %1 = "ttnn.neg"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %2 = "ttnn.exp"(%1) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %3 = "ttnn.add"(%0, %2) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %4 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %5 = "ttnn.full"(%4) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16, #ttnn_layout>
    %6 = "ttnn.multiply"(%3, %5) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %6 : tensor<32x32xbf16, #ttnn_layout>
  }
}
