// PASSES: d2m-insert-dst-register-access,d2m-insert-dst-register-access
// FAILS
// A kernel that is already lowered is not lowered again.
// CHECK: Failed to run pass manager: `d2m-insert-dst-register-access`: this d2m.generic holds no linalg.generic

#dram = #ttnn.buffer_type<dram>
#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @f(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<32x32xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], d2m.dst_peak = 1 : i64, d2m.dst_peak_source_order = 1 : i64, grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0 : tensor<32x32xbf16, #ttnn_layout>)
        outs(%0 : tensor<32x32xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %2 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %3 = d2m.reserve %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      scf.for %arg1 = %c0 to %c1 step %c1 {
        scf.for %arg2 = %c0 to %c1 step %c1 {
          %subview = memref.subview %2[%arg1, %arg2] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          %subview_0 = memref.subview %3[%arg1, %arg2] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%subview : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>) outs(%subview_0 : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>) {
          ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
            %4 = "d2m.tile_exp"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            linalg.yield %4 : !ttcore.tile<32x32, bf16>
          }
        }
      }
    } : tensor<32x32xbf16, #ttnn_layout>
    return %1 : tensor<32x32xbf16, #ttnn_layout>
  }
}
