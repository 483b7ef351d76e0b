"""Texts of small programs, and the binaries that are made of them."""

from __future__ import annotations

TEXTS = {
    "softmax": """
        module {
          func.func @main(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>) -> tensor<64x128xf32> {
            %0 = "ttir.add"(%x, %y) : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32> loc("sum")
            %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}>
              : (tensor<64x128xf32>) -> tensor<64x128xf32> loc("softmax")
            return %1 : tensor<64x128xf32>
          }
        }""",
    "tan": """
        module {
          func.func @tan(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
            %0 = "ttir.tan"(%x) : (tensor<128x128xf32>) -> tensor<128x128xf32> loc("tan")
            return %0 : tensor<128x128xf32>
          }
        }""",
    "product": """
        module {
          func.func @product(%x: tensor<32x64xf32>, %y: tensor<64x32xf32>) -> tensor<32x32xf32> {
            %0 = "ttir.matmul"(%x, %y) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32> loc("product")
            return %0 : tensor<32x32xf32>
          }
        }""",
    "two": """
        module {
          func.func @same(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
            %0 = "ttir.abs"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
            return %0 : tensor<32x32xf32>
          }
          func.func @nothing(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
            %0 = "ttir.subtract"(%x, %x) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
            return %0 : tensor<32x32xf32>
          }
        }""",
}
"""Names of binaries -> their modules."""


def write_binary(name, path, goldens=None):
    """Writes the binary of a text."""
    from ttmlir import passes
    from ttmlir.ir import Module

    module = Module.parse(TEXTS[name])
    passes.ttir_to_ttnn_runtime_pipeline(module, "")
    passes.ttnn_to_flatbuffer_file(module, str(path), goldens)


KEPT = []
"""Tensors whose memory goldens name until a binary is written."""


def golden_of(location, tensor):
    """A golden on the first device."""
    from ttmlir.passes import DataType, GoldenTensor

    KEPT.append(tensor)
    size = tensor.numel() * tensor.element_size()
    return {0: GoldenTensor(location, [*tensor.shape], [*tensor.stride()], DataType.Float32, tensor.data_ptr(), size)}
