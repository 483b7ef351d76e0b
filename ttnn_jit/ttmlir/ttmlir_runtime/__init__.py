"""`_ttmlir_runtime`: binaries and their execution on the CPU, by the names of tt-mlir's runtime."""
