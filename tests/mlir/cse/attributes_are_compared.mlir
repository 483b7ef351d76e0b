// Ops of one class with equal operands are equal only if their attributes are: the third repeats the second.
// CHECK:      %0 = "ttir.full"() <{fill_value = 1.000000e+00 : f32
// CHECK-NEXT: %1 = "ttir.full"() <{fill_value = 2.000000e+00 : f32
// CHECK-NEXT: %2 = "ttir.add"(%0, %1)
// CHECK-NEXT: %3 = "ttir.add"(%2, %1)
// CHECK-NEXT: return %3

#dram = #ttnn.buffer_type<dram>
#system_desc = #ttcore.system_desc<{arch = "cpu", dst_double_buffered = false, dst_halved_when_wide = false, dst_tiles = 28 : i64, fuses_multi_user_values = true, grid = [8, 8], l1_bytes = 4611686018427387904 : i64, name = "cpu", numerics = "ieee", tile_aligned_only = false}>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<4x4xf32, #dram>, <interleaved>>
module attributes {ttcore.system_desc = #system_desc} {
  func.func @f(%arg0: tensor<4x4xf32, #ttnn_layout>) -> tensor<4x4xf32, #ttnn_layout> {
    %0 = "ttir.full"() <{fill_value = 1.000000e+00 : f32, shape = array<i32: 4, 4>}> : () -> tensor<4x4xf32, #ttnn_layout>
    %1 = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 4, 4>}> : () -> tensor<4x4xf32, #ttnn_layout>
    %2 = "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 4, 4>}> : () -> tensor<4x4xf32, #ttnn_layout>
    %3 = "ttir.add"(%0, %1) {ttnn.hoist_generic_via_d2m} : (tensor<4x4xf32, #ttnn_layout>, tensor<4x4xf32, #ttnn_layout>) -> tensor<4x4xf32, #ttnn_layout>
    %4 = "ttir.add"(%3, %2) {ttnn.hoist_generic_via_d2m} : (tensor<4x4xf32, #ttnn_layout>, tensor<4x4xf32, #ttnn_layout>) -> tensor<4x4xf32, #ttnn_layout>
    return %4 : tensor<4x4xf32, #ttnn_layout>
  }
}
