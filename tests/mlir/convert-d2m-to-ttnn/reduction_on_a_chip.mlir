// PASSES: convert-ttir-to-d2m,d2m-generic-tile-compute-loops,d2m-op-scheduler,d2m-insert-dst-register-access,convert-d2m-to-ttnn
// The operand's shard is read in place; the result, which is not sharded, streams.
// CHECK: "ttnn.generic"(%arg0, %0) <{program = #ttnn.program<{cbs = [{access = #ttcore.buffer_access<alias>, {{.*}}num_pages = 4 : i64, page_size = 2048 : i64}, {access = #ttcore.buffer_access<stream>, {{.*}}num_pages = 1 : i64, page_size = 2048 : i64}]{{.*}}grid = #ttcore.grid<8x1>
// CHECK: iterator_types = [#parallel, #reduction]
// CHECK: %dst = d2m.acquire_dst() : memref<4x1x1x!ttcore.tile<32x32, f32>, #dst>
// CHECK: "d2m.tile_init"() <{tile_op = "tile_reduce_sum"}>

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
}
