// The index of a broadcast row does not depend on the rows; its first row is copied over the tile.
// CHECK-DAG: #map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #map1 = affine_map<(d0, d1) -> (0, d1)>
// CHECK:     d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map1, #map]
// CHECK:     [[ROW:%.*]] = "d2m.tile_bcast"(%in_0) <{bcast_type = #d2m<tile_bcast_type row>}>
// CHECK:     "d2m.tile_add"(%in, [[ROW]])

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @row_broadcast(%arg0: tensor<64x64xbf16, #ttnn_layout>, %arg1: tensor<1x64xbf16, #ttnn_layout1>) -> tensor<64x64xbf16, #ttnn_layout> {
    %0 = "ttir.add"(%arg0, %arg1) {ttnn.hoist_generic_via_d2m} : (tensor<64x64xbf16, #ttnn_layout>, tensor<1x64xbf16, #ttnn_layout1>) -> tensor<64x64xbf16, #ttnn_layout>
    return %0 : tensor<64x64xbf16, #ttnn_layout>
  }
}
