"""``_ttmlir_runtime``: binaries and their execution on the CPU, by the names of tt-mlir's runtime."""

from ttnn_jit.bindings.runtime import binary, runtime

__all__ = ["binary", "runtime"]
