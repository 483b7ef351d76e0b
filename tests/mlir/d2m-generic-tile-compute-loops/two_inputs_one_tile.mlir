// From two inputs a block is one tile; a broadcast dimension stays at index 0.
// CHECK:      scf.for %arg2 = %c0 to %c1 step %c1 {
// CHECK-NEXT:   scf.for %arg3 = %c0 to %c1 step %c1 {
// CHECK-NEXT:     memref.subview {{.*}}[%arg2, %arg3] [1, 1] [1, 1]
// CHECK-NEXT:     memref.subview {{.*}}[%c0, %arg3] [1, 1] [1, 1]
// CHECK-NEXT:     memref.subview {{.*}}[%arg2, %arg3] [1, 1] [1, 1]

#dram = #ttnn.buffer_type<dram>
#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @two_inputs(%arg0: tensor<64x64xbf16, #ttnn_layout>, %arg1: tensor<1x64xbf16, #ttnn_layout1>) -> tensor<64x64xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<64x64xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map1, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0, %arg1 : tensor<64x64xbf16, #ttnn_layout>, tensor<1x64xbf16, #ttnn_layout1>)
        outs(%0 : tensor<64x64xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb2: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %2 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %3 = d2m.wait %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %4 = d2m.reserve %cb2 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%4 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %in_0: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %5 = "d2m.tile_bcast"(%in_0) <{bcast_type = #d2m<tile_bcast_type row>}> : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        %6 = "d2m.tile_add"(%in, %5) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %6 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<64x64xbf16, #ttnn_layout>
    return %1 : tensor<64x64xbf16, #ttnn_layout>
  }
}
