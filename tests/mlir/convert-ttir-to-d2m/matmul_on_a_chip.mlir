// PASSES: convert-ttir-to-d2m,d2m-generic-tile-compute-loops,d2m-op-scheduler,d2m-insert-dst-register-access,convert-d2m-to-ttnn
// A chip multiplies matrices of whole tiles without moving them: the rows are divided like the first one's shards, the
// columns like the second one's. Both stream two fillings of DST, which accumulates in f32. A transposed one is a launch of the host program.
// CHECK: "ttnn.generic"(%arg0, %arg1, %0) <{program = #ttnn.program<{cbs = [{access = #ttcore.buffer_access<stream>, {{.*}}num_pages = 8 : i64, page_size = 2048 : i64}, {access = #ttcore.buffer_access<stream>, {{.*}}num_pages = 8 : i64, page_size = 2048 : i64}, {access = #ttcore.buffer_access<stream>, {{.*}}num_pages = 4 : i64, page_size = 2048 : i64}]{{.*}}grid = #ttcore.grid<4x2>
// CHECK: "ttnn.matmul"(%arg0, %1)
// CHECK: iterator_types = [#parallel, #parallel, #reduction]
// CHECK: %dst = d2m.acquire_dst() : memref<4x1x1x!ttcore.tile<32x32, f32>, #dst>
// CHECK: "d2m.tile_init"() <{tile_op = "tile_matmul"}>
// CHECK: "d2m.tile_matmul"

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <4x2>, memref<2x4x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
#columns = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <4x2>, memref<2x2x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>>
#product = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x4x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @products(%arg0: tensor<256x256xbf16, #rows>, %arg1: tensor<256x128xbf16, #columns>) -> (tensor<256x128xbf16, #product>, tensor<256x128xbf16, #product>) {
    %0 = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<256x256xbf16, #rows>, tensor<256x128xbf16, #columns>) -> tensor<256x128xbf16, #product>
    %1 = "ttir.matmul"(%arg0, %0) <{transpose_a = true, transpose_b = false}> : (tensor<256x256xbf16, #rows>, tensor<256x128xbf16, #product>) -> tensor<256x128xbf16, #product>
    return %0, %1 : tensor<256x128xbf16, #product>, tensor<256x128xbf16, #product>
  }
}
