// A chain of movements becomes one view of its source, and a kernel that copies it; unused copies are removed.
// CHECK-DAG: #[[VIEW:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 5 + d2)>
// CHECK-NOT: ttir.
// CHECK:     %0 = "d2m.view_layout"(%arg0) <{remapping = #[[VIEW]]}>
// CHECK-NOT: view_layout
// CHECK:     d2m.generic
// CHECK:     ins(%0 :
// CHECK:     linalg.yield %in

#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x30xf32, #dram>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 6 + d1, d2), <1x1>, memref<48x5xf32, #dram>, <interleaved>>
#ttnn_layout2 = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 8 + d1, d2), <1x1>, memref<48x5xf32, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @heads(%arg0: tensor<8x30xf32, #ttnn_layout>) -> tensor<6x8x5xf32, #ttnn_layout2> {
    %0 = "ttir.reshape"(%arg0) <{shape = [8 : i32, 6 : i32, 5 : i32]}> : (tensor<8x30xf32, #ttnn_layout>) -> tensor<8x6x5xf32, #ttnn_layout1>
    %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0, 2>}> : (tensor<8x6x5xf32, #ttnn_layout1>) -> tensor<6x8x5xf32, #ttnn_layout2>
    return %1 : tensor<6x8x5xf32, #ttnn_layout2>
  }
}
