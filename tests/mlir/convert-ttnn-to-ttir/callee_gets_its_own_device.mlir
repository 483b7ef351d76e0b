// TTIR has no devices: a function gets its own device op; after inlining, the call's device is the caller's.
// FAILS
// CHECK: `func.call` hands a device to @filled, and there is none in TTIR
// CHECK: help: ask for it there, by `ttnn.get_device`, or run `inline` first

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
