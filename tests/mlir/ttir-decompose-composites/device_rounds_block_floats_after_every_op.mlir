// Under device numerics every operation rounds: packed block floats are unpacked again.
// CHECK:      %0 = "ttir.typecast"(%arg0) : {{.*}}bfp_bf8{{.*}} -> tensor<32x64xbf16,
// CHECK-NEXT: %1 = "ttir.add"(%0, %0) {{.*}} -> tensor<32x64xf32,
// CHECK-NEXT: %2 = "ttir.typecast"(%1) : {{.*}} -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>,
// CHECK-NEXT: %3 = "ttir.typecast"(%2) : {{.*}} -> tensor<32x64xbf16,
// CHECK-NEXT: %4 = "ttir.exp"(%3) {{.*}} -> tensor<32x64xf32,
// CHECK-NEXT: %5 = "ttir.typecast"(%4) : {{.*}} -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>,
// CHECK-NEXT: return %5


#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>) -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout> {
    %0 = "ttir.add"(%arg0, %arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>, tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>) -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>
    %1 = "ttir.exp"(%0) {ttnn.hoist_generic_via_d2m} : (tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>) -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>
    return %1 : tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>
  }
}
