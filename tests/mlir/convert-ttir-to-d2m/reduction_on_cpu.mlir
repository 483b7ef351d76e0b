// A reduced dimension is a loop of its own kind, on which the result's index does not depend: elements of rows, R, or
// columns, C, or of leading dimensions. An inner one that is removed is moved to the front, so that tiles of the result
// have the operand's rows and columns. Padding is masked with the identity if the reduced extent is no multiple of 32.
// CHECK-DAG: #[[ALL:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:map[0-9]*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[COLUMN:map[0-9]*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-DAG: #[[TRANSPOSE:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[FRONT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-DAG: #[[WHOLE:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[REST:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d2)>

// CHECK:     func.func @rows
// CHECK-NOT: d2m.mask
// CHECK:     d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#[[ALL]], #[[ROW]]], iterator_types = [#parallel, #reduction]
// CHECK:     ^compute0(%cb0: !d2m.cb<memref<1x3x!ttcore.tile<32x32, f32>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, f32>, #l1>>)
// CHECK:     linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK:     %cst = arith.constant 1.000000e+00 : f32
// CHECK:     "d2m.tile_reduce_sum"(%in, %cst, %out) <{reduce_dim = #d2m<reduce_dim R>}>

// CHECK:     func.func @columns
// CHECK:     %0 = "d2m.view_layout"(%arg0) <{remapping = #[[TRANSPOSE]]}>
// CHECK:     %2 = d2m.mask %0, %1 logical_shape = [50, 64] fill_value = <neginf>
// CHECK:     indexing_maps = [#[[ALL]], #[[COLUMN]]], iterator_types = [#reduction, #parallel]
// CHECK:     ins(%2 :
// CHECK:     [[MAX:%.*]] = "d2m.tile_reduce_max"(%in, %cst, %out) <{reduce_dim = #d2m<reduce_dim C>}> : (!ttcore.tile<32x32, bf16>, f32, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
// CHECK:     "d2m.tile_typecast"([[MAX]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>

// CHECK:     func.func @last_of_three
// CHECK:     "d2m.view_layout"(%arg0) <{remapping = #[[FRONT]]}>
// CHECK-NOT: d2m.mask
// CHECK:     indexing_maps = [#[[WHOLE]], #[[REST]]], iterator_types = [#reduction, #parallel, #parallel]
// CHECK:     "d2m.tile_reduce_sum"(%in, %cst, %out) : (

#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#matrix = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x96xf32, #dram>, <interleaved>>
#sums = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x1xf32, #dram>, <interleaved>>
#narrow = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x50xbf16, #dram>, <interleaved>>
#vector = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x64xbf16, #dram>, <interleaved>>
#box = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 5 + d1, d2), <1x1>, memref<20x50xf32, #dram>, <interleaved>>
#face = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x5xf32, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @rows(%arg0: tensor<64x96xf32, #matrix>) -> tensor<64x1xf32, #sums> {
    %0 = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<64x96xf32, #matrix>) -> tensor<64x1xf32, #sums>
    return %0 : tensor<64x1xf32, #sums>
  }
  func.func @columns(%arg0: tensor<64x50xbf16, #narrow>) -> tensor<64xbf16, #vector> {
    %0 = "ttir.max"(%arg0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<64x50xbf16, #narrow>) -> tensor<64xbf16, #vector>
    return %0 : tensor<64xbf16, #vector>
  }
  func.func @last_of_three(%arg0: tensor<4x5x50xf32, #box>) -> tensor<4x5xf32, #face> {
    %0 = "ttir.sum"(%arg0) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<4x5x50xf32, #box>) -> tensor<4x5xf32, #face>
    return %0 : tensor<4x5xf32, #face>
  }
}
