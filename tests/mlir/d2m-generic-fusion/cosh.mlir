// An argument that is read twice is two inputs; ops stay in source order.
// CHECK:      ins(%arg0, %arg0 : tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>)
// CHECK:      ^bb0(%in: {{.*}}, %in_0: {{.*}}, %out: {{.*}}):
// CHECK-NEXT:   [[A:%.*]] = "d2m.tile_exp"(%in)
// CHECK-NEXT:   [[B:%.*]] = "d2m.tile_neg"(%in_0)
// CHECK-NEXT:   [[C:%.*]] = "d2m.tile_exp"([[B]])
// CHECK-NEXT:   [[D:%.*]] = "d2m.tile_add"([[A]], [[C]])
// CHECK-NEXT:   [[HALF:%.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:   [[E:%.*]] = "d2m.tile_mul"([[D]], [[HALF]])
// CHECK-NEXT:   linalg.yield [[E]]
// CHECK-NOT:  d2m.generic

#dram = #ttnn.buffer_type<dram>
#l1 = #ttcore.memory_space<l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @cosh(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
    %0 = d2m.empty() : tensor<32x32xbf16, #ttnn_layout>
    %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0 : tensor<32x32xbf16, #ttnn_layout>)
        outs(%0 : tensor<32x32xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %10 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %11 = d2m.reserve %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%11 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %12 = "d2m.tile_exp"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %12 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<32x32xbf16, #ttnn_layout>
    %2 = d2m.empty() : tensor<32x32xbf16, #ttnn_layout>
    %3 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%arg0 : tensor<32x32xbf16, #ttnn_layout>)
        outs(%2 : tensor<32x32xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %10 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %11 = d2m.reserve %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%11 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %12 = "d2m.tile_neg"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %12 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<32x32xbf16, #ttnn_layout>
    %4 = d2m.empty() : tensor<32x32xbf16, #ttnn_layout>
    %5 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%3 : tensor<32x32xbf16, #ttnn_layout>)
        outs(%4 : tensor<32x32xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %10 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %11 = d2m.reserve %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%11 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %12 = "d2m.tile_exp"(%in) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %12 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<32x32xbf16, #ttnn_layout>
    %6 = d2m.empty() : tensor<32x32xbf16, #ttnn_layout>
    %7 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%1, %5 : tensor<32x32xbf16, #ttnn_layout>, tensor<32x32xbf16, #ttnn_layout>)
        outs(%6 : tensor<32x32xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb2: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %10 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %11 = d2m.wait %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %12 = d2m.reserve %cb2 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%10, %11 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%12 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %in_0: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %13 = "d2m.tile_add"(%in, %in_0) : (!ttcore.tile<32x32, bf16>, !ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
        linalg.yield %13 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<32x32xbf16, #ttnn_layout>
    %8 = d2m.empty() : tensor<32x32xbf16, #ttnn_layout>
    %9 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
        ins(%7 : tensor<32x32xbf16, #ttnn_layout>)
        outs(%8 : tensor<32x32xbf16, #ttnn_layout>)  {
    ^compute0(%cb0: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>, %cb1: !d2m.cb<memref<1x1x!ttcore.tile<32x32, bf16>, #l1>>):
      %10 = d2m.wait %cb0 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      %11 = d2m.reserve %cb1 : <memref<1x1x!ttcore.tile<32x32, bf16>, #l1>> -> memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
      linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) outs(%11 : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) {
      ^bb0(%in: !ttcore.tile<32x32, bf16>, %out: !ttcore.tile<32x32, bf16>):
        %cst = arith.constant 5.000000e-01 : f32
        %12 = "d2m.tile_mul"(%in, %cst) : (!ttcore.tile<32x32, bf16>, f32) -> !ttcore.tile<32x32, bf16>
        linalg.yield %12 : !ttcore.tile<32x32, bf16>
      }
    } : tensor<32x32xbf16, #ttnn_layout>
    return %9 : tensor<32x32xbf16, #ttnn_layout>
  }
}
