// Under IEEE numerics readers use the float32 value before packing.
// CHECK:      %0 = "ttir.typecast"(%arg0) : {{.*}}bfp_bf8{{.*}} -> tensor<32x64xbf16,
// CHECK-NEXT: %1 = "ttir.add"(%0, %0) {{.*}} -> tensor<32x64xf32,
// CHECK-NEXT: %2 = "ttir.typecast"(%1) : {{.*}} -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>,
// CHECK-NEXT: %3 = "ttir.exp"(%1) {{.*}} -> tensor<32x64xf32,
// CHECK-NEXT: %4 = "ttir.typecast"(%3) : {{.*}} -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>,
// CHECK-NEXT: return %4


#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @f(%arg0: tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>) -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout> {
    %0 = "ttir.add"(%arg0, %arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>, tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>) -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>
    %1 = "ttir.exp"(%0) {ttnn.hoist_generic_via_d2m} : (tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>) -> tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>
    return %1 : tensor<32x64x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout>
  }
}
