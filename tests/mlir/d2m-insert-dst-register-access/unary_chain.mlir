// A nest that loads the block, one nest per op, and one that stores; indices are literal for inputs and the final result.
// CHECK:      %dst = d2m.acquire_dst() : memref<1x2x4x!ttcore.tile<32x32, bf16>, #dst>
// CHECK-NEXT: affine.for %arg3 = 0 to 2 {
// CHECK-NEXT:   affine.for %arg4 = 0 to 4 {
// CHECK-NEXT:     [[V:%.*]] = affine.load %subview[%arg3, %arg4] : memref<2x4x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #{{.*}}>
// CHECK-NEXT:     affine.store [[V]], %dst[0, %arg3, %arg4] : memref<1x2x4x!ttcore.tile<32x32, bf16>, #dst>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: affine.for %arg3 = 0 to 2 {
// CHECK-NEXT:   affine.for %arg4 = 0 to 4 {
// CHECK-NEXT:     [[V:%.*]] = affine.load %dst[0, %arg3, %arg4]
// CHECK-NEXT:     [[R:%.*]] = "d2m.tile_abs"([[V]])
// CHECK-NEXT:     affine.store [[R]], %dst[%c0, %arg3, %arg4]
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: affine.for %arg3 = 0 to 2 {
// CHECK-NEXT:   affine.for %arg4 = 0 to 4 {
// CHECK-NEXT:     [[V:%.*]] = affine.load %dst[%c0, %arg3, %arg4]
// CHECK-NEXT:     [[R:%.*]] = "d2m.tile_exp"([[V]])
// CHECK-NEXT:     affine.store [[R]], %dst[0, %arg3, %arg4]
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: affine.for %arg3 = 0 to 2 {
// CHECK-NEXT:   affine.for %arg4 = 0 to 4 {
// CHECK-NEXT:     [[V:%.*]] = affine.load %dst[0, %arg3, %arg4]
// CHECK-NEXT:     affine.store [[V]], %subview_0[%arg3, %arg4]

#l1 = #ttnn.buffer_type<l1>
#l1_1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<4x4x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
module {
  func.func @unary_chain(%arg0: tensor<1024x1024xbf16, #ttnn_layout>) -> tensor<1024x1024xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<1024x1024xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], d2m.dst_peak = 1 : i64, d2m.dst_peak_source_order = 1 : i64, grid = #ttcore.grid<8x8>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0 : tensor<1024x1024xbf16, #ttnn_layout>)
        outs(%0 : tensor<1024x1024xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb1: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>):
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c2 = arith.constant 2 : index
      %2 = d2m.wait %cb0 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %3 = d2m.reserve %cb1 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      scf.for %arg1 = %c0 to %c4 step %c2 {
        scf.for %arg2 = %c0 to %c4 step %c4 {
          %subview = memref.subview %2[%arg1, %arg2] [2, 4] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<2x4x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_0 = memref.subview %3[%arg1, %arg2] [2, 4] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<2x4x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%subview : memref<2x4x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>) outs(%subview_0 : memref<2x4x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>) {
          ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
            %4 = "d2m.tile_abs"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %5 = "d2m.tile_exp"(%4) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            linalg.yield %5 : !ttcore.tile<32x32, bf16>
          }
        }
      }
    } : tensor<1024x1024xbf16, #ttnn_layout>
    return %1 : tensor<1024x1024xbf16, #ttnn_layout>
  }
}
