// One half of the tree is completed before the other starts: five tiles instead of six.
// CHECK: d2m.dst_peak = 5 : i64, d2m.dst_peak_source_order = 6 : i64
// CHECK:      [[A00:%.*]] = "d2m.tile_add"(%in, %in_{{.*}})
// CHECK-NEXT: [[A01:%.*]] = "d2m.tile_add"(%in_{{.*}}, %in_{{.*}})
// CHECK-NEXT: [[A10:%.*]] = "d2m.tile_add"([[A00]], [[A01]])
// CHECK-NEXT: [[A02:%.*]] = "d2m.tile_add"(%in_{{.*}}, %in_{{.*}})
// CHECK-NEXT: [[A03:%.*]] = "d2m.tile_add"(%in_{{.*}}, %in_{{.*}})
// CHECK-NEXT: [[A11:%.*]] = "d2m.tile_add"([[A02]], [[A03]])
// CHECK-NEXT: [[A20:%.*]] = "d2m.tile_add"([[A10]], [[A11]])
// CHECK-NEXT: linalg.yield [[A20]]

#l1 = #ttnn.buffer_type<l1>
#l1_1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x2>, memref<4x4x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
module {
  func.func @add_tree_8_to_1(%arg0: tensor<256x256xbf16, #ttnn_layout>, %arg1: tensor<256x256xbf16, #ttnn_layout>, %arg2: tensor<256x256xbf16, #ttnn_layout>, %arg3: tensor<256x256xbf16, #ttnn_layout>, %arg4: tensor<256x256xbf16, #ttnn_layout>, %arg5: tensor<256x256xbf16, #ttnn_layout>, %arg6: tensor<256x256xbf16, #ttnn_layout>, %arg7: tensor<256x256xbf16, #ttnn_layout>) -> tensor<256x256xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<256x256xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map, #map, #map, #map, #map, #map, #map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7 : tensor<256x256xbf16, #ttnn_layout>, tensor<256x256xbf16, #ttnn_layout>, tensor<256x256xbf16, #ttnn_layout>, tensor<256x256xbf16, #ttnn_layout>, tensor<256x256xbf16, #ttnn_layout>, tensor<256x256xbf16, #ttnn_layout>, tensor<256x256xbf16, #ttnn_layout>, tensor<256x256xbf16, #ttnn_layout>)
        outs(%0 : tensor<256x256xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb1: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb2: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb3: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb4: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb5: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb6: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb7: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb8: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>):
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %2 = d2m.wait %cb0 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %3 = d2m.wait %cb1 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %4 = d2m.wait %cb2 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %5 = d2m.wait %cb3 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %6 = d2m.wait %cb4 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %7 = d2m.wait %cb5 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %8 = d2m.wait %cb6 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %9 = d2m.wait %cb7 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %10 = d2m.reserve %cb8 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      scf.for %arg8 = %c0 to %c4 step %c1 {
        scf.for %arg9 = %c0 to %c4 step %c1 {
          %subview = memref.subview %2[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_0 = memref.subview %3[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_1 = memref.subview %4[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_2 = memref.subview %5[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_3 = memref.subview %6[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_4 = memref.subview %7[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_5 = memref.subview %8[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_6 = memref.subview %9[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          %subview_7 = memref.subview %10[%arg8, %arg9] [1, 1] [1, 1] : memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
          linalg.generic {indexing_maps = [#map, #map, #map, #map, #map, #map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%subview, %subview_0, %subview_1, %subview_2, %subview_3, %subview_4, %subview_5, %subview_6 : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>, memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>) outs(%subview_7 : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>) {
          ^bb0(%in: !ttcore.tile<32x32, bf16>, %in_8: !ttcore.tile<32x32, bf16>, %in_9: !ttcore.tile<32x32, bf16>, %in_10: !ttcore.tile<32x32, bf16>, %in_11: !ttcore.tile<32x32, bf16>, %in_12: !ttcore.tile<32x32, bf16>, %in_13: !ttcore.tile<32x32, bf16>, %in_14: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
            %11 = "d2m.tile_add"(%in, %in_8) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %12 = "d2m.tile_add"(%in_9, %in_10) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %13 = "d2m.tile_add"(%in_11, %in_12) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %14 = "d2m.tile_add"(%in_13, %in_14) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %15 = "d2m.tile_add"(%11, %12) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %16 = "d2m.tile_add"(%13, %14) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            %17 = "d2m.tile_add"(%15, %16) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
            linalg.yield %17 : !ttcore.tile<32x32, bf16>
          }
        }
      }
    } : tensor<256x256xbf16, #ttnn_layout>
    return %1 : tensor<256x256xbf16, #ttnn_layout>
  }
}
