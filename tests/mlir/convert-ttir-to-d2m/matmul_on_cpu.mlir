// The contracted dimension is a reduction; an operand's map omits batch dimensions that it lacks; a transposed operand
// is read through a view. Products of vectors remain operations of the host program.
// CHECK-DAG: #[[TRANSPOSE:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[ROWS:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[COLUMNS:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-DAG: #[[RESULT:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK:     func.func @mm
// CHECK:     %1 = d2m.mask %arg0, %0 logical_shape = [2, 64, 50] fill_value = <zero>
// CHECK:     %2 = "d2m.view_layout"(%arg1) <{remapping = #[[TRANSPOSE]]}>
// CHECK:     %4 = d2m.mask %2, %3 logical_shape = [50, 70] fill_value = <zero>
// CHECK:     d2m.generic {block_factors = [1, 1, 1, 1], grid = #ttcore.grid<1x1x1>, indexing_maps = [#[[ROWS]], #[[COLUMNS]], #[[RESULT]]], iterator_types = [#parallel, #parallel, #parallel, #reduction]
// CHECK:     ins(%1, %4 :
// CHECK:     ^compute0(%cb0: !d2m.cb<memref<2x2x2x!ttcore.tile<32x32, f32>, #l1>>, %cb1: !d2m.cb<memref<2x3x!ttcore.tile<32x32, f32>, #l1>>, %cb2: !d2m.cb<memref<2x2x3x!ttcore.tile<32x32, f32>, #l1>>)
// CHECK:     "d2m.tile_matmul"(%in, %in_0, %out)
// CHECK:     func.func @of_a_vector
// CHECK:     "ttir.matmul"

#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#rows = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<128x50xf32, #dram>, <interleaved>>
#columns = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<70x50xf32, #dram>, <interleaved>>
#product = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<128x70xf32, #dram>, <interleaved>>
#vector = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x50xf32, #dram>, <interleaved>>
#result = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x70xf32, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @mm(%arg0: tensor<2x64x50xf32, #rows>, %arg1: tensor<70x50xf32, #columns>) -> tensor<2x64x70xf32, #product> {
    %0 = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}> : (tensor<2x64x50xf32, #rows>, tensor<70x50xf32, #columns>) -> tensor<2x64x70xf32, #product>
    return %0 : tensor<2x64x70xf32, #product>
  }
  func.func @of_a_vector(%arg0: tensor<70x50xf32, #columns>, %arg1: tensor<50xf32, #vector>) -> tensor<70xf32, #result> {
    %0 = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<70x50xf32, #columns>, tensor<50xf32, #vector>) -> tensor<70xf32, #result>
    return %0 : tensor<70xf32, #result>
  }
}
