#dst = #ttcore.memory_space<dst>
#l1 = #ttnn.buffer_type<l1>
#l1_1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<4x4x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
module {
  func.func @add_tree_8_to_1(%arg0: tensor<1024x1024xbf16, #ttnn_layout>, %arg1: tensor<1024x1024xbf16, #ttnn_layout>, %arg2: tensor<1024x1024xbf16, #ttnn_layout>, %arg3: tensor<1024x1024xbf16, #ttnn_layout>, %arg4: tensor<1024x1024xbf16, #ttnn_layout>, %arg5: tensor<1024x1024xbf16, #ttnn_layout>, %arg6: tensor<1024x1024xbf16, #ttnn_layout>, %arg7: tensor<1024x1024xbf16, #ttnn_layout>) -> tensor<1024x1024xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<1024x1024xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x8>, indexing_maps = [#map, #map, #map, #map, #map, #map, #map, #map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7 : tensor<1024x1024xbf16, #ttnn_layout>, tensor<1024x1024xbf16, #ttnn_layout>, tensor<1024x1024xbf16, #ttnn_layout>, tensor<1024x1024xbf16, #ttnn_layout>, tensor<1024x1024xbf16, #ttnn_layout>, tensor<1024x1024xbf16, #ttnn_layout>, tensor<1024x1024xbf16, #ttnn_layout>, tensor<1024x1024xbf16, #ttnn_layout>)
        outs(%0 : tensor<1024x1024xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb1: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb2: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb3: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb4: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb5: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb6: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb7: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>, %cb8: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>>):
      %2 = d2m.wait %cb0 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %3 = d2m.wait %cb1 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %4 = d2m.wait %cb2 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %5 = d2m.wait %cb3 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %6 = d2m.wait %cb4 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %7 = d2m.wait %cb5 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %8 = d2m.wait %cb6 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %9 = d2m.wait %cb7 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %10 = d2m.reserve %cb8 : <memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>> -> memref<4x4x!ttcore.tile<32x32, bf16>, #l1_1>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
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
          %dst = d2m.acquire_dst() : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
          affine.for %arg10 = 0 to 1 {
            affine.for %arg11 = 0 to 1 {
              %11 = affine.load %subview[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %11, %dst[0, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %12 = affine.load %dst[0, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %13 = affine.load %subview_0[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %13, %dst[1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %14 = affine.load %dst[1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %15 = "d2m.tile_add"(%12, %14) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %15, %dst[%c2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %16 = affine.load %dst[%c2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %17 = affine.load %subview_1[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %17, %dst[0, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %18 = affine.load %dst[0, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %19 = affine.load %subview_2[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %19, %dst[1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %20 = affine.load %dst[1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %21 = "d2m.tile_add"(%18, %20) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %21, %dst[%c3, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %22 = affine.load %dst[%c3, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %23 = "d2m.tile_add"(%16, %22) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %23, %dst[%c0, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %24 = affine.load %dst[%c0, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %25 = affine.load %subview_3[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %25, %dst[2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %26 = affine.load %dst[2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %27 = affine.load %subview_4[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %27, %dst[3, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %28 = affine.load %dst[3, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %29 = "d2m.tile_add"(%26, %28) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %29, %dst[%c1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %30 = affine.load %dst[%c1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %31 = affine.load %subview_5[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %31, %dst[2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %32 = affine.load %dst[2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %33 = affine.load %subview_6[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
              affine.store %33, %dst[3, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %34 = affine.load %dst[3, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %35 = "d2m.tile_add"(%32, %34) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %35, %dst[%c4, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %36 = affine.load %dst[%c4, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %37 = "d2m.tile_add"(%30, %36) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %37, %dst[%c2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %38 = affine.load %dst[%c2, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %39 = "d2m.tile_add"(%24, %38) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %39, %dst[1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
            }
          }
          affine.for %arg10 = 0 to 1 {
            affine.for %arg11 = 0 to 1 {
              %11 = affine.load %dst[1, %arg10, %arg11] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              affine.store %11, %subview_7[%arg10, %arg11] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[4, 1], offset: ?>, #l1_1>
            }
          }
        }
      }
    } : tensor<1024x1024xbf16, #ttnn_layout>
    return %1 : tensor<1024x1024xbf16, #ttnn_layout>
  }
}
