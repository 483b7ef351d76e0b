// Under IEEE numerics a kernel computes in f32 and rounds at the store.
// CHECK:      [[WIDE:%.*]] = "d2m.tile_typecast"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
// CHECK-NEXT: [[TILE:%.*]] = "d2m.tile_exp"([[WIDE]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
// CHECK-NEXT: [[NARROW:%.*]] = "d2m.tile_typecast"([[TILE]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
// CHECK-NEXT: linalg.yield [[NARROW]]

#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<5x7xbf16, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @ieee_casts(%arg0: tensor<5x7xbf16, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout> {
    %0 = "ttir.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<5x7xbf16, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout>
    return %0 : tensor<5x7xbf16, #ttnn_layout>
  }
}
