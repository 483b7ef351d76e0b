// A chip reduces tensors of whole tiles, sharded in L1, in kernels over the grid of their shards. Other tensors, and
// dimensions that would have to be moved first, are reduced by launches of the host program.
// CHECK: func.func @sharded
// CHECK: d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x1>, indexing_maps = [#map, #map1], iterator_types = [#parallel, #reduction]
// CHECK: ^compute0(%cb0: !d2m.cb<memref<1x4x!ttcore.tile<32x32, bf16>, #{{.*}}>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #{{.*}}>>)
// CHECK: [[S:%.*]] = "d2m.tile_reduce_sum"(%in, %cst, %out) <{reduce_dim = #d2m<reduce_dim R>}>
// CHECK: "d2m.tile_typecast"([[S]])
// CHECK: func.func @in_dram
// CHECK: "ttir.sum"(%arg0)
// CHECK: func.func @moved
// CHECK: "ttir.sum"(%arg0)

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#shards = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x1>, memref<1x4x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (0,7)>]>>
#interleaved = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#sums = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#vector = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x8x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @sharded(%arg0: tensor<256x128xbf16, #shards>) -> tensor<256x1xbf16, #sums> {
    %0 = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<256x128xbf16, #shards>) -> tensor<256x1xbf16, #sums>
    return %0 : tensor<256x1xbf16, #sums>
  }
  func.func @in_dram(%arg0: tensor<256x128xbf16, #interleaved>) -> tensor<256x1xbf16, #sums> {
    %0 = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<256x128xbf16, #interleaved>) -> tensor<256x1xbf16, #sums>
    return %0 : tensor<256x1xbf16, #sums>
  }
  func.func @moved(%arg0: tensor<256x128xbf16, #shards>) -> tensor<256xbf16, #vector> {
    %0 = "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<256x128xbf16, #shards>) -> tensor<256xbf16, #vector>
    return %0 : tensor<256xbf16, #vector>
  }
}
