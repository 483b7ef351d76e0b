// Integers are reduced by routines, one dimension after the other, the last one first, and keep their type.
// CHECK:      %0 = "ttir.integer_sum_of_rows"(%arg0) <{dim_arg = [1 : i32], keep_dim = false}> : {{.*}} -> tensor<3xsi32,
// CHECK-NEXT: %1 = "ttir.integer_sum_of_rows"(%0) <{dim_arg = [0 : i32], keep_dim = false}> : {{.*}} -> tensor<si32,
// CHECK-NEXT: %2 = "ttir.integer_max_of_columns"(%arg0) <{dim_arg = [0 : i32], keep_dim = true}> : {{.*}} -> tensor<1x40xsi32,
// CHECK-NEXT: return %1, %2

#system_memory = #ttnn.buffer_type<system_memory>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x40xsi32, #system_memory>, <interleaved>>
#ttnn_layout1 = #ttnn.ttnn_layout<() -> (), <1x1>, memref<si32, #system_memory>, <interleaved>>
#ttnn_layout2 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x40xsi32, #system_memory>, <interleaved>>
module {
  func.func @f(%arg0: tensor<3x40xsi32, #ttnn_layout>) -> (tensor<si32, #ttnn_layout1>, tensor<1x40xsi32, #ttnn_layout2>) {
    %0 = "ttir.sum"(%arg0) <{dim_arg = [0 : i32, 1 : i32], keep_dim = false}> : (tensor<3x40xsi32, #ttnn_layout>) -> tensor<si32, #ttnn_layout1>
    %1 = "ttir.max"(%arg0) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<3x40xsi32, #ttnn_layout>) -> tensor<1x40xsi32, #ttnn_layout2>
    return %0, %1 : tensor<si32, #ttnn_layout1>, tensor<1x40xsi32, #ttnn_layout2>
  }
}
