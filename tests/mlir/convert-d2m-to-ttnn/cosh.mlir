// One launch per kernel, with its program; each kernel becomes a function; tensors keep their layouts.
// CHECK:      %0 = d2m.empty() : tensor<64x64xbf16, #ttnn_layout>
// CHECK-NEXT: %1 = "ttnn.generic"(%arg0, %arg0, %0) <{program = #ttnn.program<{cbs = [{access = #ttcore.buffer_access<stream>, dtype = #ttcore.supportedDataTypes<bf16>, num_pages = 1 : i64, page_size = 2048 : i64}, {{.*}}], common_runtime_args = ["buffer_address 0", "buffer_address 1", "buffer_address 2"], compile_time_args = [0, 1, 2], grid = #ttcore.grid<2x2>, kernel = @cosh_kernel0, math_fidelity = "HiFi4", semaphores = []}>}>
// CHECK-NEXT: return %1
// CHECK:      func.func private @cosh_kernel0(%arg0: !d2m.cb<{{.*}}>, %arg1: !d2m.cb<{{.*}}>, %arg2: !d2m.cb<{{.*}}>) attributes {{.*}}d2m.kernel, grid = #ttcore.grid<2x2>
// CHECK:      d2m.acquire_dst
// CHECK:      "d2m.tile_init"() <{tile_op = "tile_exp"}>
// CHECK-NEXT: "d2m.tile_exp"
// CHECK:      return

#dram = #ttnn.buffer_type<dram>
#dst = #ttcore.memory_space<dst>
#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @cosh(%arg0: tensor<64x64xbf16, #ttnn_layout>) -> tensor<64x64xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<64x64xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], d2m.dst_peak = 3 : i64, d2m.dst_peak_source_order = 3 : i64, grid = #ttcore.grid<2x2>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0, %arg0 : tensor<64x64xbf16, #ttnn_layout>, tensor<64x64xbf16, #ttnn_layout>)
        outs(%0 : tensor<64x64xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb2: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %cst = arith.constant 5.000000e-01 : f32
      %c2 = arith.constant 2 : index
      %2 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %3 = d2m.wait %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %4 = d2m.reserve %cb2 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      scf.for %arg1 = %c0 to %c1 step %c1 {
        scf.for %arg2 = %c0 to %c1 step %c1 {
          %subview = memref.subview %2[%arg1, %arg2] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          %subview_0 = memref.subview %3[%arg1, %arg2] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          %subview_1 = memref.subview %4[%arg1, %arg2] [1, 1] [1, 1] : memref<1x1x!ttcore.tile<32x32, bf16>, #l1> to memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
          %dst = d2m.acquire_dst() : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
          affine.for %arg3 = 0 to 1 {
            affine.for %arg4 = 0 to 1 {
              %5 = affine.load %subview[%arg3, %arg4] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
              affine.store %5, %dst[0, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %6 = affine.load %dst[0, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %7 = "d2m.tile_exp"(%6) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %7, %dst[%c0, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %8 = affine.load %dst[%c0, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %9 = affine.load %subview_0[%arg3, %arg4] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
              affine.store %9, %dst[1, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %10 = affine.load %dst[1, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %11 = "d2m.tile_neg"(%10) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %11, %dst[%c1, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %12 = affine.load %dst[%c1, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %13 = "d2m.tile_exp"(%12) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %13, %dst[%c1, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %14 = affine.load %dst[%c1, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %15 = "d2m.tile_add"(%8, %14) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
              affine.store %15, %dst[%c2, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %16 = affine.load %dst[%c2, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              %17 = "d2m.tile_mul"(%16, %cst) : (!ttcore.tile<32x32, bf16>, f32) -> !ttcore.tile<32x32, bf16>
              affine.store %17, %dst[2, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
            }
          }
          affine.for %arg3 = 0 to 1 {
            affine.for %arg4 = 0 to 1 {
              %5 = affine.load %dst[2, %arg3, %arg4] : memref<8x1x1x!ttcore.tile<32x32, bf16>, #dst>
              affine.store %5, %subview_1[%arg3, %arg4] : memref<1x1x!ttcore.tile<32x32, bf16>, strided<[1, 1], offset: ?>, #l1>
            }
          }
        }
      }
    } : tensor<64x64xbf16, #ttnn_layout>
    return %1 : tensor<64x64xbf16, #ttnn_layout>
  }
}
