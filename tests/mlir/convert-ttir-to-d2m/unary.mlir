// A sharded operand determines grid and shard: 4x4 tiles on each of 8x8 cores.
// CHECK:      %0 = d2m.empty() : tensor<1024x1024xbf16, #ttnn_layout>
// CHECK-NEXT: %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x8>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
// CHECK-NEXT:   ins(%arg0 : tensor<1024x1024xbf16, #ttnn_layout>)
// CHECK-NEXT:   outs(%0 : tensor<1024x1024xbf16, #ttnn_layout>)
// CHECK-NEXT: ^compute0(%cb0: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #{{.*}}>>, %cb1: !d2m.cb<memref<4x4x!ttcore.tile<32x32, bf16>, #{{.*}}>>):
// CHECK-NEXT:   [[IN:%.*]] = d2m.wait %cb0 :
// CHECK-NEXT:   [[OUT:%.*]] = d2m.reserve %cb1 :
// CHECK-NEXT:   linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins([[IN]] : {{.*}}) outs([[OUT]] : {{.*}}) {
// CHECK-NEXT:   ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
// CHECK-NEXT:     [[TILE:%.*]] = "d2m.tile_exp"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
// CHECK-NEXT:     linalg.yield [[TILE]] : !ttcore.tile<32x32, bf16>

#l1 = #ttnn.buffer_type<l1>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<4x4x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
module {
  func.func @unary(%arg0: tensor<1024x1024xbf16, #ttnn_layout>) -> tensor<1024x1024xbf16, #ttnn_layout> {
    %0 = "ttir.exp"(%arg0) {ttnn.hoist_generic_via_d2m} : (tensor<1024x1024xbf16, #ttnn_layout>) -> tensor<1024x1024xbf16, #ttnn_layout>
    return %0 : tensor<1024x1024xbf16, #ttnn_layout>
  }
}
