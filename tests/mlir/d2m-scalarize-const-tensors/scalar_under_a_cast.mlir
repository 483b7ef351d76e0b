// A number needs no cast, and may replace any operand but one.
// CHECK:      [[NUMBER:%.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: [[WIDE:%.*]] = "d2m.tile_typecast"(%in)
// CHECK-NEXT: "d2m.tile_sub"([[NUMBER]], [[WIDE]]) : (f32, !ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>

#dram = #ttnn.buffer_type<dram>
#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x4xbf16, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @f(%arg0: tensor<4x4xbf16, #ttnn_layout>) -> tensor<4x4xbf16, #ttnn_layout> {
    %0 = "ttir.full"() <{fill_value = 5.000000e-01 : f32, shape = array<i32: 4, 4>}> : () -> tensor<4x4xbf16, #ttnn_layout>
    %1 = d2m.empty() : tensor<4x4xbf16, #ttnn_layout>
    %2 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%0, %arg0 : tensor<4x4xbf16, #ttnn_layout>, tensor<4x4xbf16, #ttnn_layout>)
        outs(%1 : tensor<4x4xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb2: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %3 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %4 = d2m.wait %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %5 = d2m.reserve %cb2 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%3, %4 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%5 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %in_0: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %6 = "d2m.tile_typecast"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
        %7 = "d2m.tile_typecast"(%in_0) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
        %8 = "d2m.tile_sub"(%6, %7) : (!ttcore.tile<32x32, f32>, !ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
        %9 = "d2m.tile_typecast"(%8) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %9 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<4x4xbf16, #ttnn_layout>
    return %2 : tensor<4x4xbf16, #ttnn_layout>
  }
}
