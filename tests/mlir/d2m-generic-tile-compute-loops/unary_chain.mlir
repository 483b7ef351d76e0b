// A chain takes as large a block as DST holds: 2x4 of 4x4 tiles.
// CHECK-DAG:  %c0 = arith.constant 0 : index
// CHECK-DAG:  %c2 = arith.constant 2 : index
// CHECK-DAG:  %c4 = arith.constant 4 : index
// CHECK:      scf.for %arg1 = %c0 to %c4 step %c2 {
// CHECK-NEXT:   scf.for %arg2 = %c0 to %c4 step %c4 {
// CHECK-NEXT:     %subview = memref.subview {{.*}}[%arg1, %arg2] [2, 4] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #{{.*}}> to memref<2x4x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #{{.*}}>
// CHECK-NEXT:     %subview_0 = memref.subview
// CHECK-NEXT:     linalg.generic {{.*}} ins(%subview : {{.*}}) outs(%subview_0 : {{.*}}) {

#l1 = #ttnn.buffer_type<l1>
#l1_1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<4x4x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
module {
  func.func @unary_chain(%arg0: tensor<1024x1024xbf16, #ttnn_layout>) -> tensor<1024x1024xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<1024x1024xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x8>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0 : tensor<1024x1024xbf16, #ttnn_layout>)
        outs(%0 : tensor<1024x1024xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb1: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>):
      %2 = d2m.wait %cb0 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %3 = d2m.reserve %cb1 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>) outs(%3 : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %4 = "d2m.tile_abs"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        %5 = "d2m.tile_sin"(%4) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %5 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<1024x1024xbf16, #ttnn_layout>
    return %1 : tensor<1024x1024xbf16, #ttnn_layout>
  }
}
