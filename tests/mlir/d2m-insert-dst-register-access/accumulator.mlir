// PASSES: convert-ttir-to-d2m,d2m-generic-tile-compute-loops,d2m-op-scheduler,d2m-insert-dst-register-access
// The reduction loop is the innermost one over blocks. Before it the accumulator's slot is filled, inside it is loaded and
// stored, after it is stored to the output; the factors' tiles are read directly from their buffers.
// CHECK:      d2m.dst_peak = 1
// CHECK:      scf.for [[B:%.*]] = %c0 to %c2 step %c1 {
// CHECK-NEXT:   scf.for [[M:%.*]] = %c0 to %c2 step %c1 {
// CHECK-NEXT:     scf.for [[N:%.*]] = %c0 to %c3 step %c1 {
// CHECK-NEXT:       %subview = memref.subview %9[[[B]], [[M]], [[N]]] [1, 1, 1] [1, 1, 1]
// CHECK-NEXT:       %dst = d2m.acquire_dst() : memref<28x1x1x1x!ttcore.tile<32x32, f32>, #dst>
// CHECK:            [[F:%.*]] = "d2m.tile_fill"(%cst) : (f32) -> !ttcore.tile<32x32, f32>
// CHECK-NEXT:       affine.store [[F]], %dst[0,
// CHECK:            scf.for [[K:%.*]] = %c0 to %c2 step %c1 {
// CHECK-NEXT:         %subview_0 = memref.subview %7[[[B]], [[M]], [[K]]] [1, 1, 1] [1, 1, 1]
// CHECK-NEXT:         %subview_1 = memref.subview %8[[[K]], [[N]]] [1, 1] [1, 1]
// CHECK:              [[L:%.*]] = affine.load %subview_0[
// CHECK-NEXT:         [[R:%.*]] = affine.load %subview_1[0,
// CHECK-NEXT:         [[A:%.*]] = affine.load %dst[0,
// CHECK-NEXT:         [[S:%.*]] = "d2m.tile_matmul"([[L]], [[R]], [[A]])
// CHECK-NEXT:         affine.store [[S]], %dst[0,
// CHECK:            [[D:%.*]] = affine.load %dst[0,
// CHECK-NEXT:       affine.store [[D]], %subview[

#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#rows = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<128x50xf32, #dram>, <interleaved>>
#columns = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<70x50xf32, #dram>, <interleaved>>
#product = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 64 + d1, d2), <1x1>, memref<128x70xf32, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @mm(%arg0: tensor<2x64x50xf32, #rows>, %arg1: tensor<70x50xf32, #columns>) -> tensor<2x64x70xf32, #product> {
    %0 = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}> : (tensor<2x64x50xf32, #rows>, tensor<70x50xf32, #columns>) -> tensor<2x64x70xf32, #product>
    return %0 : tensor<2x64x70xf32, #product>
  }
}
