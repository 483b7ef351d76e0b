// PASSES: convert-ttir-to-d2m{max-grid=3,1}
// max-grid is the coordinate of the last core, x first.
// CHECK: grid = #ttcore.grid<2x4>

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @max_grid(%arg0: tensor<1024x1024xbf16, #ttnn_layout>) -> tensor<1024x1024xbf16, #ttnn_layout> {
    %0 = "ttir.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<1024x1024xbf16, #ttnn_layout>) -> tensor<1024x1024xbf16, #ttnn_layout>
    return %0 : tensor<1024x1024xbf16, #ttnn_layout>
  }
}
