// Leading dimensions that differ are kept; the number of tiles is rounded up.
// CHECK-DAG: #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #map1 = affine_map<(d0, d1, d2) -> (0, d1, d2)>
// CHECK:     d2m.generic {block_factors = [1, 1, 1], grid = #ttcore.grid<1x1x1>, indexing_maps = [#map, #map1, #map]
// CHECK:     ^compute0(%cb0: !d2m.cb<memref<3x2x2x!ttcore.tile<32x32, f32>, #{{.*}}>>, %cb1: !d2m.cb<memref<1x2x2x!ttcore.tile<32x32, f32>

#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 40 + d1, d2), <1x1>, memref<120x50xf32, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<40x50xf32, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @batches(%arg0: tensor<3x40x50xf32, #ttnn_layout>, %arg1: tensor<40x50xf32, #ttnn_layout1>) -> tensor<3x40x50xf32, #ttnn_layout> {
    %0 = "ttir.add"(%arg0, %arg1) {ttnn.hoist_generic_via_d2m} : (tensor<3x40x50xf32, #ttnn_layout>, tensor<40x50xf32, #ttnn_layout1>) -> tensor<3x40x50xf32, #ttnn_layout>
    return %0 : tensor<3x40x50xf32, #ttnn_layout>
  }
}
