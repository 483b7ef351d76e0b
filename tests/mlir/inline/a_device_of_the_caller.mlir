// PASSES: inline,convert-ttnn-to-ttir
// The arguments of an inlined function are the caller's, devices included.
// CHECK:      func.func @f()
// CHECK-NEXT: %0 = "ttir.full"()
// CHECK-NEXT: return %0
// CHECK-NOT:  func.func

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  func.func @f() -> tensor<32x32xf32, #ttnn_layout> {
    %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = call @filled(%0) : (!ttnn.device) -> tensor<32x32xf32, #ttnn_layout>
    return %1 : tensor<32x32xf32, #ttnn_layout>
  }
  func.func private @filled(%arg0: !ttnn.device) -> tensor<32x32xf32, #ttnn_layout> {
    %0 = "ttnn.full"(%arg0) <{dtype = #ttcore.supportedDataTypes<f32>, fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #ttnn_layout>
    return %0 : tensor<32x32xf32, #ttnn_layout>
  }
}
