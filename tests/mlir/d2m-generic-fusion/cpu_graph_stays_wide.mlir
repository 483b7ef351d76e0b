// On cpu a value with two readers is fused, with one input per tensor; a value that is narrowed only for a store stays wide.
// CHECK:      ins(%arg0 : tensor
// CHECK:      [[WIDE:%.*]] = "d2m.tile_typecast"(%in)
// CHECK-NEXT: [[EXP:%.*]] = "d2m.tile_exp"([[WIDE]])
// CHECK-NEXT: [[NEG:%.*]] = "d2m.tile_neg"([[EXP]])
// CHECK-NEXT: [[SUM:%.*]] = "d2m.tile_add"([[EXP]], [[NEG]])
// CHECK-NEXT: [[NARROW:%.*]] = "d2m.tile_typecast"([[SUM]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
// CHECK-NEXT: linalg.yield [[NARROW]]

#dram = #ttnn.buffer_type<dram>
#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<5x7xbf16, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @f(%arg0: tensor<5x7xbf16, #ttnn_layout>) -> tensor<5x7xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<5x7xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0 : tensor<5x7xbf16, #ttnn_layout>)
        outs(%0 : tensor<5x7xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %6 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %7 = d2m.reserve %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%7 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %8 = "d2m.tile_typecast"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
        %9 = "d2m.tile_exp"(%8) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
        %10 = "d2m.tile_typecast"(%9) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %10 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<5x7xbf16, #ttnn_layout>
    %2 = d2m.empty() : tensor<5x7xbf16, #ttnn_layout>
    %3 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%1 : tensor<5x7xbf16, #ttnn_layout>)
        outs(%2 : tensor<5x7xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %6 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %7 = d2m.reserve %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%7 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %8 = "d2m.tile_typecast"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
        %9 = "d2m.tile_neg"(%8) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
        %10 = "d2m.tile_typecast"(%9) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %10 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<5x7xbf16, #ttnn_layout>
    %4 = d2m.empty() : tensor<5x7xbf16, #ttnn_layout>
    %5 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%1, %3 : tensor<5x7xbf16, #ttnn_layout>, tensor<5x7xbf16, #ttnn_layout>)
        outs(%4 : tensor<5x7xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb2: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %6 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %7 = d2m.wait %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %8 = d2m.reserve %cb2 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%8 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %in_0: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %9 = "d2m.tile_typecast"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
        %10 = "d2m.tile_typecast"(%in_0) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
        %11 = "d2m.tile_add"(%9, %10) : (!ttcore.tile<32x32, f32>, !ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
        %12 = "d2m.tile_typecast"(%11) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %12 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<5x7xbf16, #ttnn_layout>
    return %5 : tensor<5x7xbf16, #ttnn_layout>
  }
}
