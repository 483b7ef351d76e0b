// DST holds one element type: narrower tiles are widened after their load and narrowed before their store.
// CHECK:      d2m.acquire_dst() : memref<28x1x1x!ttcore.tile<32x32, f32>, #dst>
// CHECK:      [[ROW:%.*]] = affine.load %subview_0[0, %arg5] :
// CHECK-NEXT: [[WIDE:%.*]] = "d2m.tile_typecast"([[ROW]])
// CHECK-NEXT: affine.store [[WIDE]], %dst[
// CHECK:      "d2m.tile_bcast"({{.*}}) <{bcast_type = #d2m<tile_bcast_type row>}> : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
// CHECK:      "d2m.tile_add"
// CHECK:      [[SUM:%.*]] = affine.load %dst[
// CHECK-NEXT: [[NARROW:%.*]] = "d2m.tile_typecast"([[SUM]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
// CHECK-NEXT: affine.store [[NARROW]], %subview_1

#dram = #ttnn.buffer_type<dram>
#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<5x7xbf16, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x7xbf16, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @f(%arg0: tensor<5x7xbf16, #ttnn_layout>, %arg1: tensor<7xbf16, #ttnn_layout1>) -> tensor<5x7xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<5x7xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], d2m.dst_peak = 3 : i64, d2m.dst_peak_source_order = 3 : i64, grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map1, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0, %arg1 : tensor<5x7xbf16, #ttnn_layout>, tensor<7xbf16, #ttnn_layout1>)
        outs(%0 : tensor<5x7xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb2: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %2 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %3 = d2m.wait %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %4 = d2m.reserve %cb2 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      scf.for %arg2 = %c0 to %c1 step %c1 {
        scf.for %arg3 = %c0 to %c1 step %c1 {
          %subview = memref.subview %2[%arg2, %arg3] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          %subview_0 = memref.subview %3[%c0, %arg3] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          %subview_1 = memref.subview %4[%arg2, %arg3] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%subview, %subview_0 : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>) outs(%subview_1 : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>) {
          ^bb0(%in: !ttcore.tile<32x32, bf16>, %in_2: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
            %5 = "d2m.tile_typecast"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
            %6 = "d2m.tile_bcast"(%in_2) <{bcast_type = #d2m<tile_bcast_type row>}> : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %7 = "d2m.tile_typecast"(%6) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
            %8 = "d2m.tile_add"(%5, %7) : (!ttcore.tile<32x32, f32>, !ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
            %9 = "d2m.tile_typecast"(%8) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
            linalg.yield %9 : !ttcore.tile<32x32, bf16>
          }
        }
      }
    } : tensor<5x7xbf16, #ttnn_layout>
    return %1 : tensor<5x7xbf16, #ttnn_layout>
  }
}
