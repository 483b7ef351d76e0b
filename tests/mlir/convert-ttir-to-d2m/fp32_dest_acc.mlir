// PASSES: convert-ttir-to-d2m{fp32-dest-acc=true},d2m-generic-fusion{fp32-dest-acc=true}
// A chip target that keeps f32 in DST widens at loads and rounds at stores, and nowhere between.
// CHECK:      [[WIDE:%.*]] = "d2m.tile_typecast"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, f32>
// CHECK-NEXT: [[EXP:%.*]] = "d2m.tile_exp"([[WIDE]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
// CHECK-NEXT: [[NEG:%.*]] = "d2m.tile_neg"([[EXP]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, f32>
// CHECK-NEXT: [[NARROW:%.*]] = "d2m.tile_typecast"([[NEG]]) : (!ttcore.tile<32x32, f32>) -> !ttcore.tile<32x32, bf16>
// CHECK-NEXT: linalg.yield [[NARROW]]

#dram = #ttnn.buffer_type<dram>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @fp32_dest_acc(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = "ttir.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    %1 = "ttir.neg"(%0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
    return %1 : tensor<32x32xbf16, #ttnn_layout>
  }
}
